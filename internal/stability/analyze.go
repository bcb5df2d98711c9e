package stability

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
)

// maxComponents bounds how many noisy numbers a group of a statement may have.
const maxComponents = 200

// Options say how a statement is certified, where there are several ways.
type Options struct {
	// Found are tighter bounds than the declared ones, where some were found.
	Found *Found
	// Public are the values of public columns that were read.
	Public Public
	// Counts leaves out choices: what they are made by is released as noisy counts, whose error can be named.
	Counts bool
	// Bounded has max_groups_per_unit and max_rows_per_group bound what a unit contributes, of the rows that are kept once, where the number
	// of these could, too: see kept.
	Bounded bool
}

// Analyze certifies a bound statement or refuses it with a *diagnostic.Diagnostic.
func Analyze(statement plan.Node) (*Certificate, error) {
	c, _, err := AnalyzeWith(statement, Options{})
	return c, err
}

// AnalyzeWith is Analyze in one of its ways. Its result may be another where the public columns of unread are given, too.
func AnalyzeWith(statement plan.Node, o Options) (_ *Certificate, unread []*catalog.PublicDomain, err error) {
	a := &analysis{certificate: &Certificate{}, options: o, facts: newFacts(), referred: map[*catalog.Column]bool{}, known: map[plan.Node]*relation{}}
	a.facts.found, a.facts.public = o.Found, o.Public
	a.references(statement)
	r, err := a.node(statement)
	if err != nil {
		return nil, a.facts.unread, err
	}
	if r.state == private {
		return nil, a.facts.unread, rawRows(r)
	}
	if !o.Counts && a.countsToo() {
		o.Counts = true
		return AnalyzeWith(statement, o)
	}
	a.certificate.Post, unread = r.node, a.facts.unread
	if o.Found != nil || len(o.Public) > 0 { // what is found, or read, says nothing of what can be meant
		a.facts = newFacts()
	}
	a.certificate.Doubts = doubts(statement, a.facts)
	return a.certificate, unread, nil
}

type analysis struct {
	certificate *Certificate
	facts       *facts
	components  int
	keys        []string // of the releases, for finding equal ones

	referred map[*catalog.Column]bool // by which tables of the statement find their unit
	options  Options
	known    map[plan.Node]*relation // of some nodes that were analysed, and are met again
}

// A state says what the rows of a relation may reveal.
type state uint8

const (
	public   state = iota // public tables and constants
	released              // functions of releases and public data
	private               // unit-preserving rows
)

// A relation is a node with what is known of it.
type relation struct {
	node  plan.Node
	state state
	one   bool // it has one row, whatever the data; of a Stage alone

	// The rest is of private relations.

	tables []*catalog.Table // read below, each once
	// unit marks the output columns that hold the unit's key itself.
	unit map[int]bool
	// halves marks the columns that hold the unit's key or, unmatched in a FULL
	// join, NULL: 1 for the left side and 2 for the right.
	halves map[int]int
	// MaxGroups and MaxRows as declared: 0 where some table does not say.
	maxGroups, maxRows int64
	// rowsPerUnit is the number of rows that a unit has at most by
	// construction; 0 if unbounded.
	rowsPerUnit int64
	// numbered marks the columns that number the rows of each unit from 1.
	numbered map[int]bool
}

func (a *analysis) node(n plan.Node) (*relation, error) {
	if r := a.known[n]; r != nil {
		return r, nil
	}
	switch n := n.(type) {
	case *plan.Scan:
		return a.scan(n)
	case *plan.Values, *plan.Stage: // constants
		return &relation{node: n, state: public}, nil
	case *plan.Filter:
		return a.filter(n)
	case *plan.Project:
		return a.project(n)
	case *plan.Join:
		return a.join(n)
	case *plan.Union:
		return a.union(n)
	case *plan.Aggregate:
		return a.aggregate(n)
	case *plan.Window:
		return a.window(n)
	case *plan.Sort:
		return a.sort(n)
	case *plan.Limit:
		return a.limit(n)
	}
	// Default deny: a node without a rule is refused.
	return nil, diagnostic.New("D040", n.Place(), "this construct has no privacy rule").
		Because("%T is not among the operators whose effect on a unit's rows is known", n)
}

