package numeric

import (
	"math"
	"math/big"
)

// Ceil returns the least integer not below r.
func Ceil(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Floor returns the greatest integer not above r.
func Floor(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom())
}

// CeilDigits returns the least decimal of at most n significant digits that is
// not below r, which must not be negative.
func CeilDigits(r *big.Rat, n int) *big.Rat { return roundDigits(r, n, Ceil) }

// FloorDigits returns the greatest decimal of at most n significant digits that
// is not above r, which must not be negative.
func FloorDigits(r *big.Rat, n int) *big.Rat { return roundDigits(r, n, Floor) }

// Decimal writes a number that is not negative as a decimal: as it is where FormatRat has one, else with 20 significant digits, by CeilDigits
// or FloorDigits.
func Decimal(r *big.Rat, round func(*big.Rat, int) *big.Rat) string {
	if s, ok := formatDecimal(r); ok {
		return s
	}
	return FormatRat(round(r, 20))
}

func roundDigits(r *big.Rat, n int, round func(*big.Rat) *big.Int) *big.Rat {
	if r.Sign() <= 0 {
		return new(big.Rat)
	}
	// Scaled by 10^places, r lies between 10^(n-1) and 10^(n+1): bits counts its
	// binary digits, too many by at most one.
	bits := r.Num().BitLen() - r.Denom().BitLen()
	places := n - int(math.Floor(float64(bits)*math.Log10(2)))
	scale := pow10(places)
	for new(big.Rat).Mul(r, scale).Cmp(pow10(n)) > 0 {
		scale = pow10(places - 1)
		places--
	}
	units := round(new(big.Rat).Mul(r, scale))
	return new(big.Rat).Quo(new(big.Rat).SetInt(units), scale)
}

func pow10(n int) *big.Rat {
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), Pow10(-n))
	}
	return new(big.Rat).SetInt(Pow10(n))
}

// ExactSqrt returns the square root of r if it is rational.
func ExactSqrt(r *big.Rat) (*big.Rat, bool) {
	if r.Sign() < 0 {
		return nil, false
	}
	n, d := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
	root := new(big.Rat).SetFrac(n, d)
	return root, new(big.Rat).Mul(root, root).Cmp(r) == 0
}
