// Package attack holds programs that break what they claim.
package attack

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

type box struct{ a [3]float64 }
type vec [3]float64

func (v vec) clear() {
	for i := range 3 {
		v[i] = 0
	}
}

// StructArrayCopy: the copy of a struct has an array of its own.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func StructArrayCopy(x float64) float64 {
	var a box
	for i := range 3 {
		a.a[i] = x
	}
	b := a
	for i := range 3 {
		b.a[i] = 0
	}
	return a.a[0]
}

// ReceiverArray: the method clears its own copy.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ReceiverArray(x float64) float64 {
	var v vec
	for i := range 3 {
		v[i] = x
	}
	v.clear()
	return v[0]
}

// LiteralArray: the literal has a copy.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func LiteralArray(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	b := box{v}
	for i := range 3 {
		b.a[i] = 0
	}
	return v[0]
}

func clearBox(b box) {
	for i := range 3 {
		b.a[i] = 0
	}
}

// ParamStructArray: the function clears its own copy.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ParamStructArray(x float64) float64 {
	var a box
	for i := range 3 {
		a.a[i] = x
	}
	clearBox(a)
	return a.a[0]
}

// ClosureTupleArray: what the closure returns is a copy.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ClosureTupleArray(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	f := func() ([3]float64, int) { return v, 0 }
	b, _ := f()
	for i := range 3 {
		b[i] = 0
	}
	return v[0]
}

func clearT[T [3]float64](v T) {
	for i := range 3 {
		v[i] = 0
	}
}

// GenericArray: the function clears its own copy, whatever T is called.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenericArray(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	clearT(v)
	return v[0]
}

// AppendPart: x is written over the first element.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AppendPart(x float64) float64 {
	a := make([]float64, 3)
	b := append(a[:0], x)
	_ = b
	return a[0]
}

// AppendPart1: x is written over the second element.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AppendPart1(x float64) float64 {
	a := make([]float64, 3)
	b := append(a[:1], x)
	_ = b
	return a[1]
}

// Capacity: both slices begin in the same memory.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Capacity(x float64) float64 {
	a := make([]float64, 0, 10)
	c := append(a, 0)
	b := append(a, x)
	_ = b
	return c[0]
}

// Capacity2: both slices go on in the same memory.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Capacity2(x float64) float64 {
	a := make([]float64, 1, 10)
	c := append(a, 0)
	b := append(a, x)
	_ = b
	return c[1]
}

// Reassigned: b still shows what a had.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Reassigned(x float64) float64 {
	a := make([]float64, 3)
	b := a
	a = append(a[:0], x)
	return b[0]
}

// ClosureInSlice: the function gives x away.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ClosureInSlice(x float64) float64 {
	fs := []func() float64{func() float64 { return x }}
	return fs[0]()
}

// ClosureInMap: the function gives x away.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ClosureInMap(x float64) float64 {
	fs := map[string]func() float64{"a": func() float64 { return x }}
	return fs["a"]()
}

type num struct{ v float64 }

func (n num) get() float64   { return n.v }
func (n *num) pget() float64 { return n.v }
func (n *num) self() *num    { return n }

// MethodValues: which value the method is of counts.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MethodValues(x float64, c bool) float64 {
	p, q := num{x}, num{0}
	f := p.get
	if c {
		f = q.get
	}
	return f()
}

// SliceOfSlices: the row is a, and a changes after it was put there.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SliceOfSlices(x float64) float64 {
	a := make([]float64, 1)
	rows := [][]float64{a}
	a[0] = x
	return rows[0][0]
}

// MapOfSlices: the row is a, and a changes after it was put there.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MapOfSlices(x float64) float64 {
	a := make([]float64, 1)
	rows := map[string][]float64{"a": a}
	a[0] = x
	return rows["a"][0]
}

// AppendRow: the row is a, and a changes after it was put there.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AppendRow(x float64) float64 {
	a := make([]float64, 1)
	var rows [][]float64
	rows = append(rows, a)
	a[0] = x
	return rows[0][0]
}

// Clip: the result shares its memory with the argument.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Clip(x float64) float64 {
	a := make([]float64, 1)
	b := slices.Clip(a)
	b[0] = x
	return a[0]
}

// Pure: the function may return its argument.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Pure(x float64, same func([]float64) []float64) float64 {
	a := make([]float64, 1)
	b := same(a)
	b[0] = x
	return a[0]
}

// OutParameter: the caller sees what is written.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OutParameter(x float64, out []float64) {
	out[0] = x
}

// TwoParameters: both may be the same slice.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func TwoParameters(x float64, a, b []float64) float64 {
	a[0] = x
	return b[0]
}

