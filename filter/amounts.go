package filter

import (
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
)

// Amounts is a Total as amounts; those that a measure does not use are zero.
type Amounts struct {
	Epsilon privacy.Epsilon `json:"epsilon"`
	Delta   privacy.Delta   `json:"delta"`
	Rho     privacy.Rho     `json:"rho"`

	EpsilonSquared privacy.Loss `json:"epsilon_squared,omitzero"` // whitehouse: Σε²
	Renyi          privacy.Loss `json:"renyi,omitzero"`           // rdp: the divergence at the filter's order
	MuSquared      privacy.Loss `json:"mu_squared,omitzero"`      // gdp: Σμ²
}

// A Part is one of Amounts, with its name for people.
type Part struct {
	Name   string
	Amount privacy.Quantity
}

// In returns the amounts that a measure uses, the one that is its own first.
func (a Amounts) In(m Measure) []Part {
	delta := Part{"delta", a.Delta}
	switch m {
	case Pure:
		return []Part{{"epsilon", a.Epsilon}}
	case ZCDP:
		return []Part{{"rho", a.Rho}, delta}
	case Whitehouse:
		return []Part{{"epsilon^2", a.EpsilonSquared}, delta}
	case RDP:
		return []Part{{"renyi", a.Renyi}, delta}
	case GDP:
		return []Part{{"mu^2", a.MuSquared}, delta}
	}
	return []Part{{"epsilon", a.Epsilon}, delta}
}

// Positive returns the amounts that are not zero.
func (a Amounts) Positive() []Part {
	var parts []Part
	for _, p := range []Part{{"rho", a.Rho}, {"epsilon^2", a.EpsilonSquared}, {"renyi", a.Renyi}, {"mu^2", a.MuSquared},
		{"epsilon", a.Epsilon}, {"delta", a.Delta}} {
		if p.Amount.Sign() > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// One unit times a count: sums of admitted amounts may exceed what NewEpsilon and
// the others admit from outside. A zero that is made so is not the zero value, and
// is not left out of JSON.

func epsilonOf(u Units) privacy.Epsilon { return scale(privacy.NewEpsilon, u.Rat()) }
func deltaOf(u Units) privacy.Delta     { return scale(privacy.NewDelta, u.Rat()) }
func rhoOf(u Units) privacy.Rho         { return scale(privacy.NewRho, u.Rat()) }
func lossOf(u Units) privacy.Loss       { return scale(privacy.NewLoss, u.Rat()) }
func rhoOfRat(r *big.Rat) privacy.Rho   { return scale(privacy.NewRho, r) }

func scale[A interface{ MulRat(*big.Rat) A }](amount func(*big.Rat) (A, error), r *big.Rat) A {
	half, err := amount(big.NewRat(1, 2))
	if err != nil {
		panic("filter: a half is not an amount: " + err.Error())
	}
	return half.MulRat(r.Mul(r, big.NewRat(2, 1)))
}
