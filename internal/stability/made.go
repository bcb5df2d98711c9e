package stability

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Made says how a release could be made of what another one has released, without looking at a row: what its
// aggregates read are components of the other, and its groups are made of the other's whole groups.
//
// Theorem (post-processing; Dwork and Roth 2014, Proposition 2.1). The other's noisy values y met their guarantee when they
// were released. Which of them are added up for a group follows from keys, which are public values, and from the two statements;
// so what is made is a function of y and of what is public, and reveals nothing that y does not.
//
// What it says is another matter. Let each row of the relation have one value of each of the other's keys K, and let the
// release's keys be among K, with conditions of its own on K alone. Then the rows of a group are those of the
// groups of K that the conditions keep and whose keys it shares, and a number that single rows add to is the sum of these groups' numbers: of
// the rows that the other's bounds and domains kept. Of a unit that were L0 groups of K and R rows in each, so that here
// up to L0·R may be in one group; and a row outside the domain of any key of K is left out. Numbers of units and of distinct values, and sums
// that are clamped for each unit, do not add up: of them a group is made of one group of K alone.
//
// A sum that is centred otherwise is made of two numbers of a group: over the n rows of it that have a value, Σ(x − c) = Σ(x − d) + (d − c)·n. Both
// are numbers of one release, whose components are computed of the same kept rows, with the values clamped alike. So an average (a count and a
// centred sum) is made of a sum and a count of the same values, and a sum of what was released for an average.
//
// Grouping sets whose keys all have complete domains are bounded by the groups of all keys, and a coarser set's groups are made of these as
// those of any coarser grouping are.
type Made struct {
	// Same says that both are the same release: the same groups of the same rows, and the same aggregates of them.
	Same       bool
	Keys       []int    // of each key of the release, its number among the other's
	Components [][]Part // of each component, those of the other that it is the sum of

	where    []plan.Expr // over the other's keys by their numbers
	whole    bool        // a group must be made of one group of the other
	of       []worded    // the other's keys
	bounding []int       // of each key that bounds the release, as Keys, where its domain is the other's, too; else −1
}

// A Part is a component of the other release, and how often it counts.
type Part struct {
	Component int
	Times     *big.Int
}

// A Form is what a release computes in the words in which releases are compared. They are written once, as that takes longer than
// to compare them.
//
// Its rows are those of a relation that meet conditions, and keys, conditions and arguments are over the relation's columns: a subquery or a
// view that filters rows, and computes columns of single rows, is replaced by what it says. Rows and values stay the same, since expressions are
// deterministic. What a view declares of its columns is in bounds of components and in domains of keys, which are compared as they are.
type Form struct {
	release    *Release
	relation   string // "" of a release that depends on a stage, which is a constant of its own statement
	conditions []worded
	keys       []worded
	within     []string
	components []Component // over the relation's columns
	texts      []string    // of components
	all        string      // all but the relation and the conditions
}

// worded is an expression over the relation's columns.
type worded struct {
	expr plan.Expr
	text string
}

func word(e plan.Expr) worded {
	return worded{e, plan.FormatExpr(e) + "::" + e.Type().String()}
}

// Form returns the release's.
func (r *Release) Form() *Form {
	f := &Form{release: r, components: slices.Clone(r.Components)}
	keys, within := make([]plan.Expr, len(r.Keys)), make([]plan.Expr, len(r.Within))
	for i, k := range r.Keys {
		keys[i] = k.Expr
	}
	for i, k := range r.Within {
		within[i] = k.Expr
	}
	below, conditions := r.Input, []plan.Expr(nil)
	for descends := true; descends; {
		switch n := below.(type) {
		case *plan.Filter:
			below, conditions = n.Input, append(conditions, conjuncts(n.Condition)...)
		case *plan.Project:
			below = n.Input
			of := func(e plan.Expr) plan.Expr {
				if e == nil {
					return nil
				}
				return plan.Map(e, func(ref *plan.Ref) plan.Expr { return n.Exprs[ref.Index] })
			}
			for _, all := range [][]plan.Expr{keys, within, conditions} {
				for i := range all {
					all[i] = of(all[i])
				}
			}
			for i := range f.components {
				c := &f.components[i]
				c.Arg, c.Filter = of(c.Arg), of(c.Filter)
			}
		default:
			descends = false
		}
	}
	if len(StagesOf(r.Input)) == 0 {
		f.relation = plan.Format(below)
	}
	for _, c := range conditions {
		f.conditions = append(f.conditions, word(c))
	}
	var all strings.Builder
	fmt.Fprintf(&all, "groups %d of %d rows %d %t chosen %t private %t\n", r.MaxGroups, r.Rows, r.MaxRows, r.Kept, r.Chosen, r.Private)
	for _, k := range keys {
		f.keys = append(f.keys, word(k))
		fmt.Fprintf(&all, "key %s\n", f.keys[len(f.keys)-1].text)
	}
	for i, k := range within {
		f.within = append(f.within, word(k).text)
		fmt.Fprintf(&all, "within %s of %s\n", f.within[i], listing(r.Within[i].Domain))
	}
	for _, g := range r.Aggregates {
		fmt.Fprintf(&all, "%s %v %v\n", g.Function, g.Fraction, g.Components)
	}
	for _, c := range f.components {
		f.texts = append(f.texts, c.key())
		all.WriteString(f.texts[len(f.texts)-1])
	}
	f.all = all.String()
	return f
}

