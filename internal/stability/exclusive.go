package stability

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// mostExcluded bounds how many conditions are held against each other for a release.
const mostExcluded = 100_000

// exclusive are sets of components, two or more, of which each row of the input adds to one at most, the same most to each: counts under conditions that no row meets
// together, and sums of values that are not negative, as of a table whose columns are groups:
//
//	SELECT count(*) FILTER (WHERE s = 'F'), sum(CASE WHEN s = 'M' THEN 1 ELSE 0 END) FROM t
//
// Theorem. A unit keeps at most R rows in a group, the same for all components, and each row adds to one component of a set at most, between 0 and M. So what
// it adds to the set in the group is a vector of entries that are not negative, and add up to at most R·M: the PerGroup of each of them. VectorDistances has how far such vectors
// lie apart. (Of coarser groups, L0·R·M by the same sum.)
//
// That no row meets two conditions is shown by disjoint. Conditions are functions of a row's values that every engine computes alike; what is not shown is not believed.
func (r *Release) exclusive() [][]int {
	types := []sqltype.Type{}
	for _, c := range r.Input.Columns() {
		types = append(types, c.Type)
	}
	var sets [][]int
	counted, left := map[int][]plan.Expr{}, mostExcluded
	excludes := func(i, j int) bool {
		left -= len(counted[i]) * len(counted[j])
		return left >= 0 && disjoint(counted[i], counted[j], types)
	}
	for i, c := range r.Components {
		if c.Kind != Rows && (c.Kind != Sum || c.Center.Sign() != 0 || c.LowerUnits.Sign() < 0) {
			continue
		}
		if counted[i] = adding(c); len(counted[i]) == 0 {
			continue
		}
		at := slices.IndexFunc(sets, func(set []int) bool {
			return !slices.ContainsFunc(set, func(j int) bool {
				return r.Components[j].PerGroup.Cmp(c.PerGroup) != 0 || !excludes(i, j)
			})
		})
		if at < 0 {
			sets = append(sets, nil)
			at = len(sets) - 1
		}
		sets[at] = append(sets[at], i)
	}
	return slices.DeleteFunc(sets, func(set []int) bool { return len(set) < 2 })
}

// adding are conditions that each row meets which adds to a count or a sum something but 0. A value of 0 adds 0 to a sum whose values are not
// clamped to more.
func adding(c Component) []plan.Expr {
	all := conjuncts(c.Filter)
	zero := c.Kind == Sum && c.LowerUnits.Sign() == 0
	arg := c.Arg
	for {
		cast, ok := arg.(*plan.Cast)
		if !ok {
			break
		}
		if cast.Arg.Type().Kind == sqltype.Boolean && zero { // 1 where it is true
			return append(all, conjuncts(cast.Arg)...)
		}
		arg = cast.Arg
	}
	choice, ok := arg.(*plan.Case)
	if !ok || len(choice.Whens) != 1 {
		return all
	}
	if otherwise, ok := choice.Else.(*plan.Literal); choice.Else != nil && (!ok || otherwise.Value != nil && (!zero || !isZero(otherwise))) {
		return all
	}
	return append(all, conjuncts(choice.Whens[0].Condition)...)
}

func isZero(l *plan.Literal) bool {
	x, ok := sqltype.Rat(l.Value)
	return ok && x.Sign() == 0
}

// disjoint reports whether it is known that no row meets all of both conditions: one of them denies another, or they compare one column, or
// one expression, with constants of which none is in common.
func disjoint(a, b []plan.Expr, types []sqltype.Type) bool {
	return slices.ContainsFunc(a, func(x plan.Expr) bool {
		return slices.ContainsFunc(b, func(y plan.Expr) bool {
			return denies(x, y) || denies(y, x) || otherConstant(x, y) || apart(x, y, types)
		})
	})
}

// denies reports whether x is NOT y.
func denies(x, y plan.Expr) bool {
	c, ok := x.(*plan.Call)
	return ok && c.Function == plan.Not && plan.FormatExpr(c.Args[0]) == plan.FormatExpr(y)
}

// comparable reports whether values of a type are equal for every engine if they are for us, and ordered so.
func comparable(t sqltype.Type) bool {
	return t.IsInteger() || t.Kind == sqltype.Boolean || t.Kind == sqltype.Text || t.Kind == sqltype.DateKind
}

// otherConstant reports whether both say of one expression that it equals a constant, and each another one.
func otherConstant(x, y plan.Expr) bool {
	equated := func(e plan.Expr) (plan.Expr, *plan.Literal) {
		c, ok := e.(*plan.Call)
		if !ok || c.Function != plan.Equal {
			return nil, nil
		}
		for i, a := range c.Args {
			if l, ok := a.(*plan.Literal); ok && l.Value != nil {
				return c.Args[1-i], l
			}
		}
		return nil, nil
	}
	e, v := equated(x)
	f, w := equated(y)
	return v != nil && w != nil && v.T == w.T && e.Type() == v.T && f.Type() == v.T && comparable(v.T) &&
		plan.FormatExpr(e) == plan.FormatExpr(f) && sqltype.Compare(v.Value, w.Value) != 0
}

// apart reports whether what two conditions leave of some column has no value in common.
func apart(x, y plan.Expr, types []sqltype.Type) bool {
	found := false
	plan.Walk(x, func(e plan.Expr) bool {
		ref, ok := e.(*plan.Ref)
		if !ok || found || !comparable(ref.T) || ref.Index >= len(types) || types[ref.Index] != ref.T {
			return !found
		}
		every := func() *image { return &image{step: unitOf(ref.T)} }
		if ref.T.Kind == sqltype.Boolean {
			every = func() *image { return listOf(false, true) }
		}
		found = noneOfBoth(narrowed(every(), ref.T, ref.Index, x), narrowed(every(), ref.T, ref.Index, y))
		return !found
	})
	return found
}

// noneOfBoth reports whether no value is in both of two images.
func noneOfBoth(a, b *image) bool {
	switch {
	case a.listed:
		return !slices.ContainsFunc(a.values, b.has)
	case b.listed:
		return !slices.ContainsFunc(b.values, a.has)
	}
	beyond := func(a, b *image) bool { return a.upper != nil && b.lower != nil && a.upper.Cmp(b.lower) < 0 }
	return beyond(a, b) || beyond(b, a)
}
