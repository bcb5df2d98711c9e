package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
)

// least is the dialect, if it bounds by what it has grouped, and looks at those rows alone that a
// bound cuts: for what needs no choice among rows, however many groups a unit may keep, and for
// what does where no bound is on its groups. Where there are both, ranking all rows took less time.
//
// The rows of each unit and group are aggregated, whole. A unit with more groups than it may have
// keeps those whose numbers, made of the group's hash and behind it of its place among all that
// there can be, are at most the unit's L0-th: as no two groups of a unit have one number, these are
// L0 of them, the first in the order of their hashes. Of a group with at most R rows each is kept,
// so that what its rows add up to is what they add. Rows of others are ranked, and the first R
// counted. So what is kept, of every unit, is what ranking all rows keeps.
//
// Which rows are ranked is a function of each unit's own rows and the salt.
func (w *bounded) least() (packing, bool) {
	b := w.node
	d, able := w.dialect.(packing)
	if !able || w.compared || b.Bin != nil || slices.ContainsFunc(b.Contributions, func(c plan.Contribution) bool { return c.Kind == plan.DistinctValues }) {
		return nil, false
	}
	if !w.cuts() {
		return d, !w.summable() && b.MaxRows > 0 // else nothing is ranked
	}
	code, _ := w.number()
	return d, w.summable() && code != "" && b.MaxGroups <= packedGroups
}

// leastGroups renders it.
func (w *bounded) leastGroups(d packing, rows string) string {
	if w.cuts() {
		code, _ := w.number()
		w.groups = w.unitGroups(rows, false)
		return fmt.Sprintf("WITH discreet_units AS MATERIALIZED (SELECT *, %s | CAST(%s AS BIGINT) AS h FROM (%s) AS t), ", d.high(w.hash(w.keys), packedBits), code, w.groups) +
			fmt.Sprintf("discreet_most AS (SELECT u AS of, %s AS h FROM discreet_units GROUP BY u HAVING count(*) > %d) ", d.nthLeast("h", w.node.MaxGroups), w.node.MaxGroups) +
			w.group("SELECT t.* FROM discreet_units AS t LEFT JOIN discreet_most AS most ON t.u = most.of WHERE most.of IS NULL OR t.h <= most.h", w.ofGroups)
	}
	// A contribution that rows are chosen for is what they all add to a group with few, and the
	// values of the first of another; the rest of the contributions are the group's in both.
	chosen := func(c plan.Contribution) bool { return c.Kind == plan.Added && !isOne(c.Value) }
	byUnit := append([]string{"u"}, w.keys...)
	grouped, whole, few := slices.Clone(byUnit), slices.Clone(byUnit), slices.Clone(byUnit)
	for i, c := range w.node.Contributions {
		p, v := fmt.Sprintf("p%d", i), fmt.Sprintf("v%d", i)
		switch {
		case chosen(c):
			grouped = append(grouped, w.sumOf(v)+" AS "+p)
			whole, few = append(whole, fmt.Sprintf("CASE WHEN c <= %d THEN %s END AS %s", w.node.MaxRows, p, p)), append(few, v)
			continue
		case c.Kind == plan.Added:
			grouped = append(grouped, fmt.Sprintf("least(count(*), %d) AS %s", w.node.MaxRows, p))
		default:
			grouped = append(grouped, w.unitPart(i, c)+" AS "+p)
		}
		whole, few = append(whole, p), append(few, "NULL")
	}
	by := strings.Join(byUnit, ", ")
	match := []string{"t.u = cut.u"}
	for _, key := range w.keys { // one that is not listed may be NULL
		match = append(match, fmt.Sprintf("t.%[1]s IS NOT DISTINCT FROM cut.%[1]s", key))
	}
	order := append([]string{w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))}, w.chosen...)
	w.groups = fmt.Sprintf("SELECT %s, count(*) AS c FROM (%s) AS t GROUP BY %s", strings.Join(grouped, ", "), rows, by)
	ranked := fmt.Sprintf("SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS r FROM (SELECT t.* FROM (%s) AS t SEMI JOIN (SELECT %s FROM discreet_units WHERE c > %d) AS cut ON %s) AS t",
		by, strings.Join(order, ", "), w.of(fmt.Sprintf("SELECT u FROM discreet_units WHERE c > %d", w.node.MaxRows)), by, w.node.MaxRows, strings.Join(match, " AND "))
	return fmt.Sprintf("WITH discreet_units AS MATERIALIZED (%s) ", w.groups) +
		w.group(fmt.Sprintf("SELECT %s FROM discreet_units UNION ALL SELECT %s FROM (%s) AS t WHERE r <= %d", strings.Join(whole, ", "), strings.Join(few, ", "), ranked, w.node.MaxRows), w.ofGroups)
}
