package filter

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

func options(at string) OdometerOptions {
	return OdometerOptions{Delta: del("1e-6"), At: rat(at)}
}

func spent(n int64, epsilon string) Sums {
	return must(SumsOf([]privacy.Event{privacy.Pure{Epsilon: eps(epsilon)}}, privacy.AddRemove)).Times(big.NewInt(n))
}

// The bounds, computed a second time in floating point.
func TestOdometerFormulas(t *testing.T) {
	l := math.Log(1e6)
	for _, n := range []int64{1, 10, 100, 5000} {
		s := float64(n) * 0.01
		k := math.Max(0, math.Ceil(math.Log2(s/0.25)))
		lambda := func(l, at float64) float64 { return math.Sqrt(2 * l / at) }
		line := func(l, at float64) float64 { return s/2 + lambda(l, at)*s/2 + l/lambda(l, at) }
		rogers := math.Log(2 * 21 / 1e-6) // n = 1000: m = 20
		excess := 2 * math.Sqrt(s*(1+math.Log(3)/2)*rogers)
		if s > 1 {
			excess = math.Sqrt(2 * (s + 1e-6) * (1 + math.Log(1+s*1e6)/2) * rogers)
		}
		for name, test := range map[string]struct {
			o    *Odometer
			want float64
		}{
			"line":     {must(NewLineOdometer(options("0.25"))), line(l, 0.25)},
			"mixture":  {must(NewMixtureOdometer(options("0.25"))), s/2 + math.Sqrt((s+0.25)*(2*l+math.Log1p(s/0.25)))},
			"stitched": {must(NewStitchedOdometer(options("0.25"))), line(l+math.Log((k+1)*(k+2)), 0.25*math.Exp2(k))},
			"rogers":   {must(NewRogersOdometer(del("1e-6"), 1000)), float64(n)*0.1*math.Expm1(0.1)/2 + excess},
		} {
			got := must(test.o.Epsilon(spent(n, "0.1"))).Float64()
			if math.Abs(got/test.want-1) > 1e-12 {
				t.Errorf("%s after %d events: %v, want %v", name, n, got, test.want)
			}
		}
	}
}

// At the point it was made for, the line is the whitehouse filter's bound.
func TestLineOdometerIsTightWhereItIsMadeFor(t *testing.T) {
	o := must(NewLineOdometer(OdometerOptions{Delta: del("1e-6"), At: rat("0.1")}))
	f := must(New(Budget{Measure: Whitehouse, Epsilon: eps("9"), Delta: del("1e-6")}))
	s := spent(10, "0.1")
	got, want := must(o.Epsilon(s)), must(f.Implies(Total{Loss: s.Squares})).Epsilon
	if math.Abs(got.Float64()/want.Float64()-1) > 1e-14 {
		t.Errorf("%v, the filter says %v", got.Float64(), want.Float64())
	}
}

