package prove

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A template is the alignments of a draw among which is searched: a decision tree
// over what the code after the draw asks of the sample, with leaves c₀·bound +
// Σ cᵢ·diff(vᵢ) of small whole coefficients. The vᵢ are what the sample is added to:
// -1 of it is the null coupling, which makes the sum equal in both runs.
type template struct {
	draw   *p.Draw
	shift  p.Expression // with a reference to a leaf in the place of each
	leaves []*leaf
}

// A leaf is one of its choices, the simple ones first, which are sums of its parts.
type leaf struct {
	at      *p.Variable // its place in the template
	parts   []p.Expression
	choices []choice
}

// A choice is a shift, and how far from simple it is.
type choice struct {
	shift  p.Expression
	weight int
	terms  []multiple
}

// A multiple is that of a part.
type multiple struct{ k, part int }

// A depth is what the trees ask.
type depth uint8

const (
	plain   depth = iota // how the sample compares, and nothing of outcomes
	outcome              // which outcome is looked at
	sample               // how the sample compares, too
	later                // and, of samples that are used in later iterations, whether there are any
)

// maxConditions bounds the depth of a tree, maxDistances the sums in a leaf.
const (
	maxConditions = 3
	maxDistances  = 4
	mostBound     = 3 // times a bound, at most
	mostDistance  = 2 // times a distance
)

// templates are those of a function's draws; a draw that the source aligns has its
// shift.
func templates(s *static, c *claim.Claim, outcomes []*p.Variable, depth depth) []template {
	var ts []template
	for _, d := range s.draws {
		if !shifted(d.Law) {
			continue
		}
		t := template{draw: d}
		if d.Align != nil {
			t.shift = d.Align
		} else {
			if depth == plain {
				outcomes = nil
			}
			o := observe(s, d, outcomes, depth)
			t.shift = t.tree(o.conditions, leafOf(bounds(c, d.To.Sort), o.distances))
		}
		ts = append(ts, t)
	}
	return ts
}

func (t *template) tree(conditions []p.Expression, l leaf) p.Expression {
	if len(conditions) == 0 {
		l.at = &p.Variable{Name: fmt.Sprintf("leaf %d of %s", len(t.leaves), t.draw.To.Name)}
		t.leaves = append(t.leaves, &l)
		return p.Ref{Var: l.at}
	}
	return p.If3{Cond: conditions[0], Then: t.tree(conditions[1:], l), Else: t.tree(conditions[1:], l)}
}

