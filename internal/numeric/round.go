package numeric

import "math/big"

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
// not below r, which must be positive or zero.
func CeilDigits(r *big.Rat, n int) *big.Rat {
	if r.Sign() == 0 {
		return new(big.Rat)
	}
	// 10^(places) scales r to n or n+1 digits before the point.
	bits := r.Num().BitLen() - r.Denom().BitLen()
	places := n - int(float64(bits)*0.30103)
	scale := new(big.Rat).SetInt(Pow10(max(places, -places)))
	if places < 0 {
		scale.Inv(scale)
	}
	c := Ceil(new(big.Rat).Mul(r, scale))
	for limit := Pow10(n); c.Cmp(limit) > 0; {
		c = Ceil(new(big.Rat).SetFrac(c, big.NewInt(10)))
		scale.Quo(scale, big.NewRat(10, 1))
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(c), scale)
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
