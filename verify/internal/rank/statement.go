package rank

import (
	"maps"
	"math/big"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A flow is a state, and how it left a list of statements: by their end (0), a break, a
// continue or a return (b, c, r).
type flow struct {
	*state
	kind byte
	of   *program.Loop
}

func (m *machine) list(list []program.Statement, s *state) ([]flow, error) {
	flows := []flow{{state: s}}
	for _, st := range list {
		var next []flow
		for _, f := range flows {
			if f.kind != 0 {
				next = append(next, f)
				continue
			}
			if m.steps++; m.steps > maxSteps {
				return nil, undecided("more than %d steps", maxSteps)
			}
			if m.steps%lookStep == 0 && m.ctx.Err() != nil {
				return nil, undecided("the time for the claim is over: %v", m.ctx.Err())
			}
			more, err := m.statement(st, f.state)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
		flows = next
	}
	return flows, nil
}

// statement runs one; s is its own.
func (m *machine) statement(st program.Statement, s *state) ([]flow, error) {
	switch st := st.(type) {
	case program.Assign:
		return m.assign(st, s)
	case program.Draw:
		v, ok := m.eval(st.Parameter, s).(public)
		x := s.now
		if x == none && !s.ahead && !s.drawn {
			x, s.ahead = s.first, true
		}
		if !ok || x == none || s.drew {
			return nil, undecided("line %d: noise that is not drawn once for each element, of a public scale", m.line(st.Pos))
		}
		if m.scale == nil {
			m.scale = v.x
		}
		if m.scale.String() != text(v) {
			return nil, undecided("line %d: noise of the scales %v and %v", m.line(st.Pos), m.scale, v.x)
		}
		m.set(st.To, sum{{atom{at: x}, one}}, s)
		s.drew = s.now != none
	case program.Make:
		return goesOn(s), m.make(st, s)
	case program.Append:
		return goesOn(s), m.append(st, s)
	case program.Store:
		m.store(st, s)
	case program.If:
		var all []flow
		cases, err := m.cases(st.Cond, s, m.line(st.Pos))
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			list := st.Else
			if c.yes {
				list = st.Then
			}
			flows, err := m.list(list, c.state)
			if err != nil {
				return nil, err
			}
			all = append(all, flows...)
		}
		return all, nil
	case *program.Loop:
		return m.loop(st, s)
	case program.Break:
		return []flow{{s, 'b', st.Of}}, nil
	case program.Continue:
		return []flow{{s, 'c', st.Of}}, nil
	case program.Return:
		if s.now != none {
			return nil, undecided("line %d: the function may return before it has looked at all elements", m.line(st.Pos))
		}
		return []flow{{s, 'r', nil}}, m.reveal(s, st.Values, st.Panic)
	default:
		return nil, undecided("line %d: it reveals values as it goes", m.line(st.Position()))
	}
	return goesOn(s), nil
}

func goesOn(s *state) []flow { return []flow{{state: s}} }

func (m *machine) assign(st program.Assign, s *state) ([]flow, error) {
	if st.To.Slice {
		from, ok := st.Value.(program.Ref)
		if !ok {
			return nil, undecided("line %d: a slice", m.line(st.Pos))
		}
		m.set(st.To, m.column(from.Var, s), s)
		return goesOn(s), nil
	}
	if st.To.Sort == program.Bool {
		cases, err := m.cases(st.Value, s, m.line(st.Pos))
		var all []flow
		for _, c := range cases {
			m.set(st.To, public{program.Truth(c.yes)}, c.state)
			all = append(all, flow{state: c.state})
		}
		return all, err
	}
	v := m.eval(st.Value, s)
	if p, ok := v.(public); ok && m.indices[st.To] && s.first != none && p.x.String() == "0" {
		v = index{s.first} // 0 is where the first element stands
	}
	m.set(st.To, v, s)
	return goesOn(s), nil
}

// A possibility is a condition's truth, and the state in which it is that.
type possibility struct {
	*state
	yes bool
}

// cases follow a condition. One on what is public or shown may be either, and stays so.
func (m *machine) cases(x program.Expression, s *state, line int) ([]possibility, error) {
	switch x := x.(type) {
	case program.Unary:
		all, err := m.cases(x.X, s, line)
		for i := range all {
			all[i].yes = !all[i].yes
		}
		return all, err
	case program.Binary:
		if x.Op != program.And && x.Op != program.Or {
			break
		}
		first, err := m.cases(x.X, s, line)
		var all []possibility
		for _, c := range first {
			if c.yes == (x.Op == program.Or) {
				all = append(all, c)
				continue
			}
			more, err := m.cases(x.Y, c.state, line)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, err
	}
	v := m.eval(x, s)
	need := 0
	switch v := v.(type) {
	case public:
		if t, ok := v.x.(program.Truth); ok {
			return []possibility{{s, bool(t)}}, nil
		}
	case shown:
		need = v.need
	default:
		if m.way.step && s.now != none {
			// Which others a winner would have to beat before it comes may not be known.
			no := s.clone()
			m.meet(x, s, true)
			m.meet(x, no, false)
			return []possibility{{s, true}, {no, false}}, nil
		}
		return nil, undecided("line %d: the order of noisy values does not tell whether %v", line, x)
	}
	m.need = max(m.need, need)
	as := text(v)
	if yes, ok := s.decided[as]; ok {
		return []possibility{{s, yes}}, nil
	}
	var all []possibility
	for _, yes := range []bool{true, false} {
		c := s.clone()
		c.decided = maps.Clone(s.decided)
		c.decided[as] = yes
		all = append(all, possibility{c, yes})
	}
	return all, nil
}

// meet puts in place of the noise of one of the others what it is where a comparison comes out
// so only of equal values.
func (m *machine) meet(x program.Expression, s *state, yes bool) {
	b, ok := x.(program.Binary)
	if !ok || s.now.winner() {
		return
	}
	v, ok1 := m.eval(b.X, s).(sum)
	w, ok2 := m.eval(b.Y, s).(sum)
	if !ok1 || !ok2 {
		return
	}
	left := signs(0)
	for all, sign := m.difference(v, w, s), negative; sign <= positive; sign <<= 1 {
		if is, known := sign.holds(b.Op); all&sign != 0 && known && is == yes {
			left |= sign
		}
	}
	nought := v.plus(w, minusOne)
	k := nought.factor(atom{at: s.now})
	if left != zero || k == nil {
		return
	}
	for i, held := range s.vars {
		if h, ok := held.(sum); ok {
			if f := h.factor(atom{at: s.now}); f != nil {
				s.vars[i] = h.plus(nought, product(minusOne, quotient(f, k)))
			}
		}
	}
}

// factor is that of an atom, nil if the sum has none.
func (x sum) factor(of atom) *big.Rat {
	for _, t := range x {
		if t.atom == of {
			return t.factor
		}
	}
	return nil
}
