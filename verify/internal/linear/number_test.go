package linear

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// numbers are near the places where int64 overflows as often as not.
func numbers() *rapid.Generator[number] {
	part := rapid.OneOf(rapid.Int64Range(-20, 20), rapid.SampledFrom([]int64{
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, 3037000499, 3037000500, -3037000500,
	}), rapid.Int64())
	return rapid.Custom(func(t *rapid.T) number {
		r := new(big.Rat).SetInt64(part.Draw(t, "numerator"))
		if d := part.Draw(t, "denominator"); d != 0 {
			r.Quo(r, new(big.Rat).SetInt64(d))
		}
		if rapid.IntRange(0, 9).Draw(t, "square") == 0 {
			r.Mul(r, r)
		}
		return fromBig(r)
	})
}

func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := numbers().Draw(t, "x"), numbers().Draw(t, "y")
		a, b := x.rat(), y.rat()
		same := func(what string, got number, want *big.Rat) {
			if got.rat().Cmp(want) != 0 {
				t.Fatalf("%s of %v and %v: got %v, want %v", what, a, b, got.rat(), want)
			}
			if canonical := fromBig(want); (canonical.big == nil) != (got.big == nil) || canonical.big == nil && canonical != got {
				t.Fatalf("%s of %v and %v is %+v, not in its one form", what, a, b, got)
			}
			if got.sign() != want.Sign() || got.isInt() != want.IsInt() || got.isZero() != (want.Sign() == 0) {
				t.Fatalf("%s of %v and %v: %v is told wrong", what, a, b, want)
			}
		}
		same("sum", x.add(y), new(big.Rat).Add(a, b))
		same("difference", x.sub(y), new(big.Rat).Sub(a, b))
		same("product", x.mul(y), new(big.Rat).Mul(a, b))
		same("negation", x.neg(), new(big.Rat).Neg(a))
		if !x.isZero() {
			same("inverse", x.inv(), new(big.Rat).Inv(a))
		}
		floor := new(big.Rat).SetInt(new(big.Int).Div(a.Num(), a.Denom()))
		same("floor", x.floor(), floor)
		ceil := new(big.Rat).Neg(a)
		ceil.SetInt(new(big.Int).Neg(new(big.Int).Div(ceil.Num(), ceil.Denom())))
		same("ceiling", x.ceil(), ceil)
		if x.cmp(y) != a.Cmp(b) || x.equal(y) != (a.Cmp(b) == 0) {
			t.Fatalf("%v and %v compare wrong", a, b)
		}
	})
}

func TestContentMakesCoprimeIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ms []monomial
		gcd := new(big.Int)
		for _, x := range rapid.SliceOfN(numbers(), 1, 5).Draw(t, "coefficients") {
			if !x.isZero() {
				ms = append(ms, monomial{coef: x})
			}
		}
		if len(ms) == 0 {
			return
		}
		g := content(ms)
		for _, m := range ms {
			x := m.coef.mul(g.inv()).rat()
			if !x.IsInt() {
				t.Fatalf("%v/%v is no integer", m.coef.rat(), g.rat())
			}
			gcd.GCD(nil, nil, gcd, new(big.Int).Abs(x.Num()))
		}
		if g.sign() <= 0 || gcd.Cmp(big.NewInt(1)) != 0 {
			t.Fatalf("the content %v leaves the divisor %v", g.rat(), gcd)
		}
	})
}
