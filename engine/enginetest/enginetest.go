// Package enginetest is the conformance suite of engines: what an engine must
// do to be supported. It reveals exact values, so only tests import it.
//
// It covers the promises that package engine states: total reading of text
// sources (of typed ones too, where the engine has them), derived columns, canonical values, exact results that depend neither on the order of
// records nor on the number of threads, bounds enforced, constant errors,
// cancellation, planning without data, and a scratch instance that knows nothing.
//
// It does not guarantee that what an adapter's own lock should refuse is refused, nor
// that the engine is fast: these have tests of the adapter.
package enginetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// Open opens the engine under test over a catalog, with a number of threads.
// It closes it when the test ends.
type Open func(t testing.TB, c *catalog.Catalog, threads int) engine.Engine

// Run runs the suite over an engine that reads files.
func Run(t *testing.T, open Open) {
	t.Run("reading", func(t *testing.T) { reading(t, open) })
	t.Run("derived", func(t *testing.T) { derived(t, open) })
	t.Run("any bytes", func(t *testing.T) { anyBytes(t, open) })
	RunTables(t, open)
}

// RunTables runs what holds of every engine, wherever its records are: Open may put those of
// the catalog's files, which are CSV, into tables of a database, and open the engine over a
// catalog that names these.
func RunTables(t *testing.T, open Open) {
	t.Run("determinism", func(t *testing.T) { determinism(t, open) })
	t.Run("bounds", func(t *testing.T) { bounds(t, open) })
	t.Run("every bound", func(t *testing.T) { everyBound(t, open) })
	t.Run("choice of groups", func(t *testing.T) { choice(t, open) })
	t.Run("failures", func(t *testing.T) { failures(t, open) })
	t.Run("preparing", func(t *testing.T) { preparing(t, open) })
	t.Run("scratch", func(t *testing.T) { scratch(t, open) })
	t.Run("concurrency", func(t *testing.T) { concurrency(t, open) })
}

// files writes a catalog and its sources, and loads it.
func files(t testing.TB, texts map[string]string) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
