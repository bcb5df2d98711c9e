package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func drawSample(t *rapid.T, name string) sample {
	values := rapid.SliceOfN(rapid.Uint64Range(0, 20), 0, 12).Draw(t, name)
	slices.Sort(values)
	return sample{values, 20}
}

// change returns a sample that differs in one value.
func change(t *rapid.T, s sample) sample {
	values := slices.Clone(s.values)
	if len(values) > 0 && rapid.Bool().Draw(t, "remove") {
		i := rapid.IntRange(0, len(values)-1).Draw(t, "which")
		values = slices.Delete(values, i, i+1)
	}
	if len(values) < len(s.values) && rapid.Bool().Draw(t, "only removed") {
		return sample{values, s.last}
	}
	values = append(values, rapid.Uint64Range(0, s.last).Draw(t, "new"))
	slices.Sort(values)
	return sample{values, s.last}
}

// What the mechanisms for medians rest on: windows of neighbours lie within longer
// windows, medians within the shortest; and so scales and distances change by at most
// one.
func TestMedianWindows(t *testing.T) {
	smooth := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("20"), Step: rat("1"), Epsilon: eps("1"), MaxRows: 2}))
	largest := 0
	property := func(t *rapid.T) {
		rows := rapid.IntRange(1, 3).Draw(t, "rows")
		x := drawSample(t, "x")
		y := x
		for range rows {
			y = change(t, y)
		}
		for length := range 30 {
			if x.widest(length) > y.widest(length+rows) {
				t.Fatalf("a window of length %d has width %d in %v, but only %d with %d more in %v", length, x.widest(length), x, y.widest(length+rows), rows, y)
			}
		}
		if d := new(big.Int).Sub(x.median(), y.median()); new(big.Int).Abs(d).Uint64() > min(x.widest(rows), y.widest(rows)) {
			t.Fatalf("the medians of %v and %v are %v apart", x, y, d)
		}
		for bound := uint64(1); bound < 20; bound++ {
			if d := x.stableFor(rows, bound, 100) - y.stableFor(rows, bound, 100); d < -1 || d > 1 {
				t.Fatalf("the distances of %v and %v differ by %d", x, y, d)
			}
		}
		if rows <= 2 {
			d := smooth.scale(x) - smooth.scale(y)
			if d < -1 || d > 1 {
				t.Fatalf("the scales of %v and %v differ by %d", x, y, d)
			}
			largest = max(largest, d, -d)
		}
	}
	// One in six draws has two scales: a hundred have none once in 10^7 runs.
	for i := 0; i < 20 && largest == 0; i++ {
		rapid.Check(t, property)
	}
	if largest != 1 {
		t.Error("no two scales differ")
	}
}

// A unit that may have more values than there are is never safe, however many: a
// distance times the number of values does not fit into an int.
func TestDistanceWithManyRows(t *testing.T) {
	x := sample{values: []uint64{0, 100}, last: 100}
	for places := 1; places <= 40; places++ {
		for _, rows := range []int{1 << places, 1<<places - 1, 1<<places | 12345} {
			if d := x.stableFor(max(rows, 2), 1, maxDistance); d != 0 {
				t.Errorf("with %d values of a unit the distance is %d", rows, d)
			}
		}
	}
	if d := x.stableFor(1<<30, 100, maxDistance); d != maxDistance {
		t.Errorf("a median that cannot move by more than the bound may after %d changes", d)
	}
}

// scale skips what cannot matter, and nothing else.
func TestSmoothScale(t *testing.T) {
	s := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("20"), Step: rat("1"), Epsilon: eps("2")}))
	rapid.Check(t, func(t *rapid.T) {
		x, want := drawSample(t, "x"), 0
		for k := range len(s.scales) + 30 {
			want = max(want, s.number(x.widest(k+1))-k)
		}
		if got := s.scale(x); got != want {
			t.Fatalf("the scale of %v is %d, want %d", x, got, want)
		}
	})
}

// laplaceAt is P(k) of discrete Laplace noise of scale t.
func laplaceAt(t float64, k int) float64 {
	return math.Tanh(1/(2*t)) * math.Exp(-math.Abs(float64(k))/t)
}

