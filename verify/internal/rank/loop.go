package rank

import (
	"math/bits"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

func (m *machine) loop(l *program.Loop, s *state) ([]flow, error) {
	i, ok := counter(l)
	cond, compares := l.Cond.(program.Binary)
	if ok && compares && cond.Op == program.Lt && is(cond.X, i) {
		if _, ok := m.eval(cond.Y, s).(size); ok && !m.changes(l.Body, cond.Y) {
			return m.scan(l, i, s)
		}
	}
	return m.turns(l, s)
}

// changes reports whether statements change an expression that is a number or a length.
func (m *machine) changes(list []program.Statement, x program.Expression) (found bool) {
	program.Each(list, func(s program.Statement) {
		if _, store := s.(program.Store); !store {
			program.Variables(x, func(v *program.Variable) { found = found || program.Written(s) == v })
		}
	})
	return found
}

// turns follows a loop round by round: one that is not over the list.
func (m *machine) turns(l *program.Loop, s *state) ([]flow, error) {
	var out []flow
	heads := []*state{s}
	for range maxTurns {
		var next []*state
		for _, h := range heads {
			cases, err := m.cases(l.Cond, h, m.line(l.Pos))
			if err != nil {
				return nil, err
			}
			for _, c := range cases {
				if !c.yes {
					out = append(out, flow{state: c.state})
					continue
				}
				flows, err := m.list(l.Body, c.state)
				if err != nil {
					return nil, err
				}
				for _, f := range flows {
					switch {
					case f.kind == 'b' && f.of == l:
						out = append(out, flow{state: f.state})
					case f.kind == 0 || f.kind == 'c' && f.of == l:
						post, err := m.list(l.Post, f.state)
						if err != nil {
							return nil, err
						}
						for _, p := range post {
							next = append(next, p.state)
						}
					default:
						out = append(out, f)
					}
				}
			}
		}
		if heads = next; len(heads) == 0 {
			return out, nil
		}
	}
	return nil, undecided("line %d: a loop of more than %d rounds", m.line(l.Pos), maxTurns)
}

// scan follows a loop over the list. Its rounds are followed from all states in which one
// may begin, until there are no new ones.
func (m *machine) scan(l *program.Loop, i *program.Variable, s *state) ([]flow, error) {
	line := m.line(l.Pos)
	if err := m.enter(l, i, s); err != nil {
		return nil, err
	}
	var out []flow
	known, ended := map[string]bool{}, map[string]bool{}
	end := func(s *state) {
		if k := s.key(); !ended[k] {
			ended[k] = true
			out = append(out, flow{state: s})
		}
	}
	heads := []*state{s}
	for len(heads) > 0 {
		h := heads[len(heads)-1]
		heads = heads[:len(heads)-1]
		if k := h.key(); known[k] {
			continue
		} else {
			known[k] = true
		}
		if h.complete(m.winners) {
			e := h.clone()
			m.leave(e)
			m.set(i, size{}, e)
			end(e)
		}
		for _, r := range m.rounds(h) {
			m.set(i, index{r.now}, r)
			flows, err := m.list(l.Body, r)
			if err != nil {
				return nil, err
			}
			for _, f := range flows {
				switch {
				case f.kind == 0 || f.kind == 'c' && f.of == l:
					if err := m.next(l, f.state); err != nil {
						return nil, err
					}
					heads = append(heads, f.state)
				case f.kind == 'b' && f.of == l && !m.sets(l):
					m.leave(f.state)
					m.set(i, unknown{}, f.state)
					end(f.state)
				default:
					return nil, undecided("line %d: the loop may be left before it has come to all elements", line)
				}
			}
		}
	}
	return out, nil
}

// sets reports whether a loop draws, or sets elements of slices.
func (m *machine) sets(l *program.Loop) (found bool) {
	program.Each(l.Body, func(s program.Statement) {
		switch s.(type) {
		case program.Draw, program.Append, program.Store, program.Make:
			found = true
		}
	})
	return found
}

// enter begins a loop over the list, at its first element or after it.
func (m *machine) enter(l *program.Loop, i *program.Variable, s *state) error {
	line := m.line(l.Pos)
	if s.now != none {
		return undecided("line %d: a loop over the list within another one", line)
	}
	s.seen, s.lows, s.after = 0, 0, 0
	begin := m.held(i, s)
	from, ok := constant(begin)
	if x, is := begin.(index); is && x.of == s.first {
		from, ok = 0, true
	}
	draws, stores := false, false
	program.Each(l.Body, func(st program.Statement) {
		switch st := st.(type) {
		case program.Draw:
			draws = true
		case program.Store, program.Append:
			stores = true
			to := program.Written(st)
			c := m.column(to, s)
			_, appends := st.(program.Append)
			switch {
			case appends && c.isList && len(c.list) == 0:
				c = column{grows: true}
			case !c.grows && (appends || c.isList):
				m.set(to, column{}, s) // of another length
				return
			}
			c.open = true
			m.set(to, c, s)
		}
	})
	switch {
	case !ok || from < 0 || from > 1:
		return undecided("line %d: where in the list the loop begins", line)
	case from == 1 && stores, draws && (from == 1) != s.ahead:
		return undecided("line %d: the loop leaves the first element out", line)
	case draws && s.drawn:
		return undecided("line %d: noise is drawn more than once", line)
	case from == 1 && s.n > 0 && s.first == none:
		return undecided("line %d: which is the first element", line)
	case from == 1 && s.n > 0:
		m.come(s, s.first, 1)
		s.now = none
	}
	s.drawn = s.drawn || draws
	return nil
}

// complete reports whether a loop may have come to all elements.
func (s *state) complete(winners int) bool {
	return bits.OnesCount(s.seen) == min(s.n, winners) && (s.n <= winners || s.lows > 0)
}

// rounds are the states in which the next round may begin.
func (m *machine) rounds(h *state) []*state {
	var all []*state
	begin := func(x id, place int) {
		r := h.clone()
		r.at, r.exact = bits.OnesCount(h.seen)+h.lows, h.lows <= m.winners
		r.drew = false
		m.come(r, x, place)
		all = append(all, r)
	}
	if h.first != none && h.seen == 0 && h.lows == 0 {
		begin(h.first, 1)
		return all
	}
	for r := 1; r <= min(h.n, m.winners); r++ {
		if h.seen&(1<<r) == 0 && id(r) != h.first {
			begin(id(r), 0)
		}
	}
	if h.n > m.winners && h.first != start {
		for place := 1; place <= h.lows+1; place++ {
			begin(low, place)
		}
	}
	return all
}

// come makes an element the present one: a winner, or that which is at a place among the
// others that the loop came to, of which one more than there are winners are told apart.
func (m *machine) come(s *state, x id, place int) {
	led := m.way.step && s.seen&(1<<1) != 0
	if m.way.step && x == 2 && s.second == 0 {
		s.second = 1
		if led {
			s.second = -1
		}
	}
	if x.winner() {
		s.seen |= 1 << x
		s.now = x
		return
	}
	kept := m.winners + 1
	below := s.after & (1<<place - 1)
	s.after = below | (s.after&^below)<<1
	if led {
		s.after |= 1 << place
	}
	s.after &= 1<<(kept+1) - 1
	now := low + id(place)
	if place > kept {
		now = under
	}
	s.rename(func(y id) id {
		switch {
		case x == start && y == start:
			return now
		case y > low && y < start && y >= now:
			if y+1 > low+id(kept) {
				return lost
			}
			return y + 1
		}
		return y
	})
	s.now = now
	s.lows = min(s.lows+1, kept)
}

// next ends a round.
func (m *machine) next(l *program.Loop, s *state) error {
	draws := false
	program.Each(l.Body, func(st program.Statement) {
		_, draw := st.(program.Draw)
		draws = draws || draw
	})
	if draws && !s.drew {
		return undecided("line %d: not every round draws noise", m.line(l.Pos))
	}
	for _, v := range m.passing[l] {
		m.set(v, nil, s)
	}
	for v, x := range s.vars {
		c, ok := x.(column)
		if !ok || !c.open {
			continue
		}
		switch {
		case c.set == nil && c.grows:
			return undecided("line %d: a slice is not made longer once for each element", m.line(l.Pos))
		case c.set == nil, s.at > 0 && (c.now == nil || text(c.now) != text(c.set)):
			c.now = unknown{}
		default:
			c.now = c.set
		}
		c.set = nil
		s.vars[v] = c
	}
	s.now, s.at, s.exact, s.drew = none, 0, false, false
	s.rename(func(x id) id {
		if x == under {
			return lost
		}
		return x
	})
	return nil
}

// leave ends a loop over the list: where the others stood among each other is forgotten.
func (m *machine) leave(s *state) {
	for v, x := range s.vars {
		if c, ok := x.(column); ok && c.open {
			if s.n > 0 {
				c.old = c.now
			}
			if c.old == nil {
				c.old = unknown{}
			}
			c.now, c.set, c.open, c.grows = nil, nil, false, false
			s.vars[v] = c
		}
	}
	first := s.first
	s.seen, s.lows, s.after, s.now, s.at, s.exact, s.drew = 0, 0, 0, none, 0, false, false
	s.rename(func(x id) id {
		switch {
		case x == first && x > low && x < start:
			return start
		case x > low && x < start || x == under:
			return lost
		}
		return x
	})
	if s.first == lost {
		s.first = start
	}
}
