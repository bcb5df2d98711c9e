package prove

import (
	"slices"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A nogood is choices of some leaves that a test refutes, whatever the others are: any
// from each of the sets.
type nogood []chosen

// chosen are choices of a leaf that move the samples of a test alike.
type chosen struct {
	leaf    int
	choices []bool
}

// reason is told of the leaves that a test comes to, and returns of which choices, if it
// fails, it fails: what shifts are, and not how they are written, makes a run.
func (s *search) reason(m *machine, made []int) *nogood {
	n := &nogood{}
	m.came = func(at *p.Variable, st *state) {
		i := s.places[at]
		k := slices.IndexFunc(*n, func(c chosen) bool { return c.leaf == i })
		if k < 0 {
			k = len(*n)
			*n = append(*n, chosen{i, slices.Repeat([]bool{true}, len(s.leaves[i].choices))})
		}
		s.leaves[i].alike(m, st, made[i], (*n)[k].choices)
	}
	return n
}

// alike keeps the choices that are the made one in the state. Numbers are compared where
// floats are exact.
func (l *leaf) alike(m *machine, st *state, made int, choices []bool) {
	parts := make([]float64, len(l.parts))
	exact := true
	for i, x := range l.parts {
		r, ok := m.eval(x, st).num.IsConstant()
		if exact = exact && ok; exact {
			parts[i], exact = r.Float64()
		}
		exact = exact && parts[i]*(1<<20) == float64(int64(parts[i]*(1<<20))) && max(parts[i], -parts[i]) < 1<<20
	}
	value := func(c choice) (sum float64) {
		for _, t := range c.terms {
			sum += float64(t.k) * parts[t.part]
		}
		return sum
	}
	want := value(l.choices[made])
	for k, c := range l.choices {
		choices[k] = choices[k] && (k == made || exact && value(c) == want)
	}
}

// learn forbids what a test has refuted.
func (s *search) learn(reason *nogood) {
	n := *reason
	slices.SortFunc(n, func(a, b chosen) int { return a.leaf - b.leaf })
	if len(n) == 0 {
		s.hopeless = true
		return
	}
	s.tie(n)
	last := n[len(n)-1]
	for k, ok := range last.choices {
		if ok {
			s.nogoods[last.leaf][k] = append(s.nogoods[last.leaf][k], n)
		}
	}
}

// exclude takes the last alignment from the templates.
func (s *search) exclude() {
	n := nogood{}
	for i, l := range s.leaves {
		c := chosen{i, make([]bool, len(l.choices))}
		c.choices[s.last[i]] = true
		n = append(n, c)
	}
	s.learn(&n)
}

// forbidden reports whether a nogood of which the last leaf is the i-th is met.
func (s *search) forbidden(i int, made []int) bool {
	return slices.ContainsFunc(s.nogoods[i][made[i]], func(n nogood) bool {
		return !slices.ContainsFunc(n, func(c chosen) bool { return !c.choices[made[c.leaf]] })
	})
}
