package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// Windows of few cells, written out: no ratio above e^ε, and the mean is the line that values
// are made of. A window without its rounding, or too narrow for its probability, is seen.
func TestWindows(t *testing.T) {
	for _, epsilon := range []string{"0.1", "1", "5"} {
		for _, w := range []window{newWindow(7, 3, eps(epsilon)), newWindow(5, 1, eps(epsilon)), newWindow(9, 8, eps(epsilon))} {
			law := func(c Report, v int) func(func(Report, *big.Rat) bool) { return w.law(c, uint64(v)) }
			tight, err := exceeds(int(w.positions())+1, eps(epsilon), nil, law)
			if e := eps(epsilon).Float64(); err != nil || tight < e*(1-1e-9) {
				t.Errorf("%+v: %v, epsilon %v", w, err, tight)
			}
			a, b := w.line()
			base, slope := w.values()
			for position := range w.positions() + 1 {
				mean, value := new(big.Rat), 0.0
				for r, p := range w.law(nil, position) {
					mean.Add(mean, times(p, ofCount(r[0])))
					value += near(p) * (base + slope*float64(r[0]))
				}
				if mean.Cmp(plus(a, times(b, ofCount(position)))) != 0 {
					t.Errorf("%+v: position %d has mean %v", w, position, mean)
				}
				if want := 2*float64(position)/float64(w.positions()) - 1; math.Abs(value-want) > 1e-9 {
					t.Errorf("%+v: position %d is told as %v, want %v", w, position, value, want)
				}
			}
			w.p = over(plus(w.p, one()), whole(2))
			if _, err := exceeds(int(w.positions())+1, eps(epsilon), nil, law); err == nil {
				t.Errorf("%+v passes", w)
			}
		}
	}
}

// The laws of the protocols: Duchi's whole, the square wave's, the ratios of all.
func TestNumberLaws(t *testing.T) {
	for _, p := range Numbers() {
		for _, epsilon := range []string{"0.1", "0.6", "1", "5", "20"} {
			n := must(NewNumber(NumberOptions{Protocol: p, Epsilon: eps(epsilon), Cells: 5}))
			if e := n.Epsilon(); e.Cmp(eps(epsilon)) > 0 || e.Float64() < eps(epsilon).Float64()*(1-1e-6) {
				t.Errorf("%s: epsilon %v of %s", p, e, epsilon)
			}
			steps := n.Steps()
			positions := []uint64{0, steps / 3, steps / 2, steps}
			if p == SquareWave || p == Duchi || p == Hybrid {
				coins := Report{}
				if p == Hybrid {
					coins = Report{1<<32 - 1} // Duchi: of the other windows speak above
				}
				law := func(c Report, v int) func(func(Report, *big.Rat) bool) { return n.Law(c, positions[v]) }
				if _, err := exceeds(len(positions), n.Epsilon(), coins, law); err != nil {
					t.Errorf("%s, %s: %v", p, epsilon, err)
				}
			}
		}
	}
	// A Duchi that tells extremes for sure.
	d := newDuchi(eps("1"))
	d.p = over(plus(d.p, one()), whole(2))
	law := func(c Report, v int) func(func(Report, *big.Rat) bool) { return d.law(c, uint64(v)*numberSteps) }
	if _, err := exceeds(2, eps("1"), nil, law); err == nil {
		t.Error("a Duchi of more than epsilon passes")
	}
}

// The law is that of Duchi, 1/2 + t(p − 1/2), and a coin that rounds the number does so at its very
// position: one that were off by one is seen.
func TestDuchiRounds(t *testing.T) {
	for _, epsilon := range []string{"0.01", "1", "20"} {
		d := newDuchi(eps(epsilon))
		for _, position := range []uint64{1, 12345, numberSteps/2 - 1, numberSteps / 2, numberSteps/2 + 1, numberSteps - 7, numberSteps - 1} {
			number := minus(over(ofCount(position), whole(numberSteps/2)), one())
			if want := plus(half(), times(number, minus(d.p, half()))); d.yes(position).Cmp(want) != 0 {
				t.Errorf("epsilon %s, position %d: %v, want %v", epsilon, position, d.yes(position), want)
			}
			for coin, want := range map[uint64]uint64{0: 1, position - 1: 1, position: 0, numberSteps - 1: 0} {
				r := must(d.reply(noise.NewStream(&words{coin}), nil, position)) // what follows the coin is below p
				if r[0] != want {
					t.Errorf("epsilon %s, position %d, coin %d: %d", epsilon, position, coin, r[0])
				}
			}
		}
	}
}

// words are given one by one, and zeros after them.
type words []uint64

func (w *words) Uint64() (uint64, error) {
	if len(*w) == 0 {
		return 0, nil
	}
	x := (*w)[0]
	*w = (*w)[1:]
	return x, nil
}

