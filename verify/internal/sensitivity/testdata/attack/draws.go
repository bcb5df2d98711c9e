package attack

import "github.com/discreet-dp/discreet/noise"

// DrawReplaced is the last of q, where there is one.
//
// want: rejected: without noise
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawReplaced(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s = x
	}
	return s
}

// DrawDoubled is even but for what is last in q.
//
// want: rejected: without noise
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawDoubled(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s = 2*s + x
	}
	return s
}

// DrawMultiplied is 0 where one of q is.
//
// want: rejected: without noise
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawMultiplied(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s *= x
	}
	return s
}

// DrawOfFirstRound returns the noise in x + k, which a loop begins with.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawOfFirstRound(x int64, n int, eps float64, src *noise.Source) (int64, int64) {
	k := src.DiscreteLaplace(1 / eps)
	s, first := k, int64(0)
	for i := range n {
		if i == 0 {
			first = s
		}
		s = 0
	}
	return first, x + k
}

// DrawOfNoRound returns it where the loop does not run.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawOfNoRound(x int64, n int, eps float64, src *noise.Source) (int64, int64) {
	k := src.DiscreteLaplace(1 / eps)
	s := k
	for range n {
		s = 0
	}
	return s, x + k
}

// DrawAddedBefore adds it before the loop.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawAddedBefore(x int64, n int, eps float64, src *noise.Source) (int64, int64) {
	k := src.DiscreteLaplace(1 / eps)
	s, y := k, x+k
	for range n {
		s = 0
	}
	return s, y
}

type begun struct{ k, n int64 }

// DrawInField has it in a field.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawInField(x int64, n int, eps float64, src *noise.Source) (int64, int64) {
	k := src.DiscreteLaplace(1 / eps)
	d, y := begun{k: k}, x+k
	for range n {
		d.k = 0
	}
	return d.k, y
}

// FieldReplaced is x in the place of a draw.
//
// want: rejected: without noise
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldReplaced(x int64, n int, eps float64, src *noise.Source) int64 {
	d := begun{k: src.DiscreteLaplace(1 / eps)}
	for range n {
		d.k = x
	}
	return d.k
}
