package noise

import (
	"flag"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// definePure adds the flags for the cost of a mechanism that has an epsilon.
func (n *noising) definePure(fs *flag.FlagSet) {
	fs.Func("epsilon", "spend `E`", workplace.Amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("rho", "spend at most `R` of zero-concentrated differential privacy, in place of --epsilon", workplace.Amount(&n.Spend.Rho, privacy.ParseRho))
}

// epsilon is what a mechanism may cost that is charged as ε-DP.
//
// An ε-DP release is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4), so ρ pays
// for ε = √(2ρ), rounded down.
func (n *noising) epsilon() (privacy.Epsilon, error) { return n.epsilonOf(2) }

// epsilonOf is what a mechanism may cost that is ε-DP and ε²/f-zCDP.
func (n *noising) epsilonOf(f int64) (privacy.Epsilon, error) {
	switch rho := n.Spend.Rho; {
	case n.Spend.Epsilon.Sign() > 0 && rho.Sign() > 0:
		return privacy.Epsilon{}, twoCosts()
	case rho.Sign() > 0:
		square := rho.MulRat(big.NewRat(f, 1)).Rat()
		root, exact := numeric.ExactSqrt(square)
		if !exact {
			root = numeric.FloorDigits(numeric.Of(square).Sqrt().Lo(), 20)
		}
		e, err := privacy.NewEpsilon(root)
		if err != nil {
			return e, diagnostic.New("D142", diagnostic.Span{}, "rho %v: %v", rho, err)
		}
		return e, nil
	case n.Spend.Epsilon.Sign() == 0:
		return privacy.Epsilon{}, noCost("--epsilon E, or --rho R")
	}
	return n.Spend.Epsilon, nil
}

func twoCosts() error {
	return diagnostic.New("D115", diagnostic.Span{}, "--epsilon and --rho exclude each other").
		Because("a release has one cost, in one measure")
}

func noCost(flags string) error {
	return diagnostic.New("D070", diagnostic.Span{}, "the cost of the release is missing").Try("give %s", flags)
}

// defineGaussian adds the flags for the cost of Gaussian noise.
func (n *noising) defineGaussian(fs *flag.FlagSet, epsilon string) {
	fs.Func("epsilon", epsilon, workplace.Amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("delta", "spend `D`, with --epsilon", workplace.Amount(&n.Spend.Delta, privacy.ParseDelta))
	fs.Func("rho", "spend `R` of zero-concentrated differential privacy", workplace.Amount(&n.Spend.Rho, privacy.ParseRho))
}

// gaussianRho is what Gaussian noise may cost: the rho that was asked for, or one that
// implies the epsilon and delta that were, on the safe side (accountant.GaussianRho).
func (n *noising) gaussianRho() (privacy.Rho, error) {
	s := n.Spend
	switch {
	case s.Rho.Sign() > 0 && s.Epsilon.Sign() > 0:
		return s.Rho, twoCosts()
	case s.Rho.Sign() > 0 && s.Delta.Sign() > 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "--rho excludes --delta here").
			Because("Gaussian noise costs rho alone")
	case s.Rho.Sign() > 0:
		return s.Rho, nil
	case s.Epsilon.Sign() == 0 && s.Delta.Sign() == 0:
		return s.Rho, noCost("--epsilon E and --delta D, or --rho R")
	case s.Epsilon.Sign() == 0 || s.Delta.Sign() == 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "Gaussian noise has no epsilon without a delta").
			Try("--epsilon E --delta D, or --rho R; Laplace and geometric noise take an epsilon alone")
	}
	rho, err := accountant.GaussianRho(s.Epsilon, s.Delta)
	if err != nil {
		return rho, diagnostic.New("D142", diagnostic.Span{}, "epsilon %v at delta %v: %v", s.Epsilon, s.Delta, err)
	}
	return rho, nil
}
