package local

import (
	"iter"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// piecewise tells a number of [−C, C], C = (e^(ε/2)+1)/(e^(ε/2)−1), probably one of a window of
// length C−1 that moves with the true number (Wang et al. 2019, Algorithm 2). Here [−C, C] is
// 2^50 cells, and the window a part 1/(e^(ε/2)+1) of them.
type piecewise struct {
	window
	base, slope float64 // of a cell's value
	e           float64 // e^(ε/2)
}

const numberCells = 1 << 50

func newPiecewise(e privacy.Epsilon) *piecewise {
	part := intervalOf(1).Quo(exp(e, half()).Add(intervalOf(1)))
	w := newWindow(numberCells, max(1, share(numberCells, part)), e)
	p := &piecewise{window: w, e: math.Exp(e.Float64() / 2)}
	p.base, p.slope = w.values()
	return p
}

// values returns base and slope of what a cell says of the position, from −1 to 1: the line
// through the means, turned around.
func (w window) values() (base, slope float64) {
	a, b := w.line()
	half := over(ofCount(w.positions()), whole(2))
	return near(minus(over(minus(new(big.Rat), a), times(b, half)), one())), near(over(one(), times(b, half)))
}

func (p *piecewise) form() form    { return form{numbers: []uint64{uint64(p.cells)}} }
func (p *piecewise) steps() uint64 { return p.positions() }

func (p *piecewise) reply(s *noise.Stream, r Report, position uint64) (Report, error) {
	y, err := p.window.reply(s, position)
	return append(r, y), err
}

func (p *piecewise) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return p.window.law(coins, position)
}

func (p *piecewise) value(r Report) float64 { return p.base + p.slope*float64(r[0]) }
func (p *piecewise) bound() float64         { return (p.e + 1) / (p.e - 1) }
func (p *piecewise) reach() float64         { return p.bound() + 1 }

// variance is that over the reals (Wang et al. 2019, Lemma 1), which the cells' differs from by
// less than 2^-90.
func (p *piecewise) variance(x float64) float64 {
	return x*x/(p.e-1) + (p.e+3)/(3*(p.e-1)*(p.e-1))
}

func (p *piecewise) parameters(to *Description) {
	to.Set("p", near(p.p))
	to.Set("q", near(not(p.p)))
	p.named(to)
}

func (p *piecewise) named(to *Description) {
	to.Set("pm_C", p.bound())
	to.Set("pm_density", (p.e*p.e-p.e)/(2*p.e+2))
	to.Set("pm_var_x0", p.variance(0)/to.reports)
	to.Set("pm_var_x1", p.variance(1)/to.reports)
}