// listing is a public domain in words: equal ones, equal values. That of a key which bounds and is not shown is compared so.
func listing(parts []*catalog.PublicDomain) (words string) {
	for _, d := range parts {
		words += plan.Declaration(&catalog.Column{Domain: d})
		if d.Step != nil {
			words += fmt.Sprintf(" from %s to %s", d.Lower.RatString(), d.Upper.RatString())
		}
	}
	return words
}

// Relation is the relation that a release aggregates, but for conditions on its rows and columns computed of them: releases of other
// ones are not made of each other. "" of one that is made of none.
func (f *Form) Relation() string { return f.relation }

// MadeOf returns how f could be made of what another release has released, or nil. Both are of statements over one catalog. sameGroups says that
// keys which are the same expressions have the same values, which a view may leave out some of.
func (f *Form) MadeOf(other *Form, sameGroups bool) *Made {
	r, of := f.release, other.release
	if f.relation == "" || f.relation != other.relation {
		return nil
	}
	more, fewer := slices.Clone(f.conditions), slices.Clone(other.conditions)
	for _, c := range f.conditions {
		same := func(o worded) bool { return o.text == c.text }
		if i := slices.IndexFunc(fewer, same); i >= 0 {
			at := slices.IndexFunc(more, same)
			fewer, more = slices.Delete(fewer, i, i+1), slices.Delete(more, at, at+1)
		}
	}
	if len(fewer) > 0 { // rows that count here were not counted there
		return nil
	}
	if sameGroups && len(more) == 0 && f.all == other.all {
		m := &Made{Same: true}
		for i := range r.Keys {
			m.Keys = append(m.Keys, i)
		}
		for i := range r.Components {
			m.Components = append(m.Components, once(i))
		}
		return m
	}
	if !r.adds() || !of.adds() || of.Within != nil || of.MaxGroups < r.MaxGroups || r.MaxRows != 0 && r.MaxRows != of.MaxRows && !of.Kept {
		return nil
	}
	m := &Made{of: other.keys}
	for _, k := range f.keys {
		at := other.keyed(k.text)
		if at < 0 || slices.Contains(m.Keys, at) {
			return nil
		}
		m.Keys = append(m.Keys, at)
	}
	for i, c := range f.components {
		parts := other.parts(c, f.texts[i])
		if parts == nil {
			return nil
		}
		m.Components = append(m.Components, parts)
		m.whole = m.whole || c.Kind == Units || c.Kind == Distinct || c.Kind == PartialSum
	}
	for _, c := range more {
		over := other.overKeys(c.expr)
		if over == nil {
			return nil
		}
		m.where = append(m.where, over)
	}
	bounding := f.within
	if r.Within == nil {
		bounding = nil
		for _, k := range f.keys {
			bounding = append(bounding, k.text)
		}
	}
	for i, text := range bounding {
		at := other.keyed(text)
		if at >= 0 && listing(r.Bounding()[i].Domain) != listing(of.Keys[at].Domain) {
			at = -1
		}
		m.bounding = append(m.bounding, at)
	}
	return m
}

// once is a component of the other release as it is.
func once(component int) []Part { return []Part{{component, big.NewInt(1)}} }

