package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Claims are what is known of one event, in each representation that an
// accountant may work in; those that nothing is known in are nil. All are upper
// bounds; exact rationals are exact, or rounded up.
type claims struct {
	// point is an (ε, δ) that holds as it stands, and tight says that it is all that
	// is known: the worst mechanism of the event attains it at every (ε, δ).
	point func() (eps, delta *big.Rat)
	tight bool
	// curve is an ε for the δ whose natural logarithm is given; +Inf if there is none.
	curve func(logDelta float64) float64
	// rdp writes an upper bound of the Rényi divergence at each order, in both
	// directions, with a relative error of at most rdpError; +Inf where there is none.
	rdp func(orders, out []float64)
	// odd says that every odd Pearson-Vajda pseudo-divergence of the event's
	// dominating pair is positive, a condition of Zhu and Wang (see poissonRDP).
	odd bool
	// zcdp is a ρ and δ of δ-approximate zCDP.
	zcdp func() (rho, delta *big.Rat)
	// gdp is the square of a μ of Gaussian differential privacy, and exact says that
	// the event is as bad as that.
	gdp   func() *big.Rat
	exact bool
	// alone answers for the event when it is the whole plan, and remembers what it said.
	alone func(q question) (answer, error)
}

// describe is the one place that knows the kinds of events.
func describe(meter *work.Meter, e privacy.Event, rel privacy.Neighbours) (claims, error) {
	switch e := privacy.AtDistance(e, privacy.Distance(rel)).(type) {
	case privacy.Laplace:
		eps := new(big.Rat).Quo(e.Sensitivity, e.Scale)
		c := pureClaims(eps, false)
		c.rdp, c.odd = each(laplaceRDP(toFloat(eps))), true
		return c, nil
	case privacy.DiscreteLaplace:
		c := pureClaims(new(big.Rat).Quo(e.Sensitivity, e.Scale), false)
		if e.Sensitivity.IsInt() {
			scale, _ := e.Scale.Float64()
			c.rdp = each(discreteLaplaceRDP(scale, toFloat(e.Sensitivity)))
		}
		return c, nil
	case privacy.Gaussian:
		return gaussianClaims(new(big.Rat).Quo(e.SensitivitySquared, e.Variance)), nil
	case privacy.DiscreteGaussian:
		rho := new(big.Rat).Quo(e.SensitivitySquared, e.Variance)
		return zcdpClaims(meter, rho.Quo(rho, big.NewRat(2, 1))), nil
	case privacy.RepeatAndSelect:
		return selectClaims(meter, e, rel)
	case privacy.Skellam:
		return skellamClaims(meter, e), nil
	case privacy.Tree:
		return gaussianClaims(treeMuSquared(e)), nil
	case privacy.GDP:
		return gaussianClaims(new(big.Rat).Mul(e.Mu, e.Mu)), nil
	case privacy.Pure:
		return pureClaims(e.Epsilon.Rat(), true), nil
	case privacy.PermuteAndFlip:
		return pureClaims(e.Epsilon.Rat(), false), nil
	case privacy.NoisyMax:
		return pureClaims(e.Epsilon.Rat(), false), nil
	case privacy.SparseVector:
		return pureClaims(e.Epsilon.Rat(), false), nil
	case privacy.Exponential:
		return exponentialClaims(e.Epsilon.Rat()), nil
	case privacy.Approx:
		return approxClaims(e.Epsilon.Rat(), e.Delta.Rat(), true), nil
	case privacy.Selection:
		return approxClaims(e.Epsilon.Rat(), e.Delta.Rat(), true), nil
	case privacy.ZCDP:
		return zcdpClaims(meter, e.Rho.Rat()), nil
	case privacy.RDP:
		return claims{rdp: givenRDP(e), curve: curveOfRDP(givenRDP(e))}, nil
	case privacy.Pair:
		return pairClaims(e)
	case privacy.RandomizedResponse:
		if rel == privacy.ReplaceSpecial {
			return specialResponseClaims(e)
		}
		return responseClaims(e), nil
	case privacy.Poisson:
		return poissonClaims(meter, e, rel)
	case privacy.TruncatedPoisson:
		return truncatedClaims(meter, e, rel)
	case groupSample:
		return e.claims(meter)
	case groupPoint:
		c, err := describe(meter, e.Event, rel)
		c.tight = false
		return c, err
	case privacy.WithoutReplacement:
		return withoutReplacementClaims(meter, e)
	case privacy.WithReplacement:
		return withReplacementClaims(meter, e)
	case privacy.Shuffled:
		return shuffledClaims(meter, e)
	}
	return claims{}, fmt.Errorf("%v: not accounted for", e)
}

// treeMuSquared is that of the Gaussian mechanism that releases all nodes of the
// tree: a unit's leaf lies below ⌈log2 leaves⌉+1 of them, and a replacement moves
// these by twice the sensitivity if it stays in the leaf, which is farther than to
// another.
func treeMuSquared(e privacy.Tree) *big.Rat {
	levels := int64(1)
	for n := int64(1); n < e.Leaves && levels < 64; n *= 2 {
		levels++
	}
	s2 := new(big.Rat).Mul(e.Sensitivity, e.Sensitivity)
	s2.Mul(s2, new(big.Rat).SetInt64(levels))
	return s2.Quo(s2, new(big.Rat).Mul(e.Sigma, e.Sigma))
}

