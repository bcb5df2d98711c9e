package enginetest_test

import (
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/enginetest"
)

// openAdapter opens the adapter that is to be tested.
var openAdapter func(c *catalog.Catalog, threads int) (engine.Engine, error)

// The test of an adapter, in its package.
func ExampleRun() {
	TestConformance := func(t *testing.T) {
		enginetest.Run(t, func(t testing.TB, c *catalog.Catalog, threads int) engine.Engine {
			e, err := openAdapter(c, threads)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		})
	}
	_ = TestConformance
}