// Panic: the panic shows x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Panic(x float64, debug bool) float64 {
	if debug {
		panic(x)
	}
	return 0
}

// PanicNoise: the panic shows x with little noise.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PanicNoise(x float64, debug bool, src *noise.Source) float64 {
	if debug {
		panic(x + src.Laplace(0.001))
	}
	return 0
}

// PanicBit: which panic it is tells of a release that was not paid for.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PanicBit(x float64, debug bool, src *noise.Source) float64 {
	if debug {
		y := x + src.Laplace(0.001)
		if y > 0 {
			panic("a")
		} else {
			panic("b")
		}
	}
	return 0
}

// MethodValuePointer: the method reads s when it is called.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MethodValuePointer(x float64) float64 {
	var s num
	get := s.pget
	s.v = x
	return get()
}

// SelfPointer: p points to s.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SelfPointer(x float64) float64 {
	var s num
	p := s.self()
	s.v = x
	return p.v
}

// ArraySlice: b is a view of v, which is set again.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ArraySlice(x float64) float64 {
	var v [3]float64
	b := v[:]
	v = [3]float64{x, x, x}
	return b[0]
}

type getter interface{ get() float64 }
type holder struct{ f func() float64 }

func (h holder) get() float64 { return h.f() }

// InterfaceClosure: the struct holds a function that gives x away.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func InterfaceClosure(x float64) float64 {
	var g getter = holder{func() float64 { return x }}
	return g.get()
}

// InterfaceDraw: the noise is shown beside the sum.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func InterfaceDraw(x, eps float64, src *noise.Source) (float64, float64) {
	n := src.Laplace(1 / eps)
	var g getter = num{n}
	return x + n, g.get()
}

// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Other(x, n float64) float64 { return n }

// ClaimedDraw: the noise is shown beside the sum, by a function that claims to cost nothing.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ClaimedDraw(x, eps float64, src *noise.Source) (float64, float64) {
	n := src.Laplace(1 / eps)
	y := Other(x, n)
	return x + n, y
}

// RunningMaximum: the running maximum moves at all places that follow.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RunningMaximum(q []float64, eps float64, src *noise.Source) float64 {
	w := slices.Clone(q)
	sum := 0.0
	for i := range len(w) - 1 {
		sum += w[i]
		if w[i] > w[i+1] {
			w[i], w[i+1] = w[i+1], w[i]
		}
	}
	return sum + src.Laplace(1/eps)
}

// RunningMaximumVector: the running maximum moves at all places that follow.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RunningMaximumVector(q []float64, eps float64, src *noise.Source) []float64 {
	w := slices.Clone(q)
	out := make([]float64, len(q))
	for i := range len(w) - 1 {
		out[i] = w[i] + src.Laplace(1/eps)
		if w[i] > w[i+1] {
			w[i], w[i+1] = w[i+1], w[i]
		}
	}
	return out
}

// Reversed: an element is read twice, as the slice is turned around in between.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Reversed(q []float64, eps float64, src *noise.Source) float64 {
	w := slices.Clone(q)
	sum := 0.0
	for i := range w {
		sum += w[i]
		slices.Reverse(w)
	}
	return sum + src.Laplace(1/eps)
}

// FloatLoop: k = 1/2 is one round.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps * k
func FloatLoop(x, k, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := 0.0; i < k; i++ {
		s += x + src.Laplace(1/eps)
	}
	return s
}

// FloatRounds: k = 1/2 is one round.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires k > 0
//dp:sensitivity x = k
func FloatRounds(x, k float64) float64 {
	s := 0.0
	for i := 0.0; i < k; i++ {
		s += x
	}
	return s
}

// Sqrt: the root of c² is |c|.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Sqrt(x, c float64) float64 {
	return x * (math.Sqrt(c*c) - c)
}

func half[T int | float64](a, b T) T { return a / b }

// GenericQuotient: 1/2 of floats is no division of integers.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenericQuotient(x float64) float64 {
	return x * half(1.0, 2.0)
}

func trunc[T int | float64](x float64) T { return T(x) }

// GenericConversion: T may be int.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenericConversion(x float64, c float64) float64 {
	return x * (float64(trunc[int](c)) - c)
}

// Narrow: uint8(256) is 0.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Narrow(x float64, k int) float64 {
	return x * float64(int(uint8(k))-k)
}

// NarrowScale: uint8(257) is 1.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires k > 0
//dp:cost 1 / float64(k)
func NarrowScale(x float64, k int, src *noise.Source) float64 {
	return x + src.Laplace(float64(uint8(k)))
}