// scan: the rows of a private table are unit-preserving by declaration: each
// row carries its unit's key, rows without one are excluded.
func (a *analysis) scan(n *plan.Scan) (*relation, error) {
	t := n.Table
	if t.Public {
		return &relation{node: n, state: public}, nil
	}
	switch d := a.certificate.Domain; {
	case d == nil:
		a.certificate.Domain = t.Domain
	case d != t.Domain:
		return nil, diagnostic.New("D044", n.Span, "table %q counts units of domain %q, the statement already reads domain %q", t.Name, t.Domain.ID, d.ID).
			Because("a guarantee speaks about one population of privacy units at a time").
			Try("ask about each domain in a statement of its own")
	}
	r := &relation{node: n, state: private, tables: []*catalog.Table{t}, unit: map[int]bool{},
		maxGroups: t.MaxGroups, maxRows: t.MaxRows}
	switch t.Unit.Kind {
	case catalog.UnitRow:
		r.maxGroups, r.maxRows, r.rowsPerUnit = 1, 1, 1
	case catalog.UnitColumn:
		r.rowsPerUnit = t.MaxUnitRows // engines read no more of a unit
		for i, c := range t.Columns {
			if c == t.Unit.Column {
				r.unit[i] = true
			}
		}
	}
	return r, nil
}

// filter: a unit's kept rows depend on its own rows alone, since the condition
// is a function of one row. Of rows that are numbered within their unit it keeps as
// many as it says.
func (a *analysis) filter(n *plan.Filter) (*relation, error) {
	r, err := a.node(n.Input)
	if err != nil {
		return nil, err
	}
	out := *r
	out.node = &plan.Filter{Input: r.node, Condition: n.Condition, Span: n.Span}
	if rows := r.keptOf(n.Condition); rows > 0 && (r.rowsPerUnit == 0 || rows < r.rowsPerUnit) {
		out.rowsPerUnit = rows
	}
	return &out, nil
}

// project: row by row, like filter. A column that is a unit's key stays one.
func (a *analysis) project(n *plan.Project) (*relation, error) {
	if r, err := a.chosen(n, n); r != nil || err != nil {
		return r, err
	}
	r, err := a.node(n.Input)
	if err != nil {
		return nil, err
	}
	out := *r
	out.node = &plan.Project{Input: r.node, Exprs: n.Exprs, Names: n.Names, Declared: n.Declared, Span: n.Span}
	out.unit, out.halves, out.numbered = map[int]bool{}, map[int]int{}, map[int]bool{}
	for i, e := range n.Exprs {
		if ref := unwiden(e); ref != nil && r.numbered[ref.Index] {
			out.numbered[i] = true
		}
		if r.isUnit(e) {
			out.unit[i] = true
		}
		if ref, ok := e.(*plan.Ref); ok && r.halves[ref.Index] != 0 {
			out.halves[i] = r.halves[ref.Index]
		}
	}
	return &out, nil
}

// isUnit reports whether e is the unit's key: a column that holds it, widened
// perhaps, or both halves of a FULL join coalesced.
func (r *relation) isUnit(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Ref:
		return r.unit[e.Index]
	case *plan.Cast:
		return e.T.IsInteger() && e.Arg.Type().IsInteger() && e.T.Kind >= e.Arg.Type().Kind && r.isUnit(e.Arg)
	case *plan.Call:
		if e.Function != plan.Coalesce {
			return false
		}
		var seen int
		for _, arg := range e.Args {
			ref, ok := arg.(*plan.Ref)
			if !ok || r.halves[ref.Index] == 0 {
				return false
			}
			seen |= r.halves[ref.Index]
		}
		return seen == 3
	}
	return false
}

