package rank

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A state is what is known at one place of the function.
type state struct {
	n       int // how many elements there are; winners+1 is more than that
	first   id  // the first element
	now     id  // the present element, none outside of loops
	at      int // its index, if exact; else it is not below that
	exact   bool
	seen    uint // winners that this loop came to
	lows    int  // others that it came to, of which this many are told apart
	after   uint // those that it came to after the first winner, where way.step asks for it
	second  int  // the same of the second winner: 1 if it stands before the first, -1 if after; 0 is not known
	drew    bool // in this round
	ahead   bool // before the loop, for the first element
	drawn   bool // the loop that draws was entered
	vars    map[*program.Variable]value
	columns map[*program.Variable]column
	decided map[string]bool // conditions on what is public, or shown
}

func (s *state) clone() *state {
	c := *s
	c.vars, c.columns, c.decided = maps.Clone(s.vars), maps.Clone(s.columns), maps.Clone(s.decided)
	return &c
}

// key tells states apart.
func (m *machine) key(s *state) string {
	var b strings.Builder
	fmt.Fprint(&b, s.n, s.first, s.now, s.at, s.exact, s.seen, s.lows, s.after, s.second, s.drew, s.ahead, s.drawn)
	ordinal := func(v *program.Variable) int {
		if _, ok := m.ordinals[v]; !ok {
			m.ordinals[v] = len(m.ordinals)
		}
		return m.ordinals[v]
	}
	var parts []string
	for v, x := range s.vars {
		parts = append(parts, strconv.Itoa(ordinal(v))+"="+x.text())
	}
	for v, c := range s.columns {
		text := fmt.Sprint(ordinal(v), "[", c.isList, c.open)
		for _, x := range append(slices.Clone(c.list), c.old, c.now, c.set) {
			if x != nil {
				text += x.text()
			}
			text += ","
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	fmt.Fprint(&b, parts, s.path())
	return b.String()
}

// path is what was decided.
func (s *state) path() string {
	var parts []string
	for x, yes := range s.decided {
		parts = append(parts, fmt.Sprint(x, ":", yes))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// rename gives elements other names.
func (s *state) rename(by func(id) id) {
	for v, x := range s.vars {
		s.vars[v] = renamed(x, by)
	}
	for v, c := range s.columns {
		c.list = slices.Clone(c.list)
		for i, x := range c.list {
			c.list[i] = renamed(x, by)
		}
		s.columns[v] = c
	}
	s.first = by(s.first)
	s.now = by(s.now)
}

// came says whether the loop has come to an element before the present one: 1, or -1 if it
// has not; 0 is not known.
func (s *state) came(x id) int {
	switch {
	case x == s.now, x == start:
		return -1
	case x.winner() && s.seen&(1<<x) == 0:
		return -1
	case x.winner(), x > low && x < start:
		return 1
	}
	return 0
}

// agrees reports that no condition was decided otherwise.
func (s *state) agrees(decided map[string]bool) bool {
	for x, yes := range decided {
		if other, ok := s.decided[x]; ok && other != yes {
			return false
		}
	}
	return true
}
