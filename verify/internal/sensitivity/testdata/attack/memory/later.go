package memory

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type state struct{ n int }
type row struct {
	v float64
	s []float64
	p *state
}
type limits struct{ t float64 }

// SeenField: the filter runs when the field is set.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && bag(d) <= 1
//dp:cost epsilon
func SeenField(ctx context.Context, d dataset.Dataset[row], x float64, epsilon privacy.Epsilon) (int64, error) {
	lim := limits{}
	e := dataset.Where(d, func(r row) bool { return r.v > lim.t })
	lim.t = x
	n, err := dataset.NoisyCount(ctx, noise.System(), e, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// SeenFunc: the filter runs when f is another.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && bag(d) <= 1
//dp:cost epsilon
func SeenFunc(ctx context.Context, d dataset.Dataset[row], x float64, epsilon privacy.Epsilon) (int64, error) {
	f := func(r row) bool { return true }
	e := dataset.Where(d, func(r row) bool { return f(r) })
	f = func(r row) bool { return r.v > x }
	n, err := dataset.NoisyCount(ctx, noise.System(), e, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

func pred(r row) bool { r.s[0] += r.v; return r.s[0] > 10 }

// WritesRecord: records may share what they lead to, so that one is kept for what others are.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func WritesRecord(ctx context.Context, d dataset.Dataset[row], x float64, epsilon privacy.Epsilon) (int64, error) {
	e := dataset.Where(d, pred)
	n, err := dataset.NoisyCount(ctx, noise.System(), e, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

func predp(r row) bool { r.p.n++; return r.p.n > 10 }

// WritesRecordPtr: records may share what they lead to, so that one is kept for what others are.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func WritesRecordPtr(ctx context.Context, d dataset.Dataset[row], x float64, epsilon privacy.Epsilon) (int64, error) {
	e := dataset.Where(d, predp)
	n, err := dataset.NoisyCount(ctx, noise.System(), e, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// SeenMoved: b may be t, which the filter reads later.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && bag(d) <= 1
//dp:cost epsilon
func SeenMoved(ctx context.Context, d dataset.Dataset[row], x float64, c bool, epsilon privacy.Epsilon) (int64, error) {
	t := make([]float64, 1)
	e := dataset.Where(d, func(r row) bool { return r.v > t[0] })
	var b []float64
	if c {
		b = t
	} else {
		b = make([]float64, 1)
	}
	b[0] = x
	n, err := dataset.NoisyCount(ctx, noise.System(), e, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// ShadowAppend: the inner slice is another, or not.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ShadowAppend(x float64, n int) float64 {
	a := make([]float64, n)
	for i := range n {
		a[i] = x
	}
	if n > 0 {
		a := append(a, 0)
		for i := range a {
			a[i] = 0
		}
	}
	return a[0]
}

// ShadowLen: the inner slice is another.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ShadowLen(x, eps float64, src *noise.Source) float64 {
	a := make([]float64, 1)
	if x := 1; x > 0 {
		a := append(a, 0, 0)
		_ = a
	}
	return 3*x + src.Laplace(float64(len(a))/eps)
}

// ShadowVar: the inner slice is another.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ShadowVar(x, eps float64, n int, src *noise.Source) float64 {
	a := make([]float64, 1)
	if n > 0 {
		var a = append(a, 0, 0)
		_ = a
	}
	{
		var a = append(a, 0, 0)
		_ = a
	}
	return 3*x + src.Laplace(float64(len(a))/eps)
}

// RunesOfBytes: three bytes are one letter.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RunesOfBytes(x, eps float64, src *noise.Source) float64 {
	b := []byte{0xe2, 0x82, 0xac}
	n := 0.0
	for range string(b) {
		n++
	}
	return 3*x + src.Laplace(n/eps)
}

// RuneJump: a byte that is no letter is read as 65533.
//
// want: rejected
//
//dp:sensitivity q = 1
func RuneJump(q []byte) int {
	s := 0
	for _, r := range string(q) {
		s += int(r)
	}
	return s
}

// BytesOfRunes: one letter is three bytes.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func BytesOfRunes(x, eps float64, src *noise.Source) float64 {
	b := []rune{0x20ac}
	return x + src.Laplace(1/(eps*float64(len(string(b)))))
}

// Promoted: s.n is s.inner.n.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Promoted(x float64) float64 {
	s := outer{}
	s.n = x
	return s.n
}

// PromotedPtr: s.n is s.inner.n.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PromotedPtr(x float64) float64 {
	s := outerp{&inner{}}
	s.n = x
	return s.n
}

// PromotedInc: s.n is s.inner.n.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func PromotedInc(x float64) float64 {
	s := outer{}
	s.n += x
	return s.inner.n
}

// FieldRound: the second round sees what the first set.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FieldRound(x float64) float64 {
	s := box{make([]float64, 1)}
	y := 0.0
	for range 2 {
		y = s.v[0]
		s.v = []float64{x}
	}
	return y
}

// FieldAfter: the field leads to another slice after the loop.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FieldAfter(x float64, n int) float64 {
	s := box{make([]float64, 1)}
	for range n {
		s.v = []float64{x}
	}
	return s.v[0]
}

// MultiCall: Go finds the place before it sets y.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func MultiCall(x int) float64 {
	y := x
	z := make([]float64, 2)
	get := func() int { return y }
	y, z[get()] = 0, 1
	_ = y
	return z[0]
}

// RangeIndex: Go finds the place before it sets i.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func RangeIndex(x int) float64 {
	z := make([]float64, 2)
	i := x
	for i, z[i] = range []float64{1} {
	}
	_ = i
	return z[0]
}

// Unmarshal: p.N is 1 then.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Unmarshal(x, eps float64, src *noise.Source) float64 {
	p := &num{N: 5}
	err := json.Unmarshal([]byte(`{"N":1}`), p)
	_ = err
	return 5*x + src.Laplace(p.N/eps)
}

// RandRead: b[i] is random.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RandRead(x, eps float64, src *noise.Source) float64 {
	b := make([]byte, 4)
	s := 0.0
	for i := range b {
		b[i] = 200
		_, err := rand.Read(b[i:])
		_ = err
		s = 200*x + src.Laplace(float64(b[i])/eps)
	}
	return s
}

func apply(get func() float64, set func() float64) float64 {
	z := make([]float64, 2)
	z[int(set())] = get()
	return z[0]
}

// ApplyOrder: Go calls set first.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func ApplyOrder(x float64) float64 {
	y := 0.0
	get := func() float64 { return y }
	r := apply(get, func() float64 { y = x; return 0 })
	return r
}

func fill(a []float64, x float64) { a[0] = x }

// FuncValue: b may be a.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FuncValue(x float64, c bool) float64 {
	a := make([]float64, 1)
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	f := fill
	f(b, x)
	return a[0]
}

func call(f func([]float64, float64), a []float64, x float64) { f(a, x) }

// FuncArg: b may be a.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func FuncArg(x float64, c bool) float64 {
	a := make([]float64, 1)
	var b []float64
	if c {
		b = a
	} else {
		b = make([]float64, 1)
	}
	call(fill, b, x)
	return a[0]
}
