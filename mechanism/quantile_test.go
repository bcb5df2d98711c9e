package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// law adds to found the probability of each list of points.
func (q *Quantile) law(p part, wanted []int64, then func(points []uint64, probability float64)) {
	if len(wanted) == 0 {
		then(nil, 1)
		return
	}
	middle := len(wanted) / 2
	a, b := wanted[middle]-p.low, p.high-p.low
	at := func(point uint64, weight float64) {
		if len(wanted) == 1 {
			then([]uint64{point}, weight)
			return
		}
		below, above := p.split(point, wanted[middle])
		q.law(below, wanted[:middle], func(left []uint64, l float64) {
			q.law(above, wanted[middle+1:], func(right []uint64, r float64) {
				then(slices.Concat(left, []uint64{point}, right), weight*l*r)
			})
		})
	}
	if p.from == p.to {
		at(p.from, 1)
		return
	}
	stretches := p.stretches(a, b, len(wanted) > 1)
	pieces := make([]piece, len(stretches))
	for i, s := range stretches {
		pieces[i] = s.piece
	}
	for i, w := range weights(pieces, q.unit(a, b, b == q.den)) {
		for k := range pieces[i].width {
			at(stretches[i].from+k, w/float64(pieces[i].width))
		}
	}
}

// outcomes returns the probability of each list of points, in a fixed order.
func (q *Quantile) outcomes(values []float64) []float64 {
	end := (q.line.last + 1) << q.slotBits
	all := part{ties: q.ties(values), to: end, slotBits: q.slotBits, high: q.den}
	size := 1
	for range q.quantiles {
		size *= int(end) + 1
	}
	law := make([]float64, size)
	q.law(all, q.quantiles, func(points []uint64, p float64) {
		index := 0
		for _, x := range points {
			index = index*(int(end)+1) + int(x)
		}
		law[index] += p
	})
	return law
}

// bags returns all multisets of at most n of the values.
func bags(n int, values ...float64) [][]float64 {
	all := [][]float64{nil}
	for size := 0; size < len(all); size++ {
		bag := all[size]
		for _, v := range values {
			if len(bag) < n && (len(bag) == 0 || v >= bag[len(bag)-1]) {
				all = append(all, append(slices.Clone(bag), v))
			}
		}
	}
	return all
}

func rats(texts ...string) (all []*big.Rat) {
	for _, s := range texts {
		all = append(all, rat(s))
	}
	return all
}

// smallQuantile has four candidates of two slots.
func smallQuantile(o QuantileOptions) *Quantile {
	o.Lower, o.Upper, o.Step = rat("0"), rat("3"), rat("1")
	q := must(NewQuantile(o))
	q.slotBits = 1
	return q
}

// worstRatio is the largest log-ratio over all neighbours of at most n values, by the
// exact law of all outcomes, and the largest range of log-ratios on the last level:
// between outcomes that split the values at the same point.
func worstRatio(q *Quantile, n int, law func([]float64) []float64) (most, span float64) {
	laws := make(map[string][]float64)
	of := func(bag []float64) []float64 {
		bag = slices.Sorted(slices.Values(bag))
		key := fmt.Sprint(bag)
		if laws[key] == nil {
			laws[key] = law(bag)
		}
		return laws[key]
	}
	compare := func(a, b []float64) {
		p, r := of(a), of(b)
		low, high := make(map[int]float64), make(map[int]float64)
		for i := range p {
			if p[i] == 0 && r[i] == 0 {
				continue
			}
			split := 0
			if size := int(q.line.last+1)<<q.slotBits + 1; len(q.quantiles) > 1 {
				split = 1 + i/int(math.Pow(float64(size), float64(len(q.quantiles)-2)))%size
			}
			l := math.Log(p[i] / r[i])
			if _, ok := low[split]; !ok {
				low[split], high[split] = l, l
			}
			low[split], high[split] = min(low[split], l), max(high[split], l)
			most, span = max(most, math.Abs(l)), max(span, high[split]-low[split])
		}
	}
	units := bags(int(q.rows), 0, 1, 2, 3)
	for _, bag := range bags(n, 0, 1, 2, 3) {
		for _, unit := range units {
			with := slices.Concat(bag, unit)
			if q.neighbours == privacy.AddRemove {
				compare(bag, with)
				continue
			}
			for _, other := range units {
				compare(with, slices.Concat(bag, other))
			}
		}
	}
	return most, span
}

