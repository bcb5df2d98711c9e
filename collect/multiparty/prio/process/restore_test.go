package process_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/internal/store"
)

// records is how many an aggregator has stored.
func (w *world) records(role string) (n int64) {
	w.Helper()
	db, err := store.Existing(filepath.Join(w.c.Folder(role), "tasks", w.hash+".db"))
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(w.ctx, "SELECT records FROM task").Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

// An aggregator is restored from a copy that lacks its last record alone, of which the others may not have
// heard: the release of a collection, at the leader and at a helper. There is no second total under other
// noise, and no budget beyond the task's: the copy has the noise that was drawn, or the others refuse it. Noise of
// epsilon 1/100 is drawn twice alike with probability below 1/100; of three batches each time below 1e-6.
func TestALastRecordIsMissing(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"leader", "helper-1"} {
		w := begin(t, cluster.Settings{"kind": "count", "epsilon": "0.01", "budget": "0.03"}, "leader>helper-1")
		link, file := w.proxies["leader>helper-1"], filepath.Join(w.c.Folder(role), "tasks", w.hash+".db")
		// The leader and the helper have drawn their noise, and the last answers are on their way.
		w.upload(process.Stored, w.report("one", 1))
		w.status("one")
		had, old := w.records(role), filepath.Join(t.TempDir(), "old")
		link.Slow(time.Second)
		collected := make(chan *process.Result, 1)
		go func() {
			r, err := process.Collect(w.ctx, w.collector, w.task, "one")
			if err != nil {
				t.Error(err)
			}
			collected <- r
		}()
		for w.records(role) == had && w.ctx.Err() == nil {
			<-time.After(20 * time.Millisecond)
		}
		if err := store.Copy(w.ctx, file, old); err != nil {
			t.Fatal(err)
		}
		link.Mend()
		first := <-collected
		if first == nil {
			t.Fatal("nothing is collected")
		}
		if all := w.records(role) - had; all != 2 {
			t.Fatalf("a collection is %d records of %s, not the noise and the release", all, role)
		}
		if err := w.c.Stop(w.ctx, role); err != nil {
			t.Fatal(err)
		}
		replace(t, old, file)
		if now := w.records(role); now != had+1 {
			t.Fatalf("the copy of %s has %d records, not all but the last of %d", role, now, had+2)
		}
		if err := w.c.Start(w.ctx, role); err != nil {
			t.Fatal(err)
		}
		again, err := process.Collect(w.ctx, w.collector, w.task, "one")
		var p *cluster.Problem
		switch {
		case err == nil && again.Values[0].Cmp(first.Values[0]) != 0:
			t.Errorf("%s restored: the same collection is %v, was %v", role, again.Values, first.Values)
		case err != nil && (!errors.As(err, &p) || role == "leader"):
			t.Errorf("%s restored: %v", role, err)
		}
		// A budget for three collections: with the one that was forgotten no more than two others are made.
		made := 0
		for _, batch := range []string{"two", "three", "four"} {
			w.upload(process.Stored, w.report(batch, 1))
			if _, err := process.Collect(w.ctx, w.collector, w.task, batch); err == nil {
				made++
			} else if !errors.As(err, &p) || p.Type != string(prio.Exhausted) && p.Type != string(prio.Restored) {
				t.Errorf("%s restored: %s is refused by %v", role, batch, err)
			}
		}
		if want := map[string]int{"leader": 2, "helper-1": 0}[role]; made != want {
			t.Errorf("%s restored: %d more collections were made, want %d", role, made, want)
		}
	}
}

// What an aggregator releases to the collector is in its own memory or files, and in no other's; what a client
// contributes is in neither's memory, files or traffic, in none of the forms in which they compute.
func TestMemoryOfAggregators(t *testing.T) {
	t.Parallel()
	numbers := []uint64{0x5a17c3d9e, 0x3b92f6a41, 0x6c8e07d25}
	w := begin(t, cluster.Settings{"kind": "sumvec", "length": "3", "bits": "36", "aggregators": "3", "epsilon": "1000"})
	for range 3 {
		w.upload(process.Stored, w.report("canary", numbers...))
	}
	var integers, elements []byte
	for _, x := range numbers {
		integers = binary.LittleEndian.AppendUint64(integers, x)
		elements = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(elements, x), 0)
	}
	text, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	contributed := [][]byte{integers, elements, []byte(base64.StdEncoding.EncodeToString(elements))[:40], text}
	shares, memory := map[string][]byte{}, map[string][]byte{}
	for _, role := range w.task.Aggregators {
		var s process.Share
		at := "/collections/" + w.collect("canary").Collection + "/share?batch=canary"
		if err := w.ask(w.collector, role, http.MethodGet, at, nil, &s); err != nil {
			t.Fatal(err)
		}
		shares[role] = s.Share
	}
	status, err := w.c.Status(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range status {
		memory[s.Role] = append(clustertest.Memory(t, s.PID), files(t, w.c.Folder(s.Role))...)
	}
	for _, role := range w.task.Aggregators {
		for _, form := range contributed {
			if bytes.Contains(memory[role], form) {
				t.Errorf("%s has what a client contributes", role)
			}
		}
		for of, share := range shares {
			has := bytes.Contains(memory[role], share) || bytes.Contains(memory[role], []byte(base64.StdEncoding.EncodeToString(share)))
			if has != (of == role) {
				t.Errorf("%s has the share of %s: %v", role, of, has)
			}
		}
	}
}

// files are all of a folder's.
func files(t *testing.T, dir string) (all []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
