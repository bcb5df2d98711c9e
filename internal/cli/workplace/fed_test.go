package workplace

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

type unsteady struct{ engine.Engine }

func (unsteady) Moving(tables []string) []string {
	return slices.DeleteFunc(slices.Clone(tables), func(name string) bool { return name != "visits" })
}

// What code makes of a table that moves moves, but for one that one query reads.
func TestMappedTablesMove(t *testing.T) {
	of := func(name string, kind catalog.UnitKind) *catalog.Table {
		return &catalog.Table{Name: "of " + name, Mapping: &catalog.Mapping{Of: &catalog.Table{Name: name, Unit: catalog.Unit{Kind: kind}}}}
	}
	c := &catalog.Catalog{Tables: []*catalog.Table{of("visits", catalog.UnitColumn), of("stays", catalog.UnitColumn), {Name: "visits"}}}
	all := []string{"of visits", "of stays", "visits"}
	if got := (&fed{catalog: c, source: unsteady{}}).Moving(all); !slices.Equal(got, []string{"of visits"}) {
		t.Errorf("%q move", got)
	}
	c.Tables[0] = of("visits", catalog.UnitRow)
	if got := (&fed{catalog: c, source: unsteady{}}).Moving(all); got != nil {
		t.Errorf("of units that are rows %q move", got)
	}
	if got := (&fed{catalog: c}).Moving(all); got != nil {
		t.Errorf("of an engine with snapshots %q move", got)
	}
}
