package analysis

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func sensitivity(t testing.TB, sigma float64, classes int, order float64) *GNMaxSensitivity {
	t.Helper()
	s, err := NewGNMaxSensitivity(sigma, classes, order)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The published cases: with σ = 20 C6 fails at order 25, with σ = 30 both hold.
func TestConditions(t *testing.T) {
	for _, test := range []struct {
		sigma, order float64
		c5, c6       bool
	}{{20, 25, true, false}, {30, 25, true, true}} {
		if c5, c6 := sensitivity(t, test.sigma, 10, test.order).Check(); c5 != test.c5 || c6 != test.c6 {
			t.Errorf("sigma %g, order %g: C5 %v, C6 %v", test.sigma, test.order, c5, c6)
		}
	}
}

// Algorithm 3 takes the larger of two differences also between q1 and q0, as the published
// code does: where C6 fails that is the fall. Values by mpmath with 60 digits.
func TestBoundsWithoutC6(t *testing.T) {
	for _, test := range []struct {
		sigma, order float64
		votes        []float64
		d            int
		want         float64
	}{
		{1, 3, []float64{9, 1}, 2, 1.3011799928774483},
		{0.5, 20, []float64{10, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 0.6351014812363284},
		{10, 20, []float64{15, 4, 1}, 6, 0.002997755189163711},
	} {
		s := sensitivity(t, test.sigma, len(test.votes), test.order)
		if _, c6 := s.Check(); c6 {
			t.Errorf("sigma %g, order %g: C6 holds", test.sigma, test.order)
		}
		if got := s.bounds(test.votes, 20)[test.d]; math.Abs(got-test.want) > 1e-9*test.want {
			t.Errorf("sigma %g, order %g, %v: %.17g, want %.17g", test.sigma, test.order, test.votes, got, test.want)
		}
	}
}

// A probability so near to 1 that its logarithm is 0 is no certainty.
func TestThresholdIsNeverCertain(t *testing.T) {
	test := Threshold{At: 0, Sigma: 5}
	log := test.LogAnswered([]float64{206, 15})
	if log != 0 {
		t.Fatalf("ln P(answered) = %g is not rounded to 0", log)
	}
	exact := test.known(206)
	for _, order := range []float64{2, 32, 100, 500} {
		want := exact.rdp(order, test.IndependentRDP(order))
		if got := test.RDP(log, order); !(got > 0 && got >= want) {
			t.Errorf("order %g: %g, below %g", order, got, want)
		}
	}
}

// tables calls f with every way in which teachers may vote.
func tables(classes, teachers int, f func(votes []float64)) {
	votes := make([]float64, classes)
	var fill func(j, left int)
	fill = func(j, left int) {
		if j == classes-1 {
			votes[j] = float64(left)
			f(votes)
			return
		}
		for n := 0; n <= left; n++ {
			votes[j] = float64(n)
			fill(j+1, left-n)
		}
	}
	fill(0, teachers)
}

// local returns, for all votes, the most by which f differs at votes of which one
// teacher's differ, and then the most of that within each distance.
func local(classes, teachers int, f func([]float64) float64) (at map[string]float64, within func(votes []float64, d int) float64) {
	value := map[string]float64{}
	var all [][]float64
	tables(classes, teachers, func(v []float64) {
		value[fmt.Sprint(v)] = f(v)
		all = append(all, append([]float64(nil), v...))
	})
	at = map[string]float64{}
	for _, v := range all {
		most := 0.0
		for i := range v {
			for j := range v {
				if i != j && v[i] > 0 {
					v[i]--
					v[j]++
					moved := value[fmt.Sprint(v)]
					v[i]++
					v[j]--
					most = max(most, math.Abs(moved-value[fmt.Sprint(v)]))
				}
			}
		}
		at[fmt.Sprint(v)] = most
	}
	return at, func(votes []float64, d int) (most float64) {
		for _, v := range all {
			moved := 0.0
			for i := range v {
				moved += math.Abs(v[i]-votes[i]) / 2
			}
			if int(moved) <= d {
				most = max(most, at[fmt.Sprint(v)])
			}
		}
		return most
	}
}

// The bounds of Algorithms 3 to 5 are never below the local sensitivity that trying all
// votes finds, where the conditions hold.
func TestSensitivityDominates(t *testing.T) {
	tight := 0.0
	for _, c := range []struct {
		classes, teachers int
		sigma, order      float64
	}{{3, 12, 0.5, 1.5}, {3, 14, 1, 1.5}, {3, 16, 1.5, 2}, {2, 40, 2, 2}, {2, 60, 3, 3}, {4, 10, 0.7, 1.2}} {
		s := sensitivity(t, c.sigma, c.classes, c.order)
		if c5, c6 := s.Check(); !c5 || !c6 {
			t.Errorf("sigma %g, order %g: C5 %v, C6 %v; choose others", c.sigma, c.order, c5, c6)
			continue
		}
		beta := func(v []float64) float64 { return s.RDP(GNMax{c.sigma}.LogQ(v)) }
		_, within := local(c.classes, c.teachers, beta)
		tables(c.classes, c.teachers, func(v []float64) {
			bounds := s.bounds(v, c.teachers)
			for d, b := range bounds {
				exact := within(v, d)
				if exact > b*(1+1e-9)+1e-300 {
					t.Fatalf("sigma %g, order %g, votes %v: at distance %d the sensitivity is %g, the bound %g", c.sigma, c.order, v, d, exact, b)
				}
				tight = max(tight, exact/b)
			}
		})
	}
	if tight < 0.5 {
		t.Errorf("the bounds are nowhere near: %g", tight)
	}
}

func TestThresholdSensitivityDominates(t *testing.T) {
	for _, at := range []float64{-3, 4, 8, 30} {
		const teachers = 12
		test := Threshold{at, 2}
		s := newThresholdSensitivity(test, 10, teachers)
		_, within := local(3, teachers, func(v []float64) float64 { return test.RDP(test.LogAnswered(v), 10) })
		tables(3, teachers, func(v []float64) {
			for d, b := range envelope(s.bounds(v)) {
				if exact := within(v, d); exact > b*(1+1e-9)+1e-300 {
					t.Fatalf("threshold %g, votes %v: at distance %d the sensitivity is %g, the bound %g", at, v, d, exact, b)
				}
			}
		})
	}
}

// bounds at exact distances, as the published code adds them up over queries, are too
// small in a sum: of two queries one may be at distance 1 and the other at 4.
func TestEnvelopeIsNeeded(t *testing.T) {
	s := newThresholdSensitivity(Threshold{2, 2}, 10, 30)
	b := s.bounds([]float64{20, 10, 0})
	if e := envelope(b); !(e[11] > 2*b[11]) {
		t.Errorf("exact %g, envelope %g", b[11], e[11])
	}
}

// The smooth sensitivity is smooth: at neighbouring votes it differs by a factor e^β at
// most, and bounds the local one.
func TestSmoothness(t *testing.T) {
	const beta, teachers = 0.2, 14
	s := sensitivity(t, 1, 3, 1.5)
	smooth := func(v []float64) float64 { return Smooth(beta, s.bounds(v, teachers)) }
	tables(3, teachers, func(v []float64) {
		before := smooth(v)
		for i := range v {
			for j := range v {
				if i == j || v[i] == 0 {
					continue
				}
				v[i]--
				v[j]++
				if after := smooth(v); after > before*math.Exp(beta)*(1+1e-9) {
					t.Fatalf("votes %v: from %g to %g", v, before, after)
				}
				v[i]++
				v[j]--
			}
		}
	})
}

// Where one teacher moves q is between B_L and B_U, and these undo each other.
func TestOneTeacherMovesQ(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.5, 60).Draw(t, "sigma")
		classes := rapid.IntRange(2, 12).Draw(t, "classes")
		s, err := NewGNMaxSensitivity(sigma, classes, 1.5)
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float64, classes)
		for i := range v {
			v[i] = float64(rapid.IntRange(0, 200).Draw(t, "votes"))
		}
		i, j := rapid.IntRange(0, classes-1).Draw(t, "from"), rapid.IntRange(0, classes-1).Draw(t, "to")
		before := GNMax{sigma}.LogQ(v)
		if v[i] == 0 || before > s.logq0 {
			return // one teacher's vote cannot move away, or β is constant here
		}
		v[i]--
		v[j]++
		after := GNMax{sigma}.LogQ(v)
		slack := 1e-9 * math.Abs(before)
		if lo, hi := s.down(before), s.up(before); after < lo-slack || after > hi+slack {
			t.Fatalf("ln q moves from %g to %g, not within [%g, %g]", before, after, lo, hi)
		}
		if back := s.up(s.down(before)); math.Abs(back-before) > slack {
			t.Fatalf("B_U(B_L(q)): ln q is %g, was %g", back, before)
		}
	})
}

