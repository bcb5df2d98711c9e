// Package fixed puts examples on a grid, with a norm that is bounded exactly.
//
// Sums of their products are sums of integers: exact, whatever the order, so that what
// one example changes is known to the last digit and noise on the same grid hides it
// (Mironov 2012 shows what becomes of guarantees over the reals that are computed in
// floating point).
package fixed

import (
	"math"

	"github.com/discreet-dp/discreet/learn/example"
)

// Places is the number of binary digits after the point; One is 1 on the grid.
// Products of two numbers of at most One have 32 digits after the point, and sums of
// 2^31 of them fit into an int64.
const (
	Places = 16
	One    = 1 << Places
)

// Rows are vectors on the grid, row by row.
type Rows struct {
	Width  int
	Values []int32
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.Values) / r.Width }

// Row returns row i.
func (r *Rows) Row(i int) []int32 { return r.Values[i*r.Width : (i+1)*r.Width] }

// Clip returns the given rows of a set in units of bound: divided by it, scaled down to
// an L2 norm of 1 where it is larger, and rounded toward zero. The sum of a row's
// squares is at most One², as integers. With intercept each row has One as a last
// value, and the sum is at most 2·One².
func Clip(set *example.Set, rows []int, bound float64, intercept bool) *Rows {
	r := &Rows{Width: set.Width}
	if intercept {
		r.Width++
	}
	r.Values = make([]int32, len(rows)*r.Width)
	for i, row := range rows {
		to := r.Row(i)
		Vector(to[:set.Width], set.Features[row*set.Width:(row+1)*set.Width], bound)
		if intercept {
			to[set.Width] = One
		}
	}
	return r
}

// Vector puts one vector on the grid, as Clip does; one that is not finite becomes 0.
//
// Rounding toward zero lengthens no vector; a last look at the exact integers makes
// sure that no rounding of the float64s before did.
func Vector(to []int32, from []float32, bound float64) {
	largest := 0.0 // lest squares overflow
	for _, x := range from {
		largest = max(largest, math.Abs(float64(x)))
	}
	clear(to)
	if largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 0) {
		return
	}
	square := 0.0
	for _, x := range from {
		y := float64(x) / largest
		square += y * y
	}
	norm := math.Sqrt(square) * (largest / bound)
	factor := One / bound
	if norm > 1 {
		factor = One / (math.Sqrt(square) * largest) * (1 - 1e-12)
	}
	sum := int64(0)
	for j, x := range from {
		k := int64(min(max(float64(x)*factor, -One), One))
		to[j] = int32(k)
		sum += k * k
	}
	if sum > One*One {
		clear(to)
	}
}

// Number returns x on the grid, clamped to [-1, 1] and rounded toward zero; 0 for NaN.
func Number(x float64) int64 {
	if math.IsNaN(x) {
		return 0
	}
	return int64(min(max(x, -1), 1) * One)
}

// Add adds factor times a row to sums.
func Add(sums []int64, row []int32, factor int64) {
	for j, x := range row {
		sums[j] += factor * int64(x)
	}
}

// Float returns the rows as float64s, exactly.
func (r *Rows) Float() []float64 {
	f := make([]float64, len(r.Values))
	for i, x := range r.Values {
		f[i] = float64(x) / One
	}
	return f
}
