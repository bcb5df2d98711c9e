package accountant

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// specialResponseClaims: a response of a unit, with probability p of the truth, against
// one that is uniform over the k answers. The true answer's ratio is pk, that of the
// others (1-p)k/(k-1); the worst of both and their inverses is e^ε. Both ways matter, as in
// Kairouz et al. 2021 and in dp_accounting's REPLACE_SPECIAL.
func specialResponseClaims(e privacy.RandomizedResponse) (claims, error) {
	k := big.NewRat(int64(e.K), 1)
	other := new(big.Rat).Sub(big.NewRat(1, 1), e.P)
	other.Mul(other, new(big.Rat).Quo(k, big.NewRat(int64(e.K-1), 1)))
	worst := big.NewRat(1, 1)
	for _, r := range []*big.Rat{new(big.Rat).Mul(e.P, k), other} {
		if r.Cmp(big.NewRat(1, 1)) < 0 {
			r.Inv(r)
		}
		if r.Cmp(worst) > 0 {
			worst = r
		}
	}
	c := pureClaims(numeric.CeilDigits(numeric.Of(worst).Log().Hi(), 40), false)
	there, err := loss.SpecialResponse(e, loss.Remove)
	if err != nil {
		return claims{}, err
	}
	back, err := loss.SpecialResponse(e, loss.Add)
	if err != nil {
		return claims{}, err
	}
	c.rdp = worse(pairRDP(there.Above), pairRDP(back.Above))
	return c, nil
}

// pairClaims are those of the owner's pair: both ways round.
func pairClaims(e privacy.Pair) (claims, error) {
	ratio, only := e.Worst()
	eps := numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 40)
	if eps.Sign() < 0 { // ln 1, rounded
		eps = new(big.Rat)
	}
	c := approxClaims(eps, only, false)
	if only.Sign() > 0 {
		return c, nil
	}
	there, err := loss.Stated(e.P, e.Q)
	if err != nil {
		return claims{}, err
	}
	back, err := loss.Stated(e.Q, e.P)
	if err != nil {
		return claims{}, err
	}
	c.rdp = worse(pairRDP(there), pairRDP(back))
	return c, nil
}

// worse takes the greater of two curves.
func worse(f, g func(orders, out []float64)) func(orders, out []float64) {
	return func(orders, out []float64) {
		other := make([]float64, len(orders))
		f(orders, out)
		g(orders, other)
		for i := range out {
			out[i] = math.Max(out[i], other[i]) // NaN if either is
		}
	}
}

// pairRDP is the Rényi divergence of a pair on finitely many outcomes: +Inf where P has an
// outcome that Q has not. With w the Q-measure of an outcome of loss L, x = e^L and z =
// (α-1)L, because both laws add up to 1,
//
//	A - 1 = Σ w (x^α - 1 - α(x-1)) = Σ w (x(e^z - 1 - z) + (α-1)(xL - x + 1)),
//
// where no term is negative; of an outcome that P has not, x = 0, it is w(α-1).
func pairRDP(p loss.Pair) func(orders, out []float64) {
	atoms := p.Atoms()
	noQ, noP := p.Ends()
	top := p.Max()
	return each(func(a float64) float64 {
		if noQ > 0 {
			return math.Inf(1)
		}
		sum := noP * (a - 1)
		for _, o := range atoms {
			z := (a - 1) * o.Loss
			if z > 600 { // the divergence equals its bound but for rounding
				return top
			}
			x, w := math.Exp(o.Loss), math.Exp(o.LogP-o.Loss)
			sum += math.Exp(o.LogP)*beyondLine(z) + w*(a-1)*entropic(o.Loss, x)
		}
		return math.Min(math.Max(top, 0), ofMoment(sum*(1+rdpError), a))
	})
}

// beyondLine is e^z - 1 - z, which is not negative.
func beyondLine(z float64) float64 {
	if math.Abs(z) < 0.5 {
		sum, term := 0.0, z
		for n := 2.0; n < 20; n++ {
			term *= z / n
			sum += term
		}
		return sum
	}
	return math.Expm1(z) - z
}

// entropic is xL - x + 1 for x = e^L, which is not negative.
func entropic(l, x float64) float64 {
	if math.Abs(l) < 0.5 {
		sum, term := 0.0, l // Σ L^n (n-1)/n!
		for n := 2.0; n < 20; n++ {
			term *= l / n
			sum += term * (n - 1)
		}
		return sum
	}
	return x*(l-1) + 1
}
