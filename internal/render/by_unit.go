package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A dialect that aggregates by unit has a function that keeps a unit's least groups: see engine.Least.
type byUnit interface {
	packing
	least(groups, values int, code string, v []string, rows string) string // SELECTs u, h, s0, ... of the groups of all units
}

const (
	// rowBits are those of a code in which rows are counted: see engine/duckdb/least.
	rowBits, rowMask = 8, 1<<8 - 1
	// leastBytes bounds what is held of each unit, however few groups it is in, and leastValues how many values are summed.
	leastBytes, leastValues = 512, 3
)

// byUnit renders a bounded aggregation with one grouping, by unit, where otherwise rows are grouped by unit and group, and
// the groups by unit, or all rows are ranked. It returns nil where the function is not there, or a unit would take much memory.
//
// A unit's groups are ordered by the hash and behind it the number of the group, as elsewhere, so the same ones are
// kept. Of each come the number of rows, and the exact sums of all rows' values. Where a contribution looks at all of a unit's rows, or only
// counts them, that is all that it needs. What is the sum of chosen rows is the group's sum if it has R rows at most; the rows of
// others are read again, with all of their units, ranked by their hashes, and the first R added up.
//
// Rows may have keys that are none of their lists: they have no code, and no group.
func (w *bounded) byUnit(rows string) *engine.Least {
	b := w.node
	d, able := w.dialect.(byUnit)
	number, size := w.number()
	if !able || b.Whole || b.Bin != nil || !w.cuts() || number == "" || size+rowBits > packedBits {
		return nil
	}
	code := d.high(w.hash(w.keys), packedBits) + " | " + at(number, rowBits)
	var values, sums []string
	group := fmt.Sprintf("(h >> %d) & %d AS g", rowBits, int64(1)<<size-1)
	kept, again := []string{group}, []string{group} // of groups, and of the rows that are read again
	for i, c := range b.Contributions {
		v, s, x := fmt.Sprintf("v%d", i), fmt.Sprintf("s%d", len(values)), "1"
		ranked := "NULL"
		switch {
		case c.Kind == plan.DistinctValues,
			c.Kind == plan.UnitCount && b.Shown != nil, // a unit of several groups of one that is shown is one
			c.Kind == plan.Added && b.MaxRows >= rowMask,
			(c.Kind == plan.Added || c.Kind == plan.Clamped) && c.Value.Type() != sqltype.Of(sqltype.Bigint):
			return nil
		case c.Kind == plan.Added && isOne(c.Value):
			x = fmt.Sprintf("least(h & %d, %d)", rowMask, b.MaxRows)
		case c.Kind == plan.Added:
			x, ranked = fmt.Sprintf("CASE WHEN h & %d <= %d THEN %s END", rowMask, b.MaxRows, s), v
			values = append(values, v)
		case c.Kind == plan.Clamped: // a sum of nothing adds nothing
			x = fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN least(greatest(%s, %s), %s) END", s, s, c.Lower, c.Upper)
			values = append(values, v)
		case c.Value != nil:
			x = fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN 1 END", s)
			values = append(values, fmt.Sprintf("CASE WHEN %s THEN 1 END", v))
		}
		kept, again = append(kept, fmt.Sprintf("%s AS p%d", x, i)), append(again, fmt.Sprintf("%s AS p%d", ranked, i))
		sums = append(sums, fmt.Sprintf("%s AS x%d", w.dialect.sum(w.sumOf(fmt.Sprintf("p%d", i))), i))
	}
	if len(values) > leastValues || b.MaxGroups > leastBytes/int64(8+16*len(values)) {
		return nil
	}
	with, parts := "", "SELECT "+strings.Join(kept, ", ")+" FROM "
	groups := d.least(int(b.MaxGroups), len(values), code, values, rows)
	if len(w.chosen) == 0 {
		parts += "(" + groups + ") AS t"
	} else {
		with = fmt.Sprintf("WITH discreet_units AS MATERIALIZED (%s), discreet_cut AS MATERIALIZED (SELECT u, h FROM discreet_units WHERE h & %d > %d) ", groups, rowMask, b.MaxRows)
		parts += fmt.Sprintf("discreet_units UNION ALL SELECT %s FROM (SELECT *, row_number() OVER (PARTITION BY u, h ORDER BY %s) AS r FROM (SELECT *, %s AS h FROM (%s) AS t) AS t "+
			"SEMI JOIN (SELECT u, (h >> %d) << %d AS h FROM discreet_cut) AS cut USING (u, h)) AS t WHERE r <= %d",
			strings.Join(again, ", "), strings.Join(append([]string{w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))}, w.chosen...), ", "), code, w.of("SELECT u FROM discreet_cut"),
			rowBits, rowBits, b.MaxRows)
	}
	columns := w.textsOf(d)
	text := fmt.Sprintf("%sSELECT %s FROM (%s) AS t GROUP BY g", with, strings.Join(append(columns, sums...), ", "), parts)
	return &engine.Least{SQL: w.addUp(text), Groups: int(b.MaxGroups), Values: len(values)}
}
