package rank

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A state is what is known at one place of the function.
type state struct {
	n       int // how many elements there are; winners+1 is more than that
	first   id  // the first element; none where there is none, or it is not told
	now     id  // the present element, none outside of loops
	at      int // its index, if exact; else it is not below that
	exact   bool
	seen    uint            // winners that this loop came to
	lows    int             // others that it came to, of which this many are told apart
	after   uint            // those that it came to after the first winner, where way.step asks for it
	second  int             // the same of the second winner: 1 if it stands before the first, -1 if after; 0 is not known
	drew    bool            // in this round
	ahead   bool            // before the loop, for the first element
	drawn   bool            // the loop that draws was entered
	vars    []value         // what those of machine.numbers hold; nil where they are not set
	decided map[string]bool // conditions on what is public, or shown; never changed
}

func (s *state) clone() *state {
	c := *s
	c.vars = slices.Clone(s.vars)
	return &c
}

// held is what a variable holds; nil where it was not set.
func (m *machine) held(v *program.Variable, s *state) value {
	if n, ok := m.numbers[v]; ok {
		return s.vars[n]
	}
	return nil
}

// set sets a variable that a statement does.
func (m *machine) set(v *program.Variable, to value, s *state) { s.vars[m.numbers[v]] = to }

// key tells states apart.
func (s *state) key() string {
	b := fmt.Append(nil, s.n, s.first, s.now, s.at, s.exact, s.seen, s.lows, s.after, s.second, s.drew, s.ahead, s.drawn)
	for _, x := range s.vars {
		if b = append(b, ';'); x != nil {
			b = x.write(b)
		}
	}
	for _, x := range slices.Sorted(maps.Keys(s.decided)) {
		b = strconv.AppendBool(append(append(b, ';'), x...), s.decided[x])
	}
	return string(b)
}

// rename gives elements other names.
func (s *state) rename(by func(id) id) {
	for v, x := range s.vars {
		s.vars[v] = renamed(x, by)
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
