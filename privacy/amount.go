package privacy

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Epsilon, Delta and Rho are exact, non-negative, immutable amounts of privacy
// loss; their zero values are 0.
//
// Epsilon and Delta are those of (ε, δ)-differential privacy, Rho that of zero-
// concentrated differential privacy (Bun and Steinke 2016). Loss is of what else
// adds up, which the place of use names: Σε², Σμ², a Rényi divergence.
type (
	Epsilon = Amount[epsilon]
	Delta   = Amount[delta]
	Rho     = Amount[rho]
	Loss    = Amount[loss]
)

// Amount is the one implementation of Epsilon, Delta, Rho and Loss, which remain
// distinct types: an Epsilon cannot be added to a Delta.
//
// Amounts that enter from outside are refused when they are not zero and below
// 1e-300 (a denormal, or a mistake), when an epsilon exceeds 1e6, a rho or another
// loss 1e12, or a delta is not below 1. Sums and products are not bounded: a total of deltas
// may exceed 1, and then simply promises nothing.
type Amount[K kind] struct {
	_ [0]func() // not comparable with ==, which would compare pointers
	r *big.Rat  // nil is zero; never written to after construction
}

// A Quantity is an Amount of any kind.
type Quantity interface {
	Rat() *big.Rat
	Sign() int
	String() string
}

type kind interface {
	name() string
	admits(r *big.Rat) error // of a positive r
}

type epsilon struct{}
type delta struct{}
type rho struct{}
type loss struct{}

func (epsilon) name() string { return "epsilon" }
func (delta) name() string   { return "delta" }
func (rho) name() string     { return "rho" }
func (loss) name() string    { return "loss" }

func (epsilon) admits(r *big.Rat) error { return atMost(r, 1_000_000) }
func (rho) admits(r *big.Rat) error     { return atMost(r, 1_000_000_000_000) }
func (loss) admits(r *big.Rat) error    { return atMost(r, 1_000_000_000_000) }
func (delta) admits(r *big.Rat) error {
	if r.Cmp(big.NewRat(1, 1)) >= 0 {
		return fmt.Errorf("is not below 1")
	}
	return nil
}

func atMost(r *big.Rat, limit int64) error {
	if r.Cmp(new(big.Rat).SetInt64(limit)) > 0 {
		return fmt.Errorf("exceeds %d", limit)
	}
	return nil
}

// NewEpsilon returns r as an Epsilon.
func NewEpsilon(r *big.Rat) (Epsilon, error) { return newAmount[epsilon](r) }

// NewDelta returns r as a Delta.
func NewDelta(r *big.Rat) (Delta, error) { return newAmount[delta](r) }

// NewRho returns r as a Rho.
func NewRho(r *big.Rat) (Rho, error) { return newAmount[rho](r) }

// NewLoss returns r as a Loss.
func NewLoss(r *big.Rat) (Loss, error) { return newAmount[loss](r) }

// ParseEpsilon reads a decimal such as 0.1 or 1e-3, or a fraction such as 1/3,
// as exactly the number written.
func ParseEpsilon(s string) (Epsilon, error) { return parseAmount[epsilon](s) }

// ParseDelta is ParseEpsilon for a Delta.
func ParseDelta(s string) (Delta, error) { return parseAmount[delta](s) }

// ParseRho is ParseEpsilon for a Rho.
func ParseRho(s string) (Rho, error) { return parseAmount[rho](s) }

// EpsilonFromFloat returns the shortest decimal that reads back as f: the
// number that was written where a format, as TOML, gives only the float64.
func EpsilonFromFloat(f float64) (Epsilon, error) { return amountFromFloat[epsilon](f) }

// DeltaFromFloat is EpsilonFromFloat for a Delta.
func DeltaFromFloat(f float64) (Delta, error) { return amountFromFloat[delta](f) }

