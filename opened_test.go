//go:build cgo

package discreet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/sqltype"
)

// opened is a database over a folder of these texts by the names of their files, of which c.toml is the catalog, with a
// new ledger. What between returns is asked in place of the engine.
func opened(t testing.TB, texts map[string]string, between func(engine.Engine) engine.Engine) *Database {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load(filepath.Join(dir, "c.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "l"), ledger.Options{Domains: Budgets(c), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	db, err := Open(t.Context(), Config{Catalog: c, Engine: between(e), Ledger: l})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// A recorder keeps the queries that an engine was asked.
type recorder struct {
	engine.Engine
	asked []string
}

func (r *recorder) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	q.Salt = 0
	r.asked = append(r.asked, fmt.Sprint(q))
	return r.Engine.Exact(ctx, q)
}

// A shifting engine has other rows of a public table from some time on.
type shifting struct {
	engine.Engine
	rows [][]sqltype.Value // of p, if it is not nil
}

func (s *shifting) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	columns, rows, err := s.Engine.Public(ctx, table)
	if s.rows != nil {
		rows = s.rows
	}
	return columns, rows, err
}

// failing is an engine whose public tables cannot be read for a while.
type failing struct {
	engine.Engine
	fail func(ctx context.Context) error
}

func (f *failing) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	if f.fail != nil {
		if err := f.fail(ctx); err != nil {
			return nil, nil, err
		}
	}
	return f.Engine.Public(ctx, table)
}
