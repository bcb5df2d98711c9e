// Package hidden has programs whose private data show in what the text passes over: a
// value that nothing keeps, a call that gives a source of noise, a pointer that may be nil,
// numbers that are cut off. What looks the same and is right stands beside it.
package hidden

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// SourceByCall sets n where it gets its source.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SourceByCall(x int, eps float64, src *noise.Source) int {
	n := 0
	get := func() *noise.Source { n = x; return src }
	k := get().DiscreteLaplace(1 / eps)
	_ = k
	return n
}

type box struct {
	n   int
	src *noise.Source
}

func (b *box) next(x int) *noise.Source { b.n = x; return b.src }

// SourceByMethod is the same with a method, and a number that is rounded.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SourceByMethod(x int, eps float64, src *noise.Source) int {
	b := &box{0, src}
	y := b.next(x).Round(3, 1)
	_ = y
	return b.n
}

// SourceOfField draws from a field.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SourceOfField(x int64, eps float64, src *noise.Source) int64 {
	b := &box{0, src}
	return x + b.src.DiscreteLaplace(1/eps)
}

// BlankElement panics where x is no index.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BlankElement(x int, q []float64, eps float64, src *noise.Source) int {
	_ = q[x]
	return 0
}

// BlankElementWithin does not.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && 0 <= x && x < 3
//dp:cost eps
func BlankElementWithin(x int, eps float64, src *noise.Source) int {
	q := make([]float64, 3)
	_ = q[x]
	return 0
}

// BlankOfTwo panics where x is no index.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BlankOfTwo(x int, q []float64, eps float64, src *noise.Source) int {
	_, y := q[x], 1
	return y
}

// BlankQuotient panics where x is 0.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BlankQuotient(x int, eps float64, src *noise.Source) int {
	var _ = 10 / x
	return 0
}

// BlankTest panics where x is past the end.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BlankTest(x int, q []float64, eps float64, src *noise.Source) int {
	_ = x > 0 && q[x] > 0
	return 0
}

func ignore(float64)        {}
func ignoreBlank(_ float64) {}

// Ignored panics where x is no index.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Ignored(x int, q []float64, eps float64, src *noise.Source) int {
	ignore(q[x])
	return 0
}

// IgnoredBlank is the same.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IgnoredBlank(x int, q []float64, eps float64, src *noise.Source) int {
	ignoreBlank(q[x])
	return 0
}

// IgnoredResult is the same.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IgnoredResult(x int, q []float64, eps float64, src *noise.Source) int {
	math.Floor(q[x])
	return 0
}

type cell struct{ a, b int }

func (cell) nothing() int { return 1 }

// IgnoredReceiver is the same with rows.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IgnoredReceiver(x int, eps float64, src *noise.Source) int {
	rows := make([]cell, 5)
	return rows[x].nothing()
}

// BlankRow is the same.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BlankRow(x int, eps float64, src *noise.Source) int {
	rows := make([]cell, 5)
	_ = rows[x]
	return 0
}

// BelowInfinity panics where x is no index, and else is true.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BelowInfinity(x int, q []float64, eps float64, src *noise.Source) bool {
	return q[x] < math.Inf(1)
}

// MaxOfInfinity is the same.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func MaxOfInfinity(x int, q []float64, eps float64, src *noise.Source) bool {
	y := max(q[x], math.Inf(1))
	return y > 3
}
