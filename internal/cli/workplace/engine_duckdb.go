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

// keeps is what the engine over a catalog's files keeps: see engine.Keeper.
func keeps(c *catalog.Catalog) string { return duckdb.Keeps(c) }

// openEngine opens the catalog's sources; with lazy, only those that a statement reads, when
// it is prepared: before it is charged.
func openEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, lazy bool) (engine.Engine, error) {
	o := duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Copies: l.Copies, CopiesSize: l.CopiesSize, Maps: maps, Lazy: lazy}
	if c.Engine.Remote() && len(maps) > 0 {
		return openFed(ctx, c, o)
	}
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

// openFed opens the database that holds the records of mapped tables, beside the DuckDB that keeps
// what code makes of them.
func openFed(ctx context.Context, c *catalog.Catalog, o duckdb.Options) (engine.Engine, error) {
	source, kept := *c, noTables(c)
	source.Tables = nil
	var feeder engine.Feeder
	maps := map[string]engine.Map{}
	for _, t := range c.Tables {
		if t.Mapping == nil {
			source.Tables = append(source.Tables, t)
			continue
		}
		kept.Tables = append(kept.Tables, t)
		m := o.Maps[t.Name]
		seen := engine.Seen{Table: t.Mapping.Of.Name, ByUnit: t.Mapping.ByUnit, Room: m.Room}
		for _, column := range t.Mapping.Columns {
			seen.Columns = append(seen.Columns, column.Name)
		}
		m.Feed = func(ctx context.Context, f func([]engine.Call) error) error { return feeder.Feed(ctx, seen, f) }
		maps[t.Name] = m
	}
	o.Maps = maps
	e := &fed{catalog: c}
	var err error
	e.source, err = openRemote(ctx, &source, 0, func() (beside engine.Engine, err error) {
		e.Engine, err = duckdb.Open(ctx, kept, o)
		return e.Engine, err
	})
	if err != nil {
		return nil, err
	}
	feeder = e.source.(engine.Feeder)
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
