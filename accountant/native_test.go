package accountant

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// What a ledger is charged in its own terms, of random plans of every decade, is never
// less than the plan has by the referee: ε and (ε, δ) by its profile, ρ by its divergences
// at some orders, μ by the profile of that Gaussian, divergences at the filter's order.
func TestNativeGuaranteesAreAboveTheReferees(t *testing.T) {
	d := &drawing{Rand: rand.New(rand.NewPCG(5, 6)), decades: map[int]int{}}
	filters := map[privacy.Neighbours][]filter.Filter{}
	for _, rel := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, m := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.GDP, filter.RDP} {
			b := filter.Budget{Measure: m, Epsilon: must(privacy.ParseEpsilon("40")), Neighbours: rel}
			if m != filter.Pure {
				b.Delta = parseDelta(t, "1e-6")
			}
			if m == filter.ZCDP || m == filter.RDP || m == filter.GDP {
				b.SelectionDelta = parseDelta(t, "5e-7")
			}
			filters[rel] = append(filters[rel], must(filter.New(b)))
		}
	}
	judgedOf := map[filter.Measure]int{}
	for range soak(500) {
		s := d.plan()
		e, ok := s.read(t, 1)
		if !ok {
			continue
		}
		of := groupOf(e, int64(s.o.Group))
		b := referee.Of(of, s.o.Neighbours, 1, 200)
		fs := filters[s.o.Neighbours]
		f := fs[d.IntN(len(fs))]
		where := fmt.Sprintf("%s under %v, groups of %d, as %s", s.text(1), s.o.Neighbours, s.o.Group, f.Measure())
		g, err := Guarantee(t.Context(), e, f, parseDelta(t, "1e-7"), s.o)
		if err != nil {
			continue
		}
		// By its native kind, or as a point where there is none.
		for _, wrong := range below(g, of, s.o.Neighbours, b, judgedOf, f.Measure()) {
			t.Errorf("%s: %.200v: %s", where, g, wrong)
		}
	}
	t.Log(judgedOf)
	for _, m := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.GDP, filter.RDP} {
		if judgedOf[m] < 7 && !testing.Short() {
			t.Errorf("%s: %d were judged", m, judgedOf[m])
		}
	}
}

// below says in which ways a guarantee lies below a plan.
func below(g, plan privacy.Event, rel privacy.Neighbours, b referee.Bound, count map[filter.Measure]int, m filter.Measure) (wrong []string) {
	profile := func(eps *big.Rat, most numeric.Interval) {
		if b.Floor == nil {
			return
		}
		count[m]++
		if at := b.Floor.At(eps); at.Cmp(most) > 0 {
			wrong = append(wrong, fmt.Sprintf("δ(%.20g) is %v, above %v", toFloat(eps), at, most))
		}
	}
	divergence := func(order *big.Rat, most *big.Rat) {
		floor, ok := divergenceFloor(plan, rel, order)
		if !ok {
			return
		}
		count[m]++
		if floor.Cmp(numeric.Of(most)) > 0 {
			wrong = append(wrong, fmt.Sprintf("the divergence of order %v is %v, above %v", toFloat(order), floor, toFloat(most)))
		}
	}
	switch g := g.(type) {
	case privacy.Pure:
		profile(g.Epsilon.Rat(), numeric.OfInt(0))
	case privacy.Approx:
		profile(g.Epsilon.Rat(), numeric.Of(g.Delta.Rat()))
	case privacy.GDP:
		gaussian := referee.Gaussian(numeric.Of(g.Mu))
		mu := toFloat(g.Mu)
		for _, x := range []float64{0, 0.3 * mu, mu, mu * (mu + 3)} {
			if x < 1e300 && (x == 0 || x > 1e-300) {
				profile(exactly(x), gaussian.At(exactly(x)))
			}
		}
	case privacy.ZCDP:
		for _, a := range []float64{1 + 0x1p-20, 1.5, 2, 30, 1 << 20} {
			order := new(big.Rat).SetFloat64(a)
			divergence(order, new(big.Rat).Mul(order, g.Rho.Rat()))
		}
	case privacy.RDP:
		divergence(g.Orders[0], g.Eps[0])
	}
	return wrong
}

