package prove

import (
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A static is what is known of a function before it is run: which of its variables
// are the same in both runs whatever the alignment, and which a loop changes.
type static struct {
	in          *scaled
	f           *p.Function
	definitions map[*p.Variable]p.Expression // of variables that are assigned once
	adjacent    map[*p.Variable]claim.Adjacency
	private     map[*p.Variable]bool
	alias       map[*p.Variable]*p.Variable // local copies of input slices that are never written
	written     map[*p.Variable]int         // how often a slice is assigned, made, appended or stored to
	draws       []*p.Draw
	parameters  map[*p.Draw]p.Expression // their parameters with definitions written out
	loops       []*p.Loop
	around      map[*p.Draw][]*p.Loop // the loops that a draw stands in, outermost first
	live        map[*p.Loop]map[*p.Variable]bool
	counted     map[*p.Variable]bool         // slices of which the length is asked for
	settled     map[p.Statement][]settled    // by the statement before which they are
	pointwise   []bool                       // which components of the result are fixed in turn
	returned    map[*p.Variable]map[int]bool // of what these components are
}

func analyse(f *p.Function, c *claim.Claim) *static {
	s := &static{
		f:           f,
		definitions: once(f),
		adjacent:    map[*p.Variable]claim.Adjacency{},
		private:     map[*p.Variable]bool{},
		alias:       map[*p.Variable]*p.Variable{},
		written:     map[*p.Variable]int{},
		parameters:  map[*p.Draw]p.Expression{},
		around:      map[*p.Draw][]*p.Loop{},
		live:        map[*p.Loop]map[*p.Variable]bool{},
		counted:     map[*p.Variable]bool{},
		settled:     map[p.Statement][]settled{},
		returned:    map[*p.Variable]map[int]bool{},
	}
	for _, a := range c.Adjacent {
		s.adjacent[a.Input] = a
		s.private[a.Input] = true
	}
	s.collect(f.Body, nil)
	for _, d := range s.draws {
		s.parameters[d] = inline(d.Parameter, s.definitions)
	}
	for before := -1; before != len(s.private); {
		before = len(s.private)
		s.spread(f.Body, false)
	}
	s.liveness(f.Body, nil, map[*p.Loop]map[*p.Variable]bool{}, map[*p.Loop]map[*p.Variable]bool{})
	s.outcomes()
	s.settle()
	return s
}

// collect lists draws and loops, and counts what writes to slices.
func (s *static) collect(list []p.Statement, in []*p.Loop) {
	for _, st := range list {
		switch st := st.(type) {
		case *p.Draw:
			s.draws = append(s.draws, st)
			s.around[st] = in
		case *p.If:
			s.collect(st.Then, in)
			s.collect(st.Else, in)
		case *p.Loop:
			s.loops = append(s.loops, st)
			inner := append(append([]*p.Loop(nil), in...), st)
			s.collect(st.Body, inner)
			s.collect(st.Post, inner)
		case *p.Assign:
			if st.To.Slice {
				s.written[st.To]++
				if r, ok := st.Value.(p.Ref); ok && r.Var.Input && !st.To.Input {
					s.alias[st.To] = r.Var
				}
			}
		case *p.Make:
			s.written[st.To]++
		case *p.Append:
			s.written[st.To]++
		case *p.Store:
			s.written[st.To]++
		}
	}
	if in == nil {
		for v := range s.alias {
			if s.written[v] > 1 {
				delete(s.alias, v)
			}
		}
	}
}

// shifted reports whether draws of the law may move between the runs.
func shifted(l p.Law) bool {
	switch l {
	case p.Laplace, p.Exponential, p.DiscreteLaplace, p.Geometric:
		return true
	}
	return false
}

// spread adds the targets of private values, and what branches that the two runs
// may take differently assign.
func (s *static) spread(list []p.Statement, diverging bool) {
	for _, st := range list {
		switch st := st.(type) {
		case *p.Assign:
			if !st.To.Slice && (diverging || s.isPrivate(st.Value)) {
				s.private[st.To] = true
			}
		case *p.Draw:
			if shifted(st.Law) {
				s.private[st.To] = true
			}
		case *p.If:
			d := diverging || pure(st) && s.isPrivate(st.Cond)
			s.spread(st.Then, d)
			s.spread(st.Else, d)
		case *p.Loop:
			s.spread(st.Body, diverging)
			s.spread(st.Post, diverging)
		}
	}
}

// isPrivate reports whether the runs may disagree on x.
func (s *static) isPrivate(x p.Expression) bool {
	private := false
	p.Walk(x, func(x p.Expression) {
		switch x := x.(type) {
		case p.Ref:
			private = private || s.private[x.Var]
		case p.Element:
			v := x.Slice
			if a, ok := s.alias[v]; ok {
				v = a
			}
			private = private || s.private[v]
		case p.Length:
			private = private || s.adjacent[x.Slice].Relation == claim.Bag && s.private[x.Slice]
		}
	})
	return private
}

// pure reports whether an if only assigns scalars: then the runs may take different
// branches of it.
func pure(st *p.If) bool {
	for _, list := range [][]p.Statement{st.Then, st.Else} {
		for _, st := range list {
			switch st := st.(type) {
			case *p.Assign:
				if st.To.Slice {
					return false
				}
			case *p.If:
				if !pure(st) {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// outcomes finds the whole or truth-valued components of the result on which the
// runs may disagree, and the one that the source's alignments name. A component that is
// real in one place, as an integer may be in units, is of none: an outcome is whole.
func (s *static) outcomes() {
	var returns []*p.Return
	p.Each(s.f.Body, func(st p.Statement) {
		if r, ok := st.(*p.Return); ok {
			returns = append(returns, r)
		}
	})
	real := map[int]bool{}
	for _, r := range returns {
		for i, v := range r.Values {
			real[i] = real[i] || isSlice(v) || p.SortOf(v) == p.Real
		}
	}
	for _, r := range returns {
		for i, v := range r.Values {
			for len(s.pointwise) <= i {
				s.pointwise = append(s.pointwise, false)
			}
			named := i == 0 && s.f.Outcome != nil
			if real[i] || !named && !s.isPrivate(v) {
				continue
			}
			s.pointwise[i] = true
			p.Walk(v, func(x p.Expression) {
				if r, ok := x.(p.Ref); ok {
					if s.returned[r.Var] == nil {
						s.returned[r.Var] = map[int]bool{}
					}
					s.returned[r.Var][i] = true
				}
			})
		}
	}
}

// A settled variable has the value that a component of the result will have.
type settled struct {
	v         *p.Variable
	component int
}

// settle finds where variables that are returned have been assigned for the last
// time: runs in which they differ from the outcome that is looked at are of no
// interest from there on.
func (s *static) settle() {
	returns := map[settled]int{}
	all := 0
	p.Each(s.f.Body, func(st p.Statement) {
		if r, ok := st.(*p.Return); ok {
			all++
			for k, x := range r.Values {
				if ref, ok := x.(p.Ref); ok && !ref.Var.Slice && ref.Var.Sort == p.Int {
					returns[settled{ref.Var, k}]++
				}
			}
		}
	})
	for i := 1; i < len(s.f.Body); i++ {
		for _, v := range changed(s.f.Body[i-1 : i]) {
			if slices.Contains(changed(s.f.Body[i:]), v) {
				continue
			}
			for k := range s.returned[v] {
				if f := (settled{v, k}); returns[f] == all {
					s.settled[s.f.Body[i]] = append(s.settled[s.f.Body[i]], f)
				}
			}
		}
	}
}

func isSlice(x p.Expression) bool {
	r, ok := x.(p.Ref)
	return ok && r.Var.Slice
}

// liveness is the usual backward analysis: it returns what is read after the list
// begins and before it is written, given what is read after the list ends, after a
// break and after a continue of each loop.
func (s *static) liveness(list []p.Statement, out map[*p.Variable]bool, brk, cont map[*p.Loop]map[*p.Variable]bool) map[*p.Variable]bool {
	live := maps.Clone(out)
	if live == nil {
		live = map[*p.Variable]bool{}
	}
	use := func(xs ...p.Expression) {
		for _, x := range xs {
			p.Walk(x, func(x p.Expression) {
				switch x := x.(type) {
				case p.Ref:
					live[x.Var] = true
				case p.Element:
					live[x.Slice] = true
				case p.Length:
					live[x.Slice] = true
					s.counted[x.Slice] = true
				}
			})
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		switch st := list[i].(type) {
		case *p.Assign:
			delete(live, st.To)
			use(st.Value)
		case *p.Make:
			delete(live, st.To)
			use(st.Length)
		case *p.Append:
			live[st.To] = true
			use(st.Value)
		case *p.Store:
			live[st.To] = true
			use(st.Index, st.Value)
		case *p.Draw:
			delete(live, st.To)
			use(st.Parameter, st.Align)
			if st.Scores != nil {
				live[st.Scores] = true
			}
		case *p.If:
			a := s.liveness(st.Then, live, brk, cont)
			b := s.liveness(st.Else, live, brk, cont)
			live = a
			maps.Copy(live, b)
			use(st.Cond)
		case *p.Loop:
			after := live
			head := map[*p.Variable]bool{}
			for {
				live = maps.Clone(head)
				maps.Copy(live, after)
				use(st.Cond)
				use(st.Invariants...)
				brk[st] = after
				post := s.liveness(st.Post, live, brk, cont)
				cont[st] = post
				body := s.liveness(st.Body, post, brk, cont)
				maps.Copy(live, body)
				if len(live) == len(head) {
					break
				}
				head = maps.Clone(live)
			}
			s.live[st] = maps.Clone(live)
		case *p.Break:
			live = maps.Clone(brk[st.Of])
		case *p.Continue:
			live = maps.Clone(cont[st.Of])
		case *p.Output:
			use(st.Values...)
		case *p.Return:
			live = map[*p.Variable]bool{}
			use(st.Values...)
		}
		if live == nil {
			live = map[*p.Variable]bool{}
		}
	}
	return live
}

// changed are the variables that the statements assign.
func changed(lists ...[]p.Statement) []*p.Variable {
	seen := map[*p.Variable]bool{}
	var order []*p.Variable
	add := func(v *p.Variable) {
		if !seen[v] {
			seen[v] = true
			order = append(order, v)
		}
	}
	var visit func([]p.Statement)
	visit = func(list []p.Statement) {
		for _, st := range list {
			switch st := st.(type) {
			case *p.Assign:
				add(st.To)
			case *p.Make:
				add(st.To)
			case *p.Append:
				add(st.To)
			case *p.Store:
				add(st.To)
			case *p.Draw:
				add(st.To)
			case *p.If:
				visit(st.Then)
				visit(st.Else)
			case *p.Loop:
				visit(st.Body)
				visit(st.Post)
			}
		}
	}
	for _, list := range lists {
		visit(list)
	}
	return order
}

// replace is x with f's answer in the place of each part for which it has one.
func replace(x p.Expression, f func(p.Expression) (p.Expression, bool)) p.Expression {
	if x == nil {
		return nil
	}
	if y, ok := f(x); ok {
		return y
	}
	switch x := x.(type) {
	case p.Element:
		return p.Element{Slice: x.Slice, Index: replace(x.Index, f)}
	case p.Unary:
		return p.Unary{Op: x.Op, X: replace(x.X, f)}
	case p.Binary:
		return p.Binary{Op: x.Op, X: replace(x.X, f), Y: replace(x.Y, f)}
	case p.Call:
		args := make([]p.Expression, len(x.Args))
		for i, a := range x.Args {
			args[i] = replace(a, f)
		}
		return p.Call{Func: x.Func, Args: args}
	case p.If3:
		return p.If3{Cond: replace(x.Cond, f), Then: replace(x.Then, f), Else: replace(x.Else, f)}
	case p.Diff:
		return p.Diff{X: replace(x.X, f)}
	}
	return x
}

func sortVariables(vs []*p.Variable) {
	slices.SortFunc(vs, func(a, b *p.Variable) int { return strings.Compare(a.Name, b.Name) })
}
