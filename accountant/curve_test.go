package accountant

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// The power against Gaussian noise, in the far tail as well.
func TestPowerVectors(t *testing.T) {
	for id, rate := range map[string]float64{"pld-tpr-1e-6": 1e-6, "pld-tpr-1e-10": 1e-10} {
		points, err := Power(t.Context(), parse(t, "gaussian(1)"), []float64{rate}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := vectors(t)[id].Expected.(float64)
		if y := points[0].Y; math.Abs(y.Estimate/want-1) > 1e-3 || y.Low > y.Estimate || y.Estimate > y.High || y.High > y.Low*(1+1e-9) {
			t.Errorf("%s: %v, want %v", id, y, want)
		}
	}
}

// Bounds by the profile of (ε, δ) hold the power that is known in closed form: of
// Gaussian noise, and of ε-DP, whose best test has power min(e^ε α, 1-e^-ε(1-α)).
func TestPowerHoldsTheTruth(t *testing.T) {
	rates := []float64{0, 1e-10, 1e-4, 0.01, 0.3, 0.5, 0.9, 1}
	gauss := gaussianPower([]*flat{{terms: []term{{count: 1, claims: mustDescribe(t, "gaussian(1)")}}}})
	pure := func(a float64) Bracket {
		x := math.Min(math.E*a, 1-(1-a)/math.E)
		return bracket(x, x, x)
	}
	for plan, truth := range map[string]func(float64) Bracket{"gaussian(1)": gauss, "pure(1)": pure} {
		p, err := profileOf(t.Context(), parse(t, plan), rates, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rates {
			got, want := p.power(a), truth(a)
			if got.Low > want.High || got.High < want.Low {
				t.Errorf("%s at %v: %v does not hold %v", plan, a, got, want)
			}
			if got.High-got.Low > 0.01*got.High+1e-12 {
				t.Errorf("%s at %v: %v is wide", plan, a, got)
			}
		}
	}
}

func mustDescribe(t *testing.T, plan string) claims {
	t.Helper()
	c, err := describe(nil, parse(t, plan), privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Trade-off curves fall, are convex, symmetric for symmetric plans, at most 1-α, and
// 1 minus the power.
func TestTradeOff(t *testing.T) {
	alphas := []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	for _, plan := range []string{"gaussian(1)", "3*laplace(2)", "100*poisson(0.05, gaussian(1))"} {
		f, err := TradeOff(t.Context(), parse(t, plan), alphas, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range f {
			if p.Y.Low > 1-p.X+1e-12 || p.Y.Low > p.Y.High {
				t.Errorf("%s: f(%v) = %v", plan, p.X, p.Y)
			}
			if i > 0 && p.Y.Low > f[i-1].Y.Low {
				t.Errorf("%s: f rises at %v", plan, p.X)
			}
			if i > 0 && i+1 < len(f) && p.Y.Low > (f[i-1].Y.High+f[i+1].Y.High)/2+1e-3 {
				t.Errorf("%s: f is not convex at %v", plan, p.X)
			}
		}
	}
	if _, err := TradeOff(t.Context(), parse(t, "gaussian(1)"), []float64{1.5}, Options{}); err == nil {
		t.Error("α = 1.5 is accepted")
	}
}

func TestCurves(t *testing.T) {
	eps, err := EpsilonCurve(t.Context(), parse(t, "3*laplace(2)+gaussian(3)"), []float64{1e-3, 1e-6, 1e-9}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range eps {
		if i > 0 && p.Y.High < eps[i-1].Y.Low {
			t.Errorf("ε falls as δ does: %v", eps)
		}
		delta, err := DeltaCurve(t.Context(), parse(t, "3*laplace(2)+gaussian(3)"), []float64{p.Y.High}, Options{})
		if err != nil || delta[0].Y.Low > p.X*(1+1e-6) || delta[0].Y.High < p.X*0.9 {
			t.Errorf("δ(%v) = %v, %v, want %v", p.Y.High, delta, err, p.X)
		}
	}
}

// Where δ is known within a tenth alone, so is power: on the safe side.
func TestPowerOfWideBrackets(t *testing.T) {
	const mu = 1.0
	truth := gaussianPower([]*flat{{terms: []term{{count: 1, claims: mustDescribe(t, "gaussian(1)")}}}})
	var p profile
	for i := range 200 {
		eps := 0.05 * float64(i)
		d := gaussianDelta(mu, eps).Estimate
		p = append(p, Point{eps, bracket(0.9*d, d, math.Min(1, 1.1*d))})
	}
	for _, a := range []float64{1e-6, 0.01, 0.3, 0.9} {
		got, want := p.power(a), truth(a).Estimate
		if got.Low > want*(1-1e-4) || got.High < want*(1+1e-4) {
			t.Errorf("power at %v is %v, and should be on both sides of %v", a, got, want)
		}
	}
}

// Whatever is asked of a curve before, in whatever order, it says of a point what function Delta or Epsilon does: to the bit, but where a law is composed
// on a lattice. There both brackets hold the truth, and the curve's is no farther off than a composition is planned.
func TestCurveSaysWhatPointsDo(t *testing.T) {
	composed, served := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Neighbours: drawRelation(t)}
		e := parse(t, drawPlan(t, o.Neighbours))
		c := NewCurve(t.Context(), e, o)
		for range rapid.IntRange(2, 5).Draw(t, "points") {
			var got, want *Report
			var err, other error
			off := func(b Bracket) float64 { return 4e-4 * b.High }
			if rapid.Bool().Draw(t, "epsilon") {
				x := rapid.Float64Range(0, 3).Draw(t, "epsilon")
				got, err = c.Delta(x)
				want, other = Delta(t.Context(), e, x, o)
			} else {
				x := math.Exp(rapid.Float64Range(-60, -1).Draw(t, "ln delta"))
				got, err = c.Epsilon(x)
				want, other = Epsilon(t.Context(), e, x, o)
				off = func(b Bracket) float64 { return 2 * math.Max(1e-3*b.High, 1e-6) }
			}
			if (err == nil) != (other == nil) {
				t.Fatalf("%v: %v, and %v", e, err, other)
			}
			if err != nil {
				continue
			}
			of := map[Name]Bound{}
			for _, b := range got.Bounds {
				of[b.Accountant] = b
			}
			for _, b := range want.Bounds {
				g, ok := of[b.Accountant]
				if !ok {
					t.Fatalf("%v: no bound of %s", e, b.Accountant)
				}
				if !strings.Contains(b.Note, "on a lattice") {
					if !reflect.DeepEqual(g, b) {
						t.Fatalf("%v: %+v, not %+v", e, g, b)
					}
					continue
				}
				composed++
				if !reflect.DeepEqual(g, b) {
					served++
				}
				near(t, e, g, b, off)
			}
			if len(of) != len(want.Bounds) {
				t.Fatalf("%v: bounds %v, not %v", e, got.Bounds, want.Bounds)
			}
		}
	})
	t.Logf("%d of %d points on lattices were answered by another's composition", served, composed)
}

// near holds a bound of a curve against one by itself.
func near(t rapid.TB, e privacy.Event, got, want Bound, off func(Bracket) float64) {
	t.Helper()
	all := func(b Bound) []Directed { return append([]Directed{{"", b.value()}}, b.Directions...) }
	for i, w := range all(want) {
		g := all(got)[i]
		if g.check() != nil || g.Low > w.High*(1+1e-12) || w.Low > g.High*(1+1e-12) {
			t.Fatalf("%v: %v contradicts %v", e, g, w)
		}
		if most := off(w.Bracket) * (1 + 1e-3); g.Direction != w.Direction || g.High > w.High+most || g.Low < w.Low-most {
			t.Fatalf("%v: %v is wider than %v", e, g, w)
		}
	}
}

// A composition of one direction answers for that direction alone.
func TestCurveTellsDirectionsApart(t *testing.T) {
	e := parse(t, "20*laplace(2) + 100*poisson(0.2, gaussian(1))")
	c := NewCurve(t.Context(), e, Options{Accountant: PLD})
	for _, x := range []float64{1, 1.1, 1.2} {
		got, err := c.Delta(x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Delta(t.Context(), e, x, Options{Accountant: PLD})
		if err != nil {
			t.Fatal(err)
		}
		d := want.Bounds[0].Directions
		if len(d) != 2 || d[0].Low < 1.002*d[1].High && d[1].Low < 1.002*d[0].High {
			t.Fatalf("the test is weak: %v", d)
		}
		if x > 1 && reflect.DeepEqual(got.Bounds, want.Bounds) {
			t.Errorf("at %v nothing is served", x)
		}
		near(t, e, got.Bounds[0], want.Bounds[0], func(b Bracket) float64 { return 4e-4 * b.High })
	}
}

// What is known of a shuffled event depends on the question: far beyond a large δ nothing is. So no composition for one answers for a small δ.
func TestCurveOfShuffledEventsIsAsNarrow(t *testing.T) {
	e, o := parse(t, "20*shuffled(10000, pure(1))"), Options{Neighbours: privacy.ReplaceOne, Accountant: PLD}
	c := NewCurve(t.Context(), e, o)
	for _, delta := range []float64{0.1, 1e-3, 3e-12, 1e-20} {
		got, err := c.Epsilon(delta)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Epsilon(t.Context(), e, delta, o)
		if err != nil {
			t.Fatal(err)
		}
		near(t, e, got.Bounds[0], want.Bounds[0], func(b Bracket) float64 { return 2 * math.Max(1e-3*b.High, 1e-6) })
		for _, epsilon := range []float64{0.01, 0.5, 2} {
			if got, err = c.Delta(epsilon); err != nil {
				t.Fatal(err)
			}
			if want, err = Delta(t.Context(), e, epsilon, o); err != nil {
				t.Fatal(err)
			}
			near(t, e, got.Bounds[0], want.Bounds[0], func(b Bracket) float64 { return 4e-4 * b.High })
		}
	}
}

// What candidates at one place reveal together answers for no other place, nor for the mechanism; and no composition for one δ answers at another where it is wide.
func TestCurveOfChoicesIsAsNarrow(t *testing.T) {
	for _, text := range []string{"10*exponential(0.3)", "10*exponential(0.3) + gaussian(2)", "1000*laplace(50)"} {
		e, o := parse(t, text), Options{Accountant: PLD}
		c := NewCurve(t.Context(), e, o)
		for _, delta := range []float64{0.1, 1e-12, 1e-3, 1e-20} {
			got, err := c.Epsilon(delta)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Epsilon(t.Context(), e, delta, o)
			if err != nil {
				t.Fatal(err)
			}
			near(t, e, got.Bounds[0], want.Bounds[0], func(b Bracket) float64 { return 2 * math.Max(1e-3*b.High, 1e-6) })
		}
	}
}
