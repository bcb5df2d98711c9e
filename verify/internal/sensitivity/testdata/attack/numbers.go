package attack

import (
	"math"
	"slices"
)

// AppendAfterSlot: what is appended in each round is x.
//
// want: rejected
//
//dp:sensitivity x = 0
func AppendAfterSlot(x float64) []float64 {
	w := make([]float64, 3)
	for i := range 3 {
		w[i] = 0
		w = append(w, x)
	}
	return w
}

// SlotAfterAppend: what is set after the append is another element.
//
// want: rejected
//
//dp:sensitivity x = 0
func SlotAfterAppend(x float64) []float64 {
	w := make([]float64, 3)
	for i := range 3 {
		w = append(w, x)
		w[i] = 0
	}
	return w
}

// ReadAfterAppend: the element at the index is not the one that was appended.
//
// want: rejected
//
//dp:sensitivity q = 0
func ReadAfterAppend(q []float64) float64 {
	w := slices.Clone(q)
	s := 0.0
	for i := range 3 {
		w = append(w, 0)
		s += w[i]
	}
	return s
}

// ReadThenAppend: the element at 1 is the x that was appended before.
//
// want: rejected
//
//dp:sensitivity x = 0
func ReadThenAppend(x float64) float64 {
	w := make([]float64, 1)
	s := 0.0
	for i := range 3 {
		s += w[i]
		w = append(w, x)
	}
	return s
}

// PartlyWritten: of q[2] there are three copies now.
//
// want: rejected
//
//dp:sensitivity q = 2
func PartlyWritten(q []float64) []float64 {
	w := slices.Clone(q)
	s := q[2]
	for i := range 2 {
		w[i] = s
	}
	return w
}

// NegativeMake: for n = -1 the result moves by 1, and not by 1 + n.
//
// want: rejected
//
//dp:sensitivity x = 1 + n
func NegativeMake(x float64, n int) float64 {
	t := 0.0
	if n > 0 {
		w := make([]float64, n)
		for range w {
			t += x
		}
	}
	return t + x
}

// OtherBesideSlot: whether 5 is added at 0 depends on x, whatever is set at i.
//
// want: rejected
//
//dp:sensitivity x = 0
func OtherBesideSlot(x float64) []float64 {
	w := make([]float64, 3)
	for i := range 3 {
		w[i] = 0
		if x > 0 {
			w[0] += 5
		}
	}
	return w
}

// OtherSetBesideSlot: whether 5 is put at 0 depends on x, whatever is set at i.
//
// want: rejected
//
//dp:sensitivity x = 0
func OtherSetBesideSlot(x float64) []float64 {
	w := make([]float64, 3)
	for i := range 3 {
		w[i] = 0
		if x > 0 {
			w[0] = 5
		}
	}
	return w
}

// BoundOfIndex: the loop runs 5 times, and not 10.
//
// want: rejected
//
//dp:sensitivity x = 0
func BoundOfIndex(x float64) float64 {
	k := 0
	for i := 0; i < 10-i; i++ {
		k++
	}
	return x * float64(10-k)
}

// NegativeKeys: a key of a map may be below 0.
//
// want: rejected
//
//dp:sensitivity x = 0
func NegativeKeys(x float64) float64 {
	m := map[int]float64{-5: 1}
	s := 0.0
	for k := range m {
		s += x * float64(min(k, 0))
	}
	return s
}

// NegativeKeysOf: a key of a map may be below 0.
//
// want: rejected
//
//dp:sensitivity x = 0
func NegativeKeysOf(x float64, m map[int]float64) float64 {
	s := 0.0
	for k := range m {
		s += x * float64(min(k, 0))
	}
	return s
}

// RealKeys: a key of a map may be no integer.
//
// want: rejected
//
//dp:sensitivity x = 0
func RealKeys(x float64, m map[float64]float64) float64 {
	s := 0.0
	for k := range m {
		s += x * (k - float64(int(k)))
	}
	return s
}

// RootOfSquare: for n = 0 and c = -5 the factor is 5, and not 0.
//
// want: rejected
//
//dp:requires n >= 0
//dp:sensitivity x = max(math.Sqrt(n), c)
func RootOfSquare(x, n, c float64) float64 {
	return x * math.Sqrt(max(n, c*c))
}

