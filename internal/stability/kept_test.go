package stability

import (
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A release of a table that has so many rows of a unit is another one where it has more, or where other columns tell which rows
// it has: a stored answer of the one does not serve the other.
func TestLimitedTablesAreTold(t *testing.T) {
	column := func(name string) *catalog.Column {
		return &catalog.Column{Name: name, Type: sqltype.Of(sqltype.Bigint)}
	}
	seen := map[string]bool{}
	for _, table := range []catalog.Table{
		{Name: "t", Columns: []*catalog.Column{column("a"), column("b")}},
		{Name: "t", Columns: []*catalog.Column{column("a"), column("b")}, MaxUnitRows: 2},
		{Name: "t", Columns: []*catalog.Column{column("a"), column("b")}, MaxUnitRows: 3},
		{Name: "t", Columns: []*catalog.Column{column("b"), column("a")}, MaxUnitRows: 3},
		{Name: "t", Columns: []*catalog.Column{column("a"), column("b"), column("c")}, MaxUnitRows: 3},
	} {
		key := (&Release{Input: &plan.Scan{Table: &table}}).Key()
		if seen[key] {
			t.Errorf("told as another: %s", key)
		}
		seen[key] = true
	}
}
