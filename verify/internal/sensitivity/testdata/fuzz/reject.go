package fuzz

import "github.com/discreet-dp/discreet/noise"

// Square has no finite sensitivity.
//
// want: rejected: product
//
//dp:sensitivity x = 1
func Square(x float64) float64 { return x * x }

// Product of two private numbers.
//
// want: rejected: product
//
//dp:sensitivity x = 1, y = 1
func Product(x, y float64) float64 { return x * y }

// Quotient divides by a private number.
//
// want: rejected: division by private data
//
//dp:sensitivity x = 1, y = 1
func Quotient(x, y float64) float64 { return x / y }

// Negative is 1 or 0.
//
// want: rejected: branch on private data
//
//dp:sensitivity x = 1
func Negative(x float64) float64 {
	if x < 0 {
		return 1
	}
	return 0
}

// Jump does not meet where its branches do.
//
// want: rejected: branch on private data
//
//dp:sensitivity x = 1
func Jump(x float64) float64 {
	if x < 0 {
		x = x - 1
	}
	return x
}

// ClipCrossed is a clamp whose bounds may be the wrong way round.
//
// want: rejected: branch on private data
//
//dp:sensitivity x = 1
func ClipCrossed(x, lo, hi float64) float64 { return clip(x, lo, hi) }

// TwiceForOne is x + x.
//
// want: rejected: at most 2
//
//dp:sensitivity x = 1
func TwiceForOne(x float64) float64 { return x + x }

// CountTwice pays once for two counts.
//
// want: rejected: 2\*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func CountTwice(rows []float64, eps float64, src *noise.Source) (float64, float64) {
	n := float64(len(rows))
	return n + src.Laplace(1/eps), n + src.Laplace(1/eps)
}

// SampleAndUse shows the number beside its noisy self.
//
// want: rejected: without noise
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SampleAndUse(x, eps float64, src *noise.Source) (float64, float64) {
	y := x + src.Laplace(1/eps)
	return y, y - x
}

// NoiseShown shows the noise that it added.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseShown(x, eps float64, src *noise.Source) (float64, float64) {
	eta := src.Laplace(1 / eps)
	return x + eta, eta
}

// NoiseTwice adds one draw to two numbers.
//
// want: rejected: used again
//
//dp:adjacent |x| <= 1
//dp:adjacent |y| <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func NoiseTwice(x, y, eps float64, src *noise.Source) (float64, float64) {
	eta := src.Laplace(1 / eps)
	return x + eta, y + eta
}

// NoiseBefore draws before the loop.
//
// want: rejected: before a loop
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseBefore(q []float64, eps float64, src *noise.Source) []float64 {
	eta := src.Laplace(1 / eps)
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = x + eta
	}
	return out
}

// UnclippedSum adds up anything.
//
// want: rejected: no bound
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func UnclippedSum(rows []float64) float64 { return sum(rows) }

// FoldProduct multiplies records.
//
// want: rejected: order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func FoldProduct(rows []float64) float64 {
	p := 1.0
	for _, x := range rows {
		p = p * clip(x, -1, 1)
	}
	return p
}

// Last is the record that came last.
//
// want: rejected: order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Last(rows []float64) float64 {
	last := 0.0
	for _, x := range rows {
		last = clip(x, -1, 1)
	}
	return last
}

// Saturating does not commute.
//
// want: rejected: order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Saturating(rows []float64) float64 {
	s := 0.0
	for _, x := range rows {
		s = min(10, s+clip(x, -1, 1))
	}
	return s
}

// First has no place to look at.
//
// want: rejected: order
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func First(rows []float64) float64 { return rows[0] }

// Identity returns a private number.
//
// want: rejected: without noise
//
//dp:adjacent |x| <= 1
//dp:cost 1
func Identity(x float64) float64 { return x }

// ClosesOver adds another private number once for each record.
//
// want: rejected: order of private|other private data
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1, x = 1
func ClosesOver(rows []float64, x float64) float64 {
	total := 0.0
	for _, r := range rows {
		total += clip(r+x, -1, 1)
	}
	return total
}

