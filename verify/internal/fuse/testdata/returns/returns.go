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

// Sets sets a number under a condition on one of the ways.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Sets(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n := src.DiscreteLaplace(2 / eps)
	m := int64(0)
	if n > t {
		if n > t+1 {
			m = 2
		}
		return m
	}
	return 3 - m
}

// Both returns in both cases of one.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Both(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n := src.DiscreteLaplace(2 / eps)
	if n > t {
		if n > t+1 {
			return 2
		} else {
			return 3
		}
	}
	return 1
}

// Several returns more than one, and has variables with their names.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Several(q []int64, t int64, eps float64, src *noise.Source) (int64, bool, int64) {
	returned := src.DiscreteLaplace(2 / eps)
	n := returned
	{
		returned := src.DiscreteLaplace(2 / eps)
		n -= returned
	}
	if n > t {
		return 1, n > 1, returned
	}
	return 0, n < t, returned
}

// NotDrawnFirst draws in the first case of three.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotDrawnFirst(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n := src.DiscreteLaplace(2 / eps)
	if n > t {
		return src.DiscreteLaplace(1 / eps)
	} else {
		if n == t {
			return 1
		}
		return 2
	}
}

// NotDrawnLast draws in the last case of three.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotDrawnLast(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n := src.DiscreteLaplace(2 / eps)
	if n > t {
		return 1
	}
	if n == t {
		return 2
	}
	return src.DiscreteLaplace(1 / eps)
}

// NotThrough has a case that may return, or go on.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotThrough(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n, m := src.DiscreteLaplace(2/eps), int64(0)
	if n > t+1 {
		return 1
	}
	if n > t {
		return 2
	}
	if n > t-2 {
		if n > t-1 {
			return 3
		}
		m = 4
	}
	return m
}

// NotOne returns at its end alone.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotOne(q []int64, t int64, eps float64, src *noise.Source) int64 {
	n, m := src.DiscreteLaplace(2/eps), int64(0)
	if n > t {
		m = 1
	}
	return m
}

// NotPanics returns at its end alone.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotPanics(q []int64, t int64, eps float64, src *noise.Source) int64 {
	if t > 2 {
		panic("above")
	}
	if t < -2 {
		panic("below")
	}
	return t
}