// parts are the components of which one is the sum, or nil.
func (f *Form) parts(c Component, text string) []Part {
	if at := slices.Index(f.texts, text); at >= 0 {
		return once(at)
	}
	if c.Kind != Sum {
		return nil
	}
	counted := slices.Index(f.texts, Component{Kind: Rows, Arg: c.Arg, Filter: c.Filter, Grid: big.NewRat(1, 1)}.key())
	for i, other := range f.components {
		moved := c
		moved.Center = other.Center
		if counted >= 0 && other.Kind == Sum && moved.key() == f.texts[i] {
			return append(once(i), Part{counted, new(big.Int).Sub(other.Center, c.Center)})
		}
	}
	return nil
}

// adds reports whether a release's groups are complete, and its values noisy numbers of single groups.
func (r *Release) adds() bool {
	return !r.Private && !r.Chosen &&
		!slices.ContainsFunc(r.Keys, func(k Key) bool { return k.Numbered != nil }) &&
		!slices.ContainsFunc(r.Components, func(c Component) bool { return c.Kind == Tree })
}

// keyed is the number of the key that an expression is, or −1.
func (f *Form) keyed(text string) int {
	return slices.IndexFunc(f.keys, func(k worded) bool { return k.text == text })
}

// overKeys is a condition on rows as one on the release's keys, or nil: comparisons of keys with constants.
func (f *Form) overKeys(e plan.Expr) plan.Expr {
	if at := f.keyed(word(e).text); at >= 0 {
		return &plan.Ref{Index: at, Name: f.release.Keys[at].Name, T: e.Type()}
	}
	switch e := e.(type) {
	case *plan.Literal:
		if e.Value != nil {
			return e
		}
	case *plan.Call:
		if _, compared := mirrored[e.Function]; !compared && !slices.Contains([]plan.Function{plan.And, plan.Or, plan.Not, plan.Equal, plan.NotEqual, plan.In}, e.Function) {
			return nil
		}
		c := *e
		c.Args = make([]plan.Expr, len(e.Args))
		for i, a := range e.Args {
			if c.Args[i] = f.overKeys(a); c.Args[i] == nil {
				return nil
			}
		}
		return &c
	}
	return nil
}

// Keeps reports whether the conditions keep a group of the other release, by its key. It is not ok where that is not known here.
func (m *Made) Keeps(key []sqltype.Value) (keeps, ok bool) {
	for _, c := range m.where {
		v, ok := meets(c, key)
		if !ok || !v {
			return false, ok
		}
	}
	return true, true
}

// CutsNoMore reports whether what is made has at least as many rows of each unit in each group as r would have by bounds of its own, so that a
// narrower noise is all that sets them apart. domains are those of the other's keys. The other's bounds must cut nothing but rows of a group that has as
// many as r's bounds would leave there, and a key of the other that r has not must be one of which r asks for listed values alone, or that of
// another grouping set, whose domain bounds r's rows, too, or have a listed value whatever a row holds.
//
//   - L0 cuts nothing where a unit has one row, or so few that each could be a group of its own, or where there are no more groups; and as much as r's
//     where both are bounded by the same groups, of the same rows.
//   - R leaves in a group of r the rows of groups of the other, min(n_1, R) + min(n_2, R) + ... ≥ min(n_1 + n_2 + ..., R). Where r has no R and the
//     other has, single rows decide: but not of how many units have any.
//
// alike says that keys of both have the same values.
func (m *Made) CutsNoMore(r, of *Release, domains [][]sqltype.Value, alike bool) bool {
	groups := int64(1)
	for _, values := range domains {
		groups *= int64(len(values)) // MaxCells at most
	}
	few := of.Rows > 0 && of.Rows <= of.MaxGroups || groups <= of.MaxGroups
	same := alike && len(m.bounding) == len(of.Keys) && len(m.where) == 0 && !slices.Contains(m.bounding, -1)
	if !of.OneRow && !of.Kept {
		if !few && !same {
			return false
		}
		ofUnits := !slices.ContainsFunc(r.Components, func(c Component) bool { return c.Kind != Units || c.Arg != nil || c.Filter != nil })
		if r.MaxRows != of.MaxRows && !ofUnits && !(of.Rows > 0 && of.Rows <= of.MaxRows) {
			return false
		}
	}
	for j := range of.Keys {
		if !slices.Contains(m.Keys, j) && !slices.Contains(m.bounding, j) && !always(m.of[j].expr, domains[j]) && !slices.ContainsFunc(m.where, func(c plan.Expr) bool { return among(c, j, domains[j]) }) {
			return false
		}
	}
	return true
}

