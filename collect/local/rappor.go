package local

import (
	"iter"
	"math/big"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// rappor tells a Bloom filter of the value, flipped twice (Erlingsson, Pihur and Korolova
// 2014). A bit of the filter is replaced by 1 or 0 with probability f/2 each, once for all
// reports of a value; of the result a bit is told as 1 with probability q where it is 1, p where
// it is 0, anew in each report. The cohort, a public coin, says which h hash functions.
//
// Theorem (the paper's, section 3). Filters of two values differ in at most 2h bits. One report
// has a 1 with probability q* = f(p+q)/2 + (1−f)q where the filter has one, else with
// p* = f(p+q)/2 + (1−f)p, so that it is h·ln(q*(1−p*)/(p*(1−q*)))-DP; all reports of a value are
// together 2h·ln((1−f/2)/(f/2))-DP.
type rappor struct {
	k, bits, hashes, cohorts int
	f, p, q                  *big.Rat
	forever                  privacy.Epsilon // of all reports of one value
	set, unset               *big.Rat        // q* and p*
	family                   family
	ranges                   func() [2][]float64
}

func newRAPPOR(o FrequencyOptions) (*rappor, error) {
	r := &rappor{k: o.Values, bits: orElse(o.Bits, 128), hashes: orElse(o.Hashes, 2), cohorts: orElse(o.Cohorts, 64),
		p: half(), q: big.NewRat(3, 4)}
	switch {
	case r.bits < 2 || r.bits > 1<<16:
		return nil, parameter("a filter of rappor has 2 to 65536 bits")
	case r.hashes < 1 || r.hashes > 16 || r.hashes >= r.bits:
		return nil, parameter("rappor has 1 to 16 hash functions, fewer than bits")
	case r.cohorts < 1 || r.cohorts > 1<<16:
		return nil, parameter("rappor has 1 to 65536 cohorts")
	}
	odds := exp(o.Epsilon, big.NewRat(1, int64(2*r.hashes))).Lo()
	flip := up(new(big.Rat).Inv(plus(odds, one()))) // f/2
	r.f = plus(flip, flip)
	mixed := times(r.f, half(), plus(r.p, r.q))
	r.set, r.unset = plus(mixed, times(not(r.f), r.q)), plus(mixed, times(not(r.f), r.p))
	forever := powerOf(over(not(flip), flip), 2*r.hashes)
	var err error
	if r.forever, err = certified(forever, o.Epsilon); err != nil {
		return nil, err
	}
	r.family = newFamily(o.Salt, r.hashes*r.cohorts, r.bits)
	r.ranges = sync.OnceValue(func() [2][]float64 {
		least, most := overlaps(r.k, r.cohorts, r.hashes, r.filter)
		return [2][]float64{least, most}
	})
	return r, nil
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func powerOf(x *big.Rat, n int) *big.Rat {
	z := one()
	for range n {
		z.Mul(z, x)
	}
	return z
}

// filter is the bits of a value in a cohort, as many as hash functions: one that is taken makes
// way for the next.
func (r *rappor) filter(cohort, value int) []int {
	set := make([]int, 0, r.hashes)
	for i := range r.hashes {
		b := r.family.bucket(cohort*r.hashes+i, value)
		for slices.Contains(set, b) {
			b = (b + 1) % r.bits
		}
		set = append(set, b)
	}
	return set
}

func (r *rappor) form() form {
	return form{coins: []uint64{uint64(r.cohorts)}, bits: r.bits}
}

func (r *rappor) ratio() *big.Rat {
	return powerOf(over(times(r.set, not(r.unset)), times(r.unset, not(r.set))), r.hashes)
}

// permanent returns the value's filter after its permanent randomization.
func (r *rappor) permanent(s *noise.Stream, cohort, value int) ([]uint64, error) {
	words := make([]uint64, (r.bits+63)/64)
	flip := newChance(times(r.f, half()))
	if err := flip.fill(s, words, r.bits); err != nil {
		return nil, err
	}
	// A bit of the filter is 0 with that probability: the same coin, the other way.
	for _, b := range r.filter(cohort, value) {
		words[b/64] ^= 1 << (b % 64)
	}
	return words, nil
}

// instant appends a report of permanent bits.
func (r *rappor) instant(s *noise.Stream, to Report, permanent []uint64) (Report, error) {
	words := make([]uint64, len(permanent))
	zeros := newChance(r.p)
	ones := newChance(r.q)
	if err := zeros.fill(s, words, r.bits); err != nil {
		return nil, err
	}
	other := make([]uint64, len(permanent))
	if err := ones.fill(s, other, r.bits); err != nil {
		return nil, err
	}
	for i, set := range permanent {
		words[i] = words[i]&^set | other[i]&set
	}
	return append(to, words...), nil
}

func (r *rappor) reply(s *noise.Stream, to Report, value int) (Report, error) {
	permanent, err := r.permanent(s, int(to[0]), value)
	if err != nil {
		return nil, err
	}
	return r.instant(s, to, permanent)
}

func (r *rappor) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	set := r.filter(int(coins[0]), value)
	return bitLaw(coins, r.bits, func(i int) *big.Rat {
		if slices.Contains(set, i) {
			return r.set
		}
		return r.unset
	})
}

// channel: of a value's h bits another value has some in common.
func (r *rappor) channel() channel {
	gap := minus(r.set, r.unset)
	return channel{hit: r.set, miss: plus(r.unset, times(gap, big.NewRat(int64(r.hashes), int64(r.bits)))), weight: r.hashes}
}

func (r *rappor) misses() (least, most []float64) {
	bounds, gap := r.ranges(), near(minus(r.set, r.unset))
	return shift(bounds[0], near(r.unset), gap), shift(bounds[1], near(r.unset), gap)
}

// shift returns base + slope·x for each x.
func shift(x []float64, base, slope float64) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i := range x {
		out[i] = base + slope*x[i]
	}
	return out
}

// A grid counts the ones of reports that are a row and bits.
type grid struct {
	rows, bits, k int
	counts        []uint64
	cells         func(row, value int) []int
}

func (r *rappor) counter() counter {
	return &grid{r.cohorts, r.bits, r.k, make([]uint64, r.cohorts*r.bits), r.filter}
}

func (g *grid) add(r Report) {
	countBits(r[1:], g.counts[int(r[0])*g.bits:(int(r[0])+1)*g.bits])
}

func (g *grid) scores() []float64 {
	out := make([]float64, g.k)
	for v := range out {
		for row := range g.rows {
			for _, c := range g.cells(row, v) {
				out[v] += float64(g.counts[row*g.bits+c])
			}
		}
	}
	return out
}

func (g *grid) merge(other counter) {
	for i, c := range other.(*grid).counts {
		g.counts[i] += c
	}
}

func (r *rappor) parameters(d *Description) {
	d.Set("f", near(r.f))
	d.Set("p", near(r.p))
	d.Set("q", near(r.q))
	d.Set("h", r.hashes)
	d.Set("bits", r.bits)
	d.Set("cohorts", r.cohorts)
	d.Set("eps_inf", r.forever.Float64())
	d.Set("q_star", near(r.set))
	d.Set("p_star", near(r.unset))
	d.Set("eps_1", d.certified)
}
