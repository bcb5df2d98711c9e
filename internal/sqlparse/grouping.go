package sqlparse

import (
	pg "github.com/sqlc-dev/oliphant"
)

// maxSets bounds the grouping sets of a SELECT: each is grouped by itself.
const maxSets = 64

// groupBy converts the list behind GROUP BY, which begins at token i. Grouping sets are
// multiplied out: of several elements of the list each combination is a set.
func (c *converter) groupBy(b *Select, list []*pg.Node, i int) int {
	sets := [][]int{nil}
	plain := true
	for k, n := range list {
		if k > 0 {
			i++ // the comma
		}
		place := c.place
		c.place = c.at(i).span()
		first := i
		var element [][]int
		element, i = c.groupElement(b, n, i)
		plain = plain && n.GetGroupingSet() == nil && len(element) == 1
		var all [][]int
		for _, left := range sets {
			for _, right := range element {
				all = append(all, append(left[:len(left):len(left)], right...))
			}
		}
		if len(all) > maxSets {
			c.refuse(c.clause(c.between(first, i-1), "there are more than %d grouping sets", maxSets).
				Because("each is grouped by itself, and takes its share of the cost").Try("list the sets that are wanted: GROUP BY GROUPING SETS ((a, b), (a), ())"))
		}
		sets, c.place = all, place
	}
	if !plain {
		b.Sets = sets
	}
	return i
}

// groupElement converts one element, adds its keys to those of b, and returns its sets.
func (c *converter) groupElement(b *Select, n *pg.Node, i int) (sets [][]int, next int) {
	defer c.enter(c.at(i).span())()
	if row := n.GetRowExpr(); row != nil && row.RowFormat == pg.CoercionForm_COERCE_IMPLICIT_CAST {
		open := c.index(int(row.Location))
		var keys []int
		keys, _ = c.groupKeys(b, row.Args, open+1)
		return [][]int{keys}, c.closers(c.closing(open)+1, i)
	}
	g := n.GetGroupingSet()
	if g == nil {
		var e Expr
		e, i = c.exprAt(n, i)
		b.GroupBy = append(b.GroupBy, e)
		return [][]int{{len(b.GroupBy) - 1}}, i
	}
	if g.Kind == pg.GroupingSetKind_GROUPING_SET_EMPTY {
		return [][]int{nil}, i + 2
	}
	open := i + 1 // ROLLUP (, CUBE (
	if g.Kind == pg.GroupingSetKind_GROUPING_SET_SETS {
		open++ // GROUPING SETS (
	}
	var parts [][][]int
	at := open
	for _, part := range g.Content {
		var of [][]int
		of, at = c.groupElement(b, part, at+1) // past the parenthesis or comma
		parts = append(parts, of)
	}
	next = c.closing(open) + 1
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		for _, of := range parts {
			sets = append(sets, of...)
		}
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP: // prefixes, the longest first
		sets = [][]int{nil}
		for _, of := range parts {
			sets = append([][]int{append(sets[0][:len(sets[0]):len(sets[0])], of[0]...)}, sets...)
		}
	case pg.GroupingSetKind_GROUPING_SET_CUBE: // subsets, the largest first
		sets = [][]int{nil}
		for k := len(parts) - 1; k >= 0 && len(sets) <= maxSets; k-- {
			var with [][]int
			for _, rest := range sets {
				with = append(with, append(parts[k][0][:len(parts[k][0]):len(parts[k][0])], rest...))
			}
			sets = append(with, sets...)
		}
	default:
		c.refuse(c.clause(c.start(g.Location), "this kind of grouping is not supported").Try("write ROLLUP, CUBE or GROUPING SETS"))
	}
	if len(sets) > maxSets {
		sets = append(sets[:maxSets:maxSets], nil) // groupBy refuses them, with their place
	}
	return sets, next
}

// groupKeys converts keys in parentheses.
func (c *converter) groupKeys(b *Select, list []*pg.Node, i int) (keys []int, next int) {
	exprs, next := c.exprs(list, i)
	for _, e := range exprs {
		b.GroupBy = append(b.GroupBy, e)
		keys = append(keys, len(b.GroupBy)-1)
	}
	return keys, next
}

// groupingCall converts GROUPING(a, b).
func (c *converter) groupingCall(f *pg.GroupingFunc) Expr {
	at := c.start(f.Location)
	i := c.index(at.Start)
	x := &Call{}
	x.Name, i = c.ident("grouping", i)
	x.Span = at.Join(c.at(c.closing(i)).span())
	for _, n := range f.Args {
		x.Args = append(x.Args, c.expr(n))
	}
	return x
}
