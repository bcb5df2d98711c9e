package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A splitting dialect groups rows by unit alone, which takes much less than by unit and
// group, tells the units that no bound cuts from the others, and bounds those alone.
type splitting interface {
	mask(place string) string                                                            // aggregates a bigint whose bit is set at each place from 0 to 61; NULL is no place
	odd(place string) string                                                             // the same, of places that are there an odd number of times
	ones(mask string) string                                                             // how many bits it has, 0 if it is NULL
	mixed(keys []string) string                                                          // one of those places for each value of the keys
	gathered(x string) string                                                            // aggregates an array
	spread(array string) string                                                          // its elements as rows, beside those of the other arrays
	element(texts, i string) string                                                      // one of constants, from 0
	fence() string                                                                       // ends a subquery that is not merged into the one around it
	scaled(s scope, e *plan.Call) (product string, round func(x string) string, ok bool) // plan.Fixed, where its product is used more than once
}

// A mask has places from 0; there are few masks.
const (
	maskPlaces = 62
	mostMasks  = 4
)

// splitting is the dialect, if units that no bound cuts are worth telling apart: where rows
// would be sorted, or all groups of units, and it is known exactly in how many groups a unit
// is, or does not matter.
func (w *bounded) splitting() splitting {
	b := w.node
	d, able := w.dialect.(splitting)
	if !able || b.Whole || b.MaxRows < 1 || w.cuts() && w.places() == 0 {
		return nil
	}
	if slices.ContainsFunc(b.Contributions, func(c plan.Contribution) bool { return c.Kind == plan.DistinctValues }) {
		return nil
	}
	if w.summable() && !(w.cuts() && w.added()) {
		return nil
	}
	return d
}

// added reports whether rows alone contribute, each by itself.
func (w *bounded) added() bool {
	return !slices.ContainsFunc(w.node.Contributions, func(c plan.Contribution) bool { return c.Kind != plan.Added })
}

// places is how many groups there can be, if that is few, or 0.
func (w *bounded) places() int {
	all := 1
	for i := range w.node.Keys {
		n := len(w.listed(i))
		if n == 0 || all > mostMasks*maskPlaces/n {
			return 0
		}
		all *= n
	}
	return all
}

// numbered reports whether keys are numbers of their texts, from 0: in each form of a query that chooses among groups.
func (w *bounded) numbered() bool {
	_, able := w.dialect.(splitting)
	return able && !w.node.Whole && len(w.node.Keys) > 0 && w.places() > 0 && (w.cuts() || w.splitting() != nil)
}

// code is the number of a row's group among all that there can be, from 0, where keys are numbered.
func (w *bounded) code() string {
	place, stride := make([]string, len(w.keys)), 1
	for i, key := range w.keys {
		place[i] = fmt.Sprintf("%s * %d", key, stride)
		stride *= len(w.listed(i))
	}
	return strings.Join(place, " + ")
}

// numbers is the relation of a listed key's texts, which all differ, and their numbers.
func (w *bounded) numbers(i int) string {
	values := make([]string, len(w.listed(i)))
	for j, text := range w.listed(i) {
		values[j] = fmt.Sprintf("(%s, %d)", w.texts([]string{text}), j)
	}
	return fmt.Sprintf("(VALUES %s) AS l%d(name, place)", strings.Join(values, ", "), i)
}

// groupsOfUnit aggregates, by unit, how many groups it is in, and of these those with an odd
// number of rows. Where keys are not numbered, groups are told apart by less than their keys.
func (w *bounded) groupsOfUnit(d splitting) (all, odd string) {
	switch {
	case len(w.node.Keys) == 0:
		return "1", "1"
	case !w.numbered():
		place := d.mixed(w.keys)
		return d.ones(d.mask(place)), d.ones(d.odd(place))
	}
	code, stride := w.code(), w.places()
	var masks, parities []string
	for first := 0; first < stride; first += maskPlaces {
		here := code
		if stride > maskPlaces {
			here = fmt.Sprintf("CASE WHEN %s BETWEEN %d AND %d THEN %s - %d END", code, first, first+maskPlaces-1, code, first)
		}
		masks, parities = append(masks, d.ones(d.mask(here))), append(parities, d.ones(d.odd(here)))
	}
	return strings.Join(masks, " + "), strings.Join(parities, " + ")
}

