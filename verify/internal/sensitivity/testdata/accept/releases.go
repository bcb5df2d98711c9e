package accept

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// NoisyCount is a count and noise.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyCount(rows []string, eps float64, src *noise.Source) int64 {
	return int64(len(rows)) + src.DiscreteLaplace(1/eps)
}

// NoisySum has a clip that is a parameter.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0 && top > 0
//dp:cost eps
func NoisySum(xs []float64, top, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += clampTo(x, -top, top)
	}
	return sum + src.Laplace(top/eps)
}

// NoisyMean splits the budget between a sum and a count.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMean(xs []float64, eps float64, src *noise.Source) float64 {
	sum, n := 0.0, 0.0
	for _, x := range xs {
		sum += clampTo(x, 0, 10)
		n++
	}
	noisySum := sum + src.Laplace(10/(eps/2))
	noisyN := n + src.Laplace(1/(eps/2))
	if noisyN < 1 {
		noisyN = 1
	}
	return noisySum / noisyN
}

// Checked refuses bad parameters first.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Checked(rows []float64, eps float64, src *noise.Source) (float64, error) {
	if eps <= 0 {
		return 0, errors.New("epsilon must be positive")
	}
	if src == nil {
		return 0, fmt.Errorf("no source of noise")
	}
	return float64(len(rows)) + src.Laplace(1/eps), nil
}

// Vector adds noise to each of a vector of l1 distance 1.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Vector(q []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = x + src.Laplace(1/eps)
	}
	return out
}

// Parts pays for two of three by a public choice.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func EitherWay(rows []person, exact bool, eps float64, src *noise.Source) (n, m float64) {
	adults, women := CountBoth(rows)
	if exact {
		n = float64(adults) + src.Laplace(1/eps)
		m = float64(women) + src.Laplace(1/eps)
		return n, m
	}
	n = float64(adults) + src.Laplace(1/eps)
	return n, 0
}

// Adaptive asks more only if what it has seen, with noise, is large.
//
// want: accepted: 3*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 3 * eps
func Adaptive(rows []float64, eps float64, src *noise.Source) float64 {
	n := float64(len(rows)) + src.Laplace(1/eps)
	if n < 100 {
		return 0
	}
	sum := 0.0
	for _, x := range rows {
		sum += clampTo(x, 0, 1)
	}
	return (sum + src.Laplace(1/(2*eps))) / n
}

// Bisection counts below the middle of what is left.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0 && steps > 0
//dp:cost eps
func Bisection(xs []float64, lo, hi float64, steps int, eps float64, src *noise.Source) float64 {
	each := eps / float64(steps)
	for i := 0; i < steps; i++ {
		mid := (lo + hi) / 2
		n := 0
		for _, x := range xs {
			if x < mid {
				n++
			} else {
				n--
			}
		}
		if float64(n)+src.Laplace(1/each) > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (lo + hi) / 2
}

// TopCounts picks k by repeated choices, without those that were picked: the scores are of counts of
// each record in one cell.
//
// want: accepted: eps*k
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost float64(k) * eps
func TopCounts(rows []int, n, k int, eps float64, src *noise.Source) []int {
	counts := make([]float64, n)
	for _, r := range rows {
		if 0 <= r && r < n {
			counts[r]++
		}
	}
	var picked []int
	for range k {
		scores := slices.Clone(counts)
		for _, p := range picked {
			scores[p] = -1e9
		}
		picked = append(picked, src.Choose(scores, eps))
	}
	return picked
}

// NoisyDistribution counts in cells and adds up noisy cells afterwards: one eps for all.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyDistribution(xs []float64, edges []float64, eps float64, src *noise.Source) []float64 {
	counts := make([]int, len(edges)+1)
	for _, x := range xs {
		k := 0
		for _, e := range edges {
			if x > e {
				k++
			}
		}
		counts[k]++
	}
	cdf := make([]float64, len(counts))
	acc := 0.0
	for i := range counts {
		acc += float64(counts[i]) + src.Laplace(1/eps)
		cdf[i] = acc
	}
	return cdf
}

// KeysWithNoise releases a map at public keys; a key may stand twice in the list, so that it is
// paid for each.
//
// want: accepted: eps*len(cities)
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(cities))
func KeysWithNoise(rows []person, cities []string, eps float64, src *noise.Source) map[string]int64 {
	counts := map[string]int64{}
	for _, r := range rows {
		counts[r.city]++
	}
	out := map[string]int64{}
	for _, c := range cities {
		out[c] = counts[c] + src.DiscreteLaplace(1/eps)
	}
	return out
}

