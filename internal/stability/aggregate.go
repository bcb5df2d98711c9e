package stability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// aggregate: over private rows, grouping by the unit keeps it unit-preserving
// (each group lies within one unit, and inner sums run in fixed point, so that
// a group's value depends on the multiset of its rows alone). So does grouping by a declared
// reference, or by what it refers to: see references.go. Any other
// aggregation over private rows is a release; over anything else it is
// post-processing.
func (a *analysis) aggregate(n *plan.Aggregate) (*relation, error) {
	r, err := a.node(n.Input)
	if err != nil {
		return nil, err
	}
	if n.Limits != nil && r.state != private {
		return nil, diagnostic.New("D057", n.Limits.Span, "WITH DIFFERENTIAL_PRIVACY over rows that are not private").
			Because("it bounds what one unit does to aggregates of private rows").Try("write it at the SELECT that reads the private table")
	}
	if r.state != private {
		out := *r
		copied := *n
		copied.Input = r.node
		out.node = &copied
		return &out, nil
	}
	unit := map[int]bool{}
	for i, k := range n.Keys {
		if r.isUnit(k) {
			unit[i] = true
		}
	}
	if err := unitInSome(n, r); err != nil {
		return nil, err
	}
	if len(unit) == 0 {
		if n.Sets != nil {
			return a.level(n, r)
		}
		if !slices.ContainsFunc(n.Keys, func(k plan.Expr) bool { return a.keyOf(n.Input, k) != nil }) {
			if narrow, err := a.narrows(n); err != nil || narrow {
				if err != nil {
					return nil, err
				}
				return a.releaseNamed(n)
			}
			return a.release(n, r)
		}
	}
	if n.Limits != nil {
		return nil, diagnostic.New("D057", n.Limits.Span, "WITH DIFFERENTIAL_PRIVACY at an aggregation by the unit").
			Because("its rows still belong to one unit each, and nothing is released yet").Try("write it at the SELECT that aggregates these rows")
	}
	out := *r
	copied := *n
	copied.Input = r.node
	out.node, out.unit, out.halves, out.numbered, out.rowsPerUnit = &copied, unit, nil, nil, 0
	if len(unit) > 0 && len(unit) == len(n.Keys) {
		out.rowsPerUnit = 1
	}
	return &out, nil
}

// release certifies n as a release and returns its place in post-processing.
func (a *analysis) release(n *plan.Aggregate, r *relation) (*relation, error) {
	return a.releaseAs(n, r, false)
}

// releaseAs is release of all groups, or of one that is chosen by its count: see chosen.
func (a *analysis) releaseAs(n *plan.Aggregate, r *relation, chosen bool) (*relation, error) {
	rel := &Release{Input: r.node, Columns: n.Columns(), Chosen: chosen, Span: n.Span, OneRow: r.rowsPerUnit == 1, Rows: r.rowsPerUnit}
	var complete bool
	var err error
	if rel.Keys, complete, err = a.groupedBy(n); err != nil {
		return nil, err
	}
	rel.Private = !complete
	rel.Kept = !rel.Private && a.kept(n, r)
	if l := n.Limits; l != nil && l.Rows > 0 && !rel.Kept {
		return nil, notKept(l)
	}
	if err := a.within(rel, n); err != nil {
		return nil, err
	}
	if len(n.Keys) == 0 && len(n.Aggregations) == 0 {
		return nil, diagnostic.New("D040", n.Span, "an aggregation without keys and aggregates").
			Try("select an aggregate, such as count(*), or group by a key")
	}

	// L0 and R. By construction a unit with at most k rows has at most k groups
	// and k rows in each; a single group needs no bound on groups.
	rel.MaxGroups, rel.MaxRows = r.maxGroups, r.maxRows
	auto, keys := searchable(n, r)
	if rel.Kept {
		auto = nil
	}
	rel.Auto = auto
	if c := a.facts.found.contribution(auto, keys); c != nil {
		rel.Found = true
		rel.MaxGroups, rel.MaxRows = lesserBound(rel.MaxGroups, c.Groups), lesserBound(rel.MaxRows, c.Rows)
	}
	if k := r.rowsPerUnit; rel.Kept {
		rel.MaxGroups, rel.MaxRows = k, k
	} else if k > 0 {
		rel.MaxGroups, rel.MaxRows = lesserBound(rel.MaxGroups, k), lesserBound(rel.MaxRows, k)
	}
	if cells, ok := cells(rel.Bounding()); ok && complete {
		rel.MaxGroups = lesserBound(rel.MaxGroups, cells) // without keys there is one group
		if chosen && len(n.Keys) == 1 {
			rel.MaxGroups = cells // a choice needs no bound of them
		}
	}
	if rel.MaxGroups == 0 {
		return nil, undeclared(r, n.Span, "max_groups_per_unit", "to how many groups")
	}
	if err := rel.limit(n.Limits, r); err != nil {
		return nil, err
	}
	c := &components{release: rel, input: n.Input, facts: a.facts, relation: r}
	for _, g := range n.Aggregations {
		agg, err := c.aggregate(g)
		if err != nil {
			return nil, err
		}
		rel.Aggregates = append(rel.Aggregates, agg)
	}
	if !c.needsRows {
		rel.MaxRows = 0
	}
	rel.gather()
	rel.Exclusive = rel.exclusive()
	if chosen {
		rel.Aggregates, rel.Columns = nil, rel.Columns[:len(rel.Keys)]
	}

	key := rel.Key()
	for i, known := range a.keys {
		if known == key { // equal releases are released once
			return &relation{node: &plan.Released{Index: i, Cols: rel.Columns, Span: n.Span}, state: released}, nil
		}
	}
	if a.components += len(rel.Components); a.components > maxComponents {
		return nil, diagnostic.New("D056", n.Span, "the statement has more than %d noisy values a group", maxComponents).
			Try("ask for fewer aggregates in one statement")
	}
	a.keys = append(a.keys, key)
	a.certificate.Releases = append(a.certificate.Releases, rel)
	return &relation{
		node:  &plan.Released{Index: len(a.certificate.Releases) - 1, Cols: rel.Columns, Span: n.Span},
		state: released,
	}, nil
}

