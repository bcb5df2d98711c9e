package plan

import (
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A constant is the value of a constant expression. It is exact where it is rational
// or the root of a rational, which is what sigmas and L2 sensitivities are;
// otherwise it lies within bounds that agree in some 70 digits, and whoever needs
// a rational takes the bound that is against the spender.
type constant struct {
	rat      *big.Rat         // the number, if rational
	square   *big.Rat         // if irrational and known: its square,
	negative bool             // and its sign
	bounds   numeric.Interval // if neither
}

// What an expression may not be; its place is added by the reader.
var (
	errTooLong   = errors.New("a number of more than 1000 digits")
	errDivision  = errors.New("division by zero")
	errRoot      = errors.New("the square root of a negative number")
	errLog       = errors.New("the logarithm of what is not positive")
	errExp       = errors.New("exp of a number beyond ±2000")
	errUndecided = errors.New("too close to a whole number to be rounded")

	maxExp  = big.NewRat(2000, 1)
	tooLong = numeric.Pow10(1000)
)

const roundedDigits = 60 // of a number that is not exact, in an event

func rational(r *big.Rat) constant { return constant{rat: r} }

// rootOf returns √square, or -√square.
func rootOf(square *big.Rat, negative bool) constant {
	if r, ok := numeric.ExactSqrt(square); ok {
		if negative {
			r.Neg(r)
		}
		return rational(r)
	}
	return constant{square: square, negative: negative}
}

func (x constant) interval() numeric.Interval {
	switch {
	case x.rat != nil:
		return numeric.Of(x.rat)
	case x.square == nil:
		return x.bounds
	case x.negative:
		return numeric.Of(x.square).Sqrt().Neg()
	}
	return numeric.Of(x.square).Sqrt()
}

// sign returns -1, 0 or 1; it is 0 also where the bounds do not tell.
func (x constant) sign() int {
	switch {
	case x.rat != nil:
		return x.rat.Sign()
	case x.square != nil && x.negative, x.square == nil && x.bounds.Neg().Positive():
		return -1
	case x.square != nil, x.bounds.Positive():
		return 1
	}
	return 0
}

// squared returns ±x², with the sign of x, if it is rational.
func (x constant) squared() (*big.Rat, bool) {
	switch {
	case x.rat != nil:
		r := new(big.Rat).Mul(x.rat, x.rat)
		if x.rat.Sign() < 0 {
			r.Neg(r)
		}
		return r, true
	case x.square != nil && x.negative:
		return new(big.Rat).Neg(x.square), true
	}
	return x.square, x.square != nil
}

// short reports whether every number that x consists of can be printed and read
// again, which bounds the time that arithmetic takes too.
func (x constant) short() bool {
	if x.rat == nil && x.square == nil {
		return isShort(x.bounds.Lo()) && isShort(x.bounds.Hi())
	}
	return (x.rat == nil || isShort(x.rat)) && (x.square == nil || isShort(x.square))
}

func isShort(r *big.Rat) bool {
	return r.Num().CmpAbs(tooLong) < 0 && r.Denom().Cmp(tooLong) < 0
}

func (x constant) neg() constant {
	switch {
	case x.rat != nil:
		return rational(new(big.Rat).Neg(x.rat))
	case x.square != nil:
		return constant{square: x.square, negative: !x.negative}
	}
	return constant{bounds: x.bounds.Neg()}
}

func (x constant) add(y constant) constant {
	switch {
	case x.rat != nil && y.rat != nil:
		return rational(new(big.Rat).Add(x.rat, y.rat))
	case x.rat != nil && x.rat.Sign() == 0:
		return y
	case y.rat != nil && y.rat.Sign() == 0:
		return x
	}
	return constant{bounds: x.interval().Add(y.interval())}
}

func (x constant) mul(y constant) constant {
	if x.rat != nil && y.rat != nil {
		return rational(new(big.Rat).Mul(x.rat, y.rat))
	}
	a, exactX := x.squared()
	b, exactY := y.squared()
	if exactX && exactY {
		square := new(big.Rat).Mul(a, b)
		return rootOf(new(big.Rat).Abs(square), square.Sign() < 0)
	}
	return constant{bounds: x.interval().Mul(y.interval())}
}

func (x constant) quo(y constant) (constant, error) {
	switch y.sign() {
	case 0:
		return constant{}, errDivision
	case -1:
		return x.neg().quo(y.neg())
	}
	if square, ok := y.squared(); ok {
		inverse := rootOf(new(big.Rat).Inv(square), false)
		return x.mul(inverse), nil
	}
	return constant{bounds: x.interval().Quo(y.interval())}, nil
}

// apply returns the value of a function of constant expressions at x.
func (x constant) apply(function string) (constant, error) {
	switch function {
	case "sqrt":
		return x.sqrt()
	case "exp":
		return x.exp()
	case "ln":
		return x.ln()
	case "floor":
		return x.floor()
	}
	y, err := x.neg().floor() // ⌈x⌉ = -⌊-x⌋
	return y.neg(), err
}

func isFunction(name string) bool {
	switch name {
	case "sqrt", "exp", "ln", "floor", "ceil":
		return true
	}
	return false
}

func (x constant) sqrt() (constant, error) {
	if x.rat != nil && x.rat.Sign() >= 0 {
		return rootOf(x.rat, false), nil
	}
	if x.sign() <= 0 {
		return constant{}, errRoot
	}
	return constant{bounds: x.interval().Sqrt()}, nil
}

func (x constant) ln() (constant, error) {
	if x.sign() <= 0 {
		return constant{}, errLog
	}
	if x.rat != nil && x.rat.Cmp(big.NewRat(1, 1)) == 0 {
		return rational(new(big.Rat)), nil
	}
	return constant{bounds: x.interval().Log()}, nil
}

func (x constant) exp() (constant, error) {
	if x.rat != nil && x.rat.Sign() == 0 {
		return rational(big.NewRat(1, 1)), nil
	}
	z := x.interval()
	if z.Hi().Cmp(maxExp) > 0 || z.Neg().Hi().Cmp(maxExp) > 0 {
		return constant{}, errExp
	}
	return constant{bounds: z.Exp()}, nil
}

func (x constant) floor() (constant, error) {
	z := x.interval()
	if x.rat != nil {
		return rational(new(big.Rat).SetInt(numeric.Floor(x.rat))), nil
	}
	lo, hi := numeric.Floor(z.Lo()), numeric.Floor(z.Hi())
	if lo.Cmp(hi) != 0 {
		return constant{}, errUndecided
	}
	return rational(new(big.Rat).SetInt(lo)), nil
}

// up returns the least rational of 60 digits that is surely not below x, or x
// itself where it is exact; down returns the greatest that is surely not above.
// A number that is not positive stays so: its digits do not matter, because no
// parameter of an event may be negative.
func (x constant) up() *big.Rat {
	if x.rat != nil {
		return x.rat
	}
	return ceilDigits(x.interval().Hi())
}

func (x constant) down() *big.Rat {
	if x.rat != nil {
		return x.rat
	}
	return floorDigits(x.interval().Lo())
}

// upSquare and downSquare do the same for x², with the sign of x, so that a
// square does not hide it.
func (x constant) upSquare() *big.Rat {
	if r, ok := x.squared(); ok {
		return r
	}
	return ceilDigits(signedSquare(x.bounds.Hi()))
}

func (x constant) downSquare() *big.Rat {
	if r, ok := x.squared(); ok {
		return r
	}
	return floorDigits(signedSquare(x.bounds.Lo()))
}

func signedSquare(r *big.Rat) *big.Rat {
	return new(big.Rat).Mul(r, new(big.Rat).Abs(r))
}

func ceilDigits(r *big.Rat) *big.Rat {
	if r.Sign() <= 0 {
		return r
	}
	return numeric.CeilDigits(r, roundedDigits)
}

func floorDigits(r *big.Rat) *big.Rat {
	if r.Sign() <= 0 {
		return r
	}
	return numeric.FloorDigits(r, roundedDigits)
}
