package bind

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A groupingRef stands for GROUPING(a, b) until the SELECT is assembled: a number that has, for
// each argument, the last one lowest, a bit that is 1 in rows of sets without it.
type groupingRef struct {
	index int
	args  []plan.Expr
	at    diagnostic.Span
}

func (g *groupingRef) Type() sqltype.Type     { return typeOf(sqltype.Integer) }
func (g *groupingRef) Place() diagnostic.Span { return g.at }

// mostGrouped is how many arguments GROUPING has at most, as in PostgreSQL: its value is an integer.
const mostGrouped = 31

func (c *context) grouping(e *sqlparse.Call) plan.Expr {
	if c.aggregates == nil {
		refuse(diagnostic.New("D018", e.Span, "grouping cannot stand in %s", c.clause).
			Because("it tells rows of one grouping set from those of another").Try("write it in the select list, HAVING or ORDER BY"))
	}
	if len(e.Args) < 1 || len(e.Args) > mostGrouped {
		refuse(wrongCount(e, 1, mostGrouped))
	}
	g := &groupingRef{index: len(c.aggregates.groupings), at: e.Span}
	args := *c.aggregates.args
	args.clause = "GROUPING"
	for _, a := range e.Args {
		g.args = append(g.args, args.value(a))
	}
	for _, known := range c.aggregates.groupings {
		if slices.EqualFunc(known.args, g.args, equal) {
			return &groupingRef{known.index, g.args, g.at}
		}
	}
	c.aggregates.groupings = append(c.aggregates.groupings, g)
	return g
}

// groupingSets notes the sets; a key that is written several times is one.
func (s *selection) groupingSets(sets [][]int) {
	number := make([]int, len(s.keys))
	var keys []plan.Expr
	for i, k := range s.keys {
		if number[i] = slices.IndexFunc(keys, func(known plan.Expr) bool { return equal(known, k) }); number[i] < 0 {
			number[i], keys = len(keys), append(keys, k)
		}
	}
	s.keys = keys
	s.sets = make([][]int, len(sets))
	for i, set := range sets {
		for _, k := range set {
			s.sets[i] = append(s.sets[i], number[k])
		}
		slices.Sort(s.sets[i])
		s.sets[i] = slices.Compact(s.sets[i])
	}
}

// eachKeyOnce groups by keys that are the same column once, under whatever names: the values of a public domain would else be combined with
// themselves, in groups that there cannot be.
func eachKeyOnce(all *plan.Aggregate) plan.Node {
	once := *all
	once.Keys, once.Names = nil, nil
	number := make([]int, len(all.Keys))
	for i, k := range all.Keys {
		below, origin := traced(all.Input, k)
		number[i] = slices.IndexFunc(once.Keys, func(known plan.Expr) bool {
			n, e := traced(all.Input, known)
			return n == below && equal(e, origin)
		})
		if number[i] < 0 {
			number[i], once.Keys, once.Names = len(once.Keys), append(once.Keys, k), append(once.Names, all.Names[i])
		}
	}
	if len(once.Keys) == len(all.Keys) {
		return all
	}
	p := &plan.Project{Input: &once, Span: all.Span}
	refs := refsTo(&once)
	for i, name := range all.Names {
		p.Exprs, p.Names = append(p.Exprs, refs[number[i]]), append(p.Names, name)
	}
	for j, a := range all.Aggregations {
		p.Exprs, p.Names = append(p.Exprs, refs[len(once.Keys)+j]), append(p.Names, a.Name)
	}
	return p
}

// traced follows an expression that is a column of a query to what the query selects for it.
func traced(n plan.Node, e plan.Expr) (plan.Node, plan.Expr) {
	for {
		ref, ok := e.(*plan.Ref)
		if !ok {
			return n, e
		}
		switch of := n.(type) {
		case *plan.Project:
			if of.Declares(ref.Index) != nil { // a view's own domain
				return n, e
			}
			n, e = of.Input, of.Exprs[ref.Index]
		case *plan.Filter:
			n = of.Input
		default:
			return n, e
		}
	}
}

// bySets returns the aggregation of each grouping set, one below the other: the keys, NULL where a set has
// them not, the aggregates, and what each GROUPING is there. The last are what tells a key
// that is NULL from one that the set has not.
func (s *selection) bySets(all *plan.Aggregate) plan.Node {
	if s.sets == nil && len(s.aggregates.groupings) == 0 {
		return eachKeyOnce(all)
	}
	sets := s.sets
	if sets == nil {
		every := make([]int, len(s.keys))
		for i := range every {
			every[i] = i
		}
		sets = [][]int{every}
	}
	shared := &plan.Sets{Keys: all.Keys, Names: all.Names, Levels: sets}
	if len(sets) == 1 {
		shared = nil
	}
	copies := size(all.Input)
	out := &plan.Union{Span: all.Span}
	for i, set := range sets {
		for range min(copies, maxNodes+1) { // each set has the rows for itself
			if i > 0 {
				s.count(all.Span)
			}
		}
		level := &plan.Aggregate{Input: all.Input, Aggregations: all.Aggregations, Limits: all.Limits, Sets: shared, Set: i, Span: all.Span}
		row := &plan.Project{Span: all.Span}
		for k, e := range all.Keys {
			row.Names = append(row.Names, all.Names[k])
			if !slices.Contains(set, k) {
				row.Exprs = append(row.Exprs, &plan.Literal{T: e.Type(), Span: e.Place()})
				continue
			}
			row.Exprs = append(row.Exprs, &plan.Ref{Index: len(level.Keys), Name: all.Names[k], T: e.Type(), Span: e.Place()})
			level.Keys, level.Names = append(level.Keys, e), append(level.Names, all.Names[k])
		}
		for j, a := range all.Aggregations {
			row.Names = append(row.Names, a.Name)
			row.Exprs = append(row.Exprs, &plan.Ref{Index: len(level.Keys) + j, Name: a.Name, T: a.Type, Span: a.Span})
		}
		for _, g := range s.aggregates.groupings {
			row.Names, row.Exprs = append(row.Names, "grouping"), append(row.Exprs, integer(s.without(g, set), g.at))
		}
		row.Input = level
		out.Branches = append(out.Branches, row)
	}
	if len(out.Branches) == 1 {
		return out.Branches[0]
	}
	return out
}

// without is the value of GROUPING in the rows of a set.
func (s *selection) without(g *groupingRef, set []int) (bits int64) {
	for _, a := range g.args {
		k := slices.IndexFunc(s.keys, func(key plan.Expr) bool { return equal(key, a) })
		if k < 0 {
			refuse(diagnostic.New("D014", a.Place(), "an argument of grouping is no grouping key").
				Because("grouping says which keys a row is not grouped by").Try("name keys of GROUP BY"))
		}
		bits <<= 1
		if !slices.Contains(set, k) {
			bits |= 1
		}
	}
	return bits
}

func (s *selection) groupingColumn(g *groupingRef) plan.Expr {
	return &plan.Ref{Index: len(s.keys) + len(s.aggregates.list) + g.index, Name: "grouping", T: g.Type(), Span: g.at}
}

// size is how many relations a plan has, each counted as often as it is read.
func size(n plan.Node) int {
	out := 1
	for _, in := range n.Inputs() {
		out += size(in)
		if out > maxNodes {
			return maxNodes + 1
		}
	}
	return out
}