// NarrowSame: int8(200) is not uint8(200).
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func NarrowSame(x float64, c float64) float64 {
	return x * float64(int64(int8(c))-int64(uint8(c)))
}

func total[S ~[]float64](rows S) float64 {
	s := 0.0
	for _, v := range rows {
		s += min(v, 1)
	}
	return s
}

// GenericElements: elements may be negative, whatever the slice type is called.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func GenericElements(rows []float64, eps float64, src *noise.Source) float64 {
	return total(rows) + src.Laplace(1/eps)
}

// Unsigned: 4 - 5 is more than 10.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:requires eps > 0
//dp:cost eps
func Unsigned(n uint, eps float64, src *noise.Source) float64 {
	return float64(int(min(n-5, 10))) + src.Laplace(1/eps)
}

// Norms: a sum moves by all of its terms in linf.
//
// want: rejected
//
//dp:sensitivity q = 1 in l1
//dp:sensitivity q = 1 in linf
func Norms(q []float64) float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	return s
}

// MapByIndex: all values of the map may move.
//
// want: rejected
//
//dp:adjacent each(m) <= 1
//dp:requires eps > 0
//dp:cost eps
func MapByIndex(m map[int]float64, n int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := range n {
		out = append(out, m[i]+src.Laplace(1/eps))
	}
	return out
}

// MapByIndexSum: all values of the map may move.
//
// want: rejected
//
//dp:adjacent each(m) <= 1
//dp:requires eps > 0
//dp:cost eps
func MapByIndexSum(m map[int]float64, n int, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := range n {
		s += m[i]
	}
	return s + src.Laplace(1/eps)
}

// HalfNeighbours: the rules see no whole numbers here.
//
// want: rejected
//
//dp:adjacent |n| <= 0.5
//dp:cost 0
func HalfNeighbours(n int) int { return n }

// CallsHalfNeighbours: no integers are at distance 1/2, so that the claim used says nothing.
//
// want: rejected
//
//dp:adjacent |n| <= 1
//dp:cost 0
func CallsHalfNeighbours(n int) int { return HalfNeighbours(n) }

// FloorSum: the rules know no bound for steps.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FloorSum(q []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for _, x := range q {
		s += math.Floor(x)
	}
	return s + src.Laplace(1/eps)
}

// OneIsNotL1: both elements move, each over a step.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OneIsNotL1(x, eps float64, src *noise.Source) float64 {
	return FloorSum([]float64{x / 2, x / 2}, eps, src)
}

// want: accepted
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Identity(x float64, pub []float64) []float64 { return pub }

// ReleasedAlias: the result is the argument.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ReleasedAlias(x float64, pub []float64) float64 {
	a := make([]float64, 1)
	b := Identity(x, a)
	b[0] = x
	return a[0]
}

// RenamedEachRound: all but the first element is added up, and moves.
//
// want: rejected
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func RenamedEachRound(q []float64, eps float64, src *noise.Source) float64 {
	w := make([]float64, len(q))
	s := 0.0
	for i := range w {
		s += w[i]
		w = slices.Clone(q)
	}
	return s/float64(len(q)) + src.Laplace(1/eps)/2
}

// RenamedFree: what w holds after the first round is q.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost 0
func RenamedFree(q []float64, eps float64, src *noise.Source) float64 {
	w := make([]float64, len(q))
	s := 0.0
	for i := range w {
		s += w[i]
		w = slices.Clone(q)
	}
	return s
}

// FrozenInLoop: the row that was kept is written to in the next round.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FrozenInLoop(x float64, n int) float64 {
	a := make([]float64, 1)
	rows := [][]float64{{0}}
	s := 0.0
	for range n {
		a[0] = x
		s += rows[len(rows)-1][0]
		for i := range 1 {
			a[i] = 0
		}
		rows = append(rows, a)
	}
	return s
}

// Kept: the noise is shown beside the sum.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Kept(x, eps float64, c bool, src *noise.Source) (float64, float64) {
	n := src.Laplace(1 / eps)
	type holder struct{ n float64 }
	var h *holder
	if c {
		h = &holder{n}
	}
	return x + n, h.n
}

// MaybeFunction: the function gives x away.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MaybeFunction(x float64, c bool) float64 {
	type holder struct{ f func() float64 }
	var h *holder
	if c {
		h = &holder{func() float64 { return x }}
	}
	return h.f()
}

// MaybeBuffer: the struct holds buf.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MaybeBuffer(x float64, c bool) float64 {
	type holder struct{ f []float64 }
	buf := make([]float64, 1)
	var h *holder
	if c {
		h = &holder{buf}
	}
	buf[0] = x
	return h.f[0]
}