// union: UNION ALL of unit-preserving relations is unit-preserving: a unit's
// rows are the concatenation of its rows in the branches.
func (a *analysis) union(n *plan.Union) (*relation, error) {
	var out *relation
	nodes := make([]plan.Node, len(n.Branches))
	for i, b := range n.Branches {
		r, err := a.node(b)
		if err != nil {
			return nil, err
		}
		nodes[i] = r.node
		if i == 0 {
			first := *r
			out = &first
			continue
		}
		if (r.state == private) != (out.state == private) {
			return nil, diagnostic.New("D052", b.Place(), "UNION ALL of private rows with rows that are not").
				Because("rows that belong to no unit cannot be protected, and would show the private ones beside them").
				Try("aggregate the private rows first, or join the public rows on a column")
		}
		out.state = max(out.state, r.state)
		if out.state != private {
			continue
		}
		if err := sameRowTable(out, r, b); err != nil {
			return nil, err
		}
		for c := range out.unit {
			if !r.unit[c] {
				delete(out.unit, c)
			}
		}
		out.halves, out.numbered = nil, nil
		// The branches may share units, whose rows then add up; distinct tables
		// whose unit is the row hold distinct units.
		combine := saturatingAdd
		if rowUnits(out) && rowUnits(r) {
			combine = larger
		}
		out.rowsPerUnit = both(out.rowsPerUnit, r.rowsPerUnit, combine)
		out.maxRows = both(out.maxRows, r.maxRows, combine)
		out.maxGroups = both(out.maxGroups, r.maxGroups, larger)
		out.tables = append(out.tables[:len(out.tables):len(out.tables)], r.tables...)
	}
	out.node = &plan.Union{Branches: nodes, Span: n.Span}
	return out, nil
}

func rowUnits(r *relation) bool {
	for _, t := range r.tables {
		if t.Unit.Kind != catalog.UnitRow {
			return false
		}
	}
	return true
}

// sameRowTable refuses to combine rows that are units with rows of the same records,
// whatever the tables are called, or with rows whose unit is no row: a row has no key
// by which its copies could be recognised as one unit's. Rows that code made of one
// record carry a key that was drawn for it, and only in their own table.
func sameRowTable(a, b *relation, at plan.Node) error {
	for _, t := range a.tables {
		for _, u := range b.tables {
			rows := t.Unit.Kind == catalog.UnitRow || u.Unit.Kind == catalog.UnitRow
			drawn := t != u && (drawnUnit(t) || drawnUnit(u))
			if (rows || drawn) && t.SameSource(u) || t.Unit.Kind != u.Unit.Kind && rows {
				return diagnostic.New("D053", at.Place(), "table %q, whose unit is the row, cannot be combined with %q", t.Name, u.Name).
					Because("%s", copies(t, u)).
					Try("express it in one pass over %q, or ask the owner to declare a unit column", t.Name)
			}
		}
	}
	return nil
}

// drawnUnit reports whether a table's units are rows of the table that it is made of,
// which code may turn into several, each with the key that was drawn for its record.
func drawnUnit(t *catalog.Table) bool {
	return t.Mapping != nil && t.Mapping.Of.Unit.Kind == catalog.UnitRow
}

func copies(t, u *catalog.Table) string {
	why := "a row has no key, so its copies could not be recognised as one unit's"
	if t != u && t.SameSource(u) {
		return "both are made of the same records, and " + why
	}
	return why
}

// both combines two bounds; one that is not known (0) wins.
func both(a, b int64, f func(x, y int64) int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return f(a, b)
}

const most = 1 << 40

func larger(a, b int64) int64 { return max(a, b) }

func saturatingAdd(a, b int64) int64 { return min(a+b, most) }

func saturatingMultiply(a, b int64) int64 {
	if a > most/b {
		return most
	}
	return a * b
}

