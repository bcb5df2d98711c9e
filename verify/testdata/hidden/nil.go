package hidden

import (
	"errors"

	"github.com/discreet-dp/discreet/noise"
)

type options struct{ n int }

// Follows panics where x is positive, if there are no options.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Follows(x int, o *options, eps float64, src *noise.Source) int {
	n := 0
	if x > 0 {
		n = o.n
	}
	_ = n
	return 0
}

// FollowsShort is the same.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func FollowsShort(x int64, o *options, eps float64, src *noise.Source) int64 {
	if x > 10 && o.n > 5 {
		return 0
	}
	return 0
}

// FollowedBefore panics whatever x is.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func FollowedBefore(x int64, o *options, eps float64, src *noise.Source) bool {
	t := int64(o.n)
	above := x+src.DiscreteLaplace(1/eps) > t
	if above {
		t = int64(o.n)
	}
	return t > 0 && above
}

// FollowedIfThere panics nowhere.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func FollowedIfThere(x int64, o *options, eps float64, src *noise.Source) bool {
	above := x+src.DiscreteLaplace(1/eps) > 0
	if o != nil && above {
		return o.n > 0
	}
	return false
}

// FollowedByClaim speaks of what is there.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && o.n > 0
//dp:cost eps
func FollowedByClaim(x int64, o *options, eps float64, src *noise.Source) bool {
	above := x+src.DiscreteLaplace(1/eps) > 0
	if above {
		return o.n > 5
	}
	return false
}

// NilOrCopy is nil where x is positive, and else empty.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func NilOrCopy(x float64, eps, delta float64, src *noise.Source) []float64 {
	e := []float64{}
	if x > 0 {
		return append([]float64(nil), e...)
	}
	return e
}

// NilOrMade is the same where n is 0.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0 && n >= 0
//dp:cost eps, delta
func NilOrMade(x float64, n int, eps, delta float64, src *noise.Source) []bool {
	a := make([]bool, n)
	if x > 0 {
		return append([]bool(nil), a...)
	}
	return a
}

// NilOrInput is the same where q is empty.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func NilOrInput(x float64, q []float64, eps, delta float64, src *noise.Source) []float64 {
	if x > 0 {
		return append([]float64(nil), q...)
	}
	return q
}

// NilForNone decides by what is public.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(q))
func NilForNone(q []int64, eps float64, src *noise.Source) []int64 {
	if len(q) == 0 {
		return nil
	}
	out := make([]int64, len(q))
	for i, x := range q {
		out[i] = x + src.DiscreteLaplace(1/eps)
	}
	return out
}

// SameKey is 0: equal keys have one value.
//
// want: unknown
//
//dp:adjacent each(m) <= 1
//dp:requires eps > 0 && len(keys) == 2
//dp:cost eps
func SameKey(m map[int]int64, keys []int, eps float64, src *noise.Source) int64 {
	var v []int64
	for _, k := range keys {
		v = append(v, m[k])
	}
	if keys[0] == keys[1] {
		return v[0] - v[1]
	}
	return 0
}

// NilWithoutQueries is nil by what is public, and else a list that noise ends.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NilWithoutQueries(q []float64, t, eps float64, src *noise.Source) ([]bool, error) {
	if len(q) == 0 {
		return nil, errors.New("no queries")
	}
	found := make([]bool, 0, len(q))
	t += src.Laplace(2 / eps)
	for _, x := range q {
		above := x+src.Laplace(4/eps) >= t
		found = append(found, above)
		if above {
			return found, nil
		}
	}
	return found, nil
}

// NilBehindPrivate is nil, or empty, by a number that is private.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func NilBehindPrivate(x float64, n int, eps float64, src *noise.Source) []bool {
	if x > 0 {
		return []bool{}
	}
	if n > 3 {
		return nil
	}
	return []bool{}
}

// NilInRound is nil where n rounds are over, if a private number has not left them before.
//
// want: unknown
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NilInRound(q []float64, n int, eps float64, src *noise.Source) []bool {
	for i, x := range q {
		if i == n {
			return nil
		}
		if x > 0 {
			return []bool{}
		}
	}
	return []bool{}
}

// NilOrCopied is nil where q is and x is not positive, and else empty.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func NilOrCopied(x float64, q []float64, eps, delta float64, src *noise.Source) []float64 {
	if x > 0 {
		a := make([]float64, len(q))
		copy(a, q)
		return a
	}
	return q
}