func TestOdometerKeepsDeltaForEvents(t *testing.T) {
	o := must(NewMixtureOdometer(OdometerOptions{Delta: del("1e-6"), Kept: del("5e-7"), At: rat("1")}))
	e := []privacy.Event{privacy.Approx{Epsilon: eps("0.1"), Delta: del("1e-7")}}
	one := must(SumsOf(e, privacy.AddRemove))
	if _, err := o.Epsilon(one.Times(big.NewInt(5))); err != nil {
		t.Error(err)
	}
	if e, err := o.Epsilon(one.Times(big.NewInt(6))); !errors.Is(err, ErrNoBound) {
		t.Errorf("6 times 1e-7 of 5e-7 gives %v, %v", e, err)
	}
	if e, err := o.Epsilon(Sums{}); err != nil || e.Sign() != 0 {
		t.Errorf("nothing spent gives %v, %v", e, err)
	}
	for name, o := range map[string]OdometerOptions{
		"no delta":      {At: rat("1")},
		"all kept":      {Delta: del("1e-6"), Kept: del("1e-6"), At: rat("1")},
		"no scale":      {Delta: del("1e-6")},
		"scale of zero": {Delta: del("1e-6"), At: rat("0")},
	} {
		if _, err := NewMixtureOdometer(o); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
	for _, bad := range []struct {
		delta   string
		records int64
	}{{"0", 10}, {"0.4", 10}, {"1e-6", 1}} {
		if _, err := NewRogersOdometer(del(bad.delta), bad.records); err == nil {
			t.Errorf("rogers odometer with delta %s and %d records: admitted", bad.delta, bad.records)
		}
	}
}

// crossing is the probability with which the best of all adaptive strategies, over
// randomized responses of step and 2·step and at most horizon answers, makes the loss
// exceed a bound at some time; exactly, by dynamic programming as in game.
func crossing(bound func(taken) float64, step float64, horizon int) float64 {
	bounds, values := map[taken]float64{}, map[position]float64{}
	var value func(position) float64
	value = func(p position) float64 {
		if v, known := values[p]; known {
			return v
		}
		b, known := bounds[p.taken]
		if !known {
			b = bound(p.taken)
			bounds[p.taken] = b
		}
		best := 0.0
		if p.single+p.double > 0 && step*float64(p.loss) > b {
			best = 1
		} else if p.single+p.double < horizon {
			for _, size := range []int{1, 2} {
				next := p.taken
				if size == 1 {
					next.single++
				} else {
					next.double++
				}
				likely := 1 / (1 + math.Exp(-step*float64(size)))
				best = math.Max(best, likely*value(position{next, p.loss + size})+(1-likely)*value(position{next, p.loss - size}))
			}
		}
		values[p] = best
		return best
	}
	return value(position{})
}

func TestAdaptiveAdversaryDoesNotOutrunOdometers(t *testing.T) {
	const step, horizon, delta = 0.1, 40, 0.2
	o := OdometerOptions{Delta: del("0.2"), At: rat("0.2")}
	one, two := spent(1, "0.1"), spent(1, "0.2")
	at := func(n taken) Sums {
		return one.Times(big.NewInt(int64(n.single))).Add(two.Times(big.NewInt(int64(n.double))))
	}
	for name, odometer := range map[string]*Odometer{
		"line": must(NewLineOdometer(o)), "mixture": must(NewMixtureOdometer(o)),
		"stitched": must(NewStitchedOdometer(o)), "rogers": must(NewRogersOdometer(o.Delta, 10)),
	} {
		p := crossing(func(n taken) float64 { return must(odometer.Epsilon(at(n))).Float64() }, step, horizon)
		if p > delta {
			t.Errorf("%s: outrun with probability %v, more than %v", name, p, delta)
		}
		t.Logf("%s: outrun with probability %.4f", name, p)
	}
	// The filter's bound read as an odometer, at every S instead of at one cap, is
	// outrun: its λ is chosen after the fact.
	l := math.Log(1 / delta)
	p := crossing(func(n taken) float64 {
		s := step * step * float64(n.single+4*n.double)
		return s/2 + math.Sqrt(2*l*s)
	}, step, horizon)
	if p < delta*1.1 {
		t.Errorf("the filter's bound is outrun with probability %v, no more than %v", p, delta)
	}
	t.Logf("the filter's bound as an odometer: outrun with probability %.4f of %v", p, delta)
}

// gaussianCrossing is the probability with which the loss of steps Gaussian answers, each
// of μ² = square, exceeds a bound at some time: the loss is a walk of steps N(μ²/2, μ²), whose
// density is carried on a grid, and what exceeds the bound is taken out. The grid's step
// is a tenth of the walk's and the window holds all but 1e-9 of it.
func gaussianCrossing(bound func(n int) float64, square float64, steps int) float64 {
	mu := math.Sqrt(square)
	h := mu / 10
	reach := 8 * mu * math.Sqrt(float64(steps))
	size := int(2*reach/h) + 1
	kernel := make([]float64, 161) // to 8 standard deviations
	total := 0.0
	for i := range kernel {
		x := float64(i-80) * h / mu
		kernel[i] = math.Exp(-x * x / 2)
		total += kernel[i]
	}
	density, outside := make([]float64, size), 0.0 // around the mean n·μ²/2
	density[size/2] = 1
	for n := 1; n <= steps; n++ {
		next := make([]float64, size)
		for i, p := range density {
			if p == 0 {
				continue
			}
			for k, w := range kernel {
				if j := i + k - 80; j >= 0 && j < size {
					next[j] += p * w / total
				}
			}
		}
		at := bound(n)
		for i := range next {
			if float64(i-size/2)*h+float64(n)*square/2 > at {
				outside += next[i]
				next[i] = 0
			}
		}
		density = next
	}
	return outside
}

// Gaussian answers count by their zCDP, and do not outrun the odometers; counted as half of
// that, they do.
func TestGaussianLossDoesNotOutrunOdometers(t *testing.T) {
	const steps, delta = 60, 0.2
	event := privacy.Gaussian{Variance: rat("100"), SensitivitySquared: rat("1")} // μ² = 0.01
	one := must(SpentOf([]privacy.Event{event}, privacy.AddRemove))
	o := OdometerOptions{Delta: del("0.2"), At: rat("0.3")}
	for name, odometer := range map[string]*Odometer{
		"line": must(NewLineOdometer(o)), "mixture": must(NewMixtureOdometer(o)),
		"stitched": must(NewStitchedOdometer(o)), "rogers": must(NewRogersOdometer(o.Delta, 10)),
	} {
		p := gaussianCrossing(func(n int) float64 {
			return must(odometer.Epsilon(one.Times(big.NewInt(int64(n))))).Float64()
		}, 0.01, steps)
		if p > delta || p == 0 {
			t.Errorf("%s: outrun with probability %v, want at most %v and not 0", name, p, delta)
		}
		t.Logf("%s: outrun with probability %.4f", name, p)
	}
	half := Sums{Drift: Units{new(big.Int).Quo(one.Drift.int(), big.NewInt(2))}, Squares: Units{new(big.Int).Quo(one.Squares.int(), big.NewInt(2))}}
	line := must(NewLineOdometer(OdometerOptions{Delta: del("0.2"), At: rat("0.15")}))
	p := gaussianCrossing(func(n int) float64 {
		return must(line.Epsilon(half.Times(big.NewInt(int64(n))))).Float64()
	}, 0.01, steps)
	if p < delta*1.1 {
		t.Errorf("half of what Gaussian answers cost is outrun with probability %v, no more than %v", p, delta)
	}
	t.Logf("half of what they cost: outrun with probability %.4f of %v", p, delta)
}

func TestSpentOf(t *testing.T) {
	for _, test := range []struct {
		e       privacy.Event
		squares string
	}{
		{privacy.Gaussian{Variance: rat("4"), SensitivitySquared: rat("1")}, "0.25"},
		{privacy.DiscreteGaussian{Variance: rat("4"), SensitivitySquared: rat("1")}, "0.25"},
		{privacy.ZCDP{Rho: must(privacy.NewRho(rat("0.5")))}, "1"},
		{privacy.Exponential{Epsilon: eps("1")}, "0.25"},
		{privacy.Pure{Epsilon: eps("0.5")}, "0.25"},
		{privacy.Approx{Epsilon: eps("0.5"), Delta: del("1e-9")}, "0.25"},
		{privacy.Sum{Events: []privacy.Event{privacy.Pure{Epsilon: eps("0.5")}, privacy.GDP{Mu: rat("1")}}}, "1.25"},
		{privacy.Repeat{Count: 3, Event: privacy.Laplace{Scale: rat("2"), Sensitivity: rat("1")}}, "0.75"},
	} {
		s, err := SpentOf([]privacy.Event{test.e}, privacy.AddRemove)
		if err != nil || s.Squares.Cmp(ceilUnits(rat(test.squares))) != 0 {
			t.Errorf("%v: Σε² = %v, %v, want %s", test.e, s.Squares, err, test.squares)
		}
		if s.Drift.Cmp(Units{new(big.Int).Quo(s.Squares.int(), big.NewInt(2))}) < 0 {
			t.Errorf("%v: the mean of the loss may be %v, half of Σε² is more", test.e, s.Drift)
		}
	}
	for _, e := range []privacy.Event{
		privacy.RDP{Orders: []*big.Rat{rat("2")}, Eps: []*big.Rat{rat("1")}},
		privacy.Poisson{Rate: rat("0.1"), Event: privacy.GDP{Mu: rat("1")}},
	} {
		if _, err := SpentOf([]privacy.Event{e}, privacy.AddRemove); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: %v", e, err)
		}
	}
}

