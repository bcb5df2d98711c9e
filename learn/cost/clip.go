package cost

import "math"

// One is a clipping bound on the grid: a vector that was clipped is integers whose squares
// sum to at most One², and 2^-Places of the bound is one integer.
const (
	Places = 20
	One    = 1 << Places
)

// Clip puts a vector on the grid, in units of the clipping bound: rounded toward zero, and
// with squares that sum to at most One², as integers. Whatever computed the vector, this is
// what bounds it. It reports whether the vector was within the bound before.
func Clip(to []int64, vector []float32, bound float64) (within bool) {
	square := 0.0
	for _, x := range vector {
		square += (float64(x) / bound) * (float64(x) / bound)
	}
	factor := One / bound
	if square > 1 {
		factor = One / bound / math.Sqrt(square) * (1 - 1e-9)
	}
	sum := int64(0)
	for j, x := range vector {
		y := float64(x) * factor
		if !(y >= -One && y <= One) { // nor NaN
			y = 0
		}
		to[j] = int64(y)
		sum += to[j] * to[j]
		if sum > One*One {
			clear(to)
			return false
		}
	}
	return square <= 1
}
