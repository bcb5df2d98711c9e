package accept

import "math"

type pair struct{ a, b float64 }

// PairSum is of a tensor pair: what its fields move by adds up to what it moves by.
//
// want: accepted: p: 1
//
//dp:sensitivity p = 1
func PairSum(p pair) float64 { return p.a + p.b }

// PairScaled is as sensitive as its larger factor.
//
// want: accepted: p: 3
//
//dp:sensitivity p = 3
func PairScaled(p pair) float64 { return 2*p.a - 3*p.b }

// PairExchanged keeps the distance.
//
// want: accepted: p: 1
//
//dp:sensitivity p = 1
func PairExchanged(p pair) pair { return pair{p.b, p.a} }

// PairTwice is a field twice.
//
// want: accepted: p: 2
//
//dp:sensitivity p = 2
func PairTwice(p pair) float64 { return p.a + p.a }

// PairMethod has its pair as the receiver.
//
// want: accepted: p: 1
//
//dp:sensitivity p = 1
func (p pair) PairMethod() float64 { return max(p.a, 0) + math.Abs(p.b) }

// PairRows adds up the fields of rows.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func PairRows(q []pair) float64 {
	total := 0.0
	for _, p := range q {
		total += p.a + p.b
	}
	return total
}

// ThreeElements are each read once.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func ThreeElements(q [3]float64) float64 { return q[0] + q[1] - q[2] }

// ClampedElement reads one element in its comparison and in its branches.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func ClampedElement(q []float64, k int) float64 {
	if q[k] > 1 {
		return 1
	}
	return q[k]
}

// Halves share no element.
//
// want: accepted: q: 1
//
//dp:requires k >= 0 && k <= len(q)
//dp:sensitivity q = 1
func Halves(q []float64, k int) (float64, float64) { return Total(q[:k]), Total(q[k:]) }

// Ends are two elements and what is between.
//
// want: accepted: q: 2
//
//dp:requires len(q) >= 2
//dp:sensitivity q = 2
func Ends(q []float64) float64 { return 2*q[0] + Total(q[1:len(q)-1]) - q[len(q)-1] }

// LargestByHand begins with an element, which is one of those that follow.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func LargestByHand(q []float64) float64 {
	if len(q) == 0 {
		return 0
	}
	most := q[0]
	for _, x := range q[1:] {
		most = max(most, x)
	}
	return most
}

// Exchange is Fuzz's cswp.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func Exchange(x, y float64) (float64, float64) {
	if x > y {
		return y, x
	}
	return x, y
}

// ExchangeVariables sorts in place.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func ExchangeVariables(x, y float64) (lo, hi float64) {
	lo, hi = x, y
	if lo > hi {
		lo, hi = hi, lo
	}
	return lo, hi
}

// Between is the distance of two numbers.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func Between(x, y float64) float64 { return max(x, y) - min(x, y) }

// Network sorts three numbers.
//
// want: accepted: p: 1, z: 1
//
//dp:sensitivity p = 1, z = 1
func Network(p pair, z float64) (float64, float64, float64) {
	x, y := Exchange(p.a, p.b)
	y, z = Exchange(y, z)
	x, y = Exchange(x, y)
	return x, y, z
}