// Gauss is a Gaussian release in zCDP.
//
// want: accepted: 1/(2*sigma*sigma)
//
//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func Gauss(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }

// GaussRounds shares rho between rounds.
//
// want: accepted: rho
//
//dp:adjacent bag(rows) <= 1
//dp:requires rho > 0 && rounds > 0
//dp:cost zcdp(rho)
func GaussRounds(rows []float64, rounds int, rho float64, src *noise.Source) float64 {
	guess := 0.0
	sigma := math.Sqrt(float64(rounds) / (2 * rho))
	for range rounds {
		above := 0.0
		for _, x := range rows {
			if x > guess {
				above++
			}
		}
		guess += (above + src.Gaussian(sigma)) / 100
	}
	return guess
}

// GaussVector is a histogram: in l2 one record moves it by 1.
//
// want: accepted: rho
//
//dp:adjacent bag(rows) <= 1
//dp:requires rho > 0
//dp:cost zcdp(rho)
func GaussVector(rows []int, n int, rho float64, src *noise.Source) []float64 {
	counts := make([]int, n)
	for _, r := range rows {
		if r >= 0 && r < n {
			counts[r]++
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(counts[i]) + src.Gaussian(math.Sqrt(1/(2*rho)))
	}
	return out
}

// GaussDiscrete is of whole numbers.
//
// want: accepted: 1/(2*sigma*sigma)
//
//dp:adjacent bag(rows) <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func GaussDiscrete(rows []string, sigma float64, src *noise.Source) int64 {
	return int64(len(rows)) + src.DiscreteGaussian(sigma)
}

// Approximate is one release of (eps, delta).
//
// want: accepted: eps, delta
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1
//dp:cost eps, delta
func Approximate(x, eps, delta float64, src *noise.Source) float64 {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	return x + src.Gaussian(sigma)
}

// ApproximateTwice adds up.
//
// want: accepted: 2*eps, 2*delta
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 1
//dp:cost 2 * eps, 2 * delta
func ApproximateTwice(xs []float64, eps, delta float64, src *noise.Source) (float64, float64) {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	sum := 0.0
	for _, x := range xs {
		sum += min(max(x, 0), 1)
	}
	return float64(len(xs)) + src.Gaussian(sigma), sum + src.Gaussian(sigma)
}

// PureAsApproximate needs no delta.
//
// want: accepted: eps, delta
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func PureAsApproximate(x, eps, delta float64, src *noise.Source) float64 {
	return x + src.Laplace(1/eps)
}

// Repeated draws k times.
//
// want: accepted: eps*k
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k >= 0
//dp:cost float64(k) * eps
func Repeated(x float64, k int, eps float64, src *noise.Source) (out []float64) {
	for i := 0; i < k; i++ {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

type budget struct {
	total float64
	parts int
}

func (b budget) each() float64 { return b.total / float64(b.parts) }

// Budgeted has its price in a struct.
//
// want: accepted: b.total
//
//dp:adjacent |x| <= 1
//dp:requires b.total > 0 && b.parts > 0
//dp:cost b.total
func Budgeted(x float64, b budget, src *noise.Source) float64 {
	sum := 0.0
	for range b.parts {
		sum += x + src.Laplace(1/b.each())
	}
	return sum / float64(b.parts)
}

func noisy(x, sensitivity, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(sensitivity/eps)
}

// Helped calls a helper that makes the noise.
//
// want: accepted: 2*eps
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Helped(x float64, eps float64, src *noise.Source) (float64, float64) {
	return noisy(x, 1, eps, src), noisy(3*x, 3, eps, src)
}

// ByClosure makes noise by a closure.
//
// want: accepted: eps*len(q)
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(q))
func ByClosure(q []float64, eps float64, src *noise.Source) []float64 {
	hide := func(x float64) float64 { return x + src.Laplace(1/eps) }
	var out []float64
	for _, x := range q {
		out = append(out, hide(x))
	}
	return out
}

type server struct {
	eps float64
	src *noise.Source
}

func (s *server) answer(x float64) float64 { return x + s.src.Laplace(1/s.eps) }

// Served has source and price in the receiver.
//
// want: accepted: 2*s.eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires s.eps > 0
//dp:cost 2 * s.eps
func (s *server) Served(rows []person) (float64, float64) {
	adults, women := CountBoth(rows)
	return s.answer(float64(adults)), s.answer(float64(women))
}

// Moments: count, sum and sum of squares in a loop over what is asked.
//
// want: accepted: 3*eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost 3 * eps
func Moments(xs []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	for power := range 3 {
		sum := 0.0
		for _, x := range xs {
			c, t := clampTo(x, -1, 1), 1.0
			for range power {
				t *= c
			}
			sum += clampTo(t, -1, 1)
		}
		out = append(out, sum+src.Laplace(1/eps))
	}
	return out
}

// Grow halves the price from level to level, three levels: 1 + 1/2 + 1/4.
//
// want: accepted: 7*eps/4
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Shrinking(x, eps float64, src *noise.Source) (a, b, c float64) {
	a = x + src.Laplace(1/eps)
	b = x + src.Laplace(2/eps)
	c = x + src.Laplace(4/eps)
	return a, b, c
}

// Group is of k rows that come or go.
//
// want: accepted: 3*eps
//
//dp:adjacent bag(rows) <= 3
//dp:requires eps > 0
//dp:cost 3 * eps
func Household(rows []string, eps float64, src *noise.Source) int64 {
	return int64(len(rows)) + src.DiscreteLaplace(1/eps)
}

// Rounded rounds after noise.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Rounded(rows []string, eps float64, src *noise.Source) int {
	n := float64(len(rows)) + src.Laplace(1/eps)
	return int(math.Max(0, math.Round(n)))
}

