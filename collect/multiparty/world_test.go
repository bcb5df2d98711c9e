//go:build cgo

package multiparty

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"

	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
)

// A setting is what the members of a federation of tests start from.
type setting struct {
	parties, colluding int
	shares             mechanism.Sharing
	// Of each holder: its rows, as CSV of patient, ward, age and cost, and what its catalog
	// changes of the common one.
	rows    [][]string
	change  []map[string]string
	measure string
	budget  string
}

const commonCatalog = `[domains.patient]
measure = "MEASURE"
epsilon = EPSILON
# domain
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_group = 3
[tables.visits.columns]
patient = { type = "integer" }
ward = { type = "text", domain = ["a", "b", "c"] }
age = { type = "integer", lower = 0, upper = 100 }
cost = { type = "double", lower = 0, upper = 50 }
free = { type = "text" }
`

// A world is a federation on disk, and the members of it that run in this process.
type world struct {
	testing.TB
	dir        string
	federation *Federation
	holders    []*Holder
	parties    []*Party
	ledgers    []*ledger.Ledger
	people     []*people.Accounts
	now        func() time.Time
	held       map[string]net.Listener // by address: ports are the world's from their choice on
	lost       atomic.Int64            // acknowledgements of shares that parties still lose
}

// losing does what it is asked, and loses acknowledgements: the connection is cut where the
// answer would begin.
func (w *world) losing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/share") || w.lost.Add(-1) < 0 {
			h.ServeHTTP(out, r)
			return
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// layOut writes the files of a federation: a folder for each member. Addresses are ports that the world holds.
func layOut(t testing.TB, s setting) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), federation: &Federation{Colluding: s.colluding, Shares: s.shares}, now: time.Now, held: map[string]net.Listener{}}
	t.Cleanup(func() {
		for _, l := range w.held {
			l.Close() // which nobody serves
		}
	})
	if s.parties == 0 {
		s.parties = 3
	}
	add := func(to *[]Member, name string, listens bool) {
		dir := filepath.Join(w.dir, name)
		if err := custody.Folder(dir); err != nil {
			t.Fatal(err)
		}
		text, err := NewIdentity(name, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "key.pem")
		if err := custody.Write(path, text); err != nil {
			t.Fatal(err)
		}
		id, err := ReadIdentity(path)
		if err != nil {
			t.Fatal(err)
		}
		m := Member{Name: name, Key: id.Key}
		if listens {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			m.Address = l.Addr().String()
			w.held[m.Address] = l
		}
		*to = append(*to, m)
	}
	for i, rows := range s.rows {
		name := fmt.Sprintf("h%d", i+1)
		add(&w.federation.Holders, name, true)
		text := strings.NewReplacer("MEASURE", def(s.measure, "pure"), "EPSILON", def(s.budget, "1000000")).Replace(commonCatalog)
		if i < len(s.change) {
			for old, fresh := range s.change[i] {
				if !strings.Contains(text, old) {
					t.Fatalf("the catalog has no %q", old)
				}
				text = strings.ReplaceAll(text, old, fresh)
			}
		}
		dir := filepath.Join(w.dir, name)
		w.write(filepath.Join(dir, "discreet.toml"), text)
		w.write(filepath.Join(dir, "visits.csv"), "patient,ward,age,cost,free\n"+strings.Join(rows, "\n")+"\n")
		c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Create(t.Context(), filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.parties {
		add(&w.federation.Parties, fmt.Sprintf("p%d", i+1), true)
	}
	for _, name := range []string{"anna", "bob"} {
		add(&w.federation.Askers, name, false)
	}
	return w
}

func def(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (w *world) write(path, text string) {
	w.Helper()
	if err := custody.Write(path, []byte(text)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) identity(name string) *Identity {
	w.Helper()
	id, err := ReadIdentity(filepath.Join(w.dir, name, "key.pem"))
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// openHolder opens a holder of the world, as the command does.
func openHolder(ctx context.Context, dir, name string, f *Federation, id *Identity, now func() time.Time, log *slog.Logger) (*Holder, *ledger.Ledger, *people.Accounts, error) {
	dir = filepath.Join(dir, name)
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		return nil, nil, nil, err
	}
	l, err := ledger.Open(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{Now: now()})
	if err != nil {
		return nil, nil, nil, err
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{Threads: 1, Temp: dir})
	if err != nil {
		return nil, nil, nil, err
	}
	accounts, err := people.Open(ctx, people.Options{Path: filepath.Join(dir, "discreet.ledger") + people.Suffix, Ledger: l, Now: now, Iterations: 4096})
	if err != nil {
		return nil, nil, nil, err
	}
	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l, Now: now})
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := OpenHolder(ctx, HolderOptions{Name: name, Federation: f, Identity: id, State: filepath.Join(dir, "state"), Database: db, Catalog: c.Digest, Now: now, Log: log, Patience: 10 * time.Second})
	return h, l, accounts, err
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// run starts every member in this process.
func (w *world) run() *world {
	w.Helper()
	for _, m := range w.federation.Holders {
		h, l, accounts, err := openHolder(w.Context(), w.dir, m.Name, w.federation, w.identity(m.Name), w.now, quiet())
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { h.Close(); accounts.Close(); l.Close() })
		w.holders, w.ledgers, w.people = append(w.holders, h), append(w.ledgers, l), append(w.people, accounts)
		w.serve(m, h.Handler())
	}
	for _, m := range w.federation.Parties {
		p, err := OpenParty(w.Context(), PartyOptions{Name: m.Name, Federation: w.federation, Identity: w.identity(m.Name), State: filepath.Join(w.dir, m.Name, "state"), Now: func() time.Time { return w.now() }, Log: quiet()})
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { p.Close() })
		w.parties = append(w.parties, p)
		w.serve(m, w.losing(p.Handler()))
	}
	return w
}

// serve answers as a member until the test ends.
func (w *world) serve(m Member, h http.Handler) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	l := w.held[m.Address]
	delete(w.held, m.Address)
	ended.Go(func() {
		if err := serve(ctx, l, w.identity(m.Name), w.federation, h, quiet(), func(string) error { return nil }); err != nil {
			w.Error(err)
		}
	})
	w.Cleanup(func() { cancel(); ended.Wait() })
}

// ask asks all holders as anna, with an epsilon at which count's noise is 0 but with
// probability below 1e-50, where it says nothing else.
func (w *world) ask(text string, epsilon string) (*Answer, error) {
	w.Helper()
	return w.askAs("anna", text, epsilon)
}

func (w *world) askAs(name, text, epsilon string, holders ...string) (*Answer, error) {
	w.Helper()
	return Ask(w.Context(), AskOptions{Federation: w.federation, Identity: w.identity(name), Holders: holders, Now: time.Now, Patience: 20 * time.Second, Wait: pause}, w.statement(text, epsilon))
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) statement(text, epsilon string) Statement {
	w.Helper()
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		w.Fatal(err)
	}
	s, err := NewStatement(text, &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: e}})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// spent is what a holder's domain has spent of epsilon.
func (w *world) spent(holder int) float64 {
	w.Helper()
	b, err := w.ledgers[holder].Balance(w.Context(), "patient")
	if err != nil {
		w.Fatal(err)
	}
	return b.Spent.Epsilon.Float64()
}

// patients are so many rows of as many patients, from a first number on.
func patients(first, n int) (rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprintf("%d,%c,%d,%d.5,x", first+i, 'a'+rune(i%3), 20+i%60, i%50))
	}
	return rows
}

// encode is what a member sends.
func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
