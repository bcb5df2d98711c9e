package attack

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/noise"
)

type (
	cube  struct{ a [3]float64 }
	cubes struct {
		a [3]float64
		n int
	}
	list   struct{ b []float64 }
	none   struct{}
	number float64
	loudly struct{ x float64 }
	louder float64
	writer struct {
		b []float64
		x float64
	}
	wrongly struct {
		b []float64
		x float64
	}
)

var global []float64

func (n number) plus(m float64) float64 { return float64(n) + m }

func (l loudly) String() string { fmt.Println(l.x); return "" }

func (l louder) String() string { fmt.Println(float64(l)); return "" }

func (p writer) String() string { p.b[0] = p.x; return "" }

func (p wrongly) Error() string { return "" }

func (p wrongly) Is(error) bool { p.b[0] = p.x; return false }

func later[T any](v T, f func()) T { f(); return v }

func laterOf[T [3]float64 | [4]float64](v T, f func()) T { f(); return v }

func held[T any](v T, set func(*T)) T { w := v; set(&v); return w }

func nilCube() *cube { return nil }

func isNil(e any) bool { return e == nil }

// ArgArray: the copy is made before v is cleared.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ArgArray(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	get := func() [3]float64 { return v }
	clr := func() int {
		for i := range 3 {
			v[i] = 0
		}
		return 0
	}
	first := func(b [3]float64, n int) float64 { return b[0] }
	return first(get(), clr())
}

// ArgArrayVar: v may be copied before it is cleared.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ArgArrayVar(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	clr := func() int {
		for i := range 3 {
			v[i] = 0
		}
		return 0
	}
	first := func(b [3]float64, n int) float64 { return b[0] }
	return first(v, clr())
}

// OrderArray: s may be copied after it is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderArray(x float64) float64 {
	var s [3]float64
	set := func() int {
		for i := range 3 {
			s[i] = x
		}
		return 0
	}
	f := func(b [3]float64, n int) float64 { return b[0] }
	return f(s, set())
}

// RetArray: the copy is made before v is cleared.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func RetArray(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	get := func() [3]float64 { return v }
	clr := func() int {
		for i := range 3 {
			v[i] = 0
		}
		return 0
	}
	both := func() ([3]float64, int) { return get(), clr() }
	b, _ := both()
	return b[0]
}

// GenericAny: the function has a copy, whatever T is.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenericAny(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	clr := func() {
		for i := range 3 {
			v[i] = 0
		}
	}
	return later(v, clr)[0]
}

// GenericUnion: the function has a copy, whatever T is.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenericUnion(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	clr := func() {
		for i := range 3 {
			v[i] = 0
		}
	}
	return laterOf(v, clr)[0]
}

// GenKeep: w is a copy, whatever T is.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func GenKeep(x float64) float64 {
	var v [3]float64
	for i := range 3 {
		v[i] = x
	}
	return held(v, func(p *[3]float64) {
		for i := range 3 {
			p[i] = 0
		}
	})[0]
}

// TypedNil: an interface that holds a nil pointer is not nil.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func TypedNil(x float64) float64 {
	var p *cube
	var e any = p
	if e == nil {
		return 0
	}
	return x
}

// MixedEq: the types differ.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MixedEq(x float64) float64 {
	var e any = 1.0
	if 1 == e {
		return 0
	}
	return x
}

// SwitchIface: the types differ.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SwitchIface(x float64) float64 {
	var e any = 1.0
	switch e {
	case 1:
		return 0
	}
	return x
}

// IfaceParam: an interface that holds a nil pointer is not nil.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func IfaceParam(x float64) float64 {
	if isNil(nilCube()) {
		return 0
	}
	return x
}

// KeysLit: the literal has 6 elements.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func KeysLit(x, eps float64, src *noise.Source) []float64 {
	var out []float64
	w := []float64{5: 0}
	for range w {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// MultiIndex: the index is found before j is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MultiIndex(x float64) float64 {
	a := make([]float64, 3)
	for i := range a {
		a[i] = x
	}
	for i := range a {
		j := 0
		j, a[j] = i, 0
		_ = j
	}
	return a[2]
}

// MultiSlice: the slice is found before a is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MultiSlice(x float64) float64 {
	a := make([]float64, 1)
	b := make([]float64, 1)
	keep := a
	a, a[0] = b, x
	_ = a
	return keep[0]
}

// MultiStruct: the slice is found before s is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MultiStruct(x float64) float64 {
	s := list{make([]float64, 1)}
	t := list{make([]float64, 1)}
	keep := s.b
	s, s.b[0] = t, x
	_ = s
	return keep[0]
}

// MultiAppend: b is read before it grows.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func MultiAppend(x, eps float64, src *noise.Source) float64 {
	b := make([]float64, 1)
	n := 0
	b, n = append(b, 0), len(b)
	_ = b
	return 2*x + src.Laplace(float64(n)/eps)
}

