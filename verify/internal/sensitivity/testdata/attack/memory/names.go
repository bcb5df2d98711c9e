package memory

import (
	"unicode/utf8"

	"github.com/discreet-dp/discreet/noise"
)

type cell struct{ a [1]float64 }
type inner struct{ n float64 }
type outer struct{ inner }
type outerp struct{ *inner }
type box struct{ v []float64 }
type fn func() float64
type num struct{ N float64 }

// MapKeyPtr: the key of the map is b.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MapKeyPtr(x float64) float64 {
	b := &cell{}
	m := map[*cell]float64{}
	m[b] = 1
	b.a[0] = x
	s := 0.0
	for k := range m {
		s += k.a[0]
	}
	return s
}

// BareReturn: b may be a, which the return without results uses.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func BareReturn(x float64, c bool) (a []float64) {
	a = make([]float64, 1)
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	b[0] = x
	return
}

// ClosureThenMove: b may be a, which get reads.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ClosureThenMove(x float64, c bool) float64 {
	a := make([]float64, 1)
	get := func() float64 { return a[0] }
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	b[0] = x
	return get()
}

func reader(a []float64) func() float64 { return func() float64 { return a[0] } }

// ReaderThenMove: b may be a, which get reads.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ReaderThenMove(x float64, c bool) float64 {
	a := make([]float64, 1)
	get := reader(a)
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	b[0] = x
	return get()
}

func pair() (func() float64, []float64) {
	a := make([]float64, 1)
	get := func() float64 { return a[0] }
	return get, a
}

// PairThenMove: b may be a, which get reads.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PairThenMove(x float64, c bool) float64 {
	get, a := pair()
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	b[0] = x
	return get()
}

// ActsByConversion: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ActsByConversion(x float64) float64 {
	y := 0.0
	f := fn(func() float64 { y = x; return 1 })
	return y * f()
}

func id[T any](f T) T { return f }

// ActsById: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ActsById(x float64) float64 {
	y := 0.0
	f := id(func() float64 { y = x; return 1 })
	return y * f()
}

// IndexBeforeValue: Go calls get first.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func IndexBeforeValue(x int) float64 {
	y := x
	z := make([]float64, 2)
	get := func() int { return y }
	set := func() float64 { y = 0; return 1 }
	z[get()] = set()
	return z[0]
}

// EncodePart: EncodeRune writes to p.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func EncodePart(x int) byte {
	p := make([]byte, 8)
	utf8.EncodeRune(p[1:], rune(x))
	return p[1]
}

// AppendRunePart: AppendRune writes to p.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AppendRunePart(x int) byte {
	p := make([]byte, 8)
	q := utf8.AppendRune(p[:0], rune(x))
	_ = q
	return p[0]
}

func clr[T [3]float64 | [4]float64](v T) {
	for i := range len(v) {
		v[i] = 0
	}
}

// ClearCopy: the function clears a copy.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ClearCopy(x float64) float64 {
	var a [3]float64
	for i := range 3 {
		a[i] = x
	}
	clr(a)
	return a[0]
}

// PtrToArray: the array has 3 elements, the slice 5.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func PtrToArray(x, eps float64, src *noise.Source) float64 {
	a := make([]float64, 5)
	p := (*[3]float64)(a)
	n := 0.0
	for range p {
		n++
	}
	return 5*x + src.Laplace(n/eps)
}

// BehindEnd: x stands behind the end of a.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func BehindEnd(x float64) float64 {
	a := make([]float64, 1, 2)
	b := append(a, x)
	_ = b
	c := a[:2]
	return c[1]
}

// SwapMap: whether the map has a second key tells of x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SwapMap(x float64) int {
	m := map[int]float64{0: x}
	if m[0] > m[1] {
		m[0], m[1] = m[1], m[0]
	}
	return len(m)
}

// MapSlot: which keys the map has tells of x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MapSlot(x float64) int {
	m := map[int]float64{}
	for i := range 3 {
		if x > 0 {
			m[i] = 1
		}
	}
	return len(m)
}

// MapSlotInc: which keys the map has tells of x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MapSlotInc(x float64) int {
	m := map[int]float64{}
	for i := range 3 {
		if x > 0 {
			m[i] += 1
		}
	}
	return len(m)
}

// NegativeKey: a key may be negative.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func NegativeKey(x float64) float64 {
	m := map[int]float64{-1: 0}
	s := 0.0
	for k := range m {
		s += float64(min(k, 0)) * x
	}
	return s
}

// BoundInSlot: the body sets the bound.
//
// want: rejected
//
//dp:sensitivity x = 3
func BoundInSlot(x float64) float64 {
	b := make([]int, 1)
	s := 0.0
	for i := range 1 {
		b[i] = 3
		for j := 0; j < b[i]; j++ {
			b[i] = 10
			s += x
		}
	}
	return s
}
