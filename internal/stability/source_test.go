package stability_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Attack I4: rows that code makes of records that are units are those records. Combined
// with them, or with other rows made of them, a record would count twice and pay once;
// so under a key that is drawn for each record, anew in each table.
func TestI4MadeOfOneRow(t *testing.T) {
	c := load(t)
	of := slices.IndexFunc(c.Tables, func(t *catalog.Table) bool { return t.Unit.Kind == catalog.UnitRow })
	rows := c.Tables[of]
	for name, outputs := range map[string]int64{"one": 1, "other": 1, "many": 3, "more": 3} {
		var err error
		if c, err = c.Map(catalog.MapOptions{Name: name, Of: rows.Name, Columns: []string{rows.Columns[0].Name}, Upper: 1, Outputs: outputs}); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{rows.Name, "one", "other", "many", "more"}
	for _, a := range names {
		for _, b := range names {
			for _, sql := range []string{
				"SELECT count(*) FROM (SELECT 1 AS x FROM A UNION ALL SELECT 1 AS x FROM B) AS t",
				"SELECT count(*) FROM A AS a JOIN B AS b ON 1 = 1",
				"SELECT count(*) FROM A AS a WHERE 1 IN (SELECT 1 FROM B)",
			} {
				sql = strings.NewReplacer("FROM A", "FROM "+a, "FROM B", "FROM "+b, "JOIN B", "JOIN "+b).Replace(sql)
				_, err := analyze(c, sql)
				var d *diagnostic.Diagnostic
				refused := errors.As(err, &d) && (d.Code == "D053" || d.Code == "D046")
				// A table whose records carry keys may be joined with itself.
				drawn := a == b && (a == "many" || a == "more") && strings.Contains(sql, "UNION")
				if refused == drawn {
					t.Errorf("%s: %v", sql, err)
				}
			}
		}
	}
}
