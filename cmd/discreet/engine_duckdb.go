//go:build cgo

package main

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

const engineName = "duckdb"

func openEngine(ctx context.Context, c *catalog.Catalog, l catalog.Resources, maps map[string]engine.Map) (engine.Engine, error) {
	e, err := duckdb.Open(ctx, c, duckdb.Options{Memory: l.Memory, Threads: l.Threads, Temp: l.Temp, Maps: maps})
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

// cannotOpen may say why: opening reads names and types, and no record.
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