// kept reports whether rows are bounded by how many a unit has of their table alone. They can be where the owner declares that, and each
// aggregate adds up what single rows contribute: numbers of units and clamped sums of one look at all of a unit's rows in a group.
//
// Where the table has bounds for each statement, too, these can bound it as well, and the statement may name which bound it; else both ways are
// certified, by Options, and package release takes the one whose noise errs less. Each is sound by itself, over the same rows, which are a
// function of a unit's own; and which is taken follows from the statement, its cost and what is declared, not from rows.
func (a *analysis) kept(n *plan.Aggregate, r *relation) bool {
	if r.rowsPerUnit <= 1 || len(r.tables) != 1 || r.tables[0].MaxUnitRows == 0 {
		return false
	}
	for _, g := range n.Aggregations {
		if g.Distinct && r.isUnit(g.Arg) {
			return false
		}
		if ref := unwiden(g.Arg); ref != nil && g.Function == plan.Sum {
			if _, c := origin(n.Input, ref.Index); c != nil && c.SumLower != nil {
				return false
			}
		}
	}
	switch t, l := r.tables[0], n.Limits; {
	case l != nil && l.Groups > 0:
		return false
	case l != nil && l.Rows > 0 || !t.Bounded():
		return true
	}
	a.certificate.EitherWay = true
	return !a.options.Bounded
}

// notKept refuses a bound of all of a unit's rows where that is not what bounds the statement.
func notKept(l *plan.Limits) error {
	return diagnostic.New("D057", l.Span, "max_rows_contributed = %d does not bound this", l.Rows).
		Because("rows of a unit are bounded together where one table is declared with max_rows_per_unit, the groups have a public domain, and the aggregates are of single rows").
		Try("leave it out, or write max_groups_contributed")
}

// limit applies what a statement says: it may tighten a bound, since bounds are enforced
// whatever they are, and never loosen one.
func (r *Release) limit(l *plan.Limits, of *relation) error {
	if l == nil {
		return nil
	}
	if l.Groups > 0 && !r.OneRow && len(r.Bounding()) > 0 {
		if declared := of.maxGroups; declared > 0 && l.Groups > declared {
			return diagnostic.New("D057", l.Span, "max_groups_contributed = %d is more than the %d groups that the owner declares", l.Groups, declared).
				Because("a statement may tighten a bound, and not loosen it").Try("write max_groups_contributed = %d, or leave it out", declared)
		}
		r.MaxGroups = min(r.MaxGroups, l.Groups)
	}
	if l.Rows > 0 && l.Rows != r.Rows {
		return diagnostic.New("D057", l.Span, "max_rows_contributed = %d is not the %d rows that are kept of a unit", l.Rows, r.Rows).
			Because("they are kept once, the same for every statement").Try("write max_rows_contributed = %d, or leave it out", r.Rows)
	}
	if l.Public && r.Private {
		return diagnostic.New("D057", l.Span, "the groups are not public").
			Because("a grouping key has no public domain, so that the data would choose the groups").
			Try("leave group_selection_strategy out, or group by columns with a public domain or bounds")
	}
	if l.Unit != "" {
		for _, t := range of.tables {
			if t.Unit.Kind != catalog.UnitColumn || t.Unit.Column.Name != l.Unit {
				return diagnostic.New("D057", l.Span, "%s is not the privacy unit of table %q", l.Unit, t.Name).
					Because("the unit is what the owner declares").Try("leave privacy_unit_column out")
			}
		}
	}
	return nil
}

