package local

import (
	"iter"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A window tells a cell: with probability p one of the width cells that begin at the true
// position, uniformly, otherwise one of the others. Both the piecewise mechanism and the square
// wave are windows, here over cells, so that their law is finite.
//
// A cell of the window has probability p/width, another one (1−p)/(cells−width); the ratio of
// the two is at most e^ε for p = e^ε·width/(e^ε·width+cells−width), rounded down.
type window struct {
	cells, width uint64
	p            *big.Rat
}

func newWindow(cells, width uint64, e privacy.Epsilon) window {
	in, out := ofCount(width), ofCount(cells-width)
	in.Mul(in, exp(e, one()).Lo())
	return window{cells, width, down(over(in, plus(in, out)))}
}

func ofCount(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// positions is the greatest one; the least is 0.
func (w window) positions() uint64 { return w.cells - w.width }

func (w window) ratio() *big.Rat {
	return over(times(w.p, ofCount(w.cells-w.width)), times(not(w.p), ofCount(w.width)))
}

func (w window) reply(s *noise.Stream, position uint64) (uint64, error) {
	inside, err := noise.Bernoulli(s, w.p)
	if err != nil {
		return 0, err
	}
	if inside {
		y, err := s.Below(w.width)
		return position + y, err
	}
	y, err := s.Below(w.cells - w.width)
	if y >= position {
		y += w.width
	}
	return y, err
}

func (w window) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		for y := range w.cells {
			if !yield(append(append(Report{}, coins...), y), w.probability(y, position)) {
				return
			}
		}
	}
}

func (w window) probability(y, position uint64) *big.Rat {
	if y >= position && y < position+w.width {
		return over(w.p, ofCount(w.width))
	}
	return over(not(w.p), ofCount(w.cells-w.width))
}

// line returns a and b with E y = a + b·position, exactly: the cells of the window add up to
// width·position and a constant, the others to a constant less that.
func (w window) line() (a, b *big.Rat) {
	in, out := ofCount(w.width), ofCount(w.cells-w.width)
	below := func(n *big.Rat) *big.Rat { return times(n, minus(n, one()), half()) } // 0 + 1 + ... + n−1
	b = minus(w.p, over(times(not(w.p), in), out))
	a = plus(times(w.p, minus(in, one()), half()), over(times(not(w.p), minus(below(ofCount(w.cells)), below(in))), out))
	return a, b
}

// share is the part of n that a real in [0, 1] has, rounded to the nearest whole number.
func share(n uint64, of numeric.Interval) uint64 {
	return numeric.Floor(plus(times(ofCount(n), of.Lo()), half())).Uint64()
}