// laws returns the exact law of the noise of SmoothMedian for each scale's number, and
// the Laplace laws of which it is made.
func (s *SmoothMedian) laws() (mixture, plain func(number, k int) float64) {
	const most = 300
	fall, _ := s.fall.Float64()
	pure, mixed := make([][]float64, len(s.scales)), make([][]float64, len(s.scales))
	for i := len(s.scales) - 1; i >= 0; i-- {
		t, _ := new(big.Rat).Quo(s.scales[i], s.first).Float64()
		for k := range most {
			p := laplaceAt(t, k)
			pure[i] = append(pure[i], p)
			if i < len(s.scales)-1 {
				p = (1-fall)*p + fall*mixed[i+1][k]
			}
			mixed[i] = append(mixed[i], p)
		}
	}
	return func(number, k int) float64 { return mixed[number][max(k, -k)] },
		func(number, k int) float64 { return pure[number][max(k, -k)] }
}

// The exact law of the noise: a change of the scale by one, and a shift by what the
// smaller scale allows, together change no probability by more than e^ε; plain Laplace
// noise of the same scales, or a shift by twice as much, does.
func TestSmoothMedianRatios(t *testing.T) {
	for _, e := range []string{"1", "0.3", "4"} {
		s := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("60"), Step: rat("1"), Epsilon: eps(e)}))
		mixture, plain := s.laws()
		worst := func(law func(number, k int) float64, factor uint64) (most float64) {
			for number := range s.scales {
				for other := max(number-1, 0); other <= min(number+1, len(s.scales)-1); other++ {
					shift := int(factor * min(s.floors[number], s.floors[other]))
					for k := -100; k <= 100; k++ {
						p, q := law(number, k), law(other, k+shift)
						most = max(most, math.Abs(math.Log(p/q)))
					}
				}
			}
			return most
		}
		limit := eps(e).Float64()
		most := worst(mixture, 1)
		t.Logf("epsilon %s: %d scales, the largest log-ratio is %.3f", e, len(s.scales), most)
		if most > limit*(1+1e-9) || most < limit*0.6 {
			t.Errorf("epsilon %s: the largest log-ratio is %v", e, most)
		}
		if worst(plain, 1) < limit || worst(mixture, 3) < limit {
			t.Errorf("epsilon %s: a fault passes", e)
		}
	}
}

// From data to outcome, for all neighbours of few values.
func TestSmoothMedianOnNeighbours(t *testing.T) {
	s := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Epsilon: eps("1")}))
	mixture, _ := s.laws()
	law := func(scale func(sample) int) func(bag []float64) []float64 {
		return func(bag []float64) []float64 {
			x := newSample(s.line, bag)
			all := make([]float64, 81)
			for i := range all {
				all[i] = mixture(scale(x), i-40-int(x.median().Int64()))
			}
			return all
		}
	}
	worst := func(law func([]float64) []float64) (most float64) {
		for _, bag := range bags(4, 0, 1, 4, 5) {
			for _, v := range []float64{0, 1, 3, 5} {
				added := law(append(slices.Clone(bag), v))
				for _, other := range [][]float64{law(bag), law(append(slices.Clone(bag), 2))} {
					m, _ := ratioWithin(added, other, 1, 0)
					most = max(most, m)
				}
			}
		}
		return most
	}
	if most := worst(law(s.scale)); most > 1 {
		t.Errorf("the largest log-ratio is %v", most)
	}
	// The local sensitivity itself as the scale: not smooth.
	if most := worst(law(func(x sample) int { return s.number(x.widest(1)) })); most <= 1 {
		t.Errorf("the local sensitivity passes: %v", most)
	}
}

// law is the exact law of propose-test-release; its last outcome is that nothing is
// released.
func (p *ProposeTestRelease) law(values []float64, alwaysPass bool) []float64 {
	x := newSample(p.line, values)
	d := x.stableFor(p.rows, p.bound, maxDistance)
	// P(d + K >= τ) = P(K > τ−d−1)
	pass := p.test.Above(new(big.Int).Sub(p.least, big.NewInt(int64(d+1))))
	if alwaysPass {
		pass = 1
	}
	all := make([]float64, 102)
	scale, _ := p.exact.Scale().Float64()
	for i := range 101 {
		all[i] = pass * laplaceAt(scale, i-50-int(x.median().Int64()))
	}
	all[101] = 1 - pass
	return all
}

