package rank

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A column is what a slice holds: a list of values, or for each element of the list a value,
// in which self stands for the element.
type column struct {
	isList bool
	list   []value
	old    value // of all elements; of those that the loop did not come to if it sets them
	open   bool  // whether it does
	grows  bool  // by append, so that only each round's makes it as long as the list
	now    value // of those that it came to
	set    value // of the present one; nil if it is not set yet
}

func (x column) write(to []byte) []byte {
	to = append(to, "·slice("...)
	for _, is := range []bool{x.isList, x.open, x.grows} {
		to = strconv.AppendBool(to, is)
	}
	for _, v := range slices.Concat(x.list, []value{x.old, x.now, x.set}) {
		if v != nil {
			to = v.write(to)
		}
		to = append(to, ',')
	}
	return append(to, ')')
}

// column is what a slice holds.
func (m *machine) column(v *program.Variable, s *state) column {
	if c, ok := m.held(v, s).(column); ok {
		c.list = slices.Clone(c.list)
		return c
	}
	if v.Input && m.equal[v] {
		return column{old: sum{{atom{of: v, at: self}, one}}}
	}
	return column{}
}

func (m *machine) make(st program.Make, s *state) error {
	var zero value = public{program.Number{Value: new(big.Rat), Sort: st.To.Sort}}
	if st.To.Sort == program.Bool {
		zero = public{program.Truth(false)}
	}
	switch n := m.eval(st.Length, s).(type) {
	case size:
		m.set(st.To, column{old: zero}, s)
		return nil
	case public:
		if n, ok := n.x.(program.Number); ok && n.Value.IsInt() && n.Value.Sign() >= 0 && n.Value.Num().BitLen() < 6 {
			m.set(st.To, column{isList: true, list: slices.Repeat([]value{zero}, int(n.Value.Num().Int64()))}, s)
			return nil
		}
	}
	return undecided("line %d: a slice of the length %v", m.line(st.Pos), st.Length)
}

func (m *machine) append(st program.Append, s *state) error {
	c := m.column(st.To, s)
	switch {
	case s.now != none:
		// Each round appends one: see enter and leave.
		if !c.open || c.old != nil || c.set != nil {
			return undecided("line %d: %s is not made longer once for each element", m.line(st.Pos), st.To.Name)
		}
		m.put(st.To, c, m.eval(st.Value, s), s)
	case c.isList:
		c.list = append(c.list, m.eval(st.Value, s))
		m.set(st.To, c, s)
	default:
		return undecided("line %d: what %s is appended to", m.line(st.Pos), st.To.Name)
	}
	return nil
}

func (m *machine) store(st program.Store, s *state) {
	c := m.column(st.To, s)
	at := m.eval(st.Index, s)
	v := m.eval(st.Value, s)
	if i, ok := constant(at); ok && c.isList && i >= 0 && i < len(c.list) {
		c.list[i] = v
		m.set(st.To, c, s)
		return
	}
	if i, ok := at.(index); ok && s.now != none && i.of == s.now && c.open {
		m.put(st.To, c, v, s)
		return
	}
	m.set(st.To, column{}, s) // nothing is known of it any more
}

// put sets the present element of a slice.
func (m *machine) put(to *program.Variable, c column, v value, s *state) {
	v = renamed(v, func(x id) id {
		if x == s.now {
			return self
		}
		return x
	})
	for _, x := range of(v) {
		if x != self {
			v = unknown{}
		}
	}
	if _, fixed := v.(index); fixed {
		v = unknown{}
	}
	c.set = v
	m.set(to, c, s)
}

func constant(v value) (int, bool) {
	p, ok := v.(public)
	if !ok {
		return 0, false
	}
	n, ok := p.x.(program.Number)
	if !ok || !n.Value.IsInt() || n.Value.Num().BitLen() > 31 {
		return 0, false
	}
	return int(n.Value.Num().Int64()), true
}

func (m *machine) length(x program.Length, s *state) value {
	c, made := m.held(x.Slice, s).(column)
	switch {
	case made && c.isList:
		return public{number(int64(len(c.list)), program.Int)}
	case made && c.old != nil && !c.open, !made && m.equal[x.Slice]:
		return size{}
	case !made && x.Slice.Input && !x.Slice.Stream && !m.private[x.Slice]:
		return public{x}
	}
	return unknown{}
}

func (m *machine) element(x program.Element, s *state) value {
	c := m.column(x.Slice, s)
	at := m.eval(x.Index, s)
	i, fixed := constant(at)
	if fixed && c.isList {
		if i >= 0 && i < len(c.list) {
			return c.list[i]
		}
		return unknown{}
	}
	e, ok := at.(index)
	if fixed && i == 0 && s.first != none {
		e, ok = index{s.first}, true
	}
	if !ok || c.isList {
		return unknown{}
	}
	v := c.old
	if c.open {
		switch came := s.came(e.of); {
		case e.of == s.now && c.set != nil:
			v = c.set
		case e.of == s.now || came < 0:
		case came > 0:
			v = c.now
		default:
			v = nil
		}
	}
	if v == nil {
		return unknown{}
	}
	return renamed(v, func(y id) id {
		if y == self {
			return e.of
		}
		return y
	})
}
