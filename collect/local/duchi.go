package local

import (
	"iter"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// duchi tells B or −B, B = (e^ε+1)/(e^ε−1), so that the mean is the true number t: B with
// probability 1/2 + ct, c = 1/2B (Duchi, Jordan and Wainwright 2018). The extremes' ratio is
// (1/2+c)/(1/2−c), at most e^ε for c rounded down.
type duchi struct {
	c     *big.Rat
	digit [2]uint64 // of c in binary, the first one highest
	scale float64   // B
}

const numberSteps = 1 << 50

func newDuchi(e privacy.Epsilon) *duchi {
	odds := exp(e, one()).Lo()
	c := down(over(minus(odds, one()), times(whole(2), plus(odds, one()))))
	return &duchi{c, newChance(c).digits, 1 / (2 * near(c))}
}

func (d *duchi) form() form      { return form{numbers: []uint64{2}} }
func (d *duchi) steps() uint64   { return numberSteps }
func (d *duchi) ratio() *big.Rat { return over(plus(half(), d.c), minus(half(), d.c)) }

// yes is the probability of B.
func (d *duchi) yes(position uint64) *big.Rat {
	t := over(ofCount(position), whole(numberSteps/2))
	return plus(half(), times(d.c, t.Sub(t, one())))
}

// digits are those of yes in binary: with c = C/2^128 and the position m steps from the middle it
// is (2^176 ± C·m)/2^177.
func (d *duchi) digits(position uint64) [3]uint64 {
	const middle = numberSteps / 2
	below := position < middle
	m := position - middle
	if below {
		m = middle - position
	}
	carried, w0 := bits.Mul64(d.digit[1], m)
	w2, w1 := bits.Mul64(d.digit[0], m)
	w1, carry := bits.Add64(w1, carried, 0)
	w2 += carry
	if below {
		var borrow uint64
		w0, borrow = bits.Sub64(0, w0, 0)
		w1, borrow = bits.Sub64(0, w1, borrow)
		w2, _ = bits.Sub64(1<<48, w2, borrow)
	} else {
		w2 += 1 << 48
	}
	return [3]uint64{w2<<15 | w1>>49, w1<<15 | w0>>49, w0 << 15}
}

func (d *duchi) reply(s *noise.Stream, r Report, position uint64) (Report, error) {
	digits := d.digits(position)
	yes, err := falls(s, digits[:])
	if yes {
		return append(r, 1), err
	}
	return append(r, 0), err
}

func (d *duchi) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return bitResponse(coins, 1, d.yes(position))
}

func (d *duchi) value(r Report) float64     { return (2*float64(r[0]) - 1) * d.scale }
func (d *duchi) reach() float64             { return d.scale + 1 }
func (d *duchi) variance(x float64) float64 { return d.scale*d.scale - x*x }

func (d *duchi) parameters(to *Description) {
	to.Set("p", near(plus(half(), d.c)))
	to.Set("q", near(minus(half(), d.c)))
	to.Set("duchi_B", d.scale)
	to.Set("duchi_var_x0", d.variance(0)/to.reports)
	to.Set("duchi_var_x1", d.variance(1)/to.reports)
}
