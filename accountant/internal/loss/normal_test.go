package loss

import (
	"math"
	"math/big"
	"testing"
)

// The truth of these tests: Taylor series in math/big, wide enough that the
// cancellation of e^{x²/2} against itself leaves 300 bits.

const prec = 2600

func num(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Quo(a, b) }

// bigExp is e^x by halving and the series.
func bigExp(x *big.Float) *big.Float {
	halvings := max(0, x.MantExp(nil)+20)
	y := new(big.Float).SetPrec(prec).SetMantExp(x, -halvings)
	sum, term := num(1), num(1)
	for n := 1.0; ; n++ {
		term = quo(mul(term, y), num(n))
		if term.Sign() == 0 || term.MantExp(nil) < -prec {
			break
		}
		sum = add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum
}

// bigPi is Machin's formula.
func bigPi() *big.Float {
	atan := func(inv float64) *big.Float {
		x := quo(num(1), num(inv))
		x2 := mul(x, x)
		sum, power := num(0), x
		for n := 1.0; power.MantExp(nil) > -prec; n += 2 {
			term := quo(power, num(n))
			if int(n)%4 == 1 {
				sum = add(sum, term)
			} else {
				sum = sub(sum, term)
			}
			power = mul(power, x2)
		}
		return sum
	}
	return mul(num(4), sub(mul(num(4), atan(5)), atan(239)))
}

var rootTwoPi = new(big.Float).SetPrec(prec).Sqrt(mul(num(2), bigPi()))

// bigTail is P{Z > x}.
func bigTail(x *big.Float) *big.Float {
	sum, term := num(0), x
	x2 := mul(x, x)
	for n := 0.0; term.Sign() != 0 && (term.MantExp(nil) > -prec || n < 10); n++ {
		sum = add(sum, quo(term, num(2*n+1)))
		term = quo(mul(term, x2), num(-2*(n+1)))
	}
	return sub(num(0.5), quo(sum, rootTwoPi))
}

// bigLog is ln of a positive number as a float64.
func bigLog(x *big.Float) float64 {
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

func bigFloat(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

func TestTailsOfTheNormalLaw(t *testing.T) {
	for _, x := range []float64{-30, -6, -1.5, -1, -0.3, 0, 1e-9, 0.5, 1, 2.5, 4.999, 5, 7, 11.9, 12.1, 20, 37, 40} {
		want := bigTail(num(x))
		allowed := 16 * unit * (4 + max(0, x)*max(0, x)/2)
		if got := logTail(x); math.Abs(got-bigLog(want)) > allowed+4*unit*math.Abs(got) {
			t.Errorf("ln P{Z > %v} = %v, want %v", x, got, bigLog(want))
		}
		density := quo(bigExp(quo(mul(num(-x), num(x)), num(2))), rootTwoPi)
		ratio := bigFloat(quo(want, density))
		if x >= 0 {
			if got := mills(x); math.Abs(got/ratio-1) > 20*unit*(1+min(x, 5)*min(x, 5)/2) {
				t.Errorf("Mills ratio at %v: %v, want %v", x, got, ratio)
			}
			slope := bigFloat(sub(num(1), mul(num(x), quo(want, density))))
			if got := millsSlope(x); math.Abs(got/slope-1) > 1e-13 {
				t.Errorf("slope of the Mills ratio at %v: %v, want %v", x, got, slope)
			}
		}
	}
}

// The slices of the normal law that cells are, from wide to very thin.
func TestSlices(t *testing.T) {
	for _, mu := range []float64{1e-3, 0.3, 1, 5} {
		for _, lo := range []float64{-9, -1.25, -0.0625, 0, 0.5, 3, 8, 30} {
			for _, width := range []float64{3, 0.5, 0.25, 0.125, 1.0 / 64, 1.0 / (1 << 20)} {
				hi := lo + width
				slice := func(shift float64) *big.Float {
					s := num(shift)
					return sub(bigTail(sub(num(lo), s)), bigTail(sub(num(hi), s)))
				}
				p, q := slice(mu), slice(0)
				logP, ratio, rough := shifted(lo, hi, mu)
				far := math.Abs(lo+width/2-mu) + width
				stated := normalRounding(far, mu).rough(rough)
				if e := math.Abs(logP - bigLog(p)); e > stated.Mass+4*unit*math.Abs(logP) {
					t.Errorf("mu %v, (%v, %v]: ln P is off by %.2g, more than the stated %.2g", mu, lo, hi, e, stated.Mass)
				}
				want := bigLog(quo(p, q))
				if math.Abs(want) < 0.5 {
					want = math.Log1p(bigFloat(quo(sub(p, q), q)))
				}
				if e := math.Abs(ratio - want); e > stated.Ratio+4*unit*math.Abs(want) {
					t.Errorf("mu %v, (%v, %v]: ln P/Q is off by %.2g, more than the stated %.2g", mu, lo, hi, e, stated.Ratio)
				}
			}
		}
	}
}

// Theorem 8 of Balle and Wang, at a relative error of 1e-10, down to 1e-300.
func TestGaussianProfile(t *testing.T) {
	for _, mu := range []float64{1e-6, 0.002, 0.02, 0.0999, 0.1, 0.4, 0.5, 1, 3, 20} {
		for _, z := range []float64{-30, -5.1, -4, -0.5, 0, 0.7, 4.9, 5.1, 9, 25, 36.5} {
			epsilon := mu * (z + mu/2)
			if math.Abs(epsilon) > 600 {
				continue
			}
			e := num(epsilon)
			exact := sub(quo(e, num(mu)), quo(num(mu), num(2)))
			want := sub(bigTail(exact), mul(bigExp(e), bigTail(add(exact, num(mu)))))
			p, err := Gaussian(mu)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Delta(epsilon)
			if w := bigFloat(want); w > 1e-305 && !(math.Abs(got/w-1) <= Precision) {
				t.Errorf("mu %v, epsilon %v: delta %v, want %v (%.2g off)", mu, epsilon, got, w, got/w-1)
			}
		}
	}
}