// All outcomes, down to the slots, on all neighbours of few values: the log-ratio never
// exceeds ε, nor its range on a level what the level costs; and some come close.
func TestQuantileRatios(t *testing.T) {
	for _, tc := range []struct {
		o     QuantileOptions
		n     int
		tight float64 // the least share of a level's ε that the largest range must reach
	}{
		{QuantileOptions{Quantiles: rats("1/2"), Epsilon: eps("1")}, 3, 1},
		{QuantileOptions{Quantiles: rats("1/4"), Epsilon: eps("2")}, 3, 1},
		{QuantileOptions{Quantiles: rats("1/2"), Epsilon: eps("1"), MaxRows: 2}, 2, 1},
		{QuantileOptions{Quantiles: rats("1/2"), Epsilon: eps("1"), Neighbours: privacy.ReplaceOne}, 2, 1},
		{QuantileOptions{Quantiles: rats("9/10"), Epsilon: eps("1"), Neighbours: privacy.ReplaceOne, MaxRows: 2}, 1, 0.4},
		{QuantileOptions{Quantiles: rats("1/4", "3/4"), Epsilon: eps("1")}, 3, 1},
		{QuantileOptions{Quantiles: rats("1/4", "1/2"), Epsilon: eps("2"), Neighbours: privacy.ReplaceOne}, 2, 1},
		{QuantileOptions{Quantiles: rats("1/4", "1/2", "3/4"), Epsilon: eps("1")}, 2, 1},
		{QuantileOptions{Quantiles: rats("1/10", "1/2", "9/10"), Epsilon: eps("1"), Neighbours: privacy.ReplaceOne}, 6, 0.7},
	} {
		q := smallQuantile(tc.o)
		most, span := worstRatio(q, tc.n, q.outcomes)
		e := tc.o.Epsilon.Float64()
		t.Logf("%v, %v: log-ratio %.3f of %v, range %.3f of %v", tc.o.Quantiles, tc.o.Neighbours, most, e, span, q.single)
		if most > e*(1+1e-12) || span > q.single.Float64()*(1+1e-12) {
			t.Errorf("%+v: the largest log-ratio is %v, the range %v", tc.o, most, span)
		}
		if span < tc.tight*q.single.Float64()*(1-1e-9) {
			t.Errorf("%+v: the range is %v only", tc.o, span)
		}
	}
}

// The test of ratios sees what would be wrong.
func TestQuantileRatiosRejectFaults(t *testing.T) {
	e := eps("1")
	// The exponent without its factor of a half.
	q := smallQuantile(QuantileOptions{Quantiles: rats("1/2"), Epsilon: e.MulRat(rat("2"))})
	if most, span := worstRatio(q, 2, q.outcomes); most <= 1 || span <= 1 {
		t.Errorf("exp(ε·score/Δ) passes: %v, %v", most, span)
	}
	// Two answers for the price of one.
	q = smallQuantile(QuantileOptions{Quantiles: rats("1/2"), Epsilon: e})
	if most, _ := worstRatio(q, 2, func(bag []float64) (both []float64) {
		for _, p := range q.outcomes(bag) {
			for _, s := range q.outcomes(bag) {
				both = append(both, p*s)
			}
		}
		return both
	}); most <= 1 {
		t.Errorf("two answers for one charge pass: %v", most)
	}
	// Replacing a value is more than adding one.
	q = smallQuantile(QuantileOptions{Quantiles: rats("1/2"), Epsilon: e})
	q.neighbours = privacy.ReplaceOne
	if _, span := worstRatio(q, 2, func(bag []float64) []float64 {
		added := *q
		added.neighbours = privacy.AddRemove
		return added.outcomes(bag)
	}); span <= 1 {
		t.Errorf("the sensitivity of adding passes for replacing: %v", span)
	}
}

func TestQuantileFits(t *testing.T) {
	t.Parallel()
	for _, o := range []QuantileOptions{
		{Quantiles: rats("1/2"), Epsilon: eps("1")},
		{Quantiles: rats("1/3", "1/2"), Epsilon: eps("2"), Neighbours: privacy.ReplaceOne},
		{Quantiles: rats("1/4", "1/2", "3/4"), Epsilon: eps("3")},
	} {
		q := smallQuantile(o)
		size := int(q.line.last+1) << q.slotBits
		// Values as the chosen candidates show them.
		fold := func(values []float64) []float64 {
			law := make([]float64, int(math.Pow(4, float64(len(q.quantiles)))))
			for i, p := range q.outcomes(values) {
				index, scale := 0, 1
				for range q.quantiles {
					index += (i % (size + 1) >> q.slotBits) % 4 * scale
					i, scale = i/(size+1), scale*4
				}
				law[index] += p
			}
			return law
		}
		values := []float64{0, 1, 1, 1, 3, math.NaN(), 3, 1, 2.2, math.Inf(1)}
		choose := func(b noise.Bits) (int, error) {
			chosen, err := q.Choose(b, values)
			index := 0
			for _, x := range chosen {
				index = index*4 + int(x)
			}
			return index, err
		}
		if err := fits(fold(values), 10_000, choose); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		if fits(fold([]float64{0, 1, 3, 3, 2}), 10_000, choose) == nil {
			t.Errorf("%+v: other values make no difference", o)
		}
	}
}

