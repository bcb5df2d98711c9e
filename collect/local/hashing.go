package local

import (
	"iter"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// prime is that of the hash functions.
const prime = 1<<61 - 1

// A hash maps values to g buckets by x ↦ a·x+b modulo a prime; each bucket is an interval of the
// results. For a and b uniform and independent, the images of two values are independent and
// uniform (Carter and Wegman 1979), so that they share a bucket with probability Σ(n/prime)²
// exactly, n being the sizes of the intervals.
type hash struct{ prime, buckets uint64 }

// at is the image of a value.
func (h hash) at(a, b, value uint64) uint64 {
	hi, lo := bits.Mul64(a, value%h.prime)
	lo, carry := bits.Add64(lo, b, 0)
	_, rest := bits.Div64((hi+carry)%h.prime, lo, h.prime)
	return rest
}

// start is the first image of a bucket.
func (h hash) start(bucket uint64) uint64 {
	hi, lo := bits.Mul64(bucket, h.prime)
	lo, carry := bits.Add64(lo, h.buckets-1, 0)
	quo, _ := bits.Div64(hi+carry, lo, h.buckets)
	return quo
}

// bucket is the one that an image lies in: the greatest with start <= image.
func (h hash) bucket(image uint64) uint64 {
	hi, lo := bits.Mul64(image, h.buckets)
	quo, _ := bits.Div64(hi, lo, h.prime)
	return quo
}

// collision is the probability that two values share a bucket.
func (h hash) collision() *big.Rat { return collision(h.prime, h.buckets) }

// collision of n images in g intervals as equal as can be.
func collision(n, g uint64) *big.Rat {
	small, more := n/g, n%g
	of := func(size, times uint64) *big.Int {
		x := new(big.Int).SetUint64(size)
		x.Mul(x, x)
		return x.Mul(x, new(big.Int).SetUint64(times))
	}
	all := new(big.Int).SetUint64(n)
	return new(big.Rat).SetFrac(new(big.Int).Add(of(small, g-more), of(small+1, more)), all.Mul(all, all))
}

// buckets is g = round(e^ε)+1, near which the variance is the least.
func buckets(e privacy.Epsilon) int {
	g := numeric.Floor(plus(exp(e, one()).Lo(), half()))
	return int(g.Int64()) + 1
}

// highest is the greatest ε of a protocol: hashed values have e^ε+1 buckets.
func highest(protocol Protocol) int64 {
	switch protocol {
	case OLH:
		return 20
	case FastLH:
		return 10
	}
	return MaxEpsilon
}

func checkHashed(protocol Protocol, e privacy.Epsilon) error {
	if most := highest(protocol); e.Rat().Cmp(big.NewRat(most, 1)) > 0 {
		return parameter("%s hashes to e^ε+1 buckets, which takes an epsilon of at most %d: grr tells as much", protocol, most)
	}
	return nil
}

// olh tells a hash of the value by randomized response, and the hash function, which each
// respondent draws (Wang et al. 2017, section 4.4).
//
// The function is drawn without the value, so that reports are as private as the response. A
// report supports the values of the bucket that it names: the true one with probability
// p = e^ε/(e^ε+g−1); another one is in the true one's bucket with probability c, hence with
// c·p + (1−c)(1−p)/(g−1), which is 1/g where c is. (It is not 1/(e^ε+g−1), which is the
// probability of a lie.)
type olh struct {
	k, g     int
	hash     hash
	response *mechanism.RandomizedResponse
}

func newOLH(k int, e privacy.Epsilon) (*olh, error) {
	if err := checkHashed(OLH, e); err != nil {
		return nil, err
	}
	g := buckets(e)
	r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: g, Epsilon: e})
	if err != nil {
		return nil, err
	}
	return &olh{k, g, hash{prime, uint64(g)}, r}, nil
}

func (o *olh) form() form {
	return form{coins: []uint64{o.hash.prime, o.hash.prime}, numbers: []uint64{uint64(o.g)}}
}

func (o *olh) channel() channel { return hashChannel(o.response, o.g, o.hash.collision()) }

func hashChannel(r *mechanism.RandomizedResponse, g int, collision *big.Rat) channel {
	p := r.Truth()
	lie := over(not(p), whole(g-1))
	return plainChannel(p, plus(times(collision, p), times(not(collision), lie)))
}

func (o *olh) ratio() *big.Rat { return (&grr{o.g, o.response}).ratio() }

func (o *olh) reply(s *noise.Stream, r Report, value int) (Report, error) {
	y, err := o.response.Respond(s, int(o.hash.bucket(o.hash.at(r[0], r[1], uint64(value)))))
	return append(r, uint64(y)), err
}

func (o *olh) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	return responseLaw(coins, &grr{o.g, o.response}, int(o.hash.bucket(o.hash.at(coins[0], coins[1], uint64(value)))))
}

// responseLaw is that of a response, with the coins before it.
func responseLaw(coins Report, g *grr, value int) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		for y, p := range g.law(nil, value) {
			if !yield(append(append(Report{}, coins...), y...), p) {
				return
			}
		}
	}
}

func (o *olh) counter() counter { return &tallies{counts: make([]uint64, o.k), vote: o.vote} }

// vote counts the values of the bucket, and looks at no other value but those before the first.
func (o *olh) vote(r Report, counts []uint64) {
	first := o.hash.start(r[2])
	width := o.hash.start(r[2]+1) - first
	at, borrow := bits.Sub64(r[1], first, 0)
	at += o.hash.prime & -borrow
	visit(o.hash.prime, r[0], at, width, counts)
}

func (o *olh) parameters(d *Description) {
	d.Set("g", o.g)
	d.pair(o.channel())
	d.Set("q_support", near(o.channel().miss))
	d.Set("var_ideal_g", unaryIdeal(d.epsilon)/d.reports)
}