// SplitTwice uses both halves of both splits.
//
// want: rejected: at most 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SplitTwice(rows []float64) (int, int, int, int) {
	a, b := split(rows, func(x float64) bool { return x < 0 })
	c, d := split(rows, func(x float64) bool { return x < 1 })
	return len(a), len(b), len(c), len(d)
}

// Forever does not end.
//
// want: rejected: may not end
//
//dp:sensitivity x = 1
func Forever(x float64, n int) float64 { return Forever(x, n+1) }

// WhilePrivate ends when the data say so.
//
// want: rejected: depends on private data
//
//dp:sensitivity x = 1
func WhilePrivate(x float64) float64 {
	n := 0.0
	for x > 0 {
		x--
		n++
	}
	return n
}

// Growing doubles in each round.
//
// want: rejected: grows by the factor 2
//
//dp:sensitivity x = 1024
func Growing(x float64, n int) float64 {
	for range n {
		x = x + x
	}
	return x
}

// PrefixesL1 claims for the sum what holds for the largest.
//
// want: rejected: at most len\(q\)
//
//dp:requires len(q) > 0
//dp:sensitivity q = 1 in l1
func PrefixesL1(q []float64) []float64 { return Prefixes(q) }

// Aliased changes a slice by another name.
//
// want: rejected
//
//dp:sensitivity q = 1
func Aliased(q []float64) []float64 {
	s := slicesOf(q)
	t := s
	for i := range t {
		t[i] = 3 * t[i]
	}
	return s
}

func slicesOf(q []float64) []float64 { return append([]float64(nil), q...) }

// Rounded jumps.
//
// want: rejected: rounding jumps
//
//dp:sensitivity x = 1
func Rounded(x float64) int { return int(x) }

// Zero times infinity is not nothing: the branch decides what is multiplied.
//
// want: rejected: branch on private data
//
//dp:sensitivity x = 1
func ZeroTimes(x, c float64) float64 {
	y := 0.0
	if x > 0 {
		y = 1
	}
	return c * y
}

// Early leaves at the first record that it likes.
//
// want: rejected: left early|runs next depends on private data
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Early(rows []float64) int {
	n := 0
	for _, x := range rows {
		if x > 3 {
			break
		}
		n++
	}
	return n
}

// NoiseIfLarge decides by private data whether to draw.
//
// want: rejected: depends on private data
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseIfLarge(x, eps float64, src *noise.Source) float64 {
	if x > 10 {
		return x + src.Laplace(1/eps)
	}
	return 0
}

// OneSided noise shows what lies below it.
//
// want: rejected: one-sided
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OneSided(x, eps float64, src *noise.Source) float64 { return x + src.Exponential(1/eps) }

// NoiseForEach draws for each record.
//
// want: rejected: unknown number
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoiseForEach(rows []float64, eps float64, src *noise.Source) float64 {
	total := 0.0
	for _, x := range rows {
		total += clip(x, 0, 1) + src.Laplace(1/eps)
	}
	return total
}

// ScaleShrinks pays more in each round than it says.
//
// want: rejected: differs between the iterations
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost float64(n) * eps
func ScaleShrinks(x float64, n int, eps float64, src *noise.Source) float64 {
	last := 0.0
	for i := range n {
		last = x + src.Laplace(1/(eps*float64(i+1)))
	}
	return last
}

// KMeansCheap claims two thirds of what a step costs.
//
// want: rejected: 3\*eps
//
//dp:adjacent bag(points) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func KMeansCheap(points []point, centers []point, eps float64, src *noise.Source) []point {
	return KMeansStep(points, centers, eps, src)
}

// CostsL1 counts a name as often as it is asked for.
//
// want: rejected: len\(names\)\*most
//
//dp:adjacent bag(rows) <= 1
//dp:requires most > 0
//dp:sensitivity rows = most
func CostsL1(rows []visit, names []string, most float64) []float64 { return Costs(rows, names, most) }

// Running adds up what earlier records left, clipped.
//
// want: rejected: order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Running(rows []float64) float64 {
	acc, out := 0.0, 0.0
	for _, x := range rows {
		acc += clip(x, -1, 1)
		out += clip(acc, -1, 1)
	}
	return out
}

