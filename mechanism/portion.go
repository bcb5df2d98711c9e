package mechanism

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Portion is what one of several parties adds, so that any so many of them have added the whole
// noise of a mechanism together. Its Event is that of what any of those have added; its Variance
// and Bound are of one party's own draw.
//
// Theorem. Whoever colludes with all parties but h sees the sum with the noise of these h on it, at
// least. What others add is independent of the data, and post-processing.
//
// Laplace: if h = 1 each party adds the whole noise; else one of h shares of it, whose sum over any h
// parties is the whole noise, exactly (noise.LaplaceShare).
//
// Gaussian: each of the parties draws N_Z(0, s²). By Kairouz, Liu and Steinke 2021 (arXiv 2102.06387,
// Theorem 1 with d values of L2 distance Δ), the sum of h draws is ½e²-concentrated with
// ½e² ≤ Δ²/(2h·s²) + τd/4, τ = 10·Σ_{k<h} exp(−2π²s²·k/(k+1)) ≤ 10(h−1)·exp(−π²s²). With s² = σ²/h·(1 + 2^−10), and
// at least 16, that is at most Δ²/2σ², what the event says, if τd/4 ≤ Δ²/2σ² − Δ²/2hs²; else it is refused.
//
// Gaussian by Skellam draws: each of the parties draws Skellam noise of variance μ/h, so that h of them have
// added Skellam noise of variance μ, exactly, with μ = σ²+3 and at least 16. That is Δ²/2σ²-zCDP for integer vectors
// of any length, by the theorem of privacy.Skellam's Rho.
//
// Both theorems of Gaussian noise bound concentrated privacy: a budget that charges a Gaussian otherwise (by its own
// ε at a δ) must refuse shares of one, which this cannot see; Reveals says what is known.
type Portion struct {
	Additive // the whole
	law      noiseLaw
	// Laplace is the scale of the whole, Gaussian or Skellam the variance of the party's own draw.
	Laplace, Gaussian, Skellam *big.Rat
	Honest                     int // 1: each party adds the whole
}

// A Sharing says how several parties draw Gaussian noise together.
type Sharing string

// Gaussian noise is shared as discrete Gaussian draws, or as Skellam draws.
const (
	ByGaussian Sharing = ""
	BySkellam  Sharing = "skellam"
)

// Check refuses what is no sharing.
func (s Sharing) Check() error {
	if s != ByGaussian && s != BySkellam {
		return fmt.Errorf("%w: noise is shared as %q, or of its own law where nothing is said; not as %q", ErrParameter, BySkellam, s)
	}
	return nil
}

type noiseLaw interface {
	AddTo(b noise.Bits, values []*big.Int) error
}

// leastShare is the least variance of a share of Gaussian noise.
const leastShare = 16

// PortionOf is what each party draws of the noise of so many values together, where so many of
// the parties are honest at least.
func PortionOf(law Additive, values, honest int, by Sharing) (*Portion, error) {
	if honest < 1 || values < 1 {
		return nil, fmt.Errorf("%w: the noise of %d values among %d", ErrParameter, values, honest)
	}
	if err := by.Check(); err != nil {
		return nil, err
	}
	p := &Portion{Additive: law, law: law, Honest: honest}
	switch e := law.Event().(type) {
	case privacy.DiscreteLaplace:
		p.Laplace = e.Scale
		if honest == 1 {
			return p, nil
		}
		own, err := noise.NewLaplaceShare(e.Scale, honest)
		if err != nil {
			return nil, fmt.Errorf("share Laplace noise: %w", err)
		}
		p.law = own
		return p, nil
	case privacy.DiscreteGaussian:
		if p.Gaussian = e.Variance; honest == 1 {
			return p, nil
		}
		if by == BySkellam {
			p.Gaussian, p.Skellam = nil, new(big.Rat).Quo(skellamVariance(e), big.NewRat(int64(honest), 1))
			own, err := noise.NewSkellam(p.Skellam)
			if err != nil {
				return nil, fmt.Errorf("share Gaussian noise: %w", err)
			}
			p.law = own
			return p, nil
		}
		own, err := gaussianShare(e, values, honest)
		if err != nil {
			return nil, err
		}
		if p.law, err = noise.NewDiscreteGaussian(own); err != nil {
			return nil, fmt.Errorf("share Gaussian noise: %w", err)
		}
		p.Gaussian = own
		return p, nil
	}
	return nil, fmt.Errorf("%w: no party draws the noise of %v", ErrParameter, law.Event())
}

