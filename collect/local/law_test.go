package local

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func eps(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }

// small are protocols whose laws can be written out.
func small(epsilon string) (all []*Frequency) {
	for _, p := range Frequencies() {
		for _, k := range []int{2, 3, 5} {
			all = append(all, must(NewFrequency(FrequencyOptions{Protocol: p, Values: k, Epsilon: eps(epsilon),
				Bits: 6, Hashes: 2, Cohorts: 3, Rows: 3, Columns: 4, Salt: "law"})))
		}
	}
	return all
}

// exceeds returns an error unless the law is one, and no report is more than e^ε times as
// likely for one value than for another. tight is the greatest log-ratio.
func exceeds(k int, epsilon privacy.Epsilon, coins Report, law func(coins Report, value int) func(func(Report, *big.Rat) bool)) (tight float64, err error) {
	most := numeric.Of(epsilon.Rat()).Exp().Hi()
	type probability struct {
		exact *big.Rat
		near  float64
	}
	laws := make([]map[string]probability, k)
	for v := range k {
		laws[v] = map[string]probability{}
		sum := new(big.Rat)
		for r, p := range law(coins, v) {
			if p.Sign() <= 0 {
				return 0, fmt.Errorf("value %d, report %v: probability %v", v, r, p)
			}
			sum.Add(sum, p)
			laws[v][fmt.Sprint(r)] = probability{p, near(p)}
		}
		if sum.Cmp(one()) != 0 {
			return 0, fmt.Errorf("value %d: the probabilities add up to %v", v, sum)
		}
	}
	clear := math.Exp(epsilon.Float64()) * (1 - 1e-9)
	for v := range k {
		for x := range k {
			for r, p := range laws[v] {
				q, ok := laws[x][r]
				if !ok {
					return 0, fmt.Errorf("report %s is of value %d alone", r, v)
				}
				if p.near > q.near*clear && p.exact.Cmp(times(q.exact, most)) > 0 {
					return 0, fmt.Errorf("report %s: %.6g times as likely for %d as for %d", r, p.near/q.near, v, x)
				}
				tight = max(tight, math.Log(p.near/q.near))
			}
		}
	}
	return tight, nil
}

func (f *Frequency) asLaw() func(Report, int) func(func(Report, *big.Rat) bool) {
	return func(c Report, v int) func(func(Report, *big.Rat) bool) { return f.Law(c, v) }
}

// eachCoins calls f with the coins of reports: all if there are few, else some.
func eachCoins(t *testing.T, of *Frequency, f func(Report)) {
	t.Helper()
	all := 1
	for _, limit := range of.form.coins {
		all = int(min(uint64(all)*min(limit, 1000), 1000))
	}
	s := noise.NewStream(entropy.New())
	for i := range min(all, 12) {
		if all <= 12 {
			var r Report
			for _, limit := range of.form.coins {
				r = append(r, uint64(i)%limit)
				i /= int(limit)
			}
			f(r)
		} else {
			f(must(of.form.toss(s)))
		}
	}
}

// The exact law of every protocol, for small domains: probabilities add up to 1, and no ratio
// is above e^ε; some report reaches it, of the protocols whose bound is tight.
func TestNoRatioAboveEpsilon(t *testing.T) {
	for _, epsilon := range []string{"0.1", "1", "5"} {
		for _, f := range small(epsilon) {
			if f.kernel.ratio() == nil {
				continue // SHE, below
			}
			if f.Epsilon().Cmp(eps(epsilon)) > 0 {
				t.Errorf("%s: epsilon %v", f.Protocol(), f.Epsilon())
			}
			tight := 0.0
			eachCoins(t, f, func(coins Report) {
				got, err := exceeds(f.Values(), f.Epsilon(), coins, f.asLaw())
				if err != nil {
					t.Fatalf("%s of %d values, epsilon %s, coins %v: %v", f.Protocol(), f.Values(), epsilon, coins, err)
				}
				tight = max(tight, got)
			})
			switch f.Protocol() {
			case RAPPOR: // filters overlap, in so few bits
			default:
				if e := f.Epsilon().Float64(); tight < e*(1-1e-9) {
					t.Errorf("%s of %d values: epsilon is %v, the greatest log-ratio %v", f.Protocol(), f.Values(), e, tight)
				}
			}
		}
	}
}

// SHE: two values are 2 apart in L1, and the noise is that of 2/ε.
func TestNoisyNumbersHideTwo(t *testing.T) {
	for _, epsilon := range []string{"0.1", "1", "7.5"} {
		h := must(newSHE(4, eps(epsilon)))
		if got := over(big.NewRat(2*sheStep, 1), h.law2.Scale()); got.Cmp(eps(epsilon).Rat()) != 0 {
			t.Errorf("epsilon %v for %s", got, epsilon)
		}
	}
}

