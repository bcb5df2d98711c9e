package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// duchi tells B or −B, B = (e^ε+1)/(e^ε−1), so that the mean is the true number t (Duchi, Jordan and
// Wainwright 2018). The number is first rounded to an end of its range at random, to 1 with
// probability (1+t)/2, and the end told by a response: B has probability 1/2 + t(p − 1/2).
//
// Theorem. Rounding before the response costs nothing: a reply's probability is a mean of those of
// the two ends, with weights that depend on the number, and lies between them.
type duchi struct {
	bitResponse
	scale float64 // B
}

const numberSteps = 1 << 50

func newDuchi(e privacy.Epsilon) *duchi {
	b := newBitResponse(e)
	return &duchi{b, 1 / near(minus(plus(b.p, b.p), one()))}
}

func (d *duchi) form() form    { return form{numbers: []uint64{2}} }
func (d *duchi) steps() uint64 { return numberSteps }

// yes is the probability of B.
func (d *duchi) yes(position uint64) *big.Rat {
	up := over(ofCount(position), whole(numberSteps))
	return plus(times(up, d.p), times(not(up), not(d.p)))
}

func (d *duchi) reply(s *noise.Stream, r Report, position uint64) (Report, error) {
	coin, err := s.Below(numberSteps)
	if err != nil {
		return nil, err
	}
	end := 0
	if coin < position {
		end = 1
	}
	said, err := d.tell(s, end)
	return append(r, uint64(said)), err
}

func (d *duchi) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return bitLaws(coins, 1, d.yes(position))
}

func (d *duchi) value(r Report) float64     { return (2*float64(r[0]) - 1) * d.scale }
func (d *duchi) reach() float64             { return d.scale + 1 }
func (d *duchi) variance(x float64) float64 { return d.scale*d.scale - x*x }

func (d *duchi) parameters(to *Description) {
	to.Set("p", near(d.p))
	to.Set("q", near(not(d.p)))
	to.Set("duchi_B", d.scale)
	to.Set("duchi_var_x0", d.variance(0)/to.reports)
	to.Set("duchi_var_x1", d.variance(1)/to.reports)
}
