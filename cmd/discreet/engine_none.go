//go:build !cgo

package main

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

const engineName = "none"

var errNoEngine = diagnostic.New("D117", diagnostic.Span{}, "this discreet was built without an engine").
	Because("DuckDB is linked by cgo").
	Try("build it with CGO_ENABLED=1 and a C compiler")

func openEngine(context.Context, *catalog.Catalog, limits) (engine.Engine, error) {
	return nil, errNoEngine
}

func openOwner(context.Context, limits) (engine.Owner, error) { return nil, errNoEngine }
