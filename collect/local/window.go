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
// wave are windows, here over cells, so that their law is finite. Subsets are windows of a circle.
//
// It is drawn as a mixture: with probability honest = h a cell of the window, and otherwise one of
// all cells. A cell of the window has probability h/width + (1−h)/cells, another one (1−h)/cells;
// the ratio is 1 + h·cells/((1−h)·width), at most e^ε for h = (e^ε−1)·width/((e^ε−1)·width+cells),
// rounded down.
type window struct {
	cells, width int
	honest, p    *big.Rat
}

func newWindow(cells, width int, e privacy.Epsilon) window {
	in := times(whole(width), minus(exp(e, one()).Lo(), one()))
	h := down(over(in, plus(in, whole(cells))))
	return window{cells, width, h, plus(h, over(times(not(h), whole(width)), whole(cells)))}
}

// positions is the greatest one from which no window runs over the end; the least is 0.
func (w window) positions() uint64 { return uint64(w.cells - w.width) }

func (w window) ratio() *big.Rat {
	return over(times(w.p, whole(w.cells-w.width)), times(not(w.p), whole(w.width)))
}

func (w window) reply(s *noise.Stream, position uint64) (uint64, error) {
	y, err := w.tell(s, int(position))
	return uint64(y), err
}

// tell is the mechanism. From a position near the end, a window goes on at the beginning.
//
//dp:adjacent |position| <= w.cells
//dp:requires 0 < w.honest && w.honest < 1 && 1 <= w.width && w.width < w.cells && 0 <= position && position < w.cells
//dp:cost math.Log(1 + float64(w.cells)*w.honest/(float64(w.width)*(1-w.honest)))
func (w window) tell(s *noise.Stream, position int) (int, error) {
	honest, err := noise.Bernoulli(s, w.honest)
	if err != nil {
		return 0, err
	}
	if !honest {
		return s.Index(w.cells)
	}
	near, err := s.Index(w.width)
	if err != nil {
		return 0, err
	}
	return (position + near) % w.cells, nil
}

func (w window) law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		for y := range uint64(w.cells) {
			if !yield(append(append(Report{}, coins...), y), w.probability(y, position)) {
				return
			}
		}
	}
}

func (w window) probability(y, position uint64) *big.Rat {
	if y >= position && y < position+uint64(w.width) {
		return over(w.p, whole(w.width))
	}
	return over(not(w.p), whole(w.cells-w.width))
}

// line returns a and b with E y = a + b·position, exactly: the cells of the window add up to
// width·position and a constant, the others to a constant less that.
func (w window) line() (a, b *big.Rat) {
	in, out := whole(w.width), whole(w.cells-w.width)
	below := func(n *big.Rat) *big.Rat { return times(n, minus(n, one()), half()) } // 0 + 1 + ... + n−1
	b = minus(w.p, over(times(not(w.p), in), out))
	a = plus(times(w.p, minus(in, one()), half()), over(times(not(w.p), minus(below(whole(w.cells)), below(in))), out))
	return a, b
}

func ofCount(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// share is the part of n that a real in [0, 1] has, rounded to the nearest whole number.
func share(n int, of numeric.Interval) int {
	return int(numeric.Floor(plus(times(whole(n), of.Lo()), half())).Int64())
}