// groupedBy returns the keys of an aggregation, and whether each has a complete domain.
func (a *analysis) groupedBy(n *plan.Aggregate) (keys []Key, complete bool, err error) {
	r := &Release{}
	for i, k := range n.Keys {
		if k.Type().Kind == sqltype.IntervalKind {
			return nil, false, diagnostic.New("D051", k.Place(), "an interval cannot be a grouping key").
				Because("equal intervals can be written differently (1 month, 30 days)").Try("group by extract(epoch FROM ...)")
		}
		r.Keys = append(r.Keys, Key{Expr: k, Name: n.Names[i], Domain: a.facts.domainOf(n.Input, k)})
	}
	if n.Among != nil && n.Among.Number {
		r.Keys[0].Domain, r.Keys[0].Numbered = nil, n.Among.Numbered.(*plan.Stage)
		return r.Keys, true, nil
	}
	r.derive(a.facts, n.Input)
	if slices.ContainsFunc(r.Keys, func(k Key) bool { return k.Domain == nil }) {
		return r.Keys, false, nil
	}
	for _, k := range r.Keys {
		for _, d := range k.Domain {
			a.facts.need(d)
		}
	}
	return r.Keys, true, nil
}

// derive gives keys without a domain the one that follows from declared bounds, if all have
// one then and there are few groups. Rows with other keys are dropped before any bound is
// applied, as with a declared domain, and the groups are a function of the statement and the
// catalog: they reveal nothing, and cost no delta.
func (r *Release) derive(f *facts, input plan.Node) {
	keys := slices.Clone(r.Keys)
	derived := false
	for i, k := range keys {
		if k.Domain != nil {
			continue
		}
		if keys[i].Domain = f.finite(input, k.Expr); keys[i].Domain == nil {
			return
		}
		keys[i].Derived, derived = true, true
	}
	if !derived {
		return
	}
	if cells, ok := (&Release{Keys: keys}).cells(); ok && cells <= MostDerived {
		r.Keys = keys
	}
}

// cells returns the number of combinations of the keys' domains, where it is
// known without reading a table: no unit can be in more groups.
func (r *Release) cells() (int64, bool) { return cells(r.Keys) }

func cells(keys []Key) (int64, bool) {
	cells := int64(1)
	for _, k := range keys {
		if k.Numbered != nil {
			return 0, false
		}
		values := int64(0)
		for _, d := range k.Domain {
			n, ok := d.Size()
			if !ok || n < 1 {
				return 0, false
			}
			values = saturatingAdd(values, n)
		}
		cells = saturatingMultiply(cells, max(values, 1))
	}
	return cells, true
}

func lesserBound(declared, structural int64) int64 {
	if declared == 0 {
		return structural
	}
	return min(declared, structural)
}

func undeclared(r *relation, at diagnostic.Span, name, what string) error {
	missing := r.tables[0]
	for _, t := range r.tables {
		if t.Unit.Kind != catalog.UnitRow && (name == "max_groups_per_unit" && t.MaxGroups == 0 || name == "max_rows_per_group" && t.MaxRows == 0) {
			missing = t
			break
		}
	}
	return diagnostic.New("D048", at, "table %q declares no %s", missing.Name, name).
		Because("without a bound on %s one unit may contribute, no noise would be enough", what).
		Try("the owner adds %s = ... to [tables.%s]; aggregating by the unit first also works", name, missing.Name)
}

// Key identifies what a release computes: equal keys, equal releases.
func (r *Release) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ngroups %d of %d rows %t\n", plan.Format(r.Input), r.MaxGroups, r.Rows, r.Kept)
	if r.Chosen {
		b.WriteString("chosen\n")
	}
	for _, k := range r.Keys {
		fmt.Fprintf(&b, "key %s\n", plan.FormatExpr(k.Expr))
	}
	for _, k := range r.Within {
		fmt.Fprintf(&b, "within %s\n", plan.FormatExpr(k.Expr))
	}
	for _, g := range r.Aggregates {
		fmt.Fprintf(&b, "%s %v %v\n", g.Function, g.Fraction, g.Components)
	}
	for _, c := range r.Components {
		b.WriteString(c.key())
	}
	return b.String()
}

// Same reports whether two components of releases over the same rows are the same number of each group, whatever their noise needs.
func (c Component) Same(d Component) bool { return c.key() == d.key() }

func (c Component) key() string {
	arg, filter := "", ""
	if c.Arg != nil {
		arg = plan.FormatExpr(c.Arg)
	}
	if c.Filter != nil {
		filter = plan.FormatExpr(c.Filter)
	}
	return fmt.Sprintf("%d|%s|%s|%v|%v|%v|%d|%v|%v|%v|%d|%v\n", c.Kind, arg, filter, c.Lower, c.Upper, c.Center, c.Shift, c.PartialLower, c.PartialUpper, c.Grid, c.Places, c.Step)
}