// What the claim of Hadamard's bit requires holds, and it claims the ratio that epsilon is
// certified from: p/(1−p).
func TestClaimIsTheRatio(t *testing.T) {
	for _, e := range []string{"1e-6", "1", "64"} {
		h := newHadamard(3, eps(e))
		if h.p.Cmp(one()) >= 0 || h.p.Cmp(half()) <= 0 || h.ratio().Cmp(over(h.p, not(h.p))) != 0 {
			t.Errorf("epsilon %s: p = %v, ratio %v", e, near(h.p), near(h.ratio()))
		}
	}
}

// Faults that have been made, each caught by the exact law.
func TestPlantedFaultsInLaws(t *testing.T) {
	law := func(k finite) func(Report, int) func(func(Report, *big.Rat) bool) {
		return func(c Report, v int) func(func(Report, *big.Rat) bool) { return k.law(c, v) }
	}
	e := eps("1")
	oue := newUnary(OUE, 4, e)
	swapped := *oue
	swapped.p, swapped.q = oue.q, oue.p // forneo's sunPytools, among others
	if r := swapped.ratio(); r.Cmp(oue.ratio()) != 0 {
		t.Errorf("the ratio of swapped probabilities is %v: it must not depend on their names", near(r))
	}
	if swapped.channel().variance(0) < 0 || near(minus(swapped.p.p, swapped.q.p)) > 0 {
		t.Error("swapped probabilities look like right ones")
	}
	// pure-LDP before 1.2.0: each bit keeps to ε, both together give 2ε.
	odds := exp(e, one()).Lo()
	p := down(over(odds, plus(odds, one())))
	old := &unary{k: 4, p: newChance(p), q: newChance(not(p))}
	if _, err := exceeds(4, e, nil, law(old)); err == nil {
		t.Error("the old unary encoding passes")
	}
	// OUE that keeps ones with 1/2 and zeros as SUE does.
	mixed := &unary{k: 4, p: newChance(p), q: oue.q}
	if _, err := exceeds(4, e, nil, law(mixed)); err == nil {
		t.Error("a mixed encoding passes")
	}
	// RAPPOR's first coin alone for what both hide, and the coins in the wrong order.
	r := must(newRAPPOR(FrequencyOptions{Values: 3, Epsilon: e, Bits: 6, Cohorts: 2, Salt: "law"}))
	bare := *r
	bare.set, bare.unset = r.q, r.p
	one1 := must(certified(r.ratio(), e))
	if _, err := exceeds(3, one1, Report{0}, law(&bare)); err == nil {
		t.Error("a filter that is flipped once passes")
	}
	d := newSubset(5, e)
	d.p = over(plus(d.p, one()), whole(2))
	if _, err := exceeds(5, e, nil, law(d)); err == nil {
		t.Error("a subset that holds the value too often passes")
	}
}

// fits returns an error if n reports do not have the law, with probability below 1e-9 for one
// that has (chi-square; cells expect at least 5).
func fits(f *Frequency, value, n int) error {
	s := noise.NewStream(entropy.New())
	counts, coinsOf := map[string]float64{}, map[string]int{}
	reports := map[string]Report{}
	all := 1
	for _, limit := range f.form.coins {
		all *= int(limit)
	}
	for range n {
		r, err := f.Randomize(s, value)
		if err != nil {
			return err
		}
		if err := f.form.check(r); err != nil {
			return err
		}
		counts[fmt.Sprint(r)]++
		coins := r[:len(f.form.coins)]
		coinsOf[fmt.Sprint(coins)]++
		reports[fmt.Sprint(coins)] = coins
	}
	x2, cells, rest, restCount := 0.0, 0, 0.0, 0.0
	if len(reports) != all {
		return fmt.Errorf("%d of %d coins were seen", len(reports), all)
	}
	for _, coins := range reports {
		for r, p := range f.Law(coins, value) {
			want, got := near(p)*float64(n)/float64(all), counts[fmt.Sprint(r)]
			delete(counts, fmt.Sprint(r))
			if want < 5 {
				rest, restCount = rest+want, restCount+got
				continue
			}
			x2 += (got - want) * (got - want) / want
			cells++
		}
	}
	if len(counts) > 0 {
		return fmt.Errorf("%d reports are not in the law", len(counts))
	}
	if rest >= 5 {
		x2 += (restCount - rest) * (restCount - rest) / rest
		cells++
	}
	if tail := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(x2); tail < 1e-10 {
		return fmt.Errorf("chi-square %.1f of %d cells has probability %.2g", x2, cells, tail)
	}
	return nil
}

