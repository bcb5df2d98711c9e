//go:build !cgo

package workplace

import (
	"context"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// EngineName is the engine that this build has.
const EngineName = NoEngine

func keeps(*catalog.Catalog) string { return "" }

func openEngine(context.Context, *catalog.Catalog, catalog.Resources, map[string]engine.Map, bool) (engine.Engine, error) {
	return nil, ErrNoEngine
}

func openPool(context.Context, *catalog.Catalog, catalog.Resources, map[string]engine.Map, int, int64) (engine.Engine, error) {
	return nil, ErrNoEngine
}

func openOwner(context.Context, *catalog.Catalog, catalog.Resources) (engine.Owner, error) {
	return nil, ErrNoEngine
}
