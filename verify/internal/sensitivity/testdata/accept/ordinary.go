package accept

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/discreet-dp/discreet/noise"
)

// Tax has three brackets, which meet.
//
// want: accepted: x: 3/2
//
//dp:sensitivity x = 1.5
func Tax(x float64) float64 {
	if x < 100 {
		return x * 0.5
	}
	if x < 200 {
		return 50 + (x - 100)
	}
	return 150 + (x-200)*1.5
}

// TaxBackwards asks for the highest bracket first.
//
// want: accepted: x: 3/2
//
//dp:sensitivity x = 1.5
func TaxBackwards(x float64) float64 {
	switch {
	case x > 200:
		return x*1.5 - 150
	case x > 100:
		return x - 50
	}
	return x / 2
}

// Letters adds up lengths, which are not below 0.
//
// want: accepted: words: most
//
//dp:adjacent bag(words) <= 1
//dp:requires most >= 0
//dp:sensitivity words = most
func Letters(words []string, most int) (n int) {
	for _, w := range words {
		n += min(len(w), most)
	}
	return n
}

func added[T int | float64](q []T) (s T) {
	for _, x := range q {
		s += x
	}
	return s
}

// HalvesAdded are parts that a generic function is given.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func HalvesAdded(q []float64) float64 { return added(q[:len(q)/2]) + added(q[len(q)/2:]) }

// Shifted is 4·n and the half of m.
//
// want: accepted: n: 4, m: 1
//
//dp:adjacent |n| <= 1
//dp:adjacent |m| <= 1
//dp:sensitivity n = 4, m = 1
func Shifted(n, m int) int { return n<<2 + m>>1 }

// WeighedBetween has weights that conditions keep within bounds.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func WeighedBetween(q, w []float64) float64 {
	s := 0.0
	for i, x := range q {
		by := w[i]
		if by > 1 {
			by = 1
		} else if by < -1 {
			by = -1
		}
		s += by * x
	}
	return s
}

// SameWeight is a function of public numbers, the same where they are.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func SameWeight(x, r float64) float64 { return math.Exp2(r)*x - (math.Exp2(r)-1)*x }

// Ballot counts by texts that are made of the records'.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Ballot(rows []string) (yes, no, other int) {
	for _, r := range rows {
		switch strings.ToLower(strings.TrimSpace(r)) {
		case "yes", "y":
			yes++
		case "no", "n":
			no++
		default:
			other++
		}
	}
	return yes, no, other
}

// AdaptiveTop sums up to a bound that was chosen by noise, with noise for the larger one.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func AdaptiveTop(xs []float64, eps float64, src *noise.Source) float64 {
	n := float64(len(xs)) + src.Laplace(1/eps)
	top := 1.0
	if n > 100 {
		top = 10
	}
	s := 0.0
	for _, x := range xs {
		s += max(0, min(x, top))
	}
	return s + src.Laplace(10/eps)
}

// AdaptiveScale has noise for the bound that was chosen.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func AdaptiveScale(xs []float64, eps float64, src *noise.Source) float64 {
	top := 1.0
	if float64(len(xs))+src.Laplace(1/eps) > 100 {
		top = 10
	}
	s := 0.0
	for _, x := range xs {
		s += max(0, min(x, top))
	}
	return s + src.Laplace(top/eps)
}

// AdaptiveRounds does it in each round.
//
// want: accepted: rounds/(2*sigma*sigma)
//
//dp:adjacent bag(xs) <= 1
//dp:requires sigma > 0 && rounds >= 0
//dp:cost zcdp(float64(rounds) / (2 * sigma * sigma))
func AdaptiveRounds(xs []float64, rounds int, sigma float64, src *noise.Source) float64 {
	mean := 0.0
	for range rounds {
		top := 1 + math.Abs(mean)
		s := 0.0
		for _, x := range xs {
			s += max(-top, min(x, top))
		}
		mean = s + src.Gaussian(top*sigma)
	}
	return mean
}

// SecondLargest is by an order that goes down.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in linf
func SecondLargest(q []float64) float64 {
	s := slices.Clone(q)
	slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(b, a) })
	return s[1]
}

// Descending sorts by elements of what is sorted.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Descending(q []float64) []float64 {
	s := slices.Clone(q)
	sort.Slice(s, func(i, j int) bool { return s[i] > s[j] })
	return s
}

// Trimmed leaves out the least and the largest.
//
// want: accepted: q: 1
//
//dp:requires k >= 0
//dp:sensitivity q = 1
func Trimmed(q []float64, k int) float64 {
	s := slices.Clone(q)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	sum := 0.0
	for i := k; i < len(s)-k; i++ {
		sum += s[i]
	}
	return sum
}
