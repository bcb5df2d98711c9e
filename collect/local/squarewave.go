package local

import (
	"math"

	"github.com/discreet-dp/discreet/privacy"
)

// squareWave tells a number near the true one, as piecewise does, with the window that makes
// distributions easiest to tell apart: over the reals of length 2b around a number of [0, 1],
// b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε)) (Li et al. 2020, section 5). Here both are cells.
type squareWave struct {
	piecewise
	epsilon float64
}

func newSquareWave(cells int, e privacy.Epsilon) *squareWave {
	width := max(1, int(math.Round(2*waveReach(e.Float64())*float64(cells))))
	s := &squareWave{epsilon: e.Float64()}
	s.window = newWindow(cells-1+width, width, e)
	s.base, s.slope = s.values()
	return s
}

// waveReach is b; near 0 by its series, 1/2 − ε/6.
func waveReach(eps float64) float64 {
	if eps < 1e-3 {
		return 0.5 - eps/6
	}
	e := math.Exp(eps)
	return (eps*e - e + 1) / (2 * e * (e - 1 - eps))
}

// reach is how far the farthest cell lies from the farthest position.
func (s *squareWave) reach() float64 {
	return max(math.Abs(s.base), math.Abs(s.base+s.slope*float64(s.cells-1))) + 1
}

// variance is that over the cells, by their sums of squares; x is rounded to a position.
func (s *squareWave) variance(x float64) float64 {
	position := uint64(math.Round((x + 1) / 2 * float64(s.positions())))
	mean, square := 0.0, 0.0
	in, out := near(s.p)/float64(s.width), near(not(s.p))/float64(s.cells-s.width)
	for y := range uint64(s.cells) {
		p := out
		if y >= position && y < position+uint64(s.width) {
			p = in
		}
		v := s.value(Report{y})
		mean += p * v
		square += p * v * v
	}
	return square - mean*mean
}

func (s *squareWave) parameters(to *Description) {
	b, e := waveReach(s.epsilon), math.Exp(s.epsilon)
	to.Set("b", b)
	to.Set("p", e/(2*b*e+1))
	to.Set("q", 1/(2*b*e+1))
	to.Set("cells", s.positions()+1)
	to.Set("width", s.width)
}

// Distribution returns the share of respondents in each cell, by expectation maximisation,
// smoothed after each round (Li et al. 2020, EMS). It is biased, and claims no interval.
func (t *NumberTally) Distribution() ([]float64, error) {
	s, ok := t.of.kernel.(*squareWave)
	if !ok {
		return nil, parameter("distributions are squarewave's")
	}
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	in, out := near(s.p)/float64(s.width), near(not(s.p))/float64(s.cells-s.width)
	return IteratedBayes(t.told, int(s.positions())+1, func(y, v int) float64 {
		if y >= v && y < v+s.width {
			return in
		}
		return out
	}, 200, smooth), nil
}

// smooth replaces each share by a mean of itself and its neighbours', weighted 1, 2, 1.
func smooth(shares []float64) {
	before := shares[0]
	for i, x := range shares {
		after := x
		if i+1 < len(shares) {
			after = shares[i+1]
		}
		shares[i] = (before + 2*x + after) / 4
		before = x
	}
}

// Quantile is the number below which a share of the distribution lies, within a cell by its
// part.
func (n *Number) Quantile(shares []float64, share float64) float64 {
	width := (n.options.Upper - n.options.Lower) / float64(len(shares))
	sum := 0.0
	for i, x := range shares {
		if sum+x >= share && x > 0 {
			return n.options.Lower + width*(float64(i)+max(share-sum, 0)/x)
		}
		sum += x
	}
	return n.options.Upper
}
