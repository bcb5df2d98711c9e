package sensitivity

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

func given(positive ...Expr) *facts { return &facts{positive: positive} }

func half() Expr { return rat(big.NewRat(1, 2)) }

// Equal sums are the same text, however they are written.
func TestNormalForm(t *testing.T) {
	x, y, k, d := named("x"), named("y"), named("k"), named("d")
	over := func(a, b Expr) Expr {
		inverse, _ := b.inverse()
		return a.mul(inverse)
	}
	for _, c := range []struct{ a, b Expr }{
		{x.add(y), y.add(x)},
		{x.add(y).mul(x.sub(y)), x.mul(x).sub(y.mul(y))},
		{over(x.mul(y), y), x},
		{integer(8).sqrt(), integer(2).mul(integer(2).sqrt())},
		{half().sqrt().mul(integer(2).sqrt()), one()},
		{integer(2).mul(k).sqrt().mul(integer(2).mul(k).sqrt()), integer(2).mul(k)},
		{x.add(y).sqrt().mul(x.add(y).sqrt()), x.add(y)},
		{d.log(), over(one(), d).log().neg()},
		{over(over(one(), x.add(y)), over(one(), x.add(y))), one()},
		{Expr{}.exp(), one()},
	} {
		if !c.a.is(c.b) {
			t.Errorf("%s and %s differ", c.a, c.b)
		}
	}
}

func TestNonnegative(t *testing.T) {
	x, y, eps := named("x"), named("y"), named("eps")
	inverse, _ := x.add(y).inverse()
	for _, c := range []struct {
		f    *facts
		e    Expr
		want bool
	}{
		{given(), x, false},
		{given(x), x, true},
		{given(x), x.mul(y), false},
		{given(), x.mul(x), true},
		{given(x, y), x.mul(y), true},
		{given(), (&facts{}).max(x, y).sub(x), true},
		{given(), x.sub((&facts{}).max(x, y)), false},
		{given(), (&facts{}).abs(x).add(x), true},
		{given(), (&facts{}).abs(x).sub(x.mul(integer(2))), false},
		{&facts{nonneg: []Expr{x.sub(one())}}, x.mul(x).sub(x), true},
		{given(x), x.mul(x).sub(x), false},
		{&facts{nonneg: []Expr{x.add(y).sub((&facts{}).max(x.add(y), eps))}}, x.add(y), false}, // which leads back to it
		{given(eps), eps.exp().sub(one()), true},
		{given(eps), eps.exp().sub(one()).sub(eps.mul(integer(2))), false},
		{given(x, y), inverse, true},
		{given(x, y), x.mul(inverse), true},
		{given(x, y), one().sub(x.mul(inverse)), true},
		{given(), integer(2).sqrt().sub(rat(big.NewRat(141, 100))), true},
		{given(), rat(big.NewRat(141, 100)).sub(integer(2).sqrt()), false},
	} {
		if got := c.f.isNonneg(c.e); got != c.want {
			t.Errorf("%s >= 0: %v, want %v", c.e, got, c.want)
		}
	}
}

// Law: what is said not to be negative is not, at any parameters for which the facts
// hold; and arithmetic means what it says.
func TestNonnegativeHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// In steps, for a quotient by what is almost 0 cancels to nothing but rounding.
		step := func(least int, name string) float64 { return float64(rapid.IntRange(least, 192).Draw(t, name)) / 64 }
		at := map[string]float64{"x": step(1, "x"), "y": step(-192, "y"), "n": float64(rapid.IntRange(1, 9).Draw(t, "n"))}
		f := &facts{positive: []Expr{named("x")}, nonneg: []Expr{named("n").sub(one())}}
		var draw func(depth int) (Expr, float64)
		draw = func(depth int) (Expr, float64) {
			if depth == 0 {
				if name := rapid.SampledFrom([]string{"x", "y", "n", ""}).Draw(t, "leaf"); name != "" {
					return named(name), at[name]
				}
				k := rapid.Int64Range(-3, 3).Draw(t, "k")
				return integer(k), float64(k)
			}
			a, u := draw(depth - 1)
			b, v := draw(depth - 1)
			switch rapid.IntRange(0, 6).Draw(t, "operation") {
			case 0:
				return a.add(b), u + v
			case 1:
				return a.sub(b), u - v
			case 2:
				return a.mul(b), u * v
			case 3:
				return f.max(a, b), max(u, v)
			case 4:
				return f.min(a, b), min(u, v)
			case 5:
				return f.abs(a), math.Abs(u)
			}
			if inverse, ok := b.inverse(); ok && v != 0 {
				return a.mul(inverse), u / v
			}
			return a, u
		}
		e, v := draw(3)
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e6 {
			return
		}
		if got := e.eval(at); math.Abs(got-v) > 1e-6*(1+math.Abs(v)) && !math.IsNaN(got) && !math.IsInf(got, 0) {
			t.Fatalf("%s is %v, want %v", e, got, v)
		}
		if f.isNonneg(e) && v < -1e-6 {
			t.Fatalf("%s is said not to be negative, and is %v at %v", e, v, at)
		}
		if f.isPositive(e) && v < -1e-6 {
			t.Fatalf("%s is said to be positive, and is %v at %v", e, v, at)
		}
	})
}

// Zero times infinity is infinite: only a product that is known to be 0 is 0.
func TestZeroTimesInfinity(t *testing.T) {
	e := env{"x": {infinite: &Refusal{Reason: "a branch"}}, "y": {most: one()}}
	s := e.scale(Expr{})
	if s["x"].infinite == nil {
		t.Error("0 times infinity is finite")
	}
	if _, ok := s["y"]; ok {
		t.Error("0 times 1 is something")
	}
}

// Law: the analysis ends, also of functions whose numbers are made of each other so that they,
// or the cases that their signs are told apart into, are twice as many with each statement.
func TestManyCasesEnd(t *testing.T) {
	repeated := func(statement string) string { return strings.Repeat(statement+"\n", 100) }
	for _, c := range []struct{ body, refusal string }{
		{repeated("a = max(a-b, c-a)"), "a number that is written with more than 10000 symbols of others"},
		{repeated("a = min(max(a, b), max(c, a), d)"), "a number that is written with more than 10000 symbols of others"},
		{repeated("n = n % (n + 1)"), "a number that is written with more than 10000 symbols of others"},
		{repeated("a = (a + b) * (a + c)"), "a product of more than 10000 terms"},
		{strings.Repeat("a = max(a, b)*max(a, c) + a\n", 5) + repeated("b = max(a, c)"), "signs of numbers that have too many cases"},
	} {
		ended := make(chan error)
		go func() {
			p := programOf(t, "func F(x, a, b, c, d float64, n int) float64 {\n"+c.body+"return x * a * float64(n)\n}")
			_, err := p.infer("p.F", []Input{{Name: "x"}}, claim.L1)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil || err.Error() != c.refusal {
				t.Errorf("%v, want %s:\n%s", err, c.refusal, c.body)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the analysis does not end:\n%s", c.body)
		}
	}
}

// Rows are read in both branches of a condition.
func TestRowsOfBranches(t *testing.T) {
	p := programOf(t, `func F(h [][]float64, c float64) float64 {
	s := 0.0
	for j := 1; j < 3; j++ {
		if c > 0 {
			s += h[j][0]
		} else {
			s += h[j][1]
		}
	}
	return s
}`)
	s, err := p.infer("p.F", []Input{{Name: "h"}}, claim.L1)
	if err != nil || s.Inputs[0].Infinite != nil {
		t.Errorf("%v, %v", s, err)
	}
}
