// Package returns has functions that end with cases that return. Those with Not in their
// names are left as they are.
package returns

import "github.com/discreet-dp/discreet/noise"

// Cases returns a number in each.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Cases(q []int64, t int64, eps float64, src *noise.Source) int {
	n := int64(len(q)) + src.DiscreteLaplace(2/eps)
	switch {
	case n > t:
		return 1
	case n == t:
		return 2
	}
	return 0
}

// Nested sets numbers on the way.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Nested(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n := src.DiscreteLaplace(2 / eps)
	m := int64(1)
	if n > t {
		m += 2
		if n > t+1 {
			return m
		}
		m--
	} else {
		return m - 1
	}
	return 2*m - 2
}

// Truths returns a comparison.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Truths(q []int64, t int64, eps float64, src *noise.Source) bool {
	n := src.DiscreteLaplace(2 / eps)
	if n < 0 {
		return n > -t
	}
	return n > t
}

// NotDrawn draws in one of the cases.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotDrawn(q []int64, t int64, eps float64, src *noise.Source) int64 {
	if src.DiscreteLaplace(2/eps) > t {
		return 1
	}
	return src.DiscreteLaplace(2 / eps)
}

// NotInLoop returns within a loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotInLoop(q []int64, t int64, eps float64, src *noise.Source) int {
	n := src.DiscreteLaplace(2 / eps)
	for i, x := range q {
		if x > n {
			return i
		}
	}
	return -1
}

// NotSlices returns one.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotSlices(q []int64, t int64, eps float64, src *noise.Source) []int64 {
	n := src.DiscreteLaplace(2 / eps)
	out := []int64{0}
	if n > t {
		return out
	}
	return nil
}
