//go:build cgo

package workplace

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// EngineName is the engine that this build has.
const EngineName = "duckdb"

// openEngine opens the catalog's sources; with lazy, only those that a statement reads, when
// it is prepared: before it is charged.
func openEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, lazy bool) (engine.Engine, error) {
	o := duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Copies: l.Copies, CopiesSize: l.CopiesSize, Maps: maps, Lazy: lazy}
	if c.Engine.Remote() {
		return openRemote(ctx, c, 0, func() (engine.Engine, error) { return duckdb.Open(ctx, noTables(c), o) })
	}
	e, err := duckdb.Open(ctx, c, o)
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	return e, nil
}

// openPool opens an engine for so many statements at once.
func openPool(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, statements int, answer int64) (engine.Engine, error) {
	o := duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Copies: l.Copies, CopiesSize: l.CopiesSize, Maps: maps, Lazy: true, Answer: answer}
	if c.Engine.Remote() {
		return openRemote(ctx, c, statements, func() (engine.Engine, error) { return duckdb.OpenPool(ctx, noTables(c), o, statements) })
	}
	e, err := duckdb.OpenPool(ctx, c, o, statements)
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	return e, nil
}

// openRemote opens the database that holds the records, for so many statements at once, beside
// the DuckDB that post-processes their releases.
func openRemote(ctx context.Context, c *catalog.Catalog, statements int, post func() (engine.Engine, error)) (engine.Engine, error) {
	url, err := EngineURL(c.Engine.Kind, c.Engine.Variable)
	if err != nil {
		return nil, err
	}
	beside, err := post()
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	var e engine.Engine
	if c.Engine.Kind == catalog.Trino {
		e, err = trino.Open(ctx, c, trino.Options{URL: url, Connections: statements, Post: beside})
	} else {
		e, err = postgres.Open(ctx, c, postgres.Options{URL: url, Connections: statements, Post: beside})
	}
	if err != nil {
		return nil, cannotOpen(ctx, errors.Join(err, beside.Close()))
	}
	return e, nil
}

// noTables is a catalog without any.
func noTables(c *catalog.Catalog) *catalog.Catalog {
	none := *c
	none.Tables, none.Views = nil, nil
	return &none
}

// openOwner opens the engine of a catalog, if there is one, that its owner may ask anything.
func openOwner(ctx context.Context, c *catalog.Catalog, l catalog.Resources) (engine.Owner, error) {
	if c != nil && c.Engine.Remote() {
		url, err := EngineURL(c.Engine.Kind, c.Engine.Variable)
		if err != nil {
			return nil, err
		}
		var o engine.Owner
		if c.Engine.Kind == catalog.Trino {
			o, err = trino.OpenOwner(ctx, c, trino.Options{URL: url})
		} else {
			o, err = postgres.OpenOwner(ctx, c, postgres.Options{URL: url})
		}
		if err != nil {
			return nil, cannotOpen(ctx, err)
		}
		return o, nil
	}
	o, err := duckdb.OpenOwner(ctx, duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp})
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	return o, nil
}

// cannotOpen may say why: opening reads names and types, but no record.
func cannotOpen(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	return diagnostic.New("D101", diagnostic.Span{}, "%v", err).Try("the owner runs discreet check")
}
