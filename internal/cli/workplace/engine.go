package workplace

import (
	"context"
	"os"
	"sync"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

var _ engine.Laid = (*lateEngine)(nil)

// NoEngine is the engine's name in a build without one.
const NoEngine = "none"

// ErrNoEngine is what a build without cgo answers with.
var ErrNoEngine = diagnostic.New("D117", diagnostic.Span{}, "this discreet was built without an engine").
	Because("DuckDB is linked by cgo").
	Try("build it with CGO_ENABLED=1 and a C compiler")

// A lateEngine opens at its first use. Explain does not use it, unless a table holds a
// public domain or the engine is a database, which knows how its tables are laid out.
type lateEngine struct {
	Open func() (engine.Engine, error)
	kind catalog.Kind
	keep string // what it Keeps; "" of a database

	mu     sync.Mutex
	opened engine.Engine // nil until open has succeeded
}

func newLateEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, lazy bool) *lateEngine {
	e := &lateEngine{kind: c.Engine.Kind}
	if e.kind == catalog.Embedded {
		e.keep = keeps(c)
	}
	if len(maps) > 0 {
		e.kind = catalog.Embedded // which keeps what code makes
	}
	e.Open = sync.OnceValues(func() (engine.Engine, error) {
		opened, err := openEngine(ctx, c, l, maps, lazy)
		e.mu.Lock()
		defer e.mu.Unlock()
		if err == nil {
			e.opened = opened
		}
		return opened, err
	})
	return e
}

// Dialect is that of the engine which the catalog names.
func (e *lateEngine) Dialect() string { return string(e.kind) }

// Keeps says what the engine would, and does not open it.
func (e *lateEngine) Keeps() string { return e.keep }

func (e *lateEngine) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	opened, err := e.Open()
	if err != nil {
		return nil, err
	}
	return opened.Exact(ctx, q)
}

func (e *lateEngine) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	opened, err := e.Open()
	if err != nil {
		return nil, nil, err
	}
	return opened.Public(ctx, table)
}

func (e *lateEngine) Scratch(ctx context.Context) (engine.Scratch, error) {
	opened, err := e.Open()
	if err != nil {
		return nil, err
	}
	return opened.Scratch(ctx)
}

func (e *lateEngine) Prepare(ctx context.Context, sql string, tables []engine.Table) error {
	opened, err := e.Open()
	if err != nil {
		return err
	}
	if p, ok := opened.(engine.Preparer); ok {
		return p.Prepare(ctx, sql, tables)
	}
	return nil
}

func (e *lateEngine) PreparePost(ctx context.Context, sql string, tables []engine.Table) error {
	opened, err := e.Open()
	if err != nil {
		return err
	}
	return engine.PreparePost(ctx, opened, sql, tables)
}

func (e *lateEngine) Snapshot(ctx context.Context, tables []string) (engine.Snapshot, error) {
	opened, err := e.Open()
	if err != nil {
		return nil, err
	}
	return engine.Fixed(ctx, opened, tables)
}

// Layout is what a database says. Files have none, and are not opened for it.
func (e *lateEngine) Layout(ctx context.Context, queries []engine.Query) ([]string, error) {
	if e.kind == catalog.Embedded {
		return nil, nil
	}
	opened, err := e.Open()
	if err != nil {
		return nil, err
	}
	if l, ok := opened.(engine.Laid); ok {
		return l.Layout(ctx, queries)
	}
	return nil, nil
}

// Moving is what the engine says once it is open: before, no query has seen any state.
func (e *lateEngine) Moving(tables []string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u, ok := e.opened.(engine.Unsteady); ok {
		return u.Moving(tables)
	}
	return nil
}

func (e *lateEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened == nil {
		return nil
	}
	return e.opened.Close()
}

// EngineVariable has the URL of the database where no catalog names another variable.
const EngineVariable = "DISCREET_ENGINE"

// EngineURL is the URL of an engine's database, which stands in the environment.
func EngineURL(kind catalog.Kind, variable string) (string, error) {
	if by := command.WhoCalls(); by.Other { // whose environment it may be
		return "", diagnostic.New("D118", diagnostic.Span{}, "the caller's environment cannot name the owner's database").
			Because("the command runs with other rights than its caller's, and the URL can name files and servers").
			Try("ask a server that the owner runs: discreet serve")
	}
	if url := os.Getenv(variable); url != "" {
		return url, nil
	}
	example := "postgres://discreet:PASSWORD@db.example/clinic"
	if kind == catalog.Trino {
		example = "https://discreet:PASSWORD@trino.example:8443"
	}
	return "", diagnostic.New("D101", diagnostic.Span{}, "the environment has no $%s", variable).
		Because("it holds the URL of the database").
		Try("set it, as in %s=%s", variable, example)
}

// FilesAlone refuses what works over files alone where the catalog's records are in a database.
func (w *Workplace) FilesAlone(what string) error {
	if w.Catalog == nil || !w.Catalog.Engine.Remote() {
		return nil
	}
	return diagnostic.New("D106", diagnostic.Span{}, "%s works over files alone, and the records of %s are in a database", what, w.CatalogPath).
		Because("it reads single records in this process, and nothing moves them out of engine %q", w.Catalog.Engine.Kind).
		Try("export the table to a file (COPY ... TO, or Parquet), and declare that file in a catalog of its own; declare also_in where the records have a budget here, too")
}