// pureClaims are those of any ε-DP event.
func pureClaims(eps *big.Rat, tight bool) claims {
	e := toFloat(eps)
	return claims{
		point: func() (*big.Rat, *big.Rat) { return eps, new(big.Rat) },
		tight: tight,
		rdp:   each(pureRDP(e)),
		zcdp:  func() (*big.Rat, *big.Rat) { return pureRho(eps), new(big.Rat) },
		gdp:   func() *big.Rat { return pureMuSquared(e) },
	}
}

// approxClaims are those of any (ε, δ)-DP event. It is, but for a part of mass δ,
// ε-DP: both output laws are made from one (ε, δ)-randomized response (Kairouz, Oh
// and Viswanath 2015); so it is δ-approximate zCDP.
func approxClaims(eps, delta *big.Rat, tight bool) claims {
	if delta.Sign() == 0 {
		return pureClaims(eps, tight)
	}
	return claims{
		point: func() (*big.Rat, *big.Rat) { return eps, delta },
		tight: tight,
		zcdp:  func() (*big.Rat, *big.Rat) { return pureRho(eps), delta },
	}
}

// zcdpClaims are those of any ρ-zCDP event: by definition its Rényi divergence at
// order α is at most αρ (Bun and Steinke 2016).
func zcdpClaims(meter *work.Meter, rho *big.Rat) claims {
	r := upFloat(rho)
	return claims{
		curve: func(logDelta float64) float64 {
			meter.Spend(16 * perTerm) // a search by rational arithmetic
			return zcdpCurve(rho, logDelta)
		},
		rdp:  each(func(order float64) float64 { return order * r }),
		zcdp: func() (*big.Rat, *big.Rat) { return rho, new(big.Rat) },
	}
}

// gaussianClaims are those of an event as hard to tell apart as N(0,1) and N(μ,1).
func gaussianClaims(mu2 *big.Rat) claims {
	mu := upRoot(mu2)
	rho := new(big.Rat).Quo(mu2, big.NewRat(2, 1))
	c := zcdpClaims(nil, rho)
	c.curve = func(logDelta float64) float64 { return gaussianEpsilon(mu, logDelta).High }
	c.gdp, c.exact, c.odd = func() *big.Rat { return mu2 }, true, true
	return c
}

// exponentialClaims are those of a choice of bounded range ε, which is ε²/8-zCDP
// (Cesar and Rogers 2021, Lemma 3.4; after Dong, Durfee and Rogers 2020).
func exponentialClaims(eps *big.Rat) claims {
	c := pureClaims(eps, false)
	c.rdp = each(boundedRangeRDP(toFloat(eps)))
	c.zcdp = func() (*big.Rat, *big.Rat) {
		rho := new(big.Rat).Mul(eps, eps)
		return rho.Quo(rho, big.NewRat(8, 1)), new(big.Rat)
	}
	return c
}

// responseClaims: of two answers with probabilities p and p' = (1-p)/(k-1), one
// is likelier by the factor p/p' or p'/p, whichever is above 1.
func responseClaims(e privacy.RandomizedResponse) claims {
	other := new(big.Rat).Sub(big.NewRat(1, 1), e.P)
	other.Quo(other, big.NewRat(int64(e.K-1), 1))
	ratio := new(big.Rat).Quo(e.P, other)
	if ratio.Cmp(big.NewRat(1, 1)) < 0 {
		ratio.Inv(ratio)
	}
	eps := numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 40)
	c := pureClaims(eps, e.K == 2)
	c.rdp = each(responseRDP(e.P, e.K))
	return c
}

// each applies a function of one order to many.
func each(f func(order float64) float64) func(orders, out []float64) {
	return func(orders, out []float64) {
		for i, a := range orders {
			out[i] = f(a)
		}
	}
}

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// upRoot returns √r, rounded up. A number too small for a float64 becomes the least.
func upRoot(r *big.Rat) float64 {
	_, high := numeric.Of(r).Sqrt().Float64s()
	return high
}

// upFloat returns the least float64 that, as the shortest decimal that it is printed
// as, is not below r: ten times 0.1 is 1, and three times 0.1 is 0.3.
func upFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	if !math.IsInf(f, 0) && exactly(f).Cmp(r) < 0 {
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

// exactly is the rational of a float64 that is what somebody wrote as a decimal. A
// denormal one nobody wrote: it is what it is.
func exactly(f float64) *big.Rat {
	if math.Abs(f) < 0x1p-1022 {
		return new(big.Rat).SetFloat64(f)
	}
	r, err := numeric.FromFloat(f)
	if err != nil {
		panic("accountant: " + err.Error()) // a NaN or infinity: refused at the entrance
	}
	return r
}
