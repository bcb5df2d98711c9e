package datanode

import (
	"fmt"
	"math"
	"math/big"
)

// A grid is the integers to which bounded numbers are rounded before noise: multiples of
// 2^exp, which is 2^-40 of the larger bound or less. Sums of integers are exact, in
// any order, and noise is drawn on the same grid.
type grid struct {
	lower, upper float64
	low, high    int64 // the bounds, rounded outwards
	exp          int
}

const gridBits = 40

func newGrid(lower, upper float64) (grid, error) {
	far := max(math.Abs(lower), math.Abs(upper))
	if !(lower < upper) || math.IsInf(upper-lower, 0) || far < 1e-200 || far > 1e200 {
		return grid{}, fmt.Errorf("%w: the lower bound is not below the upper, or one of them is absurd", ErrQuery)
	}
	_, e := math.Frexp(far)
	g := grid{lower: lower, upper: upper, exp: e - gridBits}
	g.low = int64(math.Floor(math.Ldexp(lower, -g.exp)))
	g.high = int64(math.Ceil(math.Ldexp(upper, -g.exp)))
	return g, nil
}

// place returns the grid's integer nearest to x, clamped to the bounds. It is never
// outside [low, high], because rounding keeps order.
func (g grid) place(x float64) int64 {
	x = min(max(zeroed(x), g.lower), g.upper)
	return int64(math.RoundToEven(math.Ldexp(x, -g.exp)))
}

// worth returns the number that one integer stands for.
func (g grid) worth() *big.Rat {
	return new(big.Rat).SetFloat64(math.Ldexp(1, g.exp))
}

// sum returns Σ(place(x) − centre).
func (g grid) sum(values []float64, centre int64) *big.Int {
	const block = 1 << 20 // terms are at most 2^41, so an int64 holds the sum of a block
	total := new(big.Int)
	for len(values) > 0 {
		n := min(block, len(values))
		var part int64
		for _, x := range values[:n] {
			part += g.place(x) - centre
		}
		total.Add(total, big.NewInt(part))
		values = values[n:]
	}
	return total
}

func (g grid) String() string { return fmt.Sprintf("[%v, %v]", g.lower, g.upper) }