// divergenceFloor adds up what the terms of a plan have at least in one direction: of a
// plan with a sum, that of its dearest term.
func divergenceFloor(e privacy.Event, rel privacy.Neighbours, order *big.Rat) (most numeric.Interval, ok bool) {
	switch e := e.(type) {
	case privacy.Sum:
		for _, part := range e.Events {
			if r, known := divergenceFloor(part, rel, order); known {
				if !ok || r.Cmp(most) > 0 {
					most = r
				}
				ok = true
			}
		}
		return most, ok
	case privacy.Repeat:
		r, known := divergenceFloor(e.Event, rel, order)
		return r.Mul(numeric.OfInt(int64(e.Count))), known
	}
	return referee.Renyi(e, rel, 1, order, 200)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// The value that calibration returns meets its goal by the referee's proof, in every
// decade of the goal; and where the accountants are exact, a value beyond it does not.
func TestCalibrationIsJudged(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	for _, tc := range []struct {
		plan  string
		o     Options
		exact bool
	}{
		{"gaussian(?)", Options{}, true},
		{"gaussian(?)", Options{Neighbours: privacy.ReplaceOne, Group: 3}, true},
		{"1000*gaussian(?)", Options{}, true},
		{"laplace(?)", Options{}, true},
		{"?*gaussian(30)", Options{}, true},
		{"?*pure(0.1)", Options{}, false},
		{"pure(?)", Options{}, true},
		{"8*pure(?)", Options{}, true},
		{"gdp(?)", Options{}, true},
		{"gaussian(1, sensitivity=?)", Options{}, true},
		{"poisson(0.01, gaussian(?))", Options{}, true},
		{"poisson(?, gaussian(1))", Options{}, true},
		{"poisson(?, pure(2))", Options{}, true},
		{"without_replacement(?, 1000, pure(2))", Options{Neighbours: privacy.ReplaceOne}, true},
		{"randomized_response(?, k=4)", Options{Neighbours: privacy.ReplaceOne}, true},
		{"tree(?, 1024)", Options{}, true},
	} {
		plan := parsePlan(t, tc.plan)
		for range soak(4) {
			eps := math.Pow(10, -3+4.5*r.Float64())
			delta := math.Pow(10, -1-13*r.Float64())
			if r.IntN(8) == 0 {
				eps, delta = math.Pow(10, -30+31*r.Float64()), math.Pow(10, -200*r.Float64()-1)
			}
			o := tc.o
			o.Work = 1 << 22
			c, err := Calibrate(t.Context(), plan, eps, delta, o)
			if err != nil {
				continue
			}
			found++
			goal := numeric.Of(exactly(delta))
			known := func(x float64) referee.Bound {
				e, err := plan.With(exactly(x))
				if err != nil {
					return referee.Bound{}
				}
				return referee.Of(groupOf(e, int64(o.Group)), o.Neighbours, 1, 200)
			}
			if b := known(c.Value); b.Floor != nil && b.Floor.At(exactly(eps)).Cmp(goal) > 0 {
				t.Errorf("%s under %v at (%v, %v): %+v: δ is %v", tc.plan, o.Neighbours, eps, delta, c, b.Floor.At(exactly(eps)))
			}
			// A step beyond the other end.
			beyond := c.Low * (1 - 1e-6)
			if c.Value == c.Low {
				beyond = c.High * (1 + 1e-6)
			}
			if plan.Parameter().Whole {
				beyond = c.Value + 1
			}
			if b := known(beyond); tc.exact && b.Ceiling != nil && b.Ceiling.At(exactly(eps)).Cmp(goal) < 0 {
				t.Errorf("%s under %v at (%v, %v): %+v: at %v δ is but %v", tc.plan, o.Neighbours, eps, delta, c, beyond, b.Ceiling.At(exactly(eps)))
			}
		}
	}
	if found < 20 && !testing.Short() {
		t.Errorf("%d values were found", found)
	}
}