// leafOf has the choices of small coefficients, of which at most two are not 0.
func leafOf(bounds, distances []p.Expression) leaf {
	var zero p.Expression = p.Number{Value: new(big.Rat), Sort: p.Int}
	type part struct {
		x      p.Expression
		weight int
		most   int
	}
	var parts []part
	for _, b := range bounds {
		parts = append(parts, part{b, 3, mostBound})
	}
	for i, d := range distances {
		parts = append(parts, part{d, 2 + min(i, 1), mostDistance})
	}
	times := func(k int, x p.Expression) p.Expression {
		return p.Binary{Op: p.Mul, X: p.Number{Value: rational(int64(k)), Sort: p.Int}, Y: x}
	}
	all := []choice{{shift: zero}}
	for i, a := range parts {
		for k := -a.most; k <= a.most; k++ {
			if k == 0 {
				continue
			}
			one := choice{simplify(times(k, a.x)), a.weight*max(k, -k) + (1-sign(k))/2, []multiple{{k, i}}}
			if i >= len(bounds) {
				one.weight = a.weight*max(k, -k) + (1+sign(k))/2 // -diff(x) rather than diff(x)
			}
			all = append(all, one)
			for j, b := range parts[i+1:] {
				for l := -b.most; l <= b.most; l++ {
					if l != 0 {
						two := simplify(p.Binary{Op: p.Add, X: times(k, a.x), Y: times(l, b.x)})
						all = append(all, choice{two, one.weight + b.weight*max(l, -l), []multiple{{k, i}, {l, i + 1 + j}}})
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(x, y choice) int { return x.weight - y.weight })
	seen := map[string]bool{}
	return leaf{parts: slices.Concat(bounds, distances), choices: slices.DeleteFunc(all, func(c choice) bool {
		k := c.shift.String()
		defer func() { seen[k] = true }()
		return seen[k]
	})}
}

func sign(k int) int {
	if k < 0 {
		return -1
	}
	return 1
}

// bounds are the different sizes in the adjacencies.
func bounds(c *claim.Claim, s p.Sort) []p.Expression {
	var bs []p.Expression
	seen := map[string]bool{}
	for _, a := range c.Adjacent {
		for _, b := range []p.Expression{a.High, a.Low} {
			if u, ok := b.(p.Unary); ok && u.Op == p.Sub {
				b = u.X
			}
			if n, ok := b.(p.Number); ok {
				if n.Value.Sign() == 0 || s == p.Int && !n.Value.IsInt() {
					continue
				}
				b = p.Number{Value: new(big.Rat).Abs(n.Value), Sort: n.Sort}
			}
			if b != nil && !seen[b.String()] {
				seen[b.String()] = true
				bs = append(bs, b)
			}
		}
	}
	return bs
}

// An observer follows a sample through the code after its draw, with variables
// written as expressions over the state at the draw.
type observer struct {
	*static
	draw       *p.Draw
	outcomes   []*p.Variable
	late       bool           // guards are asked
	conditions []p.Expression // on the sample
	guards     []p.Expression // public ones, on whether code goes on
	distances  []p.Expression
	seen       map[string]bool
}

// A view is variables over the state at the draw: nil where that is not known.
type view map[*p.Variable]p.Expression

func (v view) clone() view {
	w := view{}
	for k, x := range v {
		w[k] = x
	}
	return w
}

// of writes x in a view; false if part of it is unknown.
func (v view) of(x p.Expression) (p.Expression, bool) {
	known := true
	y := replace(x, func(x p.Expression) (p.Expression, bool) {
		if r, ok := x.(p.Ref); ok {
			if e, ok := v[r.Var]; ok {
				known = known && e != nil
				if e == nil {
					return x, true
				}
				return e, true
			}
		}
		if e, ok := x.(p.Element); ok && !e.Slice.Input {
			known = false
		}
		return nil, false
	})
	return y, known
}

func observe(s *static, d *p.Draw, outcomes []*p.Variable, depth depth) *observer {
	o := &observer{static: s, draw: d, late: depth == later, outcomes: outcomes, seen: map[string]bool{}}
	o.find(s.f.Body, nil)
	if depth == outcome {
		o.conditions = slices.DeleteFunc(o.conditions, o.mentions)
	}
	if len(o.conditions) > maxConditions {
		o.conditions = o.conditions[:maxConditions]
	}
	if len(o.distances) > maxDistances {
		o.distances = o.distances[:maxDistances]
	}
	return o
}

// find looks for the draw; after is what follows the list, told how variables stand.
func (o *observer) find(list []p.Statement, after func(view)) bool {
	for i, st := range list {
		then := func(v view) {
			if o.follow(list[i+1:], v) && after != nil {
				after(v)
			}
		}
		switch st := st.(type) {
		case *p.Draw:
			if st == o.draw {
				then(view{})
				return true
			}
		case *p.If:
			if o.find(st.Then, then) || o.find(st.Else, then) {
				return true
			}
		case *p.Loop:
			back := func(v view) {
				if !o.follow(st.Post, v) {
					return
				}
				if o.late && o.survives(st, v) {
					o.guard(st.Cond, v)
					for _, g := range o.guards {
						o.ask(g)
					}
				}
			}
			if o.find(st.Body, back) {
				return true
			}
		}
	}
	return false
}

// survives reports whether the sample is in a variable that the next iteration
// reads.
func (o *observer) survives(l *p.Loop, v view) bool {
	if o.live[l][o.draw.To] {
		return true
	}
	for x := range o.live[l] {
		if e, ok := v[x]; ok && e != nil && depends(e, o.draw.To) != "" {
			return true
		}
	}
	return false
}

func (o *observer) mentions(x p.Expression) bool {
	found := false
	p.Walk(x, func(x p.Expression) {
		r, ok := x.(p.Ref)
		found = found || ok && r.Var == o.draw.To
	})
	return found
}

// guard notes the public conditions among the conjuncts of x.
func (o *observer) guard(x p.Expression, v view) {
	if b, ok := x.(p.Binary); ok && (b.Op == p.And || b.Op == p.Or) {
		o.guard(b.X, v)
		o.guard(b.Y, v)
		return
	}
	if _, constant := x.(p.Truth); constant {
		return
	}
	if y, ok := v.of(x); ok && !o.isPrivate(y) && !mentionsLength(y) {
		o.guards = append(o.guards, y)
	}
}

// mentionsLength is of conditions on the end of the input, which no alignment
// should await.
func mentionsLength(x p.Expression) bool {
	found := false
	p.Walk(x, func(x p.Expression) {
		_, ok := x.(p.Length)
		found = found || ok
	})
	return found
}

// ask makes a condition one of the tree's.
func (o *observer) ask(x p.Expression) {
	if u, ok := x.(p.Unary); ok && u.Op == p.Not {
		o.ask(u.X)
		return
	}
	key := "?" + x.String()
	if !o.seen[key] {
		o.seen[key] = true
		o.conditions = append(o.conditions, x)
	}
}

// follow looks at statements; false if none follows the list.
func (o *observer) follow(list []p.Statement, v view) bool {
	for _, st := range list {
		switch st := st.(type) {
		case *p.Assign:
			x, ok := v.of(st.Value)
			if !ok {
				v[st.To] = nil
				continue
			}
			o.look(x)
			o.candidate(st.To, x)
			v[st.To] = x
		case *p.Draw:
			if st == o.draw {
				return false
			}
			v[st.To] = nil
		case *p.If:
			cond, ok := v.of(st.Cond)
			if !ok {
				cond = nil
			} else if o.mentions(cond) {
				o.look(cond)
				o.ask(cond)
			}
			if jumps(st) {
				o.guard(st.Cond, v)
			}
			a, b := v.clone(), v.clone()
			goesA, goesB := o.follow(st.Then, a), o.follow(st.Else, b)
			switch {
			case !goesA && !goesB:
				return false
			case !goesA:
				a = b
			case !goesB:
				b = a
			}
			for _, w := range changed(st.Then, st.Else) {
				x, okA := a[w]
				y, okB := b[w]
				if !okA {
					x = p.Ref{Var: w}
				}
				if !okB {
					y = p.Ref{Var: w}
				}
				switch {
				case !goesA || !goesB:
					v[w] = a[w]
				case x == nil || y == nil || w.Slice:
					v[w] = nil
				case x.String() == y.String():
					v[w] = x
				case cond == nil:
					v[w] = nil
				default:
					v[w] = p.If3{Cond: cond, Then: x, Else: y}
				}
			}
		case *p.Loop:
			if o.survives(st, v) {
				o.standing(st, v)
			}
			for _, w := range changed(st.Body, st.Post) {
				v[w] = nil
			}
			o.follow(st.Body, v.clone())
		case *p.Append:
			if x, ok := v.of(st.Value); ok {
				o.look(x)
			}
		case *p.Store:
			if x, ok := v.of(st.Value); ok {
				o.look(x)
			}
		case *p.Output:
			o.all(st.Values, v)
		case *p.Return:
			o.all(st.Values, v)
			return false
		case *p.Break, *p.Continue:
			return false
		}
	}
	return true
}

func (o *observer) all(xs []p.Expression, v view) {
	for _, x := range xs {
		if y, ok := v.of(x); ok {
			o.look(y)
		}
	}
}

// jumps reports whether an if leaves its list.
func jumps(st *p.If) bool {
	found := false
	p.Each([]p.Statement{st}, func(s p.Statement) {
		switch s.(type) {
		case *p.Break, *p.Return, *p.Continue:
			found = true
		}
	})
	return found
}

// candidate asks, of an assignment to what the result is of, whether it gives the
// outcome that is looked at.
func (o *observer) candidate(to *p.Variable, x p.Expression) {
	if to.Sort != p.Int || o.returned[to] == nil || o.isPrivate(x) {
		return
	}
	if _, constant := x.(p.Number); constant {
		return
	}
	for i, r := range o.outcomes {
		if r != nil && o.returned[to][i] {
			o.ask(p.Binary{Op: p.Eq, X: x, Y: p.Ref{Var: r}})
		}
	}
}

// standing asks, of a result that a loop may change which reads the sample, whether it
// is the outcome already: the winner that the others are compared with.
func (o *observer) standing(l *p.Loop, v view) {
	for _, w := range changed(l.Body, l.Post) {
		if w.Sort != p.Int || !o.private[w] {
			continue
		}
		x, known := v[w]
		if !known {
			x = p.Ref{Var: w}
		}
		for i, r := range o.outcomes {
			if r != nil && x != nil && o.returned[w][i] {
				o.ask(p.Binary{Op: p.Eq, X: x, Y: p.Ref{Var: r}})
			}
		}
	}
}

// look notes what the sample is added to in x.
func (o *observer) look(x p.Expression) {
	if !o.mentions(x) {
		return
	}
	if b, ok := x.(p.Binary); ok {
		switch b.Op {
		case p.And, p.Or:
			o.look(b.X)
			o.look(b.Y)
			return
		case p.Eq, p.Ne, p.Lt, p.Le, p.Gt, p.Ge:
			x = p.Binary{Op: p.Sub, X: b.X, Y: b.Y}
		}
	}
	if u, ok := x.(p.Unary); ok && u.Op == p.Not {
		o.look(u.X)
		return
	}
	sum, ok := atoms(x)
	own := p.Ref{Var: o.draw.To}.String()
	a, present := sum[own]
	if !ok || !present {
		return
	}
	delete(sum, own)
	var whole p.Expression
	var single []p.Expression
	for _, name := range sortedKeys(sum) {
		t := sum[name]
		if !o.isPrivate(t.x) {
			continue
		}
		d := p.Expression(p.Diff{X: t.x})
		single = append(single, d)
		k := new(big.Rat).Quo(t.k, a.k)
		if k.Cmp(rational(1)) != 0 {
			d = p.Binary{Op: p.Mul, X: p.Number{Value: k, Sort: p.Real}, Y: d}
			if k.IsInt() {
				d = p.Binary{Op: p.Mul, X: p.Number{Value: k, Sort: p.Int}, Y: p.Diff{X: t.x}}
			}
		}
		if whole == nil {
			whole = d
		} else {
			whole = p.Binary{Op: p.Add, X: whole, Y: d}
		}
	}
	if whole == nil {
		return
	}
	for i, d := range append([]p.Expression{whole}, single...) {
		if !o.seen[d.String()] {
			o.seen[d.String()] = true
			if i == 0 { // wholes before parts
				at := 0
				o.distances = slices.Insert(o.distances, at, d)
			} else {
				o.distances = append(o.distances, d)
			}
		}
	}
}

// An atom is k times what is no sum.
type atom struct {
	x p.Expression
	k *big.Rat
}

// atoms takes a sum apart; false if a product of two of them is in it.
func atoms(x p.Expression) (map[string]atom, bool) {
	scale := func(s map[string]atom, k *big.Rat) map[string]atom {
		for name, t := range s {
			s[name] = atom{t.x, new(big.Rat).Mul(t.k, k)}
		}
		return s
	}
	switch x := x.(type) {
	case p.Number:
		return map[string]atom{}, true
	case p.Ref, p.Element:
		return map[string]atom{x.String(): {x, rational(1)}}, true
	case p.Unary:
		if x.Op == p.Sub {
			s, ok := atoms(x.X)
			return scale(s, rational(-1)), ok
		}
	case p.Call:
		if x.Func == "real" {
			return atoms(x.Args[0])
		}
		return map[string]atom{x.String(): {x, rational(1)}}, true
	case p.Binary:
		switch x.Op {
		case p.Min, p.Max:
			return map[string]atom{x.String(): {x, rational(1)}}, true
		case p.Add, p.Sub:
			s, ok1 := atoms(x.X)
			t, ok2 := atoms(x.Y)
			if x.Op == p.Sub {
				t = scale(t, rational(-1))
			}
			if !ok1 || !ok2 {
				return nil, false
			}
			for name, u := range t {
				if old, ok := s[name]; ok {
					u.k = new(big.Rat).Add(u.k, old.k)
				}
				if s[name] = u; u.k.Sign() == 0 {
					delete(s, name)
				}
			}
			return s, true
		case p.Mul:
			for range 2 {
				if n, ok := x.X.(p.Number); ok {
					s, ok := atoms(x.Y)
					return scale(s, n.Value), ok
				}
				x.X, x.Y = x.Y, x.X
			}
		case p.Quo:
			if n, ok := x.Y.(p.Number); ok && n.Value.Sign() != 0 && p.SortOf(x) == p.Real {
				s, ok := atoms(x.X)
				return scale(s, new(big.Rat).Inv(n.Value)), ok
			}
		}
	}
	return nil, false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// fill puts shifts in the place of leaves, and simplifies.
func fill(x p.Expression, leaves map[*p.Variable]p.Expression) p.Expression {
	return simplify(replace(x, func(x p.Expression) (p.Expression, bool) {
		if r, ok := x.(p.Ref); ok {
			y, ok := leaves[r.Var]
			return y, ok
		}
		return nil, false
	}))
}

// simplify removes zeros and ones, and cases that are equal.
func simplify(x p.Expression) p.Expression {
	is := func(x p.Expression, n int64) bool {
		c, ok := x.(p.Number)
		return ok && c.Value.Cmp(rational(n)) == 0
	}
	switch x := x.(type) {
	case p.If3:
		y := p.If3{Cond: x.Cond, Then: simplify(x.Then), Else: simplify(x.Else)}
		if y.Then.String() == y.Else.String() {
			return y.Then
		}
		return y
	case p.Unary:
		return p.Unary{Op: x.Op, X: simplify(x.X)}
	case p.Binary:
		a, b := simplify(x.X), simplify(x.Y)
		m, okA := a.(p.Number)
		n, okB := b.(p.Number)
		if okA && okB {
			s := p.Int
			if m.Sort == p.Real || n.Sort == p.Real {
				s = p.Real
			}
			switch x.Op {
			case p.Add:
				return p.Number{Value: new(big.Rat).Add(m.Value, n.Value), Sort: s}
			case p.Sub:
				return p.Number{Value: new(big.Rat).Sub(m.Value, n.Value), Sort: s}
			case p.Mul:
				return p.Number{Value: new(big.Rat).Mul(m.Value, n.Value), Sort: s}
			}
		}
		switch {
		case x.Op == p.Add && is(a, 0):
			return b
		case x.Op == p.Add && is(b, 0), x.Op == p.Sub && is(b, 0):
			return a
		case x.Op == p.Sub && is(a, 0):
			return p.Unary{Op: p.Sub, X: b}
		case x.Op == p.Mul && (is(a, 0) || is(b, 0)):
			return p.Number{Value: new(big.Rat), Sort: p.Int}
		case x.Op == p.Mul && is(a, 1):
			return b
		case x.Op == p.Mul && is(a, -1):
			return negate(b)
		case x.Op == p.Mul && okA:
			if u, ok := b.(p.Unary); ok && u.Op == p.Sub {
				return simplify(p.Binary{Op: p.Mul, X: negate(m), Y: u.X})
			}
			if inner, ok := b.(p.Binary); ok && (inner.Op == p.Add || inner.Op == p.Sub) {
				return simplify(p.Binary{Op: inner.Op, X: p.Binary{Op: p.Mul, X: a, Y: inner.X}, Y: p.Binary{Op: p.Mul, X: a, Y: inner.Y}})
			}
			if inner, ok := b.(p.Binary); ok && inner.Op == p.Mul {
				if k, ok := inner.X.(p.Number); ok {
					return simplify(p.Binary{Op: p.Mul, X: p.Number{Value: new(big.Rat).Mul(m.Value, k.Value), Sort: m.Sort}, Y: inner.Y})
				}
			}
		}
		if u, ok := b.(p.Unary); ok && u.Op == p.Sub && x.Op == p.Add {
			return p.Binary{Op: p.Sub, X: a, Y: u.X}
		}
		return p.Binary{Op: x.Op, X: a, Y: b}
	}
	return x
}

// negate is -x without a sign in front of a sum.
func negate(x p.Expression) p.Expression {
	switch x := x.(type) {
	case p.Number:
		return p.Number{Value: new(big.Rat).Neg(x.Value), Sort: x.Sort}
	case p.Unary:
		if x.Op == p.Sub {
			return x.X
		}
	case p.Binary:
		switch x.Op {
		case p.Add:
			return simplify(p.Binary{Op: p.Sub, X: negate(x.X), Y: x.Y})
		case p.Sub:
			return simplify(p.Binary{Op: p.Sub, X: x.Y, Y: x.X})
		case p.Mul:
			if k, ok := x.X.(p.Number); ok {
				return simplify(p.Binary{Op: p.Mul, X: p.Number{Value: new(big.Rat).Neg(k.Value), Sort: k.Sort}, Y: x.Y})
			}
		}
	}
	return p.Unary{Op: p.Sub, X: x}
}
