package local

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// hybrid tells a number by piecewise with probability α = 1−e^(−ε/2), otherwise by Duchi, and by
// Duchi alone up to ε* = 0.609… (Wang et al. 2019, section III-C): its greatest variance is below
// either's. Which of the two is a public coin of 32 bits, drawn without the number.
type hybrid struct {
	piecewise *piecewise
	duchi     *duchi
	chosen    uint64 // of 2^32 coins, how many are for piecewise
	alpha     float64
}

func newHybrid(e privacy.Epsilon) *hybrid {
	h := &hybrid{piecewise: newPiecewise(e), duchi: newDuchi(e)}
	if e.Float64() > hybridThreshold() {
		share := not(exp(e, big.NewRat(-1, 2)).Hi())
		h.chosen = numeric.Floor(times(share, whole(1<<32))).Uint64()
		h.alpha = near(share)
	}
	return h
}

// hybridThreshold is ε*, above which piecewise has a part.
func hybridThreshold() float64 {
	r := 405 * math.Sqrt(241)
	return math.Log((-5 + 2*math.Cbrt(6353-r) + 2*math.Cbrt(6353+r)) / 27)
}

func (h *hybrid) form() form    { return form{coins: []uint64{1 << 32}, numbers: []uint64{numberCells}} }
func (h *hybrid) steps() uint64 { return h.piecewise.steps() }

func (h *hybrid) check(r Report) error {
	if r[0] >= h.chosen && r[1] > 1 {
		return fmt.Errorf("%w: number 2 is not below 2, by the coin", ErrReport)
	}
	return nil
}

// also is the position of Duchi that is nearest to one of piecewise.
func (h *hybrid) also(position uint64) uint64 {
	steps := h.steps()
	hi, lo := bits.Mul64(position, 2*numberSteps)
	lo, carry := bits.Add64(lo, steps, 0)
	nearest, _ := bits.Div64(hi+carry, lo, 2*steps)
	return nearest
}

func (h *hybrid) reply(s *noise.Stream, r Report, position uint64) (Report, error) {
	if r[0] < h.chosen {
		return h.piecewise.reply(s, r, position)
	}
	return h.duchi.reply(s, r, h.also(position))
}

func (h *hybrid) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	if coins[0] < h.chosen {
		return h.piecewise.law(coins, position)
	}
	return h.duchi.law(coins, h.also(position))
}

func (h *hybrid) ratio() *big.Rat {
	a, b := h.piecewise.ratio(), h.duchi.ratio()
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func (h *hybrid) value(r Report) float64 {
	if r[0] < h.chosen {
		return h.piecewise.value(r[1:])
	}
	return h.duchi.value(r[1:])
}

func (h *hybrid) reach() float64 { return max(h.piecewise.reach(), h.duchi.reach()) }

func (h *hybrid) variance(x float64) float64 {
	if h.chosen == 0 {
		return h.duchi.variance(x)
	}
	return h.alpha*h.piecewise.variance(x) + (1-h.alpha)*h.duchi.variance(x)
}

func (h *hybrid) parameters(to *Description) {
	h.duchi.parameters(to)
	h.piecewise.named(to)
	to.Set("eps_star", hybridThreshold())
	to.Set("hybrid_alpha", h.alpha)
	to.Set("hybrid_var_x0", h.variance(0)/to.reports)
	to.Set("hybrid_var_x1", h.variance(1)/to.reports)
}