// misses is by how many ranks x is off as a quantile.
func misses(values []float64, x, quantile float64) float64 {
	below, upTo, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		if v < x {
			below++
		}
		if v <= x {
			upTo++
		}
	}
	return max(below-quantile*n, quantile*n-upTo, 0)
}

// At a large ε the quantiles are right, however the values are tied, and ascend.
func TestQuantilesOfTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.SampledFrom([]int{0, 1, 2, 2, 2, 2, 2, 50, 99, 100}), func(i int) float64 { return float64(i) }), 0, 200).Draw(t, "values")
		var wanted []*big.Rat
		for i := range int64(9) {
			if rapid.Bool().Draw(t, "wanted") {
				wanted = append(wanted, big.NewRat(i+1, 10))
			}
		}
		if len(wanted) == 0 {
			t.Skip("nothing is wanted")
		}
		q := must(NewQuantile(QuantileOptions{Lower: rat("0"), Upper: rat("100"), Step: rat("1"), Quantiles: wanted, Epsilon: eps("100000")}))
		chosen := must(q.Choose(noise.System(), values))
		if !slices.IsSorted(chosen) || len(chosen) != len(wanted) {
			t.Fatal(chosen)
		}
		for i, w := range wanted {
			f, _ := w.Float64()
			if m := misses(values, chosen[i], f); m > 4 { // a level each
				t.Errorf("%v is off by %v ranks as the quantile %v of %v", chosen[i], m, f, values)
			}
		}
	})
}

// Over 10^5 runs what is chosen is as near as the accuracy says, at its beta.
func TestQuantileAccuracy(t *testing.T) {
	t.Parallel()
	const runs = 100_000
	values := make([]float64, 24)
	for i := range values {
		values[i] = float64(i * i % 97)
	}
	slices.Sort(values)
	for _, tc := range []struct {
		o    QuantileOptions
		runs int
	}{
		{QuantileOptions{Quantiles: rats("1/2"), Epsilon: eps("1")}, runs},
		{QuantileOptions{Quantiles: rats("1/4"), Epsilon: eps("1"), Neighbours: privacy.ReplaceOne}, runs / 5},
		{QuantileOptions{Quantiles: rats("1/4", "1/2", "3/4"), Epsilon: eps("8")}, runs / 5},
	} {
		tc.o.Lower, tc.o.Upper, tc.o.Step = rat("0"), rat("100"), rat("1")
		q := must(NewQuantile(tc.o))
		alpha := must(q.Bound(int64(len(values)), rat("0.1")))
		source, failures, farthest := entropy.New(), 0, 0.0
		for range tc.runs {
			far := 0.0
			for i, x := range must(q.Choose(source, values)) {
				f, _ := tc.o.Quantiles[i].Float64()
				far = max(far, misses(values, x, f))
			}
			farthest = max(farthest, far)
			if far > alpha {
				failures++
			}
		}
		t.Logf("%v: α = %.1f; %d of %d runs are farther, up to %v", tc.o.Quantiles, alpha, failures, tc.runs, farthest)
		if err := failsAtMost(failures, tc.runs, 0.1); err != nil {
			t.Error(err)
		}
	}
	// ln(101/0.1)·2·(1/2)/1
	q := must(NewQuantile(QuantileOptions{Lower: rat("0"), Upper: rat("100"), Step: rat("1"), Quantiles: rats("1/2"), Epsilon: eps("1")}))
	if a := must(q.Bound(24, rat("0.1"))); math.Abs(a-math.Log(1010)) > 1e-9 {
		t.Errorf("accuracy %v", a)
	}
}

// Neighbouring quantiles make an interval for one.
func TestQuantileInterval(t *testing.T) {
	t.Parallel()
	const runs, n = 2_000, 2_000
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i % 1000)
	}
	o := QuantileOptions{Lower: rat("0"), Upper: rat("1000"), Step: rat("1"), Quantiles: rats("1/4", "1/2", "3/4"), Epsilon: eps("4")}
	alpha := must(must(NewQuantile(o)).Bound(n, rat("0.1")))
	margin := big.NewRat(int64(math.Ceil(alpha)), n)
	o.Quantiles = []*big.Rat{new(big.Rat).Sub(rat("1/2"), margin), rat("1/2"), new(big.Rat).Add(rat("1/2"), margin)}
	q, outside := must(NewQuantile(o)), 0
	for range runs {
		if x := must(q.Choose(noise.System(), values)); x[0] > 499.5 || x[2] < 499.5 {
			outside++
		}
	}
	if err := failsAtMost(outside, runs, 0.1); err != nil {
		t.Error(err)
	}
}