// RootOfCount: for n = -2 there are 4 elements, which move by 2 in l2, and not by -2.
//
// want: rejected
//
//dp:sensitivity x = float64(n) in l2
func RootOfCount(x float64, n int) []float64 {
	w := make([]float64, n*n)
	for i := range n * n {
		w[i] = x
	}
	return w
}

// AppendBesideStore: x is put at 0 where something is appended too.
//
// want: rejected
//
//dp:sensitivity x = 0
func AppendBesideStore(x float64) []float64 {
	w := make([]float64, 1)
	for range 3 {
		w = append(w, 0)
		w[0] = x
	}
	return w
}

// AppendBesideIncrease: x is added at 0 where something is appended too.
//
// want: rejected
//
//dp:sensitivity x = 0
func AppendBesideIncrease(x float64) []float64 {
	w := make([]float64, 1)
	for range 3 {
		w[0] += x
		w = append(w, 0)
	}
	return w
}

// AppendTwice: the second of two that are appended is x.
//
// want: rejected
//
//dp:sensitivity x = 0
func AppendTwice(x float64) []float64 {
	var w []float64
	for range 3 {
		w = append(w, 0)
		w = append(w, x)
	}
	return w
}

// MapIn2: three values that move by 1/√3 each have a sum that moves by √3.
//
// want: rejected
//
//dp:sensitivity m = 1 in l2
func MapIn2(m map[int]float64) float64 {
	s := 0.0
	for i := range 3 {
		s += m[i]
	}
	return s
}

// PrivateReslice: the length is 10-x.
//
// want: rejected
//
//dp:sensitivity x = 0
func PrivateReslice(x int) int {
	w := make([]float64, 10)
	for range x {
		w = w[1:]
	}
	return len(w)
}

// BagReslice: the length is 10 less how many rows there are.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 0
func BagReslice(rows []int) int {
	w := make([]float64, 10)
	for range rows {
		w = w[1:]
	}
	return len(w)
}

// SizeOfSlot: the factor of p is x + 100.
//
// want: rejected
//
//dp:sensitivity p = 0
//dp:sensitivity x = 3
func SizeOfSlot(x, p float64) float64 {
	c := max(-1, min(p, 1))
	s := 0.0
	for i := range 3 {
		w := make([]float64, 3)
		w[i] = x + 100
		s += c * w[0]
	}
	return s
}

// TinyTimesHuge: the factor is 1e-400·e^1401, some 1e208.
//
// want: rejected
//
//dp:sensitivity x = 1
func TinyTimesHuge(x float64) float64 {
	return x / 1e200 / 1e200 * math.Exp(700) * math.Exp(701)
}

type grown struct{ w []float64 }

// FieldGrows: the loop runs 8 times, as the slice of the field grows.
//
// want: rejected
//
//dp:sensitivity x = 0
func FieldGrows(x float64) float64 {
	t := grown{w: make([]float64, 3)}
	k := 0
	for i := 0; i < len(t.w); i++ {
		if i < 5 {
			t.w = append(t.w, 1)
		}
		k++
	}
	return x * float64(3-k)
}

// LastOfX: s is x for each row but the first.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func LastOfX(rows []float64, x float64) float64 {
	s, u := 0.0, 0.0
	for range rows {
		s += u
		u = x
	}
	return s
}

// PrivateRounds: s is x in each round but the first.
//
// want: rejected
//
//dp:sensitivity x = 0
func PrivateRounds(p int, x float64) float64 {
	s, u := 0.0, 0.0
	for range p {
		s += u
		u = x
	}
	return s
}

// AppendOfX: what is appended for each row is x, and what depends on the order.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func AppendOfX(rows []float64, x float64) []float64 {
	var w []float64
	u := 0.0
	for range rows {
		w = append(w, x+u)
		u++
	}
	return w
}

// Around goes from 255 to 0.
//
// want: rejected
//
//dp:sensitivity x = 1
func Around(x uint8) uint8 { return x + 1 }