// split gathers each unit's rows, adds up those of units that no bound cuts as they are, and
// bounds the others.
//
// A unit with c rows in d groups, p of them with an odd number of rows, has few rows in any
// one: the p groups have one at least, the others two. So a group with an odd number has at
// most c − (p−1) − 2(d−p), another one c − p − 2(d−p−1). Let m be the greater of these that
// there can be: c − 2d + p + 2, or c − d + 1 if d = p. Of a unit with d ≤ L0 and m ≤ R
// bounding would keep every row: it numbers the unit's groups from 1 to d, and the rows of a
// group from 1 to how many there are. So what is kept, of every unit, is what bounding all of
// them keeps. Where groups are told apart by less than their keys, several count as one, which
// has as many rows as all of them, and so at least as many as each; then no bound is on the
// number of groups. Without keys there is one group, and m is c.
//
// Which units are bounded is a function of each one's own rows.
//
// Rows are sorted by unit first, whatever the planner would do: it takes an array for kilobytes, and a hash table of units
// then goes to disk long before memory is full.
func (w *bounded) split(d splitting, rows string) string {
	b := w.node
	if d, able := d.(rehashing); able && w.summable() {
		return w.order(d, rows)
	}
	gathered, spread := []string{"u"}, []string{"u"}
	carry := func(names ...string) {
		for _, name := range names {
			gathered = append(gathered, d.gathered(name)+" AS "+name)
			spread = append(spread, d.spread(name)+" AS "+name)
		}
	}
	carry(w.keys...)
	if b.Bin != nil {
		carry("b")
	}
	for i, c := range b.Contributions {
		switch name := fmt.Sprintf("v%d", i); {
		case c.Value == nil:
		case isOne(c.Value):
			spread = append(spread, w.literal(int64(1), sqltype.Of(sqltype.Bigint))+" AS "+name)
		default:
			carry(name)
		}
	}
	over := fmt.Sprintf("c - 2 * d + p + CASE WHEN d > p THEN 2 ELSE 1 END > %d", b.MaxRows)
	if w.cuts() {
		over = fmt.Sprintf("d > %d OR %s", b.MaxGroups, over)
	}
	groups, odd := w.groupsOfUnit(d)
	units := fmt.Sprintf("SELECT *, %s AS cut FROM (SELECT %s, count(*) AS c, %s AS d, %s AS p FROM (SELECT * FROM (%s) AS t ORDER BY u%s) AS t GROUP BY u) AS t",
		over, strings.Join(gathered, ", "), groups, odd, rows, d.fence())
	of := func(condition string) string {
		return fmt.Sprintf("SELECT %s FROM discreet_units WHERE %s", strings.Join(spread, ", "), condition)
	}
	whole := of("NOT cut")
	value := func(i int, _ plan.Contribution) string { return w.sumOf(fmt.Sprintf("v%d", i)) }
	if !w.added() {
		whole, value = w.unitGroups(whole, true), w.ofGroups
	}
	var by []string // units of one part are in no other, so that numbers of them add up
	for _, i := range w.shown() {
		by = append(by, w.keys[i])
	}
	if b.Bin != nil {
		by = append(by, "b")
	}
	columns := slices.Clone(by)
	for i := range b.Contributions {
		columns = append(columns, fmt.Sprintf("%s AS x%d", w.dialect.sum(w.sumOf(fmt.Sprintf("x%d", i))), i))
	}
	cut := w.bound(of("cut"))
	w.groups = "" // which stand beside what is not cut
	text := fmt.Sprintf("WITH discreet_units AS MATERIALIZED (%s) SELECT %s FROM (%s UNION ALL %s) AS t", units, strings.Join(columns, ", "), w.group(whole, value), cut)
	if len(by) > 0 {
		text += " GROUP BY " + strings.Join(by, ", ")
	}
	return text
}