// always reports whether an expression has one of the listed values whatever a row holds, and is never NULL: a CASE with an ELSE whose results are
// all listed, and whether something is NULL. That a column is not NULL, and has none but the values of its domain, nobody declares.
func always(e plan.Expr, listed []sqltype.Value) bool {
	has := func(v sqltype.Value) bool {
		return slices.ContainsFunc(listed, func(l sqltype.Value) bool { return l == v || l != nil && v != nil && same(l, v) })
	}
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value != nil && has(e.Value)
	case *plan.Case:
		return e.Else != nil && always(e.Else, listed) && !slices.ContainsFunc(e.Whens, func(w plan.When) bool { return !always(w.Result, listed) })
	case *plan.Call:
		switch e.Function {
		case plan.IsNull, plan.DistinctFrom:
			return has(true) && has(false)
		case plan.Not, plan.And, plan.Or:
			return !slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !always(a, listed) })
		}
	}
	return false
}

// among reports whether a condition holds for no value of a key but some that are listed.
func among(condition plan.Expr, key int, listed []sqltype.Value) bool {
	c, ok := condition.(*plan.Call)
	if !ok || c.Function != plan.Equal && c.Function != plan.In {
		return false
	}
	args := c.Args
	if ref, ok := args[0].(*plan.Ref); !ok || ref.Index != key {
		if c.Function == plan.In {
			return false
		}
		if ref, ok := args[1].(*plan.Ref); !ok || ref.Index != key {
			return false
		}
		args = []plan.Expr{args[1], args[0]}
	}
	return !slices.ContainsFunc(args[1:], func(a plan.Expr) bool {
		l, ok := a.(*plan.Literal)
		return !ok || !slices.ContainsFunc(listed, func(v sqltype.Value) bool { order, ok := compareTo(v, l.Value); return ok && order == 0 })
	})
}

// Conditional reports whether conditions pick groups of the other release.
func (m *Made) Conditional() bool { return len(m.where) > 0 }

// Picks reports whether m picks and adds up groups of the other release as another does, where both releases have the same groups.
func (m *Made) Picks(other *Made) bool {
	return slices.Equal(m.Keys, other.Keys) && slices.EqualFunc(m.where, other.where, func(a, b plan.Expr) bool { return plan.FormatExpr(a) == plan.FormatExpr(b) })
}

// Alone reports whether a group must be made of one group of the other, since what is counted does not add up.
func (m *Made) Alone() bool { return m.whole }

// meets computes a condition on a key, none of whose values is NULL.
func meets(e plan.Expr, key []sqltype.Value) (met, ok bool) {
	switch e := e.(type) {
	case *plan.Ref:
		met, ok = key[e.Index].(bool)
		return met, ok
	case *plan.Literal:
		met, ok = e.Value.(bool)
		return met, ok
	case *plan.Call:
		switch e.Function {
		case plan.And, plan.Or:
			met = e.Function == plan.And
			for _, a := range e.Args {
				v, ok := meets(a, key)
				if !ok {
					return false, false
				}
				if e.Function == plan.And {
					met = met && v
				} else {
					met = met || v
				}
			}
			return met, true
		case plan.Not:
			v, ok := meets(e.Args[0], key)
			return !v, ok
		case plan.In:
			for _, a := range e.Args[1:] {
				equal, ok := compared(plan.Equal, e.Args[0], a, key)
				if !ok {
					return false, false
				}
				met = met || equal
			}
			return met, true
		}
		if len(e.Args) == 2 {
			return compared(e.Function, e.Args[0], e.Args[1], key)
		}
	}
	return false, false
}

// compared compares keys and constants.
func compared(f plan.Function, a, b plan.Expr, key []sqltype.Value) (met, ok bool) {
	value := func(e plan.Expr) sqltype.Value {
		switch e := e.(type) {
		case *plan.Ref:
			return key[e.Index]
		case *plan.Literal:
			return e.Value
		}
		return nil
	}
	x, y := value(a), value(b)
	if p, is := x.(bool); is {
		q, is := y.(bool)
		return holds(f, sqltype.Compare(p, q)), is
	}
	order, ok := compareTo(x, y)
	return ok && holds(f, order), ok
}