// RhoFromFloat is EpsilonFromFloat for a Rho.
func RhoFromFloat(f float64) (Rho, error) { return amountFromFloat[rho](f) }

func newAmount[K kind](r *big.Rat) (Amount[K], error) {
	var k K
	fail := func(reason any) (Amount[K], error) {
		return Amount[K]{}, fmt.Errorf("%s %v", k.name(), reason)
	}
	switch {
	case r == nil:
		return fail("is missing")
	case r.Sign() < 0:
		return fail("is negative")
	case r.Sign() == 0:
		return Amount[K]{}, nil
	// An estimate by lengths first: r may be absurdly small and long.
	case r.Denom().BitLen()-r.Num().BitLen() > 1100 || r.Cmp(smallest()) < 0:
		return fail("is positive but below 1e-300")
	}
	if err := k.admits(r); err != nil {
		return fail(err)
	}
	return Amount[K]{r: new(big.Rat).Set(r)}, nil
}

func smallest() *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), numeric.Pow10(300)) }

func parseAmount[K kind](s string) (Amount[K], error) {
	r, err := numeric.ParseRat(s)
	if err != nil {
		var k K
		return Amount[K]{}, fmt.Errorf("%s: %w", k.name(), err)
	}
	return newAmount[K](r)
}

func amountFromFloat[K kind](f float64) (Amount[K], error) {
	r, err := numeric.FromFloat(f)
	if err != nil {
		var k K
		return Amount[K]{}, fmt.Errorf("%s: %w", k.name(), err)
	}
	return newAmount[K](r)
}

// Rat returns a copy of the exact value.
func (a Amount[K]) Rat() *big.Rat {
	r := new(big.Rat)
	if a.r != nil {
		r.Set(a.r)
	}
	return r
}

// Float64 returns the nearest float64, for display and estimates only: it may be
// rounded down.
func (a Amount[K]) Float64() float64 {
	f, _ := a.Rat().Float64()
	return f
}

// String returns the exact value: its shortest decimal where it has one of at
// most 40 digits, else a fraction such as 1/3.
func (a Amount[K]) String() string { return numeric.FormatRat(a.Rat()) }

// Sign returns 1 if a is positive and 0 if it is zero.
func (a Amount[K]) Sign() int { return a.Rat().Sign() }

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Amount[K]) Cmp(b Amount[K]) int { return a.Rat().Cmp(b.Rat()) }

// Equal reports whether a and b are the same number.
func (a Amount[K]) Equal(b Amount[K]) bool { return a.Cmp(b) == 0 }

// Add returns a + b.
func (a Amount[K]) Add(b Amount[K]) Amount[K] {
	r := a.Rat()
	return Amount[K]{r: r.Add(r, b.Rat())}
}

// MulRat returns a × f. It panics if f is negative.
func (a Amount[K]) MulRat(f *big.Rat) Amount[K] {
	if f.Sign() < 0 {
		panic("privacy: negative factor")
	}
	return Amount[K]{r: new(big.Rat).Mul(a.Rat(), f)}
}

// MarshalText implements encoding.TextMarshaler with the exact form of String.
func (a Amount[K]) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Amount[K]) UnmarshalText(text []byte) (err error) {
	*a, err = parseAmount[K](string(text))
	return err
}

// MarshalJSON writes a number: the exact one where it is a decimal of at most 40
// digits, otherwise 20 digits, rounded up, so that a cost is never understated.
func (a Amount[K]) MarshalJSON() ([]byte, error) {
	if s := a.String(); !bytes.ContainsRune([]byte(s), '/') {
		return []byte(s), nil
	}
	return []byte(numeric.FormatRat(numeric.CeilDigits(a.Rat(), 20))), nil
}

// UnmarshalJSON reads a number, or a string with the form of String.
func (a *Amount[K]) UnmarshalJSON(data []byte) (err error) {
	*a, err = parseAmount[K](string(bytes.Trim(data, `"`)))
	return err
}
