//go:build cgo

// Package gatewaytest opens a real gateway for the tests of the server's doors: the data
// of the demo, the engine, and a ledger of its own. It is for tests alone.
package gatewaytest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
)

// Password is that of all accounts of tests.
const Password = "correct horse battery"

// Noon is when everything happens.
var Noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// The accounts of every gateway of tests.
var (
	Owner   = people.Account{Name: "olga", Role: people.Owner}
	Analyst = people.Account{Name: "anna", Role: people.Analyst}
)

// demo are the demo's files. They take longer to make than a gateway to open, so they are made
// once for all tests of a process.
var demo = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in a temporary folder
	if _, err := clinic.Write(dir); err != nil {
		return nil, err
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range made {
		if files[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// New opens a gateway that is closed when the test ends.
func New(t testing.TB) *gateway.Gateway {
	t.Helper()
	return NewIn(t, t.TempDir())
}

// NewIn opens a gateway whose files lie in dir.
func NewIn(t testing.TB, dir string) *gateway.Gateway {
	t.Helper()
	return Open(t, dir).Gateway
}

// Open opens a gateway with its accounts, whose files lie in dir. change may give it other
// parts.
func Open(t testing.TB, dir string, change ...func(*gateway.Config)) World {
	t.Helper()
	files, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: Noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	now := func() time.Time { return Noon }
	accounts, err := people.Open(t.Context(), people.Options{Path: filepath.Join(dir, "discreet.ledger") + people.Suffix, Ledger: l, Now: now, Iterations: 4096})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accounts.Close() }) //nolint:errcheck // the test is over
	for _, a := range []people.Account{Owner, Analyst} {
		if err := accounts.Add(t.Context(), "test", a.Name, a.Role, Password); err != nil {
			t.Fatal(err)
		}
	}
	config := gateway.Config{Catalog: c, Engine: e, Ledger: l, People: accounts, Now: now, Concurrency: 8}
	for _, f := range change {
		f(&config)
	}
	g, err := gateway.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() }) //nolint:errcheck // the test is over
	return World{g, accounts, l}
}

// A World is a gateway with its accounts.
type World struct {
	*gateway.Gateway
	People *people.Accounts
	Ledger *ledger.Ledger
}

// SignIn signs an account in by its password.
func (w World) SignIn(t testing.TB, name string) people.Account {
	t.Helper()
	a, err := w.People.SignIn(t.Context(), name, Password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A Slow engine tells when it is asked for private or public rows, and answers when it may.
type Slow struct {
	engine.Engine
	Asked chan struct{} // receives whenever it is asked
	May   chan struct{} // closed, or sent to, where it may answer
	Ended chan error    // receives the cause where its context has ended before; else nil
}

// NewSlow returns what makes a gateway's engine slow.
func NewSlow() *Slow {
	return &Slow{Asked: make(chan struct{}, 100), May: make(chan struct{}), Ended: make(chan error, 100)}
}

// In puts it before a gateway's engine.
func (s *Slow) In(c *gateway.Config) { s.Engine, c.Engine = c.Engine, s }

func (s *Slow) wait(ctx context.Context) error {
	s.Asked <- struct{}{}
	select {
	case <-s.May:
		s.Ended <- nil
		return nil
	case <-ctx.Done():
		s.Ended <- context.Cause(ctx)
		return ctx.Err()
	}
}

// Exact waits, and answers.
func (s *Slow) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Engine.Exact(ctx, q)
}

// Scratch waits, and answers.
func (s *Slow) Scratch(ctx context.Context) (engine.Scratch, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Engine.Scratch(ctx)
}
