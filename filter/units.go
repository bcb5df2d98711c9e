package filter

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// unitDigits sets the unit in which budgets are kept: 10^-40, for every measure.
// A decimal unit lets ten times 0.1 be 1 exactly; this one is below any delta
// that means something and, at 10^6, still far from being long.
const unitDigits = 40

// Units counts an amount that is not negative, in units of 10^-40. The zero
// Units is 0. Units are immutable.
type Units struct{ n *big.Int } // nil is zero

// floorUnits rounds a budget, which is not negative, down.
func floorUnits(r *big.Rat) Units {
	q, _ := inUnits(r)
	return Units{q}
}

// ceilUnits rounds a charge, which is not negative, up.
func ceilUnits(r *big.Rat) Units {
	q, rest := inUnits(r)
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return Units{q}
}

func inUnits(r *big.Rat) (quotient, rest *big.Int) {
	n := numeric.Pow10(unitDigits)
	return n.QuoRem(n.Mul(n, r.Num()), r.Denom(), new(big.Int))
}

func (u Units) int() *big.Int {
	if u.n == nil {
		return new(big.Int)
	}
	return u.n
}

// Rat returns the amount.
func (u Units) Rat() *big.Rat { return new(big.Rat).SetFrac(u.int(), numeric.Pow10(unitDigits)) }

// Sign returns 1 if u is positive and 0 if it is zero.
func (u Units) Sign() int { return u.int().Sign() }

// Cmp returns -1, 0 or 1 as u is less than, equal to or greater than v.
func (u Units) Cmp(v Units) int { return u.int().Cmp(v.int()) }

func (u Units) add(v Units) Units { return Units{new(big.Int).Add(u.int(), v.int())} }

func (u Units) sub(v Units) Units {
	if u.Cmp(v) <= 0 {
		return Units{}
	}
	return Units{new(big.Int).Sub(u.int(), v.int())}
}

func (u Units) times(n *big.Int) Units { return Units{new(big.Int).Mul(u.int(), n)} }

// String returns the count, a whole number.
func (u Units) String() string { return u.int().String() }

// MarshalText implements encoding.TextMarshaler with the form of String.
func (u Units) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *Units) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "" || len(s) > 200 || strings.Trim(s, "0123456789") != "" {
		return errors.New("not a count of units")
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return fmt.Errorf("not a count of units: %q", s)
	}
	u.n = n
	return nil
}
