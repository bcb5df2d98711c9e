//go:build cgo

// Package gatewaytest opens a real gateway for the tests of the server's doors: the data
// of the demo, the engine, and a ledger of its own. It is for tests alone.
package gatewaytest

import (
	"path/filepath"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
)

// Noon is when everything happens.
var Noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// The accounts of every gateway of tests.
var (
	Owner   = people.Account{Name: "olga", Role: people.Owner}
	Analyst = people.Account{Name: "anna", Role: people.Analyst}
)

// New opens a gateway that is closed when the test ends.
func New(t testing.TB) *gateway.Gateway {
	t.Helper()
	return NewIn(t, t.TempDir())
}

// NewIn opens a gateway whose files lie in dir.
func NewIn(t testing.TB, dir string) *gateway.Gateway {
	t.Helper()
	path, err := clinic.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() }) //nolint:errcheck // the test is over
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: Noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	g, err := gateway.New(t.Context(), gateway.Config{Catalog: c, Engine: e, Ledger: l, Now: func() time.Time { return Noon }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