func TestNumberVectors(t *testing.T) {
	seen := 0
	for _, v := range vectors(t) {
		if !strings.HasPrefix(v.ID, "ldp.mean.1d.") {
			continue
		}
		seen++
		got := map[string]any{}
		for _, p := range Numbers() {
			for name, x := range must(NewNumber(NumberOptions{Protocol: p, Epsilon: eps(jsonNumber(v.Params["eps"]))})).Describe(1).Values {
				got[name] = x
			}
		}
		v.holds(t, got)
	}
	if seen < 3 {
		t.Errorf("%d vectors", seen)
	}
	if e := hybridThreshold(); math.Abs(e-0.6093524930273095) > 1e-9 {
		t.Errorf("the threshold is %v", e)
	}
}

// Over 1,000 surveys means are without bias, of the variance that is told, and intervals hold.
// A right estimate fails with probability below 1e-9: 12 tests at 6.8 deviations.
func TestMeansHold(t *testing.T) {
	t.Parallel()
	const runs, n = 1000, 100
	s := noise.NewStream(entropy.New())
	for _, p := range Numbers() {
		m := must(NewNumber(NumberOptions{Protocol: p, Epsilon: eps("1.5"), Lower: 10, Upper: 30, Cells: 33}))
		sum, square, outside, told := 0.0, 0.0, 0.0, 0.0
		truth := 0.0
		for i := range n {
			position := m.Position(12 + 0.1*float64(i))
			x := 2*float64(position)/float64(m.Steps()) - 1
			truth += m.in(x) / n
			told += m.Variance(x) * 100 / (n * n)
		}
		for range runs {
			tally := m.NewTally()
			for i := range n {
				if err := tally.Add(must(m.Randomize(s, 12+0.1*float64(i)))); err != nil {
					t.Fatal(err)
				}
			}
			e := must(tally.Estimate(big.NewRat(1, 10)))
			sum += e.Raw - truth
			square += (e.Raw - truth) * (e.Raw - truth)
			if truth < e.Low || truth > e.High {
				outside++
			}
		}
		if z := sum / math.Sqrt(told*runs); math.Abs(z) > 6.8 {
			t.Errorf("%s: %.1f deviations off", p, z)
		}
		if v := square / runs / told; math.Abs(v-1) > 6.8*math.Sqrt(3.0/runs) {
			t.Errorf("%s: variance %.2f of what is told", p, v)
		}
		if outside > runs*0.1+6.8*math.Sqrt(runs*0.1*0.9) {
			t.Errorf("%s: %v of %d intervals fail", p, outside, runs)
		}
	}
}

// Draws of the window have its law.
func TestWindowsFit(t *testing.T) {
	s := noise.NewStream(entropy.New())
	w := newWindow(9, 3, eps("1"))
	const n = 30_000
	for _, position := range []uint64{0, 4, 6} {
		counts := make([]float64, w.cells)
		for range n {
			counts[must(w.reply(s, position))]++
		}
		x2 := 0.0
		for y, got := range counts {
			want := n * near(w.probability(uint64(y), position))
			x2 += (got - want) * (got - want) / want
		}
		if p := (distuv.ChiSquared{K: float64(w.cells - 1)}).Survival(x2); p < 1e-10 {
			t.Errorf("position %d: chi-square %.1f", position, x2)
		}
	}
}

// The distribution that is estimated is near the true one, and its quantiles.
func TestDistribution(t *testing.T) {
	n := must(NewNumber(NumberOptions{Protocol: SquareWave, Epsilon: eps("3"), Lower: 0, Upper: 100, Cells: 20}))
	s, tally := noise.NewStream(entropy.New()), n.NewTally()
	const people = 40_000
	for i := range people {
		x := 20 + 30*float64(i)/people // uniform on [20, 50]
		if err := tally.Add(must(n.Randomize(s, x))); err != nil {
			t.Fatal(err)
		}
	}
	d := must(tally.Distribution())
	sum, far := 0.0, 0.0
	for i, x := range d {
		sum += x
		far = max(far, math.Abs(sum-min(max((float64(i+1)*5-20)/30, 0), 1)))
	}
	if far > 0.12 || math.Abs(sum-1) > 1e-6 { // smoothing spreads the ends over two cells; a share's own error is 0.01
		t.Errorf("the distribution is %v off: %v", far, d)
	}
	if m := n.Quantile(d, 0.5); math.Abs(m-35) > 3 {
		t.Errorf("the median is %v", m)
	}
}

