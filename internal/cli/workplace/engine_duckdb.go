//go:build cgo

package workplace

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// EngineName is the engine that this build has.
const EngineName = "duckdb"

// openEngine opens the catalog's sources; with lazy, only those that a statement reads, when
// it is prepared: before it is charged.
func openEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, lazy bool) (engine.Engine, error) {
	e, err := duckdb.Open(ctx, c, duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Maps: maps, Lazy: lazy})
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	return e, nil
}

// openPool opens an engine for so many statements at once.
func openPool(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map, statements int, answer int64) (engine.Engine, error) {
	e, err := duckdb.OpenPool(ctx, c, duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Maps: maps, Lazy: true, Answer: answer}, statements)
	if err != nil {
		return nil, cannotOpen(ctx, err)
	}
	return e, nil
}

func openOwner(ctx context.Context, l catalog.Resources) (engine.Owner, error) {
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