// sort: the order of private rows means nothing to what is computed from
// them; above a release it is post-processing.
func (a *analysis) sort(n *plan.Sort) (*relation, error) {
	r, err := a.node(n.Input)
	if err != nil || r.state == private {
		return r, err
	}
	out := *r
	out.node = &plan.Sort{Input: r.node, Keys: n.Keys, Span: n.Span}
	return &out, nil
}

// limit: which rows a LIMIT keeps depends on all units at once: one unit's
// rows push another's out.
func (a *analysis) limit(n *plan.Limit) (*relation, error) {
	if shown, ok := n.Input.(*plan.Project); ok {
		if r, err := a.chosen(n, shown); r != nil || err != nil {
			return r, err
		}
	}
	r, err := a.node(n.Input)
	if err != nil {
		return nil, err
	}
	if r.state == private && ofUnits(r.node) {
		return nil, rawRows(r)
	}
	if r.state == private {
		return nil, diagnostic.New("D043", n.Span, "LIMIT over private rows").
			Because("which rows it keeps depends on everybody's rows at once, so one unit could change all of them").
			Try("aggregate first: LIMIT is free above the aggregation")
	}
	out := *r
	limited := &plan.Limit{Input: r.node, Count: n.Count, Offset: n.Offset, Span: n.Span}
	if r.state == public { // it may be joined with private rows, so the rows must be fixed
		limited.Input = totallyOrdered(r.node)
	}
	out.node = limited
	return &out, nil
}

// totallyOrdered completes the order of a LIMIT's rows by all their columns, so
// that rows that remain tied are identical: which public rows are kept then
// depends on neither physical order nor threads.
func totallyOrdered(n plan.Node) plan.Node {
	sort := &plan.Sort{Input: n, Span: n.Place()}
	switch n := n.(type) {
	case *plan.Project:
		computed := func(e plan.Expr) bool { _, ok := e.(*plan.Ref); return !ok }
		if !slices.ContainsFunc(n.Exprs, computed) {
			return &plan.Project{Input: totallyOrdered(n.Input), Exprs: n.Exprs, Names: n.Names, Span: n.Span}
		}
	case *plan.Sort:
		sort.Input, sort.Keys = n.Input, n.Keys[:len(n.Keys):len(n.Keys)]
	}
	for i, c := range sort.Input.Columns() {
		sort.Keys = append(sort.Keys, plan.SortKey{Expr: tieBreaker(i, c)})
	}
	return sort
}

func rawRows(r *relation) error {
	d := diagnostic.New("D041", r.node.Place(), "the result would be rows of private table %q", r.tables[0].Name).
		Because("every row belongs to one %s; only aggregates over many can be released", domainNoun(r.tables[0].Domain))
	if ofUnits(r.node) {
		return d.Try("count and add up the groups once more: SELECT count(*), avg(n) FROM (SELECT count(*) AS n ... GROUP BY ...) AS t; or leave out the key that names the unit, and group by what many share")
	}
	return d.Try("ask for count(*), sum(x), avg(x), ... perhaps with GROUP BY")
}

// ofUnits reports whether private rows are groups, each within a unit.
func ofUnits(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Aggregate:
		return len(n.Keys) > 0
	case *plan.Project:
		return ofUnits(n.Input)
	case *plan.Filter:
		return ofUnits(n.Input)
	}
	return false
}

func domainNoun(d *catalog.Domain) string { return fmt.Sprintf("unit of domain %q", d.ID) }

// countsToo reports whether counts by which a value is chosen are released beside it.
func (a *analysis) countsToo() bool {
	of := func(r *Release) string {
		own := Release{Input: r.Input, Keys: r.Keys, Kept: r.Kept, Rows: r.Rows}
		return own.Key()
	}
	for _, r := range a.certificate.Releases {
		if r.Chosen && slices.ContainsFunc(a.certificate.Releases, func(q *Release) bool {
			return !q.Chosen && of(q) == of(r) && slices.ContainsFunc(q.Components, r.Components[0].Same)
		}) {
			return true
		}
	}
	return false
}