// The basic odometer adds up, exactly, and knows nothing of Gaussian noise.
func TestBasicOdometer(t *testing.T) {
	o := NewBasicOdometer(del("1e-6"))
	if e := must(o.Epsilon(spent(10, "0.1"))); e.Rat().Cmp(rat("1")) != 0 {
		t.Errorf("ten times 0.1 is %v", e)
	}
	approx := must(SpentOf([]privacy.Event{privacy.Approx{Epsilon: eps("0.1"), Delta: del("4e-7")}}, privacy.AddRemove))
	if e := must(o.Epsilon(approx.Times(big.NewInt(2)))); e.Rat().Cmp(rat("0.2")) != 0 {
		t.Errorf("twice 0.1 is %v", e)
	}
	if e, err := o.Epsilon(approx.Times(big.NewInt(3))); !errors.Is(err, ErrNoBound) {
		t.Errorf("3 times 4e-7 of 1e-6 gives %v, %v", e, err)
	}
	noise := must(SpentOf([]privacy.Event{privacy.GDP{Mu: rat("1")}}, privacy.AddRemove))
	if e, err := o.Epsilon(noise.Add(spent(1, "0.1"))); !errors.Is(err, ErrNoPoint) {
		t.Errorf("Gaussian noise gives %v, %v", e, err)
	}
}

func BenchmarkOdometers(b *testing.B) {
	o := []*Odometer{
		must(NewLineOdometer(options("0.25"))), must(NewMixtureOdometer(options("0.25"))),
		must(NewStitchedOdometer(options("0.25"))), must(NewRogersOdometer(del("1e-6"), 1000)),
	}
	s := spent(1000, "0.1")
	for b.Loop() {
		for _, o := range o {
			must(o.Epsilon(s))
		}
	}
}
