package rank

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// reveal notes what the function returns. It must be the same in all runs with as many
// elements, in which what is public and shown is the same.
func (m *machine) reveal(s *state, values []program.Expression, panics bool) error {
	var parts []string
	for _, x := range values {
		if r, ok := x.(program.Ref); ok && r.Var.Slice {
			c := m.column(r.Var, s)
			if !c.isList {
				return undecided("all of %s is shown", r.Var.Name)
			}
			var list []string
			for _, v := range c.list {
				t, err := m.tell(v, s, x)
				if err != nil {
					return err
				}
				list = append(list, t)
			}
			parts = append(parts, fmt.Sprint(list))
			continue
		}
		if program.SortOf(x) == program.Bool {
			cases, err := m.cases(x, s.clone(), 0)
			if err != nil {
				return err
			}
			if len(cases) == 1 {
				parts = append(parts, fmt.Sprint(cases[0].yes))
				continue
			}
		}
		t, err := m.tell(m.eval(x, s), s, x)
		if err != nil {
			return err
		}
		parts = append(parts, t)
	}
	text := fmt.Sprint(panics, strings.Join(parts, ", "))
	for _, r := range m.results[s.n] {
		if r.text == text && maps.Equal(r.decided, s.decided) {
			return nil
		}
		if r.text != text && s.agrees(r.decided) {
			return undecided("the result tells of other noisy values than the largest")
		}
	}
	m.results[s.n] = append(m.results[s.n], result{s.decided, text})
	return nil
}

// A result is what is returned where conditions were decided so.
type result struct {
	decided map[string]bool
	text    string
}

// tell writes what a result tells.
func (m *machine) tell(v value, s *state, x program.Expression) (string, error) {
	t, ok := m.show(v, s)
	if !ok {
		return "", undecided("the result %v is not known from which noisy values are the largest, and their differences", x)
	}
	m.need = max(m.need, t.need)
	return t.as, nil
}

// show is what the result tells where it tells a value.
func (m *machine) show(v value, s *state) (shown, bool) {
	switch v := v.(type) {
	case shown:
		return v, true
	case public, size:
		return shown{as: text(v)}, true
	case index:
		need := int(v.of)
		if m.way.step && need > 1 && s.n > m.winners {
			return shown{}, false // its noisy value need not be the second
		}
		return shown{as: text(v), need: need}, v.of.winner()
	case sum:
		return m.showSum(v, s)
	}
	return shown{}, false
}

func (m *machine) showSum(v sum, s *state) (shown, bool) {
	noise, rest, ok := m.noisy(v)
	if !ok {
		return shown{}, false
	}
	for _, t := range rest {
		if t.of != nil {
			return shown{}, false
		}
	}
	total, last := new(big.Rat), none
	for _, t := range noise {
		if !t.at.winner() {
			return shown{}, false
		}
		total.Add(total, t.factor)
		last = t.at
	}
	need := int(last)
	if m.way.step {
		if step, ok := m.ahead(2, s); ok && len(noise) == 2 && total.Sign() == 0 && last == 2 {
			winner := noise[0].factor
			if slices.EqualFunc(rest, sum{}.plus(sum{{factor: winner}}, big.NewRat(int64(-step), 1)), term.equal) {
				m.gaps = true
				return shown{as: "·lead*" + winner.RatString(), need: 1}, true
			}
		}
		if len(noise) > 0 && s.n > m.winners {
			return shown{}, false
		}
	}
	switch {
	case total.Sign() != 0 && (s.n > m.winners || m.oneSided()):
		return shown{}, false // a noisy value itself
	case total.Sign() != 0 || m.way.step && last > 0:
		need = s.n // all of them are winners
	case last > 1 && !m.whole() && !m.oneSided():
		need-- // the last one may be the largest of the others
	}
	m.gaps = m.gaps || len(noise) > 0
	return shown{as: text(v), need: need}, true
}
