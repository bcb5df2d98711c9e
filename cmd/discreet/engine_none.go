//go:build !cgo

package main

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

const engineName = noEngine

func openEngine(context.Context, *catalog.Catalog, catalog.Resources, map[string]engine.Map) (engine.Engine, error) {
	return nil, errNoEngine
}

func openOwner(context.Context, catalog.Resources) (engine.Owner, error) { return nil, errNoEngine }
