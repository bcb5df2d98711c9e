package rank

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A machine runs a function on lists of which it knows the order alone: it tells the
// largest elements apart, the winners, and those of the others that are the largest that a
// loop has come to. A loop over the list comes to its elements in any order; in the round of
// an element that is none of the winners, that may stand anywhere among the others. What a
// variable holds is named by the element that it is of, so that there are finitely many
// states.
//
// Every run of the function is one of the machine's, for the order of its noisy values:
// what the machine takes for true is.
type machine struct {
	ctx     context.Context
	f       *program.Function
	c       *claim.Claim
	draw    *program.Draw
	winners int
	way     way

	private map[*program.Variable]bool            // inputs
	equal   map[*program.Variable]bool            // inputs as long as the list
	indices map[*program.Variable]bool            // variables that are set to where an element stands
	numbers map[*program.Variable]int             // of those that statements set
	passing map[*program.Loop][]*program.Variable // variables that a round does not leave to another one

	scale    program.Expression
	template sum              // what noise is added to, of no element: nil if it is not known yet
	results  map[int][]result // by the number of elements
	need     int
	gaps     bool
	steps    int
}

const (
	maxSteps = 400000
	maxTurns = 64  // of loops that are not over the list
	lookStep = 256 // after how many steps the time is looked at
)

func newMachine(ctx context.Context, f *program.Function, c *claim.Claim, winners int, w way) *machine {
	m := &machine{
		ctx: ctx, f: f, c: c, winners: winners, way: w, private: map[*program.Variable]bool{}, equal: map[*program.Variable]bool{},
		indices: map[*program.Variable]bool{}, numbers: map[*program.Variable]int{}, results: map[int][]result{},
	}
	m.draw, _ = drawn(f.Body)
	for _, a := range c.Adjacent {
		m.private[a.Input] = true
		if len(m.equal) == 0 && a.Input.Slice && !a.Input.Stream && a.Relation != claim.Bag {
			m.equal[a.Input] = true
		}
	}
	requires := slices.Concat(f.Requires, c.Requires)
	for range requires {
		for _, r := range requires {
			m.lengths(r)
		}
	}
	m.positions()
	m.passing = map[*program.Loop][]*program.Variable{}
	program.Each(f.Body, func(s program.Statement) {
		if l, ok := s.(*program.Loop); ok {
			m.passing[l] = passing(f, l)
		}
		if v := program.Written(s); v != nil {
			if _, ok := m.numbers[v]; !ok {
				m.numbers[v] = len(m.numbers)
			}
		}
	})
	return m
}

// lengths notes slices that are required to be as long as the list.
func (m *machine) lengths(x program.Expression) {
	b, ok := x.(program.Binary)
	if !ok {
		return
	}
	if b.Op == program.And {
		m.lengths(b.X)
		m.lengths(b.Y)
	}
	v, ok1 := b.X.(program.Length)
	w, ok2 := b.Y.(program.Length)
	if b.Op == program.Eq && ok1 && ok2 && (m.equal[v.Slice] || m.equal[w.Slice]) {
		m.equal[v.Slice], m.equal[w.Slice] = true, true
	}
}

// positions finds the variables that are set to the counter of a loop, or to such a
// variable.
func (m *machine) positions() {
	counters := map[*program.Variable]bool{}
	program.Each(m.f.Body, func(s program.Statement) {
		if l, ok := s.(*program.Loop); ok {
			if i, ok := counter(l); ok {
				counters[i] = true
			}
		}
	})
	for range m.f.Body {
		program.Each(m.f.Body, func(s program.Statement) {
			if a, ok := s.(program.Assign); ok && !counters[a.To] {
				if r, ok := a.Value.(program.Ref); ok && (counters[r.Var] || m.indices[r.Var]) {
					m.indices[a.To] = true
				}
			}
		})
	}
}

// passing lists the scalars that are mentioned in a loop's body alone, and set there before
// they are read. That a machine forgets them is no loss.
func passing(f *program.Function, l *program.Loop) (all []*program.Variable) {
	total, _ := mentions(f.Body)
	inside, set := mentions(l.Body)
	for v, n := range inside {
		if set[v] && n == total[v] && !v.Slice && !v.Input {
			all = append(all, v)
		}
	}
	return all
}

// mentions counts how often statements mention variables, and says which they set before
// they read them.
func mentions(list []program.Statement) (times map[*program.Variable]int, set map[*program.Variable]bool) {
	times, set = map[*program.Variable]int{}, map[*program.Variable]bool{}
	program.Each(list, func(s program.Statement) {
		for _, x := range program.Expressions(s) {
			program.Variables(x, func(v *program.Variable) { times[v]++ })
		}
		if v := program.Written(s); v != nil {
			set[v] = set[v] || times[v] == 0
			times[v]++
		}
	})
	return times, set
}

// counter is the variable of a loop that goes up by 1 after each round, and is not set in
// it.
func counter(l *program.Loop) (*program.Variable, bool) {
	if len(l.Post) != 1 {
		return nil, false
	}
	a, ok := l.Post[0].(program.Assign)
	if !ok {
		return nil, false
	}
	next, ok := a.Value.(program.Binary)
	if !ok || next.Op != program.Add || !is(next.X, a.To) || next.Y.String() != "1" {
		return nil, false
	}
	set := false
	program.Each(l.Body, func(s program.Statement) { set = set || program.Written(s) == a.To })
	return a.To, !set
}

func is(x program.Expression, v *program.Variable) bool {
	r, ok := x.(program.Ref)
	return ok && r.Var == v
}

// run follows the function for lists of all sizes, and all that may be the first element if it
// is to be told.
func (m *machine) run(first bool) error {
	for n := range m.winners + 2 {
		firsts := []id{none}
		if first && n > 0 {
			firsts = nil
			for r := 1; r <= min(n, m.winners); r++ {
				firsts = append(firsts, id(r))
			}
			if n > m.winners {
				firsts = append(firsts, start)
			}
		}
		for _, first := range firsts {
			s := &state{n: n, first: first, vars: make([]value, len(m.numbers)), decided: map[string]bool{}}
			if !m.allowed(s) {
				continue
			}
			flows, err := m.list(m.f.Body, s)
			if err != nil {
				return err
			}
			for _, f := range flows {
				if f.kind != 'r' {
					if err := m.reveal(f.state, nil, false); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// allowed reports whether lists of a size may meet what is required.
func (m *machine) allowed(s *state) bool {
	for _, r := range slices.Concat(m.f.Requires, m.c.Requires) {
		for _, x := range conjuncts(r) {
			if v, ok := m.eval(x, s).(public); ok && v.x == program.Expression(program.Truth(false)) {
				return false
			}
		}
	}
	return true
}

func conjuncts(x program.Expression) []program.Expression {
	if b, ok := x.(program.Binary); ok && b.Op == program.And {
		return slices.Concat(conjuncts(b.X), conjuncts(b.Y))
	}
	return []program.Expression{x}
}
