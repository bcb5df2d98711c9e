// Package numeric does the arithmetic that a privacy guarantee rests on:
// decimals read and printed exactly, as rationals, and bounds of exp, ln and
// sqrt that are rounded in a direction the caller names.
//
// It guarantees that Down <= the true value <= Up, for every function and every
// argument it accepts; it does not guarantee that the two are the nearest such
// numbers. Nothing here goes through float64.
package numeric

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Limits on the text of a number. They keep a short hostile text such as
// 1e-400000 from becoming a number of megabytes.
const (
	maxTextLen  = 1000
	maxExponent = 1000
)

// ErrSyntax is wrapped by the errors about text that is not a number.
var ErrSyntax = errors.New("not a decimal number")

// ParseDecimal reads a decimal such as 3, -0.25 or 1e-7 as exactly the number
// written. It refuses everything else that Go or C would take for a number:
// NaN, infinities, hexadecimal, underscores, blanks; also texts longer than
// 1000 bytes and exponents beyond ±1000.
func ParseDecimal(s string) (*big.Rat, error) {
	if len(s) > maxTextLen {
		return nil, fmt.Errorf("parse number: longer than %d bytes", maxTextLen)
	}
	rest := s
	neg := strings.HasPrefix(rest, "-")
	if neg || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	mantissa, exponent, hasExp := cutAny(rest, "eE")
	whole, frac, _ := strings.Cut(mantissa, ".")
	if !digits(whole) || !digits(frac) || whole+frac == "" {
		return nil, fmt.Errorf("parse %q: %w", s, ErrSyntax)
	}
	exp := 0
	if hasExp {
		unsigned := strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
		if !digits(unsigned) || unsigned == "" || len(exponent) > len(unsigned)+1 {
			return nil, fmt.Errorf("parse %q: %w", s, ErrSyntax)
		}
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp < -maxExponent || exp > maxExponent {
			return nil, fmt.Errorf("parse %q: exponent beyond ±%d", s, maxExponent)
		}
	}
	n, _ := new(big.Int).SetString(whole+frac, 10)
	if neg {
		n.Neg(n)
	}
	r := new(big.Rat).SetInt(n)
	if exp -= len(frac); exp >= 0 {
		return r.Mul(r, new(big.Rat).SetInt(Pow10(exp))), nil
	}
	return r.Quo(r, new(big.Rat).SetInt(Pow10(-exp))), nil
}

// ParseRat reads what FormatRat prints: a decimal, or a fraction of two whole
// numbers such as 1/3.
func ParseRat(s string) (*big.Rat, error) {
	num, den, isFraction := strings.Cut(s, "/")
	if !isFraction {
		return ParseDecimal(s)
	}
	if len(s) > maxTextLen {
		return nil, fmt.Errorf("parse number: longer than %d bytes", maxTextLen)
	}
	if unsigned := strings.TrimPrefix(num, "-"); unsigned == "" || !digits(unsigned) || den == "" || !digits(den) {
		return nil, fmt.Errorf("parse %q: %w", s, ErrSyntax)
	}
	n, _ := new(big.Int).SetString(num, 10)
	d, _ := new(big.Int).SetString(den, 10)
	if d.Sign() == 0 {
		return nil, fmt.Errorf("parse %q: division by zero", s)
	}
	return new(big.Rat).SetFrac(n, d), nil
}

// FromFloat returns the shortest decimal that reads back as f, exactly: 0.1 is
// one tenth. It refuses NaN, infinities and denormals.
func FromFloat(f float64) (*big.Rat, error) {
	switch {
	case math.IsNaN(f), math.IsInf(f, 0):
		return nil, fmt.Errorf("number %v is not finite", f)
	case f != 0 && math.Abs(f) < 0x1p-1022:
		return nil, fmt.Errorf("number %v is denormal", f)
	}
	return ParseDecimal(strconv.FormatFloat(f, 'g', -1, 64))
}

// maxDigits is the length of the decimals that FormatRat prints; a finite but
// longer one, such as 1/2^62, is shorter as a fraction.
const maxDigits = 40

// FormatRat prints r exactly: as its shortest decimal, where it has one of at
// most 40 digits, otherwise as a fraction.
func FormatRat(r *big.Rat) string {
	if s, ok := formatDecimal(r); ok {
		return s
	}
	return r.String()
}

func formatDecimal(r *big.Rat) (string, bool) {
	// r is a finite decimal if and only if its denominator is 2^a·5^b; it has
	// then max(a, b) digits after the point.
	d := new(big.Int).Set(r.Denom())
	twos := int(d.TrailingZeroBits())
	d.Rsh(d, uint(twos))
	fives, five, rem := 0, big.NewInt(5), new(big.Int)
	for q := new(big.Int); ; fives++ {
		if q.QuoRem(d, five, rem); rem.Sign() != 0 {
			break
		}
		d, q = q, d
	}
	if !d.IsInt64() || d.Int64() != 1 {
		return "", false
	}
	places := max(twos, fives)
	n := new(big.Int).Mul(r.Num(), Pow10(places))
	n.Quo(n, r.Denom())
	text := new(big.Int).Abs(n).String()
	trimmed := strings.TrimRight(text, "0")
	if len(trimmed) > maxDigits {
		return "", false
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	switch exp := len(text) - places; { // the value is 0.text × 10^exp
	case n.Sign() == 0:
		return "0", true
	case exp > 21 || exp < -5: // as strconv's %g does, and ECMAScript
		mantissa := trimmed[:1]
		if len(trimmed) > 1 {
			mantissa += "." + trimmed[1:]
		}
		return fmt.Sprintf("%s%se%d", sign, mantissa, exp-1), true
	case exp <= 0:
		return sign + "0." + strings.Repeat("0", -exp) + trimmed, true
	case exp >= len(trimmed):
		return sign + trimmed + strings.Repeat("0", exp-len(trimmed)), true
	default:
		return sign + trimmed[:exp] + "." + trimmed[exp:], true
	}
}

// Pow10 returns 10^n for n >= 0.
func Pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func cutAny(s, seps string) (before, after string, found bool) {
	if i := strings.IndexAny(s, seps); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