// What is drawn has the law that was enumerated; a law of another ε is seen.
func TestReportsFitTheirLaw(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, p := range Frequencies() {
		f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: 4, Epsilon: eps("1.5"), Bits: 4, Cohorts: 2, Rows: 2, Columns: 4, Salt: "law"}))
		if f.kernel.ratio() == nil {
			continue
		}
		if o, ok := f.kernel.(*olh); ok {
			o.hash.prime = 5 // all coins can be seen
			f.form = o.form()
		}
		for _, v := range []int{0, 3} {
			if err := fits(f, v, n); err != nil {
				t.Errorf("%s of value %d: %v", p, v, err)
			}
		}
	}
	right, wrong := newUnary(OUE, 4, eps("1.5")), newUnary(OUE, 4, eps("1.3"))
	f := must(NewFrequency(FrequencyOptions{Protocol: OUE, Values: 4, Epsilon: eps("1.5")}))
	f.kernel = drawn{right, right}
	if err := fits(f, 1, n); err != nil {
		t.Error(err)
	}
	f.kernel = drawn{wrong, right}
	if fits(f, 1, n) == nil {
		t.Error("draws of another epsilon pass")
	}
}

// drawn is a kernel with the law of another.
type drawn struct {
	kernel
	finite
}

// The mean score of a value is the channel's, exactly: over the law, and the coins. So OLH that
// is decoded with the probability of a lie, 1/(e^ε+g−1), is seen.
func TestChannels(t *testing.T) {
	for _, epsilon := range []string{"1.3"} {
		for _, p := range Frequencies() {
			f := must(NewFrequency(FrequencyOptions{Protocol: p, Values: 4, Epsilon: eps(epsilon), Bits: 5, Cohorts: 2, Rows: 2, Columns: 4, Salt: "law"}))
			if f.kernel.ratio() == nil {
				continue
			}
			if o, ok := f.kernel.(*olh); ok {
				o.hash.prime = 11
				f.form = o.form()
			}
			c := f.kernel.channel()
			for truth := range f.Values() {
				mean := f.meanScores(truth)
				for v, got := range mean {
					want := near(c.miss)
					if v == truth {
						want = near(c.hit)
					} else if k, ok := f.kernel.(overlapping); ok {
						least, most := k.misses()
						if got < least[v]-1e-12 || got > most[v]+1e-12 {
							t.Errorf("%s: value %d of one with %d: %v, bounds %v and %v", f.Protocol(), v, truth, got, least[v], most[v])
						}
						continue
					}
					if math.Abs(got-want) > 1e-12 {
						t.Errorf("%s: mean score %v of value %d of one with %d, want %v", f.Protocol(), got, v, truth, want)
					}
					if o, ok := f.kernel.(*olh); ok && v != truth {
						if lie := math.Exp(-f.Epsilon().Float64()) * near(c.hit); math.Abs(got-lie) < 0.01 {
							t.Errorf("a miss of %d buckets is no more than a lie", o.g)
						}
					}
				}
			}
		}
	}
}

// meanScores is what one report of a value says of each value, on average.
func (f *Frequency) meanScores(value int) []float64 {
	coins := []Report{{}}
	for _, limit := range f.form.coins {
		var next []Report
		for _, c := range coins {
			for x := range limit {
				next = append(next, append(append(Report{}, c...), x))
			}
		}
		coins = next
	}
	mean := make([]float64, f.Values())
	for _, c := range coins {
		for r, p := range f.Law(c, value) {
			tally := f.kernel.counter()
			tally.add(r)
			for v, s := range tally.scores() {
				mean[v] += s / float64(f.kernel.channel().weight) * near(p) / float64(len(coins))
			}
		}
	}
	return mean
}

// 64 bits at once have the probability that one has, whatever its digits are.
func TestLanes(t *testing.T) {
	s := noise.NewStream(entropy.New())
	for _, p := range []*big.Rat{half(), big.NewRat(1, 4), newUnary(OUE, 2, eps("1")).q.p, down(big.NewRat(99, 100)), down(big.NewRat(1, 1000)), new(big.Rat)} {
		c := newChance(p)
		const words = 20_000
		ones := make([]int, 64)
		for range words {
			w := must(c.lanes(s))
			for ; w != 0; w &= w - 1 {
				ones[lowest(w)]++
			}
		}
		for lane, n := range ones {
			want := near(p) * words
			if d := math.Abs(float64(n) - want); d > 7*math.Sqrt(want)+1e-9 { // beyond 7 standard deviations: below 1e-11 a lane
				t.Errorf("p = %v, lane %d: %d ones, want %v", near(p), lane, n, want)
			}
		}
	}
	// A chance is decided exactly: of the words that make its first digits, the next decide.
	c := newChance(over(big.NewRat(5, 1), whole(8))) // .101
	for _, tc := range []struct {
		words []uint64
		want  bool
	}{{[]uint64{0}, true}, {[]uint64{1, 1}, false}, {[]uint64{1, 0, 0}, true}, {[]uint64{1, 0, 1}, false}} {
		got := must(c.lanes(noise.NewStream(&given{tc.words})))
		if (got&1 == 1) != tc.want {
			t.Errorf("digits %v: %v", tc.words, got&1)
		}
	}
}

// given is a source of words that are given, then of ones.
type given struct{ words []uint64 }

func (g *given) Uint64() (uint64, error) {
	if len(g.words) == 0 {
		return ^uint64(0), nil
	}
	w := g.words[0]
	g.words = g.words[1:]
	return w, nil
}
