package ratio

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A fraction is the value of its expression, over what is positive: whatever cancels, also
// where variables are negative.
func TestFractionsAreTrue(t *testing.T) {
	ops := []program.Op{program.Add, program.Sub, program.Mul, program.Quo, program.Quo}
	quotients := 0
	property := func(t *rapid.T) {
		r, at := newRegion(), map[string]*big.Rat{}
		var leaves []program.Expression
		for _, name := range []string{"p", "q"} {
			sign := rapid.SampledFrom([]int64{-1, 1}).Draw(t, "sign")
			at[name] = big.NewRat(sign*int64(rapid.IntRange(1, 7).Draw(t, name)), 3)
			if sign > 0 {
				r.above(name, bound{zero, true})
			} else {
				r.below(name, bound{zero, true})
			}
			leaves = append(leaves, program.Ref{Var: &program.Variable{Name: name, Sort: program.Real}})
		}
		leaves = append(leaves, program.Number{Value: big.NewRat(2, 1), Sort: program.Real})
		var draw func(depth int) (program.Expression, *big.Rat)
		draw = func(depth int) (program.Expression, *big.Rat) {
			if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
				e := rapid.SampledFrom(leaves).Draw(t, "of")
				if v, ok := e.(program.Ref); ok {
					return e, at[v.Var.Name]
				}
				return e, big.NewRat(2, 1)
			}
			x, a := draw(depth - 1)
			y, b := draw(depth - 1)
			op, z := rapid.SampledFrom(ops).Draw(t, "op"), new(big.Rat)
			switch {
			case op == program.Add:
				z.Add(a, b)
			case op == program.Sub:
				z.Sub(a, b)
			case op == program.Mul:
				z.Mul(a, b)
			case b.Sign() != 0:
				z.Quo(a, b)
			}
			return program.Binary{Op: op, X: x, Y: y}, z
		}
		e, want := draw(4)
		f, err := algebra{r}.fraction(e)
		if err != nil {
			return
		}
		if len(f.den.variables()) > 0 {
			quotients++
		}
		if len(f.num) == 0 && want.Sign() != 0 {
			t.Fatalf("%v is 0", e)
		}
		den := rationally(f.den, at)
		if den.Sign() <= 0 {
			t.Fatalf("%v is %v, whose denominator is %v at %v", e, f, den, at)
		}
		if got := den.Quo(rationally(f.num, at), den); got.Cmp(want) != 0 {
			t.Fatalf("%v is %v, %v instead of %v at %v", e, f, got, want, at)
		}
	}
	// One in seven draws has such a quotient: a hundred have none once in two million runs.
	for i := 0; i < 20 && quotients == 0; i++ {
		rapid.Check(t, property)
	}
	if quotients == 0 {
		t.Error("nothing was divided by a variable")
	}
}

// rationally evaluates a polynomial with whole powers, which may be negative.
func rationally(p polynomial, at map[string]*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, t := range p {
		x := new(big.Rat).Set(t.coef)
		for v, e := range t.powers {
			k := e.Num().Int64()
			y := at[v]
			if k < 0 {
				k, y = -k, new(big.Rat).Inv(y)
			}
			for range k {
				x.Mul(x, y)
			}
		}
		sum.Add(sum, x)
	}
	return sum
}