func TestQuantileValues(t *testing.T) {
	q := must(NewQuantile(QuantileOptions{Lower: rat("-1"), Upper: rat("1.05"), Step: rat("0.1"), Quantiles: rats("1/2"), Epsilon: eps("1")}))
	if q.line.last != 20 {
		t.Errorf("the last candidate is %d", q.line.last)
	}
	got := q.ties([]float64{math.NaN(), -0.9, -0.9, -1e300, math.Inf(-1), math.Inf(1), 0.3, math.MaxFloat64, 5e-324, math.Copysign(0, -1)})
	want := []tie{{0, 2}, {1, 2}, {10, 2}, {13, 1}, {20, 2}}
	if !slices.Equal(got, want) {
		t.Errorf("ties %v, want %v", got, want)
	}
	for _, values := range [][]float64{nil, {math.NaN()}, {math.Inf(1), math.Inf(-1)}} {
		if x, err := q.Choose(noise.System(), values); err != nil || len(x) != 1 || x[0] < -1 || x[0] > 1 {
			t.Errorf("%v: %v, %v", values, x, err)
		}
	}
	many := make([]float64, 300_000)
	for i := range many {
		many[i] = float64(i%7) / 10
	}
	if x := must(q.Choose(noise.System(), many)); x[0] != 0.3 {
		t.Errorf("the median of many is %v", x)
	}
}

func TestQuantileEvents(t *testing.T) {
	for count, want := range map[int]string{1: "exponential(1)", 2: "2*exponential(0.5)", 3: "2*exponential(0.5)", 4: "3*exponential(1/3)", 7: "3*exponential(1/3)", 8: "4*exponential(0.25)"} {
		o := QuantileOptions{Lower: rat("0"), Upper: rat("1"), Step: rat("1/100"), Epsilon: eps("1")}
		for i := range count {
			o.Quantiles = append(o.Quantiles, big.NewRat(int64(i+1), 10))
		}
		if e := must(NewQuantile(o)).Event(); e.String() != "add_remove("+want+")" || e.Validate() != nil {
			t.Errorf("%d quantiles: %v", count, e)
		}
	}
}

func TestQuantileRefusals(t *testing.T) {
	good := QuantileOptions{Lower: rat("0"), Upper: rat("1"), Step: rat("1/100"), Quantiles: rats("1/2"), Epsilon: eps("1")}
	for name, change := range map[string]func(*QuantileOptions){
		"no lower":              func(o *QuantileOptions) { o.Lower = nil },
		"no upper":              func(o *QuantileOptions) { o.Upper = nil },
		"no step":               func(o *QuantileOptions) { o.Step = nil },
		"step of 0":             func(o *QuantileOptions) { o.Step = rat("0") },
		"negative step":         func(o *QuantileOptions) { o.Step = rat("-1") },
		"tiny step":             func(o *QuantileOptions) { o.Step = rat("1e-13") },
		"bounds swapped":        func(o *QuantileOptions) { o.Lower, o.Upper = o.Upper, o.Lower },
		"bounds beyond floats":  func(o *QuantileOptions) { o.Lower, o.Upper, o.Step = rat("-1e400"), rat("1e400"), rat("1e399") },
		"all below floats":      func(o *QuantileOptions) { o.Upper, o.Step = rat("1e-400"), rat("1e-401") },
		"no quantiles":          func(o *QuantileOptions) { o.Quantiles = nil },
		"missing quantile":      func(o *QuantileOptions) { o.Quantiles = []*big.Rat{nil} },
		"minimum":               func(o *QuantileOptions) { o.Quantiles = rats("0") },
		"maximum":               func(o *QuantileOptions) { o.Quantiles = rats("1") },
		"descending":            func(o *QuantileOptions) { o.Quantiles = rats("1/2", "1/4") },
		"the same twice":        func(o *QuantileOptions) { o.Quantiles = rats("1/2", "1/2") },
		"no common denominator": func(o *QuantileOptions) { o.Quantiles = rats("1/1009", "1/1013") },
		"negative rows":         func(o *QuantileOptions) { o.MaxRows = -1 },
		"no such relation":      func(o *QuantileOptions) { o.Neighbours = 9 },
		"no epsilon":            func(o *QuantileOptions) { o.Epsilon = privacy.Epsilon{} },
		"epsilon of hairs":      func(o *QuantileOptions) { o.Epsilon, o.Quantiles = eps("1e-300"), rats("1/4", "1/2") },
	} {
		o := good
		change(&o)
		if q, err := NewQuantile(o); q != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, q, err)
		}
	}
	q := must(NewQuantile(good))
	if x, err := q.Choose(broken{}, []float64{1}); x != nil || !errors.Is(err, errBroken) {
		t.Error(x, err)
	}
	for name, err := range map[string]error{"no beta": second(q.Bound(5, nil)), "beta of 0": second(q.Bound(5, rat("0"))), "negative number": second(q.Bound(-5, rat("1/2")))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
