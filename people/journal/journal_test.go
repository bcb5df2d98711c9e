package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// open opens a journal that writes only when the test says so, and when it is closed.
func open(t testing.TB, o Options) *Journal {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "discreet.ledger"+Suffix)
	}
	o.Now, o.Every = func() time.Time { return noon }, time.Hour
	j, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func (j *Journal) records(t testing.TB) (all []Record) {
	t.Helper()
	if err := Read(context.Background(), j.options.Path, func(r Record) error { all = append(all, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNotedIsKept(t *testing.T) {
	j := open(t, Options{})
	j.Note(Event{Kind: "sign-in", Account: "anna", Door: "postgres", Address: "192.0.2.1:5"})
	j.Note(Event{Kind: "sign-in failed", Account: "root\xff", Stranger: true})
	j.Note(Event{Kind: "explained", Account: "anna", Detail: strings.Repeat("ü", 3000)})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, j.options)
	again.Note(Event{Time: noon.Add(time.Hour), Kind: "refused", Account: "anna", Detail: "D014"})
	again.flush(t.Context())
	all := again.records(t)
	if len(all) != 4 || all[0].Kind != "sign-in" || all[0].Address != "192.0.2.1:5" || !all[0].Time.Equal(noon) || all[2].Record != 3 || all[2].Detail != "D014" || all[3].Account != "root\ufffd" || all[3].Record != 1 {
		t.Errorf("%+v", all)
	}
	if d := all[1].Detail; d != strings.Repeat("ü", 1024)+"…" {
		t.Errorf("a long text has %d bytes", len(d))
	}
	if info, err := os.Stat(again.options.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Events that find no room are counted, those of strangers by themselves, and noting never
// waits, also when nothing can be written.
func TestDropsAreCounted(t *testing.T) {
	j := open(t, Options{Queue: 40})
	for range 100 {
		j.Note(Event{Kind: "sign-in failed", Stranger: true})
	}
	for range 30 {
		j.Note(Event{Kind: "explained", Account: "anna"})
	}
	j.flush(t.Context())
	count := func() (kinds map[string]int64, dropped [2]int64) {
		kinds = map[string]int64{}
		for _, r := range j.records(t) {
			if kinds[r.Kind]++; r.Kind == "dropped" {
				dropped[chainOf(r.Stranger)] += r.Count
			}
		}
		return kinds, dropped
	}
	if kinds, dropped := count(); kinds["sign-in failed"] != 10 || kinds["explained"] != 30 || dropped != [2]int64{0, 90} {
		t.Errorf("%v, dropped %v", kinds, dropped)
	}
	// A disk that is full: nothing is written, and nothing is lost but the events.
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		for range 50 {
			j.Note(Event{Kind: "explained", Account: "anna"})
		}
		j.flush(over)
	}
	j.Note(Event{Kind: "explained", Account: "anna"})
	j.flush(t.Context())
	if kinds, dropped := count(); kinds["explained"] != 31 || dropped != [2]int64{150, 90} {
		t.Errorf("%v, dropped %v", kinds, dropped)
	}
}

// What is kept is bounded; the oldest is forgotten, and strangers push out their own alone.
func TestKeptIsBounded(t *testing.T) {
	j := open(t, Options{Bytes: 40_000})
	j.Note(Event{Kind: "sign-in", Account: "anna"})
	for i := range 100 {
		for range 50 {
			j.Note(Event{Kind: "sign-in failed", Account: fmt.Sprint("guess", i), Stranger: true})
		}
		j.flush(t.Context())
	}
	all := j.records(t)
	if all[0].Account != "anna" || all[len(all)-1].Record != 5000 || all[len(all)-1].Account != "guess99" {
		t.Errorf("first %+v, last %+v", all[0], all[len(all)-1])
	}
	var bytes int64
	if err := j.db.QueryRow("SELECT sum(length(body)) FROM records WHERE chain = 1").Scan(&bytes); err != nil || bytes > 10_000 || bytes < 5_000 {
		t.Errorf("%d bytes of strangers, %v", bytes, err)
	}
	for range 1000 {
		j.Note(Event{Kind: "explained", Account: "anna", Detail: strings.Repeat("x", 200)})
	}
	j.flush(t.Context())
	if all = j.records(t); all[0].Kind != "explained" {
		t.Errorf("accounts' records are not bounded: %+v", all[0])
	}
}

func TestEdits(t *testing.T) {
	for name, edit := range map[string]string{
		"text":           "UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'anna', 'bert') AS BLOB) WHERE seq = 2",
		"deleted":        "DELETE FROM records WHERE chain = 0 AND seq = 2",
		"oldest deleted": "DELETE FROM records WHERE chain = 0 AND seq = 1",
		"hash":           "UPDATE records SET hash = zeroblob(32) WHERE chain = 0 AND seq = 3",
		"other chain":    "UPDATE records SET chain = 1 WHERE seq = 3",
		"forgotten":      "INSERT INTO forgotten VALUES (0, 1, zeroblob(32))",
	} {
		j := open(t, Options{})
		for range 3 {
			j.Note(Event{Kind: "sign-in", Account: "anna"})
		}
		j.Close()
		db, err := store.Existing(j.options.Path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(edit); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if err := Read(t.Context(), j.options.Path, func(Record) error { return nil }); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many note at once, while it writes, and while another process has the file.
func TestNotedAtOnce(t *testing.T) {
	j := open(t, Options{Queue: 100_000})
	other := open(t, Options{Path: j.options.Path, Queue: 100_000})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 500 {
				[]*Journal{j, other}[i%2].Note(Event{Kind: "explained", Account: "anna"})
			}
		})
		wg.Go(func() { []*Journal{j, other}[i%2].flush(t.Context()) })
	}
	wg.Wait()
	j.flush(t.Context())
	other.flush(t.Context())
	if n := len(j.records(t)); n != 4000 {
		t.Errorf("%d records of 4000", n)
	}
}
