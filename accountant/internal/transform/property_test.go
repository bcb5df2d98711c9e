package transform_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/accountant/internal/transform"
)

func drawLog(t *rapid.T, name string, lo, hi float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
}

func drawTerm(t *rapid.T) transform.Term {
	return transform.Term{
		Sigma:       drawLog(t, "sigma", 0.6, 20),
		Sensitivity: 1,
		Rate:        drawLog(t, "rate", 1e-3, 0.5),
		Count:       int64(drawLog(t, "count", 300, 1e9)),
	}
}

// skipUnsuited ends a case that the method refuses, and fails on any other error.
func skipUnsuited(t *rapid.T, err error) {
	if errors.Is(err, transform.ErrUnsuited) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// More δ, more noise, a smaller rate and fewer steps each need no greater ε; and
// δ(ε(δ)) is δ.
func TestEpsilonIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTerm(t)
		dir := rapid.SampledFrom(directions).Draw(t, "direction")
		delta := drawLog(t, "delta", 1e-12, 0.1)
		more := 1 + drawLog(t, "more", 1e-4, 1)
		at := func(x transform.Term, delta float64) (low, high float64) {
			b, err := compose2(t, dir, x).Epsilon(delta)
			skipUnsuited(t, err)
			return b.Low, b.High
		}
		_, high := at(a, delta)
		for what, less := range map[string]func() (float64, float64){
			"delta": func() (float64, float64) { return at(a, min(1, delta*more)) },
			"sigma": func() (float64, float64) { b := a; b.Sigma *= more; return at(b, delta) },
			"rate":  func() (float64, float64) { b := a; b.Rate /= more; return at(b, delta) },
			"count": func() (float64, float64) { b := a; b.Count = int64(float64(b.Count) / more); return at(b, delta) },
		} {
			if low, _ := less(); low > high {
				t.Errorf("%+v %v at %g: %s is not monotone: %g above %g", a, dir, delta, what, low, high)
			}
		}
		low, high := at(a, delta)
		if low == 0 {
			return
		}
		c := compose2(t, dir, a)
		up, err := c.Delta(low)
		skipUnsuited(t, err)
		down, err := c.Delta(high)
		skipUnsuited(t, err)
		if up.High < delta*(1-1e-12) || down.Low > delta*(1+1e-12) {
			t.Errorf("%+v %v: ε(%g) in [%g, %g], δ there %v and %v", a, dir, delta, low, high, up, down)
		}
	})
}

func compose2(t *rapid.T, d transform.Direction, terms ...transform.Term) *transform.Composition {
	c, err := transform.New(nil, terms, d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Order and grouping of terms do not matter, and more terms never help.
func TestCompositionCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTerm(t), drawTerm(t)
		dir := rapid.SampledFrom(directions).Draw(t, "direction")
		delta := drawLog(t, "delta", 1e-10, 1e-3)
		find := func(terms ...transform.Term) (low, high float64) {
			x, err := compose2(t, dir, terms...).Epsilon(delta)
			skipUnsuited(t, err)
			return x.Low, x.High
		}
		low, high := find(a, b)
		part := a
		part.Count = a.Count / 3
		rest := a
		rest.Count -= part.Count
		if l, h := find(rest, b, part); l != low || h != high {
			t.Errorf("regrouped: [%g, %g] and [%g, %g]", low, high, l, h)
		}
		if l, _ := find(a); l > high {
			t.Errorf("a alone needs %g, with b %g", l, high)
		}
	})
}

// Whatever the parameters: a narrow bracket or ErrUnsuited.
func TestExtremesAreAnsweredOrRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + r.Float64()*math.Log(hi/lo)) }
	answered := 0
	const cases = 60
	for range cases {
		x := transform.Term{Sigma: draw(0.2, 1e3), Sensitivity: 1, Rate: draw(1e-9, 1), Count: int64(draw(1, 1e9))}
		dir := directions[r.IntN(3)]
		delta := draw(1e-300, 0.5)
		b, err := compose(t, dir, x).Epsilon(delta)
		if errors.Is(err, transform.ErrUnsuited) {
			continue
		}
		if err != nil {
			t.Errorf("%+v %v %g: %v", x, dir, delta, err)
			continue
		}
		answered++
		if !(0 <= b.Low && b.Low <= b.Estimate && b.Estimate <= b.High) || b.High-b.Low > max(1e-3*b.High, 1e-6) {
			t.Errorf("%+v %v %g: %v", x, dir, delta, b)
		}
	}
	if answered < cases/2 {
		t.Errorf("%d of %d answered", answered, cases)
	}
}

func TestTinyDelta(t *testing.T) {
	c := compose(t, transform.Remove, transform.Term{Sigma: 1, Sensitivity: 1, Rate: 0.01, Count: 10000})
	b, err := c.Epsilon(1e-300)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Delta(b.Estimate)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "delta", d, 1e-300, 1e-6)
}

// A great many steps make δ(1) as good as 1.
func TestNoPrivacyLeft(t *testing.T) {
	for _, d := range directions {
		b, err := compose(t, d, transform.Term{Sigma: 1, Sensitivity: 1, Rate: 0.1, Count: 1e6}).Delta(1)
		if err != nil {
			t.Fatal(err)
		}
		if b.Low < 1-1e-15 || b.High != 1 {
			t.Errorf("%v: %v", d, b)
		}
	}
}

func TestInvalidInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []transform.Term{
		{0, 1, 0.1, 1}, {-1, 1, 0.1, 1}, {nan, 1, 0.1, 1}, {inf, 1, 0.1, 1},
		{1, nan, 0.1, 1}, {1, -1, 0.1, 1}, {1, inf, 0.1, 1},
		{1, 1, nan, 1}, {1, 1, 1.1, 1}, {1, 1, -0.1, 1}, {1, 1, 0.1, -1},
	} {
		if _, err := transform.New(nil, []transform.Term{x}, transform.Remove); err == nil || errors.Is(err, transform.ErrUnsuited) {
			t.Errorf("%v: %v", x, err)
		}
	}
	c := compose(t, transform.Remove, transform.Term{1, 1, 0.1, 100})
	for _, x := range []float64{nan, -1, inf} {
		if _, err := c.Delta(x); err == nil {
			t.Errorf("delta at %g was found", x)
		}
	}
	for _, x := range []float64{nan, -1, 0} {
		if _, err := c.Epsilon(x); err == nil {
			t.Errorf("epsilon at %g was found", x)
		}
	}
	for _, x := range []float64{nan, 1, 0.5, inf} {
		if _, err := transform.RDP(nil, transform.Term{1, 1, 0.1, 1}, transform.Remove, []float64{x}); err == nil {
			t.Errorf("order %g was found", x)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, x := range []transform.Term{{1, 0, 0.1, 5}, {1, 1, 0, 5}, {1, 1, 0.1, 0}} {
		c := compose(t, transform.Remove, x)
		if b, err := c.Delta(0); err != nil || b.High != 0 {
			t.Errorf("%v: %v, %v", x, b, err)
		}
		if b, err := c.Epsilon(1e-9); err != nil || b.High != 0 {
			t.Errorf("%v: %v, %v", x, b, err)
		}
	}
	// Adding a record cannot lose more than -n log(1-q).
	c := compose(t, transform.Add, transform.Term{1, 1, 0.1, 10})
	if b, err := c.Delta(1.06); err != nil || b.High != 0 {
		t.Errorf("beyond the greatest loss: %v, %v", b, err)
	}
}