// Spread releases elements that take up what was released before.
//
// want: rejected: grow
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Spread(q []float64, eps float64, src *noise.Source) []float64 {
	s := slicesOf(q)
	var out []float64
	for i := range s {
		out = append(out, s[i]+src.Laplace(1/eps))
		s[len(s)-1] += s[i]
	}
	return out
}

// PrivateEffect tells by what it calls.
//
// want: rejected: depends on private data
//
//dp:adjacent |x| <= 1
//dp:cost 1
func PrivateEffect(x float64, tell func()) int {
	if x > 0 {
		tell()
	}
	return 0
}

// IntegerNoise does not hide what lies between integers.
//
// want: rejected: over the integers
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IntegerNoise(x, eps float64, src *noise.Source) float64 {
	return x + float64(src.DiscreteLaplace(1/eps))
}

// LateNoise shows in the next round what it added in this one.
//
// want: rejected: kept for the next iteration
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n > 0
//dp:cost float64(n) * eps
func LateNoise(x float64, n int, eps float64, src *noise.Source) []float64 {
	var out []float64
	eta := 0.0
	for range n {
		out = append(out, eta)
		eta = src.Laplace(1 / eps)
		out = append(out, x+eta)
	}
	return out
}

// Uncovered overwrites all elements but the first.
//
// want: rejected: at most 1
//
//dp:sensitivity q = 0
func Uncovered(q []float64) []float64 {
	s := slicesOf(q)
	for i := 1; i < len(s); i++ {
		s[i] = 0
	}
	return s
}

// Overlapping parts share records.
//
// want: rejected: at most 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Overlapping(rows []float64) (int, int) {
	var low, lower []float64
	for _, x := range rows {
		if x < 1 {
			low = append(low, x)
		}
		if x < 0 {
			lower = append(lower, x)
		}
	}
	return len(low), len(lower)
}

// CountsClosing adds a private number for each record.
//
// want: rejected: order of private|other private data
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1, x = 1
func CountsClosing(rows []int, n int, x float64) []float64 {
	counts := make([]float64, n)
	for _, r := range rows {
		counts[r%n] += clip(x, -1, 1)
	}
	return counts
}

// LastStored keeps what came last in a slice.
//
// want: rejected: order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func LastStored(rows []float64) float64 {
	last := make([]float64, 1)
	for _, x := range rows {
		last[0] = clip(x, -1, 1)
	}
	return last[0]
}

// BreaksFirst leaves the loop in a branch that pays for nothing, before the one that does.
//
// want: rejected: at most eps\*len\(q\)
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func BreaksFirst(q []float64, t float64, n int, eps float64, src *noise.Source) int {
	hits := 0
	for _, x := range q {
		if hits == n {
			break
		}
		if x+src.Laplace(1/eps) > t {
			hits++
		}
	}
	return hits
}

// BreaksFree leaves it in a branch that pays for less.
//
// want: rejected: at most
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps * len(q)
func BreaksFree(q []float64, n int, eps float64, src *noise.Source) (sum, again float64) {
	for i, x := range q {
		if i == n {
			sum += x + src.Laplace(1000/eps)
			break
		}
		sum += x + src.Laplace(1/eps)
		again += x + src.Laplace(1)
	}
	return sum, again
}

// DrawnBefore draws before the loop of which the count is the scale.
//
// want: rejected: not known to be at most eps
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func DrawnBefore(x float64, steps int, eps float64, src *noise.Source) float64 {
	y := x + src.Laplace(float64(steps)/eps)
	for range steps {
		y++
	}
	return y
}

// NotPaidElsewhere claims less than the first draw costs where the second is not made.
//
// want: rejected: not known to be at most
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps + eps*float64(steps)
func NotPaidElsewhere(x float64, steps int, eps float64, src *noise.Source) (y, z float64) {
	y = x + src.Laplace(1/eps)
	for i := range steps {
		if i == 0 {
			z = x + src.Laplace(1/(eps*float64(steps)))
		}
	}
	return y, z
}