// Of every corner the law is one, no ratio is above e^ε, and the mean is m·V; a mixture keeps to
// both. d = 1 is randomized response.
func TestPrivUnit(t *testing.T) {
	for _, epsilon := range []string{"0.1", "1", "5"} {
		for _, d := range []int{1, 2, 5, 6} {
			v := must(NewVector(VectorOptions{Dimension: d, Epsilon: eps(epsilon)}))
			law := func(_ Report, corner int) func(func(Report, *big.Rat) bool) { return v.Law(uint64(corner)) }
			tight, err := exceeds(1<<d, v.Epsilon(), nil, law)
			if e := eps(epsilon).Float64(); err != nil || tight < e*(1-1e-9) {
				t.Fatalf("dimension %d: %v, epsilon %v", d, err, tight)
			}
			for i := range d {
				mean := new(big.Rat)
				corner := uint64(3) & (1<<d - 1)
				for r, p := range v.Law(corner) {
					mean.Add(mean, times(p, whole(2*int(r[0]>>i&1)-1)))
				}
				want := times(v.keep, whole(2*int(corner>>i&1)-1))
				if mean.Cmp(want) != 0 {
					t.Errorf("dimension %d: coordinate %d has mean %v, want %v", d, i, mean, want)
				}
			}
			// No other radius keeps more.
			for r := range d {
				n := new(big.Rat)
				for i := range r + 1 {
					n.Add(n, new(big.Rat).SetInt(new(big.Int).Binomial(int64(d), int64(i))))
				}
				e := math.Exp(eps(epsilon).Float64())
				kept := near(new(big.Rat).SetInt(new(big.Int).Binomial(int64(d-1), int64(r)))) * (e - 1) / (e*near(n) + math.Exp2(float64(d)) - near(n))
				if kept > near(v.keep)*(1+1e-9) {
					t.Errorf("dimension %d: radius %d keeps %v, %d only %v", d, r, kept, v.radius, near(v.keep))
				}
			}
			if d == 1 {
				if want := math.Tanh(eps(epsilon).Float64() / 2); math.Abs(near(v.keep)-want) > 1e-12 {
					t.Errorf("one coordinate keeps %v, want %v", near(v.keep), want)
				}
			}
		}
	}
	// Draws have the law, from a corner and from a mixture.
	v := must(NewVector(VectorOptions{Dimension: 3, Epsilon: eps("1")}))
	s := noise.NewStream(entropy.New())
	for _, x := range [][]float64{{1, -1, 1}, {0.5, -1, math.NaN()}} {
		want := make([]float64, 8)
		for corner := range uint64(8) {
			weight := 1.0
			for i, t := range x {
				if math.IsNaN(t) {
					t = 0
				}
				weight *= (1 + t*float64(2*(int(corner)>>i&1)-1)) / 2
			}
			for r, p := range v.Law(corner) {
				want[r[0]] += weight * near(p)
			}
		}
		const n = 30_000
		got := make([]float64, 8)
		for range n {
			got[must(v.Randomize(s, x))[0]]++
		}
		x2 := 0.0
		for i := range got {
			x2 += (got[i] - n*want[i]) * (got[i] - n*want[i]) / (n * want[i])
		}
		if p := (distuv.ChiSquared{K: 7}).Survival(x2); p < 1e-10 {
			t.Errorf("%v: chi-square %.1f", x, x2)
		}
	}
	// Intervals hold together: 300 surveys of 20 coordinates, at 6.8 deviations.
	v = must(NewVector(VectorOptions{Dimension: 20, Epsilon: eps("8")}))
	failed := 0.0
	x := make([]float64, 20)
	for i := range x {
		x[i] = float64(i)/10 - 1
	}
	for range 300 {
		tally := v.NewTally()
		for range 50 {
			if err := tally.Add(must(v.Parse(v.Format(must(v.Randomize(s, x)))))); err != nil {
				t.Fatal(err)
			}
		}
		e := must(tally.Estimate(EstimateOptions{Beta: big.NewRat(1, 10), Together: true}))
		for i := range x {
			if x[i] < e.Low[i] || x[i] > e.High[i] {
				failed++
				break
			}
		}
	}
	if failed > 300*0.1+6.8*math.Sqrt(300*0.09) {
		t.Errorf("%v of 300 surveys fail", failed)
	}
}

func TestBadNumbers(t *testing.T) {
	for _, o := range []NumberOptions{{}, {Protocol: Duchi}, {Protocol: "x", Epsilon: eps("1")}, {Protocol: Duchi, Epsilon: eps("1"), Lower: 2, Upper: 1},
		{Protocol: Duchi, Epsilon: eps("1"), Lower: math.NaN(), Upper: 1}, {Protocol: Duchi, Epsilon: eps("1"), Lower: -math.MaxFloat64, Upper: math.MaxFloat64},
		{Protocol: SquareWave, Epsilon: eps("1"), Cells: 1}} {
		if _, err := NewNumber(o); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []VectorOptions{{}, {Dimension: 3}, {Dimension: 5000, Epsilon: eps("1")}} {
		if _, err := NewVector(o); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	s := noise.NewStream(entropy.New())
	for _, p := range Numbers() {
		n := must(NewNumber(NumberOptions{Protocol: p, Epsilon: eps("1")}))
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -5, 0.25} {
			r := must(n.Randomize(s, x))
			if got, err := n.Parse(n.Format(r)); err != nil || fmt.Sprint(got) != fmt.Sprint(r) {
				t.Errorf("%s of %v: %v is read as %v, %v", p, x, r, got, err)
			}
		}
		tally := n.NewTally()
		for _, bad := range []Report{nil, {1 << 60}, {1<<32 - 1, 5}, {1, 1, 1}} {
			if err := tally.Add(bad); !errors.Is(err, ErrReport) && !(p == SquareWave && len(bad) == 0) {
				t.Errorf("%s: %v is counted: %v", p, bad, err)
			}
		}
		if _, err := tally.Estimate(nil); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: a mean of nobody: %v", p, err)
		}
	}
}
