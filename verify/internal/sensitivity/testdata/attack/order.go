package attack

import (
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

type (
	vecs []float64
	row  struct {
		a float64
		k int
	}
)

// Elements: the rows themselves have no bound.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Elements(rows []float64, eps float64, src *noise.Source) float64 {
	var c []float64
	c = append(c, rows...)
	for _, r := range rows {
		c = append(c, max(0, min(r, 1)))
	}
	s := 0.0
	for _, v := range c {
		s += v
	}
	return s + src.Laplace(2/eps)
}

// OwnRows: the rows themselves have no bound.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func OwnRows(rows []float64, eps float64, c bool, src *noise.Source) float64 {
	var w []float64
	for _, r := range rows {
		w = append(w, max(0, min(r, 1)))
	}
	if c {
		w = rows
	}
	s := 0.0
	for _, v := range w {
		s += v
	}
	return s + src.Laplace(2/eps)
}

// ShortCircuit: where c is false nothing is cleaned.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ShortCircuit(x float64, c bool) float64 {
	y := x
	clean := func() bool { y = 0; return true }
	_ = c && clean()
	return y
}

// Order: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Order(x float64) float64 {
	y := 0.0
	g := func() float64 { y = x; return 1 }
	return y * g()
}

// OrderAssign: y may be read before the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderAssign(x float64) float64 {
	y := x
	g := func() float64 { y = 0; return 0 }
	y += g()
	return y
}

// OrderResults: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderResults(x float64) (float64, float64) {
	y := 0.0
	g := func() float64 { y = x; return 1 }
	return y, g()
}

// OrderSlice: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderSlice(x float64) float64 {
	y := 0.0
	g := func() float64 { y = x; return 1 }
	z := []float64{y, g()}
	return z[0]
}

// OrderBuffer: the element may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderBuffer(x float64) float64 {
	buf := make([]float64, 1)
	g := func() float64 { buf[0] = x; return 1 }
	return buf[0] * g()
}

// OrderArguments: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderArguments(x float64) float64 {
	y := 0.0
	g := func() float64 { y = x; return 1 }
	first := func(a, b float64) float64 { return a }
	return first(y, g())
}

// Condition: the condition is the last to set y.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Condition(x float64) float64 {
	y := 0.0
	i := 0
	more := func() bool { y = x; i++; return i < 3 }
	for more() {
		y = 0
	}
	return y
}

// Receiver: the caller sees what is written.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func (v vecs) Receiver(x float64) {
	v[0] = x
}

// Keys: that a key is there tells of rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost 0
func Keys(rows []row) bool {
	m := map[int]float64{}
	for _, r := range rows {
		m[r.k] += 0
	}
	_, ok := m[3]
	return ok
}

// Rounding moves by the rounding of floats alone.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Rounding(x int64, c float64) float64 {
	return float64(x) * (c + 0.1 - 0.1 - c)
}

// RoundingBranch shows x where floats are rounded.
//
// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost 0
func RoundingBranch(x int64, c float64) int64 {
	if c+0.1-0.1 == c {
		return 0
	}
	return x
}

// Fresh: an element is read twice, from clones that are turned around or not.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Fresh(q []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := range q {
		w := slices.Clone(q)
		if i%2 == 0 {
			slices.Reverse(w)
		}
		s += w[i]
	}
	return s + src.Laplace(1/eps)
}
