package attack

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/discreet-dp/discreet/noise"
)

// TaxJumps at 200.
//
// want: rejected
//
//dp:sensitivity x = 1.5
func TaxJumps(x float64) float64 {
	if x < 100 {
		return x * 0.5
	}
	if x < 200 {
		return 50 + (x - 100)
	}
	return 151 + (x-200)*1.5
}

// TaxNeverMiddle asks for the wider bracket first, which does not meet the last one.
//
// want: rejected
//
//dp:sensitivity x = 1.5
func TaxNeverMiddle(x float64) float64 {
	if x < 200 {
		return x * 0.5
	}
	if x < 100 {
		return 50 + (x - 100)
	}
	return 150 + (x-200)*1.5
}

// TaxAtTheEdge is another number at 100 alone, which the second bracket has.
//
// want: rejected
//
//dp:sensitivity x = 1
func TaxAtTheEdge(x float64) float64 {
	if x < 100 {
		return x
	}
	if x <= 100 {
		return x + 5
	}
	return x
}

// LettersAtLeast has no bound above.
//
// want: rejected
//
//dp:adjacent bag(words) <= 1
//dp:requires least >= 0
//dp:sensitivity words = least
func LettersAtLeast(words []string, least int) (n int) {
	for _, w := range words {
		n += max(len(w), least)
	}
	return n
}

// LettersBelow may take off as much as least is.
//
// want: rejected
//
//dp:adjacent bag(words) <= 1
//dp:sensitivity words = most
func LettersBelow(words []string, most int) (n int) {
	for _, w := range words {
		n += min(len(w), most)
	}
	return n
}

// ShiftedFar is 4·n.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:sensitivity n = 2
func ShiftedFar(n int) int { return n << 2 }

// ShiftedBack moves by 1 for -1 and 0.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:sensitivity n = 0.5
func ShiftedBack(n int) int { return n >> 1 }

// ShiftedRound goes round in 8 bits.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:sensitivity n = 2
func ShiftedRound(n uint8) uint8 { return n << 1 }

// ShiftedBy is a power of 2.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:sensitivity n = 2
func ShiftedBy(n int) int { return 1 << n }

// ChosenWeight is one of two public numbers, and which one is private.
//
// want: rejected
//
//dp:sensitivity x = 1, y = 1
func ChosenWeight(x, y float64) float64 {
	by := -1.0
	if x > 0 {
		by = 1
	}
	return by
}

// WeighedBeyond keeps the weights within one bound alone.
//
// want: rejected
//
//dp:sensitivity q = 1
func WeighedBeyond(q, w []float64) float64 {
	s := 0.0
	for i, x := range q {
		by := w[i]
		if by > 1 {
			by = 1
		} else if by > -1 {
			by = -1
		}
		s += by * x
	}
	return s
}

// OtherWeight is another number for -r.
//
// want: rejected
//
//dp:sensitivity x = 1
func OtherWeight(x, r float64) float64 { return math.Exp2(r)*x - (math.Exp2(-r)-1)*x }

// BallotTwice counts what it looks at, and again.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func BallotTwice(rows []string) (yes, all int) {
	for _, r := range rows {
		switch strings.ToLower(r) {
		case "yes":
			yes++
		}
		all++
	}
	return yes, all
}

// BallotOfPlaces looks at a sum, which is one of private records.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func BallotOfPlaces(rows []string) (n int) {
	at := 0
	for range rows {
		at++
		switch abs(at - 3) {
		case 0:
			n += 10
		}
	}
	return n
}

func abs(n int) int { return max(n, -n) }

// AdaptiveSmall has noise for the smaller bound.
//
// want: rejected
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func AdaptiveSmall(xs []float64, eps float64, src *noise.Source) float64 {
	top := 1.0
	if float64(len(xs))+src.Laplace(1/eps) > 100 {
		top = 10
	}
	s := 0.0
	for _, x := range xs {
		s += max(0, min(x, top))
	}
	return s + src.Laplace(1/eps)
}

// AdaptiveNegative may have a bound below 0.
//
// want: rejected
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func AdaptiveNegative(xs []float64, eps float64, src *noise.Source) float64 {
	top := float64(len(xs)) + src.Laplace(1/eps)
	s := 0.0
	for _, x := range xs {
		s += max(-top, min(x, top))
	}
	return s + src.Laplace(top/eps)
}

// AdaptiveDiscrete has noise over the integers, which is not the same at another scale.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires sigma > 0 && rho > 0
//dp:cost rho, 0.5
func AdaptiveDiscrete(rows []int, sigma, rho float64, src *noise.Source) int64 {
	top := int64(1)
	if src.Bernoulli(0.5) {
		top = 10
	}
	return top*int64(len(rows)) + src.DiscreteGaussian(float64(top)*sigma)
}

// SortedBySize moves numbers of other signs to other places.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func SortedBySize(q []float64) []float64 {
	s := slices.Clone(q)
	slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	return s
}

// SortedByFirst goes by the sign alone.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func SortedByFirst(q []float64) []float64 {
	s := slices.Clone(q)
	slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(a, 0) })
	return s
}

// SortedByAnother goes by another slice.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func SortedByAnother(q []float64) []float64 {
	s := slices.Clone(q)
	sort.Slice(s, func(i, j int) bool { return q[i] < q[j] })
	return s
}

// SortedByNeighbour compares each with itself, and not with the other one.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func SortedByNeighbour(q []float64) []float64 {
	s := slices.Clone(q)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[i] })
	return s
}