// Named has named results and a bare return.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Named(rows []string, eps float64, src *noise.Source) (n float64, err error) {
	if len("") > 0 {
		err = errors.New("never")
		return
	}
	n = float64(len(rows))
	n += src.Laplace(1 / eps)
	return
}

// Reported formats what has noise.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Reported(rows []string, eps float64, src *noise.Source) string {
	n := int64(len(rows)) + src.DiscreteLaplace(1/eps)
	return fmt.Sprintf("about %d rows", n)
}

// NoisyVariance has three parts.
//
// want: accepted: eps
//
//dp:adjacent bag(xs) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyVariance(xs []float64, eps float64, src *noise.Source) (mean, variance float64) {
	part := eps / 3
	var n, s, s2 float64
	for _, x := range xs {
		c := clampTo(x, -1, 1)
		n++
		s += c
		s2 += c * c
	}
	n = math.Max(1, n+src.Laplace(1/part))
	mean = (s + src.Laplace(1/part)) / n
	variance = (s2+src.Laplace(1/part))/n - mean*mean
	return mean, max(variance, 0)
}

// Normalised divides noisy counts by their noisy total.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Normalised(rows []person, eps float64, src *noise.Source) map[string]float64 {
	var young, old int
	for _, p := range rows {
		if p.age < 40 {
			young++
		} else {
			old++
		}
	}
	a := max(0, float64(young)+src.Laplace(1/eps))
	b := max(0, float64(old)+src.Laplace(1/eps))
	out := map[string]float64{}
	if a+b > 0 {
		out["young"] = a / (a + b)
		out["old"] = b / (a + b)
	}
	return out
}

// Disjoint asks of each of two halves: a record pays in one of them.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Disjoint(rows []person, eps float64, src *noise.Source) (float64, float64) {
	var women, men []person
	for _, p := range rows {
		if p.female {
			women = append(women, p)
		} else {
			men = append(men, p)
		}
	}
	total := func(people []person) float64 {
		sum := 0.0
		for _, p := range people {
			sum += clampTo(p.income, 0, 1)
		}
		return sum + src.Laplace(1/eps)
	}
	return total(women), total(men)
}

// WidestBound has noise of the larger of two bounds, which is positive where it is drawn.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires lo < hi && eps > 0
//dp:cost eps
func WidestBound(rows []float64, lo, hi, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, r := range rows {
		s += max(lo, min(hi, r))
	}
	return s + src.Laplace(max(max(lo, -lo), max(hi, -hi))/eps)
}

// MeanOfSome divides by a public count, which is not 0 where noise is drawn.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func MeanOfSome(q []float64, eps float64, src *noise.Source) float64 {
	n := float64(len(q))
	if n == 0 {
		return 0
	}
	s := 0.0
	for _, x := range q {
		s += x
	}
	return s/n + src.Laplace(1/(n*eps))
}

// DrawBefore begins with noise that each round replaces by a noisy number.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawBefore(q []int64, eps float64, src *noise.Source) int64 {
	s := src.DiscreteLaplace(1 / eps)
	for _, x := range q {
		s = x + src.DiscreteLaplace(1/eps)
	}
	return s
}