func TestReleaseRDP(t *testing.T) {
	// Theorem 23 at β = 0 is Gaussian noise of sensitivity 1 and twice its cost: α/σ².
	if got := ReleaseRDP(0, 4, 8); got != 0.5 {
		t.Errorf("without smoothness %g", got)
	}
	if got, want := ReleaseRDP(0.02, 10, 16), 16*math.Exp(0.04)/100+(-0.5*math.Log(1-0.64)+0.32)/15; math.Abs(got-want) > 1e-15 {
		t.Errorf("got %g, want %g", got, want)
	}
	for _, bad := range [][3]float64{{0.1, 1, 5}, {0.1, 1, 6}, {-1, 1, 2}, {0.1, 0, 2}, {0.1, 1, 1}, {math.NaN(), 1, 2}, {0.1, math.NaN(), 2}, {0.1, 1, math.NaN()}} {
		if got := ReleaseRDP(bad[0], bad[1], bad[2]); !math.IsInf(got, 1) {
			t.Errorf("beta %g, sigma %g, order %g: %g", bad[0], bad[1], bad[2], got)
		}
	}
}

// Beyond what the theorems reach there is nothing to publish, and an error says so.
func TestNoSensitivity(t *testing.T) {
	for _, bad := range []struct {
		sigma   float64
		classes int
		order   float64
	}{{0, 10, 2}, {math.Inf(1), 10, 2}, {40, 1, 2}, {40, 10, 1}, {40, 10, math.Inf(1)}, {math.NaN(), 10, 2}} {
		if _, err := NewGNMaxSensitivity(bad.sigma, bad.classes, bad.order); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
