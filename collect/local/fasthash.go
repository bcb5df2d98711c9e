package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// fastLH is OLH with few hash functions, so that equal reports are counted and decoded once.
//
// The functions are the rows of an orthogonal array of strength two (Bush 1952): with the
// digits x₁, x₂, ... of a value in base Q, a prime, the image is b + a₁x₁ + a₂x₂ + ... modulo Q,
// for all a and b. Over a row drawn at random, the images of two values are independent and
// uniform. So any two values share a bucket in exactly the same share of the functions, and
// intervals hold for the functions as they are; those of a few functions drawn at random
// would not.
type fastLH struct {
	k, g     int
	base     uint64
	digits   int // of a value
	rows     uint64
	response *mechanism.RandomizedResponse
}

func newFastLH(k int, e privacy.Epsilon) (*fastLH, error) {
	if err := checkHashed(FastLH, e); err != nil {
		return nil, err
	}
	f := &fastLH{k: k, g: buckets(e)}
	for digits := 1; digits <= 12; digits++ {
		base := f.leastBase(digits)
		rows, ok := power(base, digits+1)
		if ok && (f.rows == 0 || rows < f.rows) {
			f.base, f.digits, f.rows = base, digits, rows
		}
	}
	if f.rows == 0 {
		return nil, parameter("fastlh has no small family of hash functions for that epsilon and so many values: take olh")
	}
	var err error
	f.response, err = mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: f.g, Epsilon: e})
	return f, err
}

// leastBase is the least prime Q whose digits name k values, and whose buckets are so equal
// that values share one with probability within a hundredth of 1/g.
func (f *fastLH) leastBase(digits int) uint64 {
	for q := uint64(f.g); ; q++ {
		n, ok := power(q, digits)
		over := (q % uint64(f.g)) * (uint64(f.g) - q%uint64(f.g))
		if (!ok || n >= uint64(f.k)) && 100*over <= q*q && new(big.Int).SetUint64(q).ProbablyPrime(0) {
			return q
		}
	}
}

// power is base^n, if it is below 2^40.
func power(base uint64, n int) (uint64, bool) {
	x := uint64(1)
	for range n {
		if x *= base; x >= 1<<40 {
			return 0, false
		}
	}
	return x, true
}

// bucket is that of a value by a row.
func (f *fastLH) bucket(row uint64, value int) uint64 {
	image := row % f.base
	x := uint64(value)
	for range f.digits {
		row /= f.base
		image += row % f.base * (x % f.base)
		x /= f.base
	}
	return image % f.base * uint64(f.g) / f.base
}

func (f *fastLH) form() form {
	return form{coins: []uint64{f.rows}, numbers: []uint64{uint64(f.g)}}
}

func (f *fastLH) channel() channel {
	return hashChannel(f.response, f.g, collision(f.base, uint64(f.g)))
}

func (f *fastLH) ratio() *big.Rat { return (&grr{f.g, f.response}).ratio() }

func (f *fastLH) reply(s *noise.Stream, r Report, value int) (Report, error) {
	y, err := f.response.Respond(s, int(f.bucket(r[0], value)))
	return append(r, uint64(y)), err
}

func (f *fastLH) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	return responseLaw(coins, &grr{f.g, f.response}, int(f.bucket(coins[0], value)))
}

// same counts equal reports.
type same struct {
	of     *fastLH
	counts map[[2]uint64]uint64
}

func (f *fastLH) counter() counter { return &same{f, map[[2]uint64]uint64{}} }

func (s *same) add(r Report) { s.counts[[2]uint64(r)]++ }

func (s *same) scores() []float64 {
	out := make([]float64, s.of.k)
	for r, n := range s.counts {
		for v := range out {
			if s.of.bucket(r[0], v) == r[1] {
				out[v] += float64(n)
			}
		}
	}
	return out
}

func (s *same) merge(other counter) {
	for r, n := range other.(*same).counts {
		s.counts[r] += n
	}
}

func (f *fastLH) parameters(d *Description) {
	d.Set("g", f.g)
	d.Set("functions", f.rows)
	d.pair(f.channel())
	d.Set("q_support", near(f.channel().miss))
	d.Set("var_ideal_g", unaryIdeal(d.epsilon)/d.reports)
}
