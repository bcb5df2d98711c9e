package prove

import (
	"math/big"
	"slices"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

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

// maxView is how many parts an expression may have that a view tells: what each branch makes
// of a variable doubles with every if.
const maxView = 2000

// of writes x in a view; false if part of it is unknown, or it is too large to look at.
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
	if known {
		parts := 0
		p.Walk(y, func(p.Expression) { parts++ })
		known = parts <= maxView
	}
	return y, known
}

func observe(s *static, d *p.Draw, outcomes []*p.Variable, depth depth) *observer {
	o := &observer{static: s, draw: d, late: depth == later, outcomes: outcomes, seen: map[string]bool{}}
	o.find(s.f.Body, nil)
	o.decided()
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

// decided leaves out the last of the conditions on an outcome that is one of the numbers
// that they name.
func (o *observer) decided() {
	for i, r := range o.outcomes {
		if r == nil {
			continue
		}
		of := func(x p.Expression) bool {
			b, ok := x.(p.Binary)
			if !ok || b.Op != p.Eq || b.Y.String() != r.Name {
				return false
			}
			_, ok = b.X.(p.Number)
			return ok
		}
		named, possible := map[string]bool{}, map[string]bool{}
		last := -1
		for k, x := range o.conditions {
			if of(x) {
				named[x.(p.Binary).X.String()] = true
				last = k
			}
		}
		note := func(x p.Expression) {
			if ref, ok := x.(p.Ref); !ok || !o.returned[ref.Var][i] {
				possible[x.String()] = true
			}
		}
		p.Each(o.f.Body, func(st p.Statement) {
			switch st := st.(type) {
			case *p.Assign:
				if o.returned[st.To][i] {
					note(st.Value)
				}
			case *p.Return:
				if i < len(st.Values) { // a panic has none
					note(st.Values[i])
				}
			}
		})
		covers := len(named) > 1
		for x := range possible {
			covers = covers && named[x]
		}
		if covers {
			o.conditions = slices.Delete(o.conditions, last, last+1)
		}
	}
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
			asked := len(o.conditions)
			goesA, goesB := o.follow(st.Then, a), o.follow(st.Else, b)
			if o.late && len(o.conditions) > asked && cond != nil && !o.mentions(cond) && o.isPrivate(cond) {
				o.ask(cond)
			}
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
	if _, constant := x.(p.Number); constant && len(o.around[o.draw]) > 0 {
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