// MultiAppend2: b is read before it grows.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func MultiAppend2(x, eps float64, src *noise.Source) float64 {
	b := make([]float64, 1)
	var c []float64
	b, c = append(b, 0), b
	_ = b
	return 2*x + src.Laplace(float64(len(c))/eps)
}

// AppendInner: a may be read before it grows.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func AppendInner(x, eps float64, src *noise.Source) float64 {
	a := make([]float64, 1, 9)
	g := func() float64 { a = append(a, 0); return 0 }
	a = append(a, g())
	return 3*x + src.Laplace(float64(len(a))/eps)
}

// OutsideReads: f may read buf.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OutsideReads(x float64, buf []float64, f func() float64) float64 {
	for i := range buf {
		buf[i] = x
	}
	s := f()
	for i := range buf {
		buf[i] = 0
	}
	return s
}

// AliasParams: both may be the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AliasParams(x float64, buf, other []float64) float64 {
	if len(other) == 0 {
		return 0
	}
	for i := range buf {
		buf[i] = x
	}
	s := other[0]
	for i := range buf {
		buf[i] = 0
	}
	return s
}

// AliasArrays: both may be the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AliasArrays(x float64, buf, other *[3]float64) float64 {
	for i := range 3 {
		buf[i] = x
	}
	s := other[0]
	for i := range 3 {
		buf[i] = 0
	}
	return s
}

// AliasGlobal: both may be the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AliasGlobal(x float64, buf []float64) float64 {
	if len(global) == 0 {
		return 0
	}
	for i := range buf {
		buf[i] = x
	}
	s := global[0]
	for i := range buf {
		buf[i] = 0
	}
	return s
}

// AliasField: both may be the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func AliasField(x float64, buf []float64, h list) float64 {
	if len(h.b) == 0 {
		return 0
	}
	for i := range buf {
		buf[i] = x
	}
	s := h.b[0]
	for i := range buf {
		buf[i] = 0
	}
	return s
}

// OneOfThree: both may be the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OneOfThree(x float64, buf, other []float64) float64 {
	if len(other) == 0 {
		return 0
	}
	for i := range buf {
		buf[i] = x
	}
	s := other[0]
	for i := range buf {
		buf[i] = 0
	}
	return s
}

// OrderReceiver: y may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderReceiver(x float64) float64 {
	y := number(0)
	g := func() float64 { y = number(x); return 1 }
	return y.plus(g())
}

// OrderFunction: f may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderFunction(x float64) float64 {
	f := func(a float64) float64 { return a }
	g := func() float64 { f = func(a float64) float64 { return x }; return 1 }
	return f(g())
}

// OrderBounds: n may be read after the call.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func OrderBounds(x, eps float64, src *noise.Source) float64 {
	a := make([]float64, 5)
	n := 0
	g := func() int { n = 4; return 5 }
	b := a[n:g()]
	return 5*x + src.Laplace(float64(len(b))/eps)
}

// OrderPointer: what p leads to may be copied after it is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderPointer(x float64) float64 {
	var s [3]float64
	p := &s
	set := func() int {
		for i := range 3 {
			s[i] = x
		}
		return 0
	}
	f := func(b [3]float64, n int) float64 { return b[0] }
	return f(*p, set())
}

// OrderArrays: s may be copied after it is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderArrays(x float64) float64 {
	var s [3]float64
	set := func() int {
		for i := range 3 {
			s[i] = x
		}
		return 0
	}
	b, _ := s, set()
	return b[0]
}

// OrderLiteral: s may be copied after it is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func OrderLiteral(x float64) float64 {
	var s [3]float64
	set := func() int {
		for i := range 3 {
			s[i] = x
		}
		return 0
	}
	b := cubes{s, set()}
	return b.a[0]
}

// StringerBuf: fmt calls String, which writes to b.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func StringerBuf(x float64) float64 {
	b := make([]float64, 1)
	_ = fmt.Sprint(writer{b, x})
	return b[0]
}

// ErrIs: errors calls Is, which writes to b.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ErrIs(x float64) float64 {
	b := make([]float64, 1)
	_ = errors.Is(wrongly{b, x}, nil)
	return b[0]
}

// StringerFree: fmt calls String, which prints x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func StringerFree(x float64) float64 {
	_ = fmt.Sprint(loudly{x})
	return 0
}

// StringerNum: fmt calls String, which prints x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func StringerNum(x float64) float64 {
	_ = fmt.Sprint(louder(x))
	return 0
}

// StringerSlice: fmt calls String, which prints x.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func StringerSlice(x float64) float64 {
	_ = fmt.Sprint([]loudly{{x}})
	return 0
}

// SprintfPtr: fmt calls String, which writes to b.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SprintfPtr(x float64) float64 {
	b := &writer{make([]float64, 1), x}
	_ = fmt.Sprintf("%v", b)
	return b.b[0]
}

// CondAlias: c is one of the two.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func CondAlias(x float64, k bool) float64 {
	a := make([]float64, 1)
	b := make([]float64, 1)
	c := a
	if k {
		c = b
	}
	c[0] = x
	return a[0] + b[0]
}
