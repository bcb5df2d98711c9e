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

// Again has two of them, with one name.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Again(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s += x
	}
	r := s
	s = src.DiscreteLaplace(2 / eps)
	for range q {
		s += t
	}
	return r - s
}

// Parameter adds all to a parameter that was made noise.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Parameter(q []int64, t int64, eps float64, src *noise.Source) int64 {
	t = src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		t += x
	}
	return t
}

// NotAligned says how its noise is shifted.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotAligned(q []int64, t int64, eps float64, src *noise.Source) int64 {
	//dp:align 0
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s += x
	}
	return s
}

// NotInvariant says what holds in its loop.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotInvariant(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	n := 0
	//dp:invariant n >= 0
	for _, x := range q {
		s += x
		n++
	}
	return s + int64(n)
}

// NotChosen chooses by what the loop sets.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func NotChosen(q []float64, t int64, eps float64, src *noise.Source) int {
	scores := append([]float64(nil), q...)
	s := src.Choose(scores, eps)
	for i := range scores {
		scores[i] = 0
		s += 2
	}
	return s
}

// NotUnread draws in vain.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotUnread(q []int64, t int64, eps float64, src *noise.Source) int64 {
	src.DiscreteLaplace(1 / eps)
	return t
}

// NotWider sets the scale in the loop.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotWider(q []int64, t int64, eps float64, src *noise.Source) int64 {
	scale := 1 / eps
	s := src.DiscreteLaplace(scale)
	for _, x := range q {
		s += x
		scale = 2 * scale
	}
	return s + src.DiscreteLaplace(scale)
}

// NotOwn has the scale from its own variable.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotOwn(q []float64, t int64, eps float64, src *noise.Source) bool {
	s := 1 / eps
	s = src.Laplace(s)
	for _, x := range q {
		s += x
	}
	return s > 0
}

// NotOther sums elsewhere.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotOther(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	r := int64(0)
	for _, x := range q {
		r = s + x
		s = t
	}
	return s - r
}

// NotReset begins anew.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotReset(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s += x
		if x > t {
			s = 0
		}
	}
	return s
}

// NotProduct multiplies it.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotProduct(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s *= x
	}
	return s
}

// NotKeptAtAll is set to something else before the loop.
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotKeptAtAll(q []int64, t int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	s = t
	for _, x := range q {
		s += x
	}
	return s
}
