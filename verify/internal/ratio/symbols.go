package ratio

import (
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// eval computes an expression as far as it is known.
func (m *machine) eval(e program.Expression) (program.Expression, error) {
	switch e := e.(type) {
	case program.Ref:
		return m.scalarOf(e.Var)
	case program.Length:
		l := m.slice(e.Slice)
		if l.length == nil {
			return nil, undecided("the length of %s", e.Slice.Name)
		}
		return l.length, nil
	case program.Element:
		return m.element(e)
	case program.Unary:
		x, err := m.eval(e.X)
		if err != nil {
			return nil, err
		}
		return fold(program.Unary{Op: e.Op, X: x}), nil
	case program.Binary:
		if e.Op == program.And || e.Op == program.Or {
			return m.logic(e)
		}
		x, err := m.eval(e.X)
		if err != nil {
			return nil, err
		}
		y, err := m.eval(e.Y)
		if err != nil {
			return nil, err
		}
		return fold(program.Binary{Op: e.Op, X: x, Y: y}), nil
	case program.Call:
		args := make([]program.Expression, len(e.Args))
		for i, a := range e.Args {
			x, err := m.eval(a)
			if err != nil {
				return nil, err
			}
			args[i] = x
		}
		return fold(program.Call{Func: e.Func, Args: args}), nil
	case program.If3:
		yes, err := m.truth(e.Cond)
		if err != nil {
			return nil, err
		}
		if yes {
			return m.eval(e.Then)
		}
		return m.eval(e.Else)
	}
	return e, nil
}

// logic evaluates && and ||, whose second operand may not be evaluated.
func (m *machine) logic(e program.Binary) (program.Expression, error) {
	x, err := m.eval(e.X)
	if err != nil {
		return nil, err
	}
	if t, ok := x.(program.Truth); ok {
		if bool(t) == (e.Op == program.Or) {
			return t, nil
		}
		return m.eval(e.Y)
	}
	yes, err := m.truth(e)
	return program.Truth(yes), err
}

// scalarOf is the value of a scalar: what the part has set, or what was there.
func (m *machine) scalarOf(v *program.Variable) (program.Expression, error) {
	x, ok := m.vars[v]
	if !ok {
		x = m.leaf(v)
		m.vars[v] = x
	}
	return m.answered(x), nil
}

// answered puts an answer in the place of a private leaf.
func (m *machine) answered(x program.Expression) program.Expression {
	switch x.(type) {
	case program.Ref, program.Element:
		if a, ok := m.secret[x.String()]; ok {
			return a
		}
	}
	return x
}

// leaf names what was in a scalar at the start. A name with @ is of a value that may be
// another one each time; others are inputs'.
func (m *machine) leaf(v *program.Variable) program.Expression {
	known := m.at.get(v)
	if known.relation == equal {
		if known.expr != nil {
			return known.expr
		}
		x := &program.Variable{Name: v.Name + "@", Sort: v.Sort, Natural: v.Natural}
		m.moving[x.Name] = true
		return program.Ref{Var: x}
	}
	if known.expr != nil {
		refs(known.expr, func(w *program.Variable) {
			if !m.same(program.Ref{Var: w}) {
				m.secrets[w.Name] = true
			}
		})
		return known.expr
	}
	x := &program.Variable{Name: v.Name + "@", Sort: v.Sort}
	m.secrets[x.Name] = true
	return program.Ref{Var: x}
}

// slice is the value of a slice.
func (m *machine) slice(v *program.Variable) sequence {
	l, ok := m.slices[v]
	if ok {
		return l
	}
	known := m.at.get(v)
	if n, ok := known.length.(program.Number); ok && known.uniform != nil && n.Value.Num().BitLen() < 6 {
		for range int(n.Value.Num().Int64()) {
			l.elems = append(l.elems, known.uniform)
		}
		l.length = known.length
		m.slices[v] = l
		return l
	}
	if n, ok := known.length.(program.Number); ok && n.Value.Sign() == 0 {
		l.length = known.length
		m.slices[v] = l
		return l
	}
	l.base = m.base(v)
	if known.relation != equal {
		m.secrets[l.base.Name] = true
	}
	if known.lengths {
		l.length = known.length
		if l.length == nil {
			n := &program.Variable{Name: "len(" + l.base.Name + ")@", Sort: program.Int, Natural: true}
			m.moving[n.Name] = true
			l.length = program.Ref{Var: n}
		}
	}
	m.slices[v] = l
	return l
}

// base names what was in a slice at the start.
func (m *machine) base(v *program.Variable) *program.Variable {
	if v.Input && !m.changed[v] {
		return v
	}
	x := &program.Variable{Name: v.Name + "@", Sort: v.Sort, Slice: true}
	m.moving[x.Name] = true
	return x
}

// element is q[i].
func (m *machine) element(e program.Element) (program.Expression, error) {
	l := m.slice(e.Slice)
	i, err := m.eval(e.Index)
	if err != nil {
		return nil, err
	}
	if l.base == nil {
		k, err := m.index(i, len(l.elems))
		if err != nil {
			return nil, err
		}
		return m.answered(l.elems[k]), nil
	}
	if i, err = m.known(i); err != nil {
		return nil, err
	}
	if len(l.done) > 0 || len(l.elems) > 0 || m.hidden(i) {
		return nil, undecided("the element %v", e)
	}
	return m.answered(program.Element{Slice: l.base, Index: i}), nil
}

// index is a known index in range.
func (m *machine) index(i program.Expression, n int) (int, error) {
	i, err := m.known(i)
	if err != nil {
		return 0, err
	}
	k, ok := i.(program.Number)
	if !ok || !k.Value.IsInt() || k.Value.Sign() < 0 || !k.Value.Num().IsInt64() || k.Value.Num().Int64() >= int64(n) {
		return 0, undecided("the index %v", i)
	}
	return int(k.Value.Num().Int64()), nil
}

func (m *machine) make(s *program.Make) error {
	n, err := m.eval(s.Length)
	if err != nil {
		return err
	}
	k, ok := n.(program.Number)
	if !ok || k.Value.Sign() < 0 || k.Value.Num().BitLen() > 6 {
		return undecided("the length %v", s.Length)
	}
	var nought program.Expression = program.Number{Value: zero, Sort: s.To.Sort}
	if s.To.Sort == program.Bool {
		nought = program.Truth(false)
	}
	l := sequence{length: n}
	for range int(k.Value.Num().Int64()) {
		l.elems = append(l.elems, nought)
	}
	m.slices[s.To] = l
	return nil
}

func (m *machine) append(s *program.Append) error {
	l := m.slice(s.To)
	x, err := m.eval(s.Value)
	if err != nil {
		return err
	}
	l.elems = append(l.elems[:len(l.elems):len(l.elems)], x)
	if l.length != nil {
		l.length = fold(program.Binary{Op: program.Add, X: l.length, Y: program.Number{Value: one}})
	}
	m.slices[s.To] = l
	return nil
}

func (m *machine) store(s *program.Store) error {
	l := m.slice(s.To)
	i, err := m.eval(s.Index)
	if err != nil {
		return err
	}
	x, err := m.eval(s.Value)
	if err != nil {
		return err
	}
	if l.base == nil {
		k, err := m.index(i, len(l.elems))
		if err != nil {
			return err
		}
		l.elems = append([]program.Expression(nil), l.elems...)
		l.elems[k] = x
		m.slices[s.To] = l
		return nil
	}
	if len(l.elems) > 0 {
		return undecided("storing in %s after appending", s.To.Name)
	}
	// What is stored in a slice that was there is kept as text: it must be public.
	where, err := m.scalar(i)
	if err != nil {
		return err
	}
	what, err := m.scalar(x)
	if err != nil {
		return err
	}
	n := len(l.done)
	if n > 0 && strings.HasPrefix(l.done[n-1], "["+where+"]=") {
		n-- // it is overwritten
	}
	l.done = append(l.done[:n:n], "["+where+"]="+what+" ")
	m.slices[s.To] = l
	return nil
}