// The exact (ε, δ) on all neighbours of few values; without the test it is exceeded.
func TestProposeTestReleaseRatios(t *testing.T) {
	for _, rows := range []int64{1, 2} {
		p := must(NewProposeTestRelease(ProposeTestReleaseOptions{
			Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Bound: rat("1"), MaxRows: rows, Epsilon: eps("2"), Delta: del("0.1")}))
		worst := func(always bool) (delta float64) {
			laws := make(map[string][]float64)
			law := func(bag []float64) []float64 {
				bag = slices.Sorted(slices.Values(bag))
				key := fmt.Sprint(bag)
				if laws[key] == nil {
					laws[key] = p.law(bag, always)
				}
				return laws[key]
			}
			for _, bag := range bags(4, 0, 1, 5) {
				for _, unit := range bags(int(rows), 0, 1, 2, 5) {
					neighbours := [][]float64{slices.Concat(bag, unit)}
					if len(bag) >= len(unit) {
						neighbours = append(neighbours, slices.Concat(bag[len(unit):], unit))
					}
					for _, n := range neighbours {
						delta = max(delta, hockeyStick(law(bag), law(n), 2), hockeyStick(law(n), law(bag), 2))
					}
				}
			}
			return delta
		}
		d := worst(false)
		t.Logf("rows %d: delta %.4f", rows, d)
		if d > 0.1 || d < 0.01 {
			t.Errorf("rows %d: delta is %v", rows, d)
		}
		if worst(true) <= 0.1 {
			t.Errorf("rows %d: without the test it passes as well", rows)
		}
	}
}

// Draws follow the laws, and the Bounds hold over 10^5 runs.
func TestMediansFit(t *testing.T) {
	t.Parallel()
	values := []float64{0, 1, 1, 2, 2, 2, 3, math.NaN(), math.Inf(1)}
	s := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Epsilon: eps("3")}))
	mixture, _ := s.laws()
	x := newSample(s.line, values)
	clamped := func(pass float64, at func(int) float64) []float64 {
		law := make([]float64, 6)
		for k := -250; k <= 250; k++ {
			law[min(max(k+int(x.median().Int64()), 0), 5)] += pass * at(k)
		}
		return law
	}
	law := clamped(1, func(k int) float64 { return mixture(s.scale(x), k) })
	release := func(b noise.Bits) (int, error) {
		v, err := s.Release(b, values)
		return int(v), err
	}
	if err := fits(law, 50_000, release); err != nil {
		t.Errorf("smooth median: %v", err)
	}
	if fits(clamped(1, func(k int) float64 { return mixture(s.scale(x)+1, k) }), 50_000, release) == nil {
		t.Error("the next scale makes no difference")
	}
	p := must(NewProposeTestRelease(ProposeTestReleaseOptions{Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Bound: rat("2"), Epsilon: eps("3"), Delta: del("0.05")}))
	d := x.stableFor(1, 2, maxDistance)
	pass := p.test.Above(new(big.Int).Sub(p.least, big.NewInt(int64(d+1))))
	law = append(clamped(pass, func(k int) float64 { return laplaceAt(4./3, k) }), 1-pass)
	test := func(b noise.Bits) (int, error) {
		v, ok, err := p.Median(b, values)
		if !ok {
			v = 6
		}
		return int(v), err
	}
	if err := fits(law, 50_000, test); err != nil {
		t.Errorf("propose-test-release: %v", err)
	}
	p.least.Sub(p.least, big.NewInt(1))
	if fits(law, 50_000, test) == nil {
		t.Error("a threshold lower by one makes no difference")
	}
}

func TestMedianBounds(t *testing.T) {
	t.Parallel()
	const runs = 100_000
	values := make([]float64, 120)
	for i := range values {
		values[i] = float64(470 + i/2)
	}
	beta := rat("0.1")
	s := must(NewSmoothMedian(SmoothMedianOptions{Lower: rat("0"), Upper: rat("1000"), Step: rat("1"), Epsilon: eps("1")}))
	scale := s.scales[s.scale(newSample(s.line, values))]
	alpha := must(s.Bound(scale, beta))
	p := must(NewProposeTestRelease(ProposeTestReleaseOptions{Lower: rat("0"), Upper: rat("1000"), Step: rat("1"), Bound: rat("25"), Epsilon: eps("1"), Delta: del("1e-6")}))
	reach := must(p.Bound(beta))
	far, off, failed := 0, 0, 0
	for range runs {
		if x := must(s.Release(noise.System(), values)); math.Abs(x-499) > alpha {
			far++
		}
		x, ok, err := p.Median(noise.System(), values)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			failed++
		} else if math.Abs(x-499) > reach {
			off++
		}
	}
	enough, passed := must(p.Passes(beta)).Int64(), 0
	for range runs {
		_, ok, err := p.Release(noise.System(), 499, enough)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			passed++
		}
	}
	t.Logf("of %d: smooth median beyond %v %d, tested one beyond %v %d; not passed %d; at distance %d of %d passed %d", runs, alpha, far, reach, off, failed, enough, runs, passed)
	for _, err := range []error{failsAtMost(far, runs, 0.1), failsAtMost(off, runs, 0.1), failsAtMost(runs-passed, runs, 0.1)} {
		if err != nil {
			t.Error(err)
		}
	}
	if d := newSample(p.line, values).stableFor(1, 25, maxDistance); d < 30 || failed == runs {
		t.Errorf("distance %d; %d fail", d, failed)
	}
}

