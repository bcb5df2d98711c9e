//go:build cgo

package duckdb

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// ofUnits are those of a table's rows that it has: of each unit the first catalog.Table.MaxUnitRows in an order that
// depends on the table's name and the row alone.
//
// Theorem. Which of a unit's rows are left is a function of the multiset of its own rows. So neighbouring tables, which
// differ in the rows of one unit, are still neighbours when these are left out: the step is 1-Lipschitz (McSherry 2009,
// Privacy Integrated Queries, Definition 3), and what is private of its result is as private of the table.
//
// Rows are ordered by a hash of all their values, and then by the values: the rows that remain tied are identical, and which
// of them are left changes nothing. Intervals that are equal can be written differently, so that they are
// compared as texts. The hash needs no secret: privacy asks for no randomness here. It is the same in each
// process of one build, so that a copy has the rows that reading the files would give.
func ofUnits(t *catalog.Table, rows string) string {
	if t.MaxUnitRows == 0 {
		return rows
	}
	names, values := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quote(c.Name)
		if values[i] = names[i]; c.Type.Kind == sqltype.IntervalKind {
			values[i] = "CAST(" + names[i] + " AS VARCHAR)"
		}
	}
	order := strings.Join(values, ", ")
	return fmt.Sprintf("SELECT %s FROM (%s) AS t QUALIFY row_number() OVER (PARTITION BY %s ORDER BY hash(%s, %s), %s) <= %d",
		strings.Join(names, ", "), rows, quote(t.Unit.Column.Name), literal(t.Name), order, order, t.MaxUnitRows)
}