// AroundBelow goes from -128 to 127.
//
// want: rejected
//
//dp:sensitivity x = 1
func AroundBelow(x int8) int8 { return -x }

// AroundTimes goes around before it is widened.
//
// want: rejected
//
//dp:sensitivity x = 10
func AroundTimes(x uint8) int { return int(x * 10) }

// AroundSum goes around in the loop.
//
// want: rejected
//
//dp:sensitivity q = 1
func AroundSum(q []int8) int8 {
	var n int8
	for _, x := range q {
		n += x
	}
	return n
}

func totalOf[T int8 | int](q []T) (n T) {
	for _, x := range q {
		n += x
	}
	return n
}

// AroundGeneric goes around for one of the types.
//
// want: rejected
//
//dp:sensitivity q = 1
func AroundGeneric(q []int8) int8 { return totalOf(q) }

// AroundCount goes around at the 256th record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func AroundCount(rows []int) (n uint8) {
	for _, r := range rows {
		if r > 0 {
			n++
		}
	}
	return n
}

// AroundCounts goes around in an element.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func AroundCounts(rows []int) []uint8 {
	h := make([]uint8, 2)
	for _, r := range rows {
		h[r&1]++
	}
	return h
}

// AroundElement goes around in an element, at a place of its own.
//
// want: rejected
//
//dp:sensitivity x = 1
func AroundElement(x int8) []int8 {
	h := make([]int8, 2)
	h[0] += x
	h[0] += 100
	return h
}

// AroundElements goes around in each element.
//
// want: rejected
//
//dp:sensitivity x = 2
func AroundElements(x int8) []int8 {
	h := make([]int8, 2)
	for i := range h {
		h[i] += x
		h[i] += 100
	}
	return h
}

// ShiftOfTypes: 1<<8 is 0 and 256.
//
// want: rejected
//
//dp:sensitivity x = 0
func ShiftOfTypes(x float64, n int) float64 {
	a, b := uint8(1), 1
	if int(a<<n) != b<<n {
		return x
	}
	return 0
}

// QuotientOfTypes: -128 / -1 is -128 and 128.
//
// want: rejected
//
//dp:sensitivity x = 0
func QuotientOfTypes(x float64, n, m int8) float64 {
	if int(n/m) != int(n)/int(m) {
		return x
	}
	return 0
}

// SumOfTypes: 255 + 1 is 0 and 256.
//
// want: rejected
//
//dp:sensitivity x = 0
func SumOfTypes(x float64, n uint8) float64 {
	m := uint16(n)
	if int(n+1) != int(m+1) {
		return x
	}
	return 0
}

// LettersOf: é is one letter, and two bytes.
//
// want: rejected
//
//dp:sensitivity x = 0
func LettersOf(x float64, s string) float64 {
	if len([]rune(s)) != len(s) {
		return x
	}
	return 0
}

// RootsOfNegatives claims -|b|: the roots of products of what is negative are no products of roots.
//
// want: rejected
//
//dp:requires a < 0 && b < 0
//dp:sensitivity x = -math.Sqrt(a*a*a*b) * math.Sqrt(a*b) / (a * a)
func RootsOfNegatives(x, a, b float64) float64 { return x * b }

// RootOfNegative claims what is no number.
//
// want: rejected: the root of what may be negative
//
//dp:requires a < 0
//dp:sensitivity x = -math.Sqrt(a) * math.Sqrt(a)
func RootOfNegative(x, a float64) float64 { return x * a }

// LogarithmOfNegative claims what is no number.
//
// want: rejected: the logarithm of what may not be positive
//
//dp:requires a < 0
//dp:sensitivity x = 1 + math.Log(a) - math.Log(a)
func LogarithmOfNegative(x, a float64) float64 { return x }

// AboveNegative is larger than what may be negative.
//
// want: rejected
//
//dp:requires lo < hi
//dp:sensitivity x = hi
func AboveNegative(x, lo, hi float64) float64 { return x * hi }

// BelowPositive is less than what is positive.
//
// want: rejected
//
//dp:requires 0 < hi && lo < hi
//dp:sensitivity x = lo
func BelowPositive(x, lo, hi float64) float64 { return x * lo }