func TestMedianRefusals(t *testing.T) {
	smooth := SmoothMedianOptions{Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Epsilon: eps("1")}
	for name, change := range map[string]func(*SmoothMedianOptions){
		"no bounds":    func(o *SmoothMedianOptions) { o.Lower = nil },
		"no step":      func(o *SmoothMedianOptions) { o.Step = nil },
		"no epsilon":   func(o *SmoothMedianOptions) { o.Epsilon = privacy.Epsilon{} },
		"tiny epsilon": func(o *SmoothMedianOptions) { o.Epsilon = eps("1e-7") },
		"rows":         func(o *SmoothMedianOptions) { o.MaxRows = -1 },
	} {
		o := smooth
		change(&o)
		if s, err := NewSmoothMedian(o); s != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	test := ProposeTestReleaseOptions{Lower: rat("0"), Upper: rat("5"), Step: rat("1"), Bound: rat("1"), Epsilon: eps("1"), Delta: del("1e-6")}
	for name, change := range map[string]func(*ProposeTestReleaseOptions){
		"no bounds":      func(o *ProposeTestReleaseOptions) { o.Upper = nil },
		"no bound":       func(o *ProposeTestReleaseOptions) { o.Bound = nil },
		"negative bound": func(o *ProposeTestReleaseOptions) { o.Bound = rat("-1") },
		"tiny bound":     func(o *ProposeTestReleaseOptions) { o.Bound = rat("1/2") },
		"huge bound":     func(o *ProposeTestReleaseOptions) { o.Bound = rat("1e40") },
		"no epsilon":     func(o *ProposeTestReleaseOptions) { o.Epsilon = privacy.Epsilon{} },
		"no delta":       func(o *ProposeTestReleaseOptions) { o.Delta = privacy.Delta{} },
		"rows":           func(o *ProposeTestReleaseOptions) { o.MaxRows = -1 },
	} {
		o := test
		change(&o)
		if p, err := NewProposeTestRelease(o); p != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	s, p := must(NewSmoothMedian(smooth)), must(NewProposeTestRelease(test))
	if _, err := s.Release(broken{}, []float64{1}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, ok, err := p.Median(broken{}, []float64{1}); ok || !errors.Is(err, errBroken) {
		t.Error(err)
	}
	for _, values := range [][]float64{nil, {math.NaN()}, {math.Inf(-1), math.Inf(1), math.MaxFloat64}} {
		if x, err := s.Release(noise.System(), values); err != nil || x < 0 || x > 5 {
			t.Error(values, x, err)
		}
		if x, _, err := p.Median(noise.System(), values); err != nil || x < 0 || x > 5 {
			t.Error(values, x, err)
		}
	}
	for _, answer := range []float64{math.NaN(), math.Inf(1), -1e300} {
		if x, ok, err := p.Release(noise.System(), answer, math.MaxInt64); err != nil || !ok || x < 0 || x > 5 {
			t.Error(answer, x, ok, err)
		}
	}
	for name, err := range map[string]error{
		"no beta":       second(p.Bound(nil)),
		"passes always": second(p.Passes(rat("0"))),
		"no scale":      second(s.Bound(nil, rat("1/2"))),
		"certain":       second(s.Bound(rat("1"), rat("0"))),
	} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Event().Validate() != nil || p.Event().Validate() != nil || s.Event().String() != "pure(1)" || p.Event().String() != "approx(1, 0.000001)" {
		t.Error(s.Event(), p.Event())
	}
}
