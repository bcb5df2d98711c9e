package prove

import (
	"math/rand/v2"
	"testing"
)

// What a test refutes it refutes for every choice that the nogood names.
func TestNogoods(t *testing.T) {
	for name, u := range load(t, "./right") {
		c := u.Claim
		if u.Function == nil || c == nil || c.Cost == nil {
			continue
		}
		st, b, err := prepare(t.Context(), unscaled(u.Function, c))
		if err != nil {
			continue
		}
		s := &search{static: st, c: c, budget: b, outcomes: st.outcomeVariables(), goal: rational(1), maker: newMaker(st, c, b)}
		s.plant(later)
		if len(s.leaves) == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(1, 2))
		a := alignment{}
		for _, t := range s.templates {
			a[t.draw] = t.shift
		}
		run := func(x *test, made []int) (bool, *nogood) {
			m := s.machine(a, x)
			m.leaves = s.shifts(made)
			reason := s.reason(m, made)
			m.run()
			return m.err == nil && m.violated(), reason
		}
		wider := 0
		for range 200 {
			x := s.maker.make(false, false)
			if x == nil {
				continue
			}
			x.more = s.maker.sampler(x)
			if s.outcomes != nil {
				x.outcome[0] = rational(int64(random.IntN(3)))
			}
			made := make([]int, len(s.leaves))
			for i, l := range s.leaves {
				made[i] = random.IntN(min(20, len(l.choices)))
			}
			bad, reason := run(x, made)
			if x.more = nil; !bad {
				continue
			}
			other := make([]int, len(s.leaves))
			for i, l := range s.leaves {
				other[i] = random.IntN(len(l.choices))
			}
			for _, c := range *reason {
				for ; !c.choices[other[c.leaf]]; other[c.leaf] = random.IntN(len(c.choices)) {
				}
				if other[c.leaf] != made[c.leaf] {
					wider++
				}
			}
			if bad, _ := run(x, other); !bad {
				t.Errorf("%s: %v is refuted, and with it %v, which passes", name, s.shifts(made), s.shifts(other))
			}
		}
		if wider == 0 {
			t.Errorf("%s: no test refuted more than one choice", name)
		}
	}
}
