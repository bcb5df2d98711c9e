// Package late has functions of which a sum begins with noise. Those with Not in their names
// are left as they are.
package late

import "github.com/discreet-dp/discreet/noise"

// Begins adds all to the noise.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Begins(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s += x
	}
	return s
}

// Some adds what is above.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Some(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	n := int64(0)
	for _, x := range q {
		if n++; x > t {
			s = s + x
		}
	}
	return s - n
}

// NotCompared compares the sum in the loop.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotCompared(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		if s < t {
			s += x
		}
	}
	return s
}

// NotDoubled multiplies it.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotDoubled(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s = 2*s + x
	}
	return s
}

// NotKept is in a result before the loop, too.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotKept(q []int64, t int64, eps float64, src *noise.Source) int64 {
	k := src.DiscreteLaplace(1 / eps)
	s := k
	for _, x := range q {
		s += x
	}
	return s + k
}

// NotRead is read before the loop.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotRead(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	r := s + t
	for _, x := range q {
		s += x
	}
	return s - r
}

// NotTwice adds the sum so far.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotTwice(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s += x + s
	}
	return s
}
