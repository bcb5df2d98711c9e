package workplace

import (
	"context"
	"sync"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// NoEngine is the engine's name in a build without one.
const NoEngine = "none"

// ErrNoEngine is what a build without cgo answers with.
var ErrNoEngine = diagnostic.New("D117", diagnostic.Span{}, "this discreet was built without an engine").
	Because("DuckDB is linked by cgo").
	Try("build it with CGO_ENABLED=1 and a C compiler")

// A lateEngine opens at its first use. Explain does not use it, unless a table holds a
// public domain.
type lateEngine struct {
	Open func() (engine.Engine, error)

	mu     sync.Mutex
	opened engine.Engine // nil until open has succeeded
}

func newLateEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, lazy bool) *lateEngine {
	e := &lateEngine{}
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

// Dialect is DuckDB's: there is no other engine.
func (e *lateEngine) Dialect() string { return "duckdb" }

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

func (e *lateEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened == nil {
		return nil
	}
	return e.opened.Close()
}
