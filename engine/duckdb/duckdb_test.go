//go:build cgo

package duckdb_test

import (
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
)

func open(t testing.TB, c *catalog.Catalog, o duckdb.Options) *duckdb.Engine {
	t.Helper()
	o.Temp = t.TempDir()
	e, err := duckdb.Open(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t testing.TB, c *catalog.Catalog, threads int) engine.Engine {
		return open(t, c, duckdb.Options{Threads: threads})
	})
}