// gaussianShare is the variance of one party's draw.
func gaussianShare(e privacy.DiscreteGaussian, values, honest int) (*big.Rat, error) {
	own := new(big.Rat).Mul(e.Variance, big.NewRat(1025, 1024*int64(honest)))
	if least := big.NewRat(leastShare, 1); own.Cmp(least) < 0 {
		own = least
	}
	// π² > 9, and exp(−9) < 2^−12.
	bits := uint(12_000)
	if whole := new(big.Int).Quo(own.Num(), own.Denom()); whole.Cmp(big.NewInt(1000)) < 0 {
		bits = uint(12 * whole.Int64())
	}
	tau := new(big.Rat).SetFrac(big.NewInt(10*int64(honest-1)), new(big.Int).Lsh(big.NewInt(1), bits))
	tau.Mul(tau, big.NewRat(int64(values), 4))
	claimed := new(big.Rat).Quo(e.SensitivitySquared, new(big.Rat).Add(e.Variance, e.Variance))
	half := new(big.Rat).Mul(own, big.NewRat(2*int64(honest), 1))
	if tau.Add(tau, half.Quo(e.SensitivitySquared, half)); tau.Cmp(claimed) > 0 {
		return nil, fmt.Errorf("%w: share Gaussian noise: so many values at so small a cost are not bounded by the theorem", ErrParameter)
	}
	return own, nil
}

// skellamVariance is the variance of Skellam noise that reveals of integer vectors, in zCDP, no more than
// discrete Gaussian noise says of itself: by privacy.Skellam's Rho, μ−3 is as good as σ² from μ = 16 on.
func skellamVariance(e privacy.DiscreteGaussian) *big.Rat {
	v := new(big.Rat).Add(e.Variance, big.NewRat(3, 1))
	if least := big.NewRat(privacy.LeastSkellam, 1); v.Cmp(least) < 0 {
		return least
	}
	return v
}

// Reveals is what is known of what so many honest parties' noise lets through: the whole noise's event,
// and of shares of Gaussian noise, which are no Gaussian noise, its rho.
func (p *Portion) Reveals() (privacy.Event, error) {
	e, gaussian := p.Event().(privacy.DiscreteGaussian)
	if !gaussian || p.Honest == 1 {
		return p.Event(), nil
	}
	rho, err := privacy.NewRho(new(big.Rat).Quo(e.SensitivitySquared, new(big.Rat).Add(e.Variance, e.Variance)))
	if err != nil {
		return nil, fmt.Errorf("share Gaussian noise: %w", err)
	}
	return privacy.ZCDP{Rho: rho}, nil
}

// AddTo adds the party's own draw to each value.
func (p *Portion) AddTo(bits noise.Bits, values []*big.Int) error { return p.law.AddTo(bits, values) }

// Variance is that of the party's own draw.
func (p *Portion) Variance() float64 {
	for _, own := range []*big.Rat{p.Gaussian, p.Skellam} {
		if own != nil {
			v, _ := own.Float64()
			return v
		}
	}
	return p.Additive.Variance() / float64(p.Honest)
}

// Bound is that of the party's own draw.
func (p *Portion) Bound(beta *big.Rat) (*big.Int, error) { return p.BoundOfSum(1, beta) }

// BoundOfSum is Bound of what so many parties have added. Of shares of Laplace noise the sum is the whole
// noise at least ⌊n/h⌋ times and at most ⌈n/h⌉ times: what is missing to the latter is symmetric and
// independent, and the sum is symmetric and unimodal (a difference of two equal unimodal draws is:
// Hodges and Lehmann 1954), so that adding it makes no interval around 0 more likely.
func (p *Portion) BoundOfSum(n int, beta *big.Rat) (*big.Int, error) {
	if p.Gaussian != nil {
		law, err := noise.NewDiscreteGaussian(p.Gaussian)
		if err != nil {
			return nil, err
		}
		return law.BoundOfSum(n, beta)
	}
	if p.Skellam != nil {
		law, err := noise.NewSkellam(p.Skellam)
		if err != nil {
			return nil, err
		}
		return law.BoundOfSum(n, beta)
	}
	d, ok := p.Additive.(interface {
		BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
	})
	if !ok {
		return nil, errors.New("bound noise: it has no bound of sums")
	}
	return d.BoundOfSum((n+p.Honest-1)/p.Honest, beta)
}
