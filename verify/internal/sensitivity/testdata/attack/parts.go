package attack

type couple struct{ a, b float64 }

// CoupleFieldTwice: the fields share the distance of the couple, a field alone may have all of it.
//
// want: rejected: at most 2
//
//dp:sensitivity p = 1
func CoupleFieldTwice(p couple) float64 { return p.a + p.b + p.a }

// FieldsBoth: each of the results has all fields.
//
// want: rejected: at most 2
//
//dp:sensitivity p = 1
func FieldsBoth(p couple) (float64, float64) { return p.a + p.b, p.a - p.b }

// FieldAndWhole: what is returned beside the sum is the couple.
//
// want: rejected: at most 2
//
//dp:sensitivity p = 1
func FieldAndWhole(p couple) (float64, couple) { return p.a, p }

// SameElement: j may be i.
//
// want: rejected: at most 2
//
//dp:sensitivity q = 1
func SameElement(q []float64, i, j int) float64 { return q[i] + q[j] }

// SetBetween: the element was set before it was read again.
//
// want: rejected
//
//dp:sensitivity q = 1
func SetBetween(q []float64) float64 {
	w := append([]float64(nil), q...)
	x := w[0]
	w[0] = w[1] + w[0]
	return x + w[0]
}

// Overlap: the element k is in both parts.
//
// want: rejected
//
//dp:requires k >= 0 && k < len(q)
//dp:sensitivity q = 1
func Overlap(q []float64, k int) (float64, float64) {
	a, b := 0.0, 0.0
	for _, x := range q[:k+1] {
		a += x
	}
	for _, x := range q[k:] {
		b += x
	}
	return a, b
}

// ThreeParts: the last one is in the first two.
//
// want: rejected
//
//dp:requires k >= 0 && k < len(q)
//dp:sensitivity q = 1
func ThreeParts(q []float64, k int) float64 {
	sum := 0.0
	for _, x := range q[:k] {
		sum += x
	}
	for _, x := range q[k:] {
		sum += x
	}
	return sum + q[0]
}

// EachByLargest: where all elements move by 1 the sum of two moves by 2.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func EachByLargest(q []float64) float64 { return q[0] + q[1] }

// PartsOverRounds: the same element in every round.
//
// want: rejected
//
//dp:sensitivity q = 1
func PartsOverRounds(q []float64) float64 {
	sum := 0.0
	for range 3 {
		sum += q[0] - q[1]
	}
	return sum
}

// ExchangeOff: the branches do not meet where the comparison changes.
//
// want: rejected: branch
//
//dp:sensitivity x = 1, y = 1
func ExchangeOff(x, y float64) (float64, float64) {
	if x > y+1 {
		return y, x
	}
	return x, y
}

// ExchangeScaled: the larger one has another factor.
//
// want: rejected: at most 2
//
//dp:sensitivity x = 1, y = 1
func ExchangeScaled(x, y float64) (float64, float64) {
	return min(x, y), 2 * max(x, y)
}

// ExchangeSelf: both numbers are of one source.
//
// want: rejected: at most 6
//
//dp:sensitivity x = 2
func ExchangeSelf(x float64) (float64, float64) {
	y := 3 * x
	if x > y {
		return y, x
	}
	return x, y
}

// LargestAndAll: the largest is one of them.
//
// want: rejected
//
//dp:sensitivity x = 1, y = 1
func LargestAndAll(x, y float64) (float64, float64, float64) { return min(x, y), max(x, y), x }

// RunningPair: what is carried from round to round is both.
//
// want: rejected
//
//dp:sensitivity x = 1, y = 1
func RunningPair(x, y float64) float64 {
	sum := 0.0
	for range 4 {
		if x > y {
			x, y = y, x
		}
		sum += y
	}
	return sum
}
