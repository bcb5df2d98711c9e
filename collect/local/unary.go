package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// unary tells a bit for each value: 1 with probability p for the true value, with q for each
// other.
//
// Theorem (Wang, Blocki, Li and Jha 2017, Theorem 1). Two values differ in two bits, so that
// reports are ln(p(1−q)/(q(1−p)))-DP for p >= q, and not less: both bits give evidence. (A bit
// that keeps to ε alone gives 2ε.)
type unary struct {
	k         int
	p, q      chance
	protocol  Protocol
	threshold float64 // of THE
}

// newUnary returns SUE, p = e^(ε/2)/(e^(ε/2)+1) = 1−q (Erlingsson, Pihur and Korolova 2014), or
// OUE, p = 1/2 and q = 1/(e^ε+1), whose variance is the least (Wang et al. 2017). p is rounded
// down and q up.
func newUnary(protocol Protocol, k int, e privacy.Epsilon) *unary {
	u := &unary{k: k, protocol: protocol}
	if protocol == OUE {
		q := exp(e, one()).Add(intervalOf(1))
		u.p, u.q = newChance(half()), newChance(up(new(big.Rat).Inv(q.Lo())))
		return u
	}
	odds := exp(e, half()).Lo()
	p := down(over(odds, plus(odds, one())))
	u.p, u.q = newChance(p), newChance(not(p))
	return u
}

func (u *unary) form() form       { return form{bits: u.k} }
func (u *unary) channel() channel { return plainChannel(u.p.p, u.q.p) }

// ratio is p(1−q)/(q(1−p)), or its inverse if that is greater.
func (u *unary) ratio() *big.Rat {
	r := over(times(u.p.p, not(u.q.p)), times(u.q.p, not(u.p.p)))
	if r.Cmp(one()) < 0 {
		r.Inv(r)
	}
	return r
}

func (u *unary) reply(s *noise.Stream, r Report, value int) (Report, error) {
	at := len(r)
	r = append(r, make([]uint64, (u.k+63)/64)...)
	words := r[at:]
	if err := u.q.fill(s, words, u.k); err != nil {
		return nil, err
	}
	truth, err := u.p.one(s)
	if err != nil {
		return nil, err
	}
	words[value/64] &^= 1 << (value % 64)
	if truth {
		words[value/64] |= 1 << (value % 64)
	}
	return r, nil
}

func (u *unary) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	return bitLaw(coins, u.k, func(i int) *big.Rat {
		if i == value {
			return u.p.p
		}
		return u.q.p
	})
}

// bitLaw yields all settings of n independent bits, n <= 24, of the probabilities of a 1.
func bitLaw(coins Report, n int, p func(i int) *big.Rat) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		if n > 24 {
			return
		}
		for w := range uint64(1) << n {
			prob := one()
			for i := range n {
				if w>>i&1 == 1 {
					prob.Mul(prob, p(i))
				} else {
					prob.Mul(prob, not(p(i)))
				}
			}
			if !yield(append(append(Report{}, coins...), w), prob) {
				return
			}
		}
	}
}

func (u *unary) counter() counter { return &tallies{counts: make([]uint64, u.k), vote: countBits} }

// countBits counts the ones among the bits of a report that has nothing else.
func countBits(r Report, counts []uint64) {
	for i, w := range r {
		for ; w != 0; w &= w - 1 {
			counts[64*i+lowest(w)]++
		}
	}
}

func (u *unary) parameters(d *Description) {
	d.pair(u.channel())
	if u.protocol == THE {
		d.Set("theta", u.threshold)
		d.Set("var_formula", u.channel().variance(0)/d.reports)
		d.Set("var_pq", u.channel().variance(0)/d.reports)
	}
}
