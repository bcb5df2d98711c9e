package fresh

import (
	"cmp"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Place says where a query lies.
type Place string

// Places.
const (
	Below   Place = "below"
	Between Place = "between"
	Above   Place = "above"
)

// OutOfBand stops at the first query that leaves a band.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && lo < hi
//dp:cost eps
func OutOfBand(q []float64, lo, hi, eps float64, src *noise.Source) (int, Place) {
	rho := src.Laplace(2 / eps)
	lo -= rho
	hi += rho
	for i, x := range q {
		v := x + src.Laplace(4/eps)
		switch {
		case v < lo:
			return i, Below
		case v > hi:
			return i, Above
		}
	}
	return len(q), Between
}

// IntoBand stops at the first within, for which a band that is narrow leaves no room.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && lo < hi
//dp:cost eps
func IntoBand(q []float64, lo, hi, eps float64, src *noise.Source) (places []Place) {
	rho := src.Laplace(2 / eps)
	lo += rho
	hi -= rho
	for _, x := range q {
		v := x + src.Laplace(4/eps)
		place := Between
		if v < lo {
			place = Below
		} else if v > hi {
			place = Above
		}
		places = append(places, place)
		if place == Between {
			break
		}
	}
	return places
}

// SideInTruth looks at one side without noise.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && lo <= hi
//dp:cost eps
func SideInTruth(x, lo, hi, eps float64, src *noise.Source) Place {
	switch y := x + src.Laplace(1/eps); {
	case y < lo:
		return Below
	case x > hi:
		return Above
	default:
		return Between
	}
}

func argmax[T cmp.Ordered](xs []T) (at int) {
	for i := range xs {
		if xs[i] > xs[at] {
			at = i
		}
	}
	return at
}

// LargestOf ranks by a generic function.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func LargestOf(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.Exponential(2/eps)
	}
	return argmax(noisy)
}

// LargestOfLess draws the noise of counts that only grow.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func LargestOfLess(q []float64, eps float64, src *noise.Source) int {
	noisy := make([]float64, len(q))
	for i := range noisy {
		noisy[i] = q[i] + src.Exponential(1/eps)
	}
	return argmax(noisy)
}

// A leader is the largest of what it was offered.
type leader struct {
	best     float64
	at, seen int
}

func (l *leader) offer(v float64) {
	if l.seen == 0 || v > l.best {
		l.best, l.at = v, l.seen
	}
	l.seen++
}

// Offered keeps the leader behind a pointer.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Offered(q []float64, eps float64, src *noise.Source) int {
	l := &leader{at: -1}
	for _, x := range q {
		l.offer(x + src.Laplace(2/eps))
	}
	return l.at
}

// OfferedOften also returns how often the leader changed.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OfferedOften(q []float64, eps float64, src *noise.Source) (int, int) {
	l := new(leader)
	changes := 0
	for _, x := range q {
		was := l.at
		l.offer(x + src.Laplace(2/eps))
		if l.at != was {
			changes++
		}
	}
	return l.at, changes
}

// WholePart drops the fraction before noise is added.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func WholePart(x, eps float64, src *noise.Source) int64 {
	return int64(x) + int64(math.Floor(x)) + src.DiscreteLaplace(2/eps)
}

// Rounded moves halves away from zero, and so by two.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Rounded(x, eps float64, src *noise.Source) int64 {
	return int64(math.Round(x)) + src.DiscreteLaplace(1/eps)
}
