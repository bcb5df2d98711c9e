package pate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// PublishOptions say how a cost that depends on the votes is published.
type PublishOptions struct {
	// Order is the Rényi order α, chosen without a look at the votes. 0 is twice the one
	// that is best for any votes, if all queries are answered, or less, where the
	// conditions hold there only.
	Order float64
	// Beta is the smoothness β, below 1/2α; 0 is 0.4/α.
	Beta float64
	// Sigma is the noise in units of the smooth sensitivity; 0 makes its part of the
	// divergence, α·e^(2β)/σ², one tenth.
	Sigma float64
	// Teachers is their declared number. Required.
	Teachers int
	// Budget pays. Required; its relation must be AddRemove.
	Budget budget.Budget
	// Delta is the δ at which a budget that adds up something else than Rényi
	// divergences is charged.
	Delta privacy.Delta
	// Confidence is that of the published ε; 0 is 0.95.
	Confidence float64
}

// A Published cost may be shown. It says what the labels cost at these votes; what a
// budget was charged for them is what holds for any votes, and stays.
type Published struct {
	// Epsilon is an ε at δ of the labels and of this release together that, with
	// probability Confidence over the noise of this release, is no less than the exact
	// cost makes it. It is never above the one for any votes.
	Epsilon    float64 `json:"epsilon"`
	Confidence float64 `json:"confidence"`
	// Estimate is the ε of RDP itself, which is noisy: too small half of the time.
	Estimate float64       `json:"estimate"`
	Order    float64       `json:"order"`
	RDP      float64       `json:"rdp"` // of the labels, noisy
	Beta     float64       `json:"beta"`
	Sigma    float64       `json:"sigma"`
	Charged  privacy.Event `json:"charged"` // to the budget, for this release
}

// ErrPublication is wrapped by the refusal to publish under options that no theorem
// covers, or that do not fit the votes. Nothing was charged.
var ErrPublication = errors.New("publish cost")

// Publish releases the cost of votes at order α: with S a β-smooth bound of its local
// sensitivity, the cost with Gaussian noise of standard deviation S·σ (Papernot et al.
// 2018, Theorem 23), and ln S with Gaussian noise of standard deviation 2βσ, which
// costs α/8σ² more: neighbours' S differ by a factor e^β at most. With both, who sees
// them can bound the cost from above.
//
// Votes and o.Answered must be those of the run; o.Answered is public, and required with
// a threshold. The conditions
// of the theorems are checked, and refused with analysis.ErrConditions, before anything
// is charged.
func Publish(ctx context.Context, v *analysis.Votes, o analysis.Options, p PublishOptions) (*Published, error) {
	if err := p.complete(v, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPublication, err)
	}
	private, err := analysis.Local(v, o, p.Teachers, p.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPublication, err)
	}
	event, err := p.event()
	if err != nil {
		return nil, fmt.Errorf("publish cost: %w", err)
	}
	charged, err := accountant.Guarantee(ctx, event, p.Budget.Filter(), p.Delta, accountant.Options{})
	if err != nil {
		return nil, fmt.Errorf("publish cost: %w", err)
	}
	r := budget.Release{Statement: "pate: the cost of labels", Events: []privacy.Event{charged}}
	return budget.Spend(ctx, p.Budget, r, func() (*Published, error) {
		out, err := p.draw(noise.System(), private, p.slack(v.Len(), &o))
		if err != nil {
			return nil, err
		}
		out.finish(v, &o, &p)
		out.Charged = charged
		return out, nil
	})
}

// complete fills in what is not said. Nothing of it depends on the votes.
func (p *PublishOptions) complete(v *analysis.Votes, o *analysis.Options) error {
	switch {
	case p.Budget == nil:
		return errors.New("nobody pays")
	case p.Budget.Neighbours() != privacy.AddRemove:
		return fmt.Errorf("%w: a unit that is replaced may change two teachers, and the sensitivity is that of one", analysis.ErrConditions)
	case o.Threshold != nil && o.Answered == nil:
		// What queries that may be answered cost on average is no bound of what those that
		// were cost: the divergence of a mixture is a logarithm of an average.
		return fmt.Errorf("%w: a run with a threshold has a cost by the queries that it answered: say which", analysis.ErrConditions)
	case p.Teachers < 1 || p.Teachers > MaxTeachers:
		return fmt.Errorf("%d teachers", p.Teachers)
	}
	if p.Order == 0 {
		best, err := independent(v.Len(), v.Len(), o)
		if err != nil {
			return err
		}
		if p.Order, err = publishable(o, v.Classes, 2*best.Order); err != nil {
			return err
		}
	}
	if p.Beta == 0 {
		p.Beta = 0.4 / p.Order
	}
	if p.Sigma == 0 {
		p.Sigma = math.Sqrt(10 * p.Order * math.Exp(2*p.Beta))
	}
	if p.Confidence == 0 {
		p.Confidence = 0.95
	}
	switch {
	case !(p.Order > 1) || !(p.Beta > 0) || math.IsInf(p.rdp(p.Order), 1):
		return fmt.Errorf("%w: order %g and beta %g; Theorem 23 needs 1 < order < 1/(2·beta)", analysis.ErrConditions, p.Order, p.Beta)
	case !(p.Sigma >= 1e-3 && p.Sigma <= 1e6):
		return fmt.Errorf("sigma %g; want 0.001 to 1000000", p.Sigma)
	case !(p.Confidence > 0 && p.Confidence < 1):
		return fmt.Errorf("confidence %g", p.Confidence)
	}
	return nil
}

// publishable returns the first order, from one down by tenths, at which the conditions
// hold.
func publishable(o *analysis.Options, classes int, order float64) (float64, error) {
	if o.GNMax == nil {
		return order, nil // a missing GNMax is refused later
	}
	for ; order > 1.1; order *= 0.9 {
		s, err := analysis.NewGNMaxSensitivity(o.GNMax.Sigma, classes, order)
		if err != nil {
			continue
		}
		if c5, c6 := s.Check(); c5 && c6 {
			return order, nil
		}
	}
	return 0, fmt.Errorf("%w: conditions C5 and C6 hold at no order that is tried, for sigma %g and %d classes", analysis.ErrConditions, o.GNMax.Sigma, classes)
}

// independent is the cost for any votes.
func independent(asked, answered int, o *analysis.Options) (analysis.Bound, error) {
	whatever := *o
	whatever.Orders = nil
	if whatever.Threshold != nil {
		whatever.Answered = make([]bool, asked)
		for i := range answered {
			whatever.Answered[i] = true
		}
	}
	r, err := analysis.Analyze(&analysis.Votes{Classes: 2, Counts: make([]int32, 2*asked)}, whatever)
	if err != nil {
		return analysis.Bound{}, err
	}
	return r.Independent, nil
}

// smoothing is the standard deviation of the noise on ln S.
func (p *PublishOptions) smoothing() float64 { return 2 * p.Beta * p.Sigma }

// orders are those at which the release's divergence is told to filters.
func (p *PublishOptions) orders() (orders []*big.Rat) {
	var fixed *big.Rat
	if order, ok := filter.Order(p.Budget.Filter()); ok {
		fixed = order
	}
	last := new(big.Rat).SetFloat64(0.5 / p.Beta)
	add := func(r *big.Rat) {
		if r.Cmp(big.NewRat(1, 1)) > 0 && r.Cmp(last) < 0 {
			orders = append(orders, r)
		}
	}
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95} {
		x := new(big.Rat).SetFloat64(share * 0.5 / p.Beta)
		if n := len(orders); fixed != nil && fixed.Cmp(x) < 0 && (n == 0 || orders[n-1].Cmp(fixed) < 0) {
			add(fixed)
		}
		if fixed == nil || fixed.Cmp(x) != 0 {
			add(x)
		}
	}
	return orders
}

// event is what the release reveals, with allowances that are rounded up.
func (p *PublishOptions) event() (privacy.Event, error) {
	e := privacy.RDP{}
	for _, order := range p.orders() {
		a, _ := order.Float64()
		rdp := p.rdp(a)
		eps := new(big.Rat).SetFloat64(rdp)
		if eps == nil {
			return nil, fmt.Errorf("%w: no divergence at order %g", analysis.ErrConditions, a)
		}
		e.Orders, e.Eps = append(e.Orders, order), append(e.Eps, numeric.CeilDigits(eps, 15))
	}
	if len(e.Orders) == 0 {
		return nil, fmt.Errorf("%w: beta %g leaves no order above 1", analysis.ErrConditions, p.Beta)
	}
	return e, e.Validate()
}

// rdp is the divergence of the whole release at an order below 1/2β, Theorem 23 and α·β²/2τ² for ln
// S, where β is larger by what rounding S and ln S may add. Every probability is right up to a
// factor e^κ, κ = 2^−39 (see draw), which adds 2κ·α/(α−1).
func (p *PublishOptions) rdp(order float64) float64 {
	beta := p.Beta + 1e-9
	log := order / 2 * square(beta/p.smoothing())
	return (analysis.ReleaseRDP(beta, p.Sigma, order)+log)*(1+1e-9) + 0x1p-38*order/(order-1)
}

func square(x float64) float64 { return x * x }

// slack bounds by how much the cost of what was drawn, over a grid, may exceed the one
// that was computed, in float64 and for continuous noise.
//
// The difference of two draws of the discrete Gaussian of σ on a grid of step g has, by
// Poisson summation, the law of one of √2·σ up to a factor 1+e^(−2^80). Its tail from d
// on is at most the continuous one and g times the density there, which is at most
// (1+d/s)/s times the tail, s = √2·σ (Birnbaum 1942): q grows by a factor e^η at most,
// η <= 2^−40·(1+d/s), since g <= 2^−40·σ. The same holds of a test's one draw.
//
// Below q0, β changes by 4η·α/(α−1) at most. With l = α−1, lβ = ln[(1−q)A^l + qB^l] has a
// derivative by ln q between those of its two logarithms. ln B = (2µ2+1)/σ², so that
// that of ln qB^l is 1−l/µ2, from 0 to 1. And ln A = ln(1−q) − ln(1−e^u) with u =
// −(µ2−1)²/σ² <= −1 there, and du/d ln q from 0 to 1, so that that of l·ln A is within 2l.
//
// The test's cost is a function of the largest count, and all values of this count are tried.
// Float64 adds a part in 10^10 of the bound for any votes.
func (p *PublishOptions) slack(asked int, o *analysis.Options) float64 {
	eta := func(sigma float64) float64 { return 0x1p-40 * (1 + float64(p.Teachers)/sigma) }
	each := 4*eta(o.GNMax.Sigma)*p.Order/(p.Order-1) + 1e-10*o.GNMax.IndependentRDP(p.Order)
	if t := o.Threshold; t != nil {
		most, up := 0.0, eta(t.Sigma)
		g := analysis.GNMax{Sigma: math.Sqrt2 * t.Sigma}
		for n := range p.Teachers + 1 {
			log := t.LogAnswered([]float64{float64(n)})
			log = min(log, tail.Log1mExp(log))
			most = max(most, g.RDP(min(log+up, 0), p.Order)-g.RDP(log, p.Order))
		}
		each += most + 1e-10*t.IndependentRDP(p.Order)
	}
	return float64(asked) * each
}

// The noise has so many binary places, in units of its standard deviation; what is
// released has so many.
const (
	noisePlaces   = 200
	releasePlaces = 40
)

// draw releases the cost and ln S.
//
// Both are functions of the votes computed in float64. What is computed of S may be
// wrong by a part in 10^10, which is counted to β, and what is computed of the cost by
// slack, which S is raised by twice. Raising S by a constant keeps it smooth.
//
// The theorem is of continuous noise. Here it is a multiple of 2^−200·S·σ, and what is
// released is rounded to multiples of 2^−40, far coarser: the probability of each
// differs from that of continuous noise rounded so by a part in 2^39 at most. Rounding
// is post-processing: the multiples show nothing of S.
func (p *PublishOptions) draw(bits noise.Bits, c *analysis.Private, slack float64) (*Published, error) {
	s := analysis.Smooth(p.Beta, c.Bounds)*(1+1e-9) + 2*slack
	deviation, err := standardNormal(bits)
	if err != nil {
		return nil, err
	}
	shown, err := standardNormal(bits)
	if err != nil {
		return nil, err
	}
	rdp := rounded(c.RDP+slack, s*p.Sigma, deviation)
	logS := rounded(math.Log(s), p.smoothing(), shown)
	// Each of the two bounds fails with probability (1 − confidence)/2.
	z := math.Sqrt2 * math.Erfinv(p.Confidence) // P(N > z) = (1 − confidence)/2
	upper := rdp + z*p.Sigma*math.Exp(logS+z*p.smoothing())
	return &Published{Order: p.Order, RDP: rdp, Epsilon: upper, Confidence: p.Confidence, Beta: p.Beta, Sigma: p.Sigma}, nil
}

// standardNormal draws a multiple of 2^−200.
func standardNormal(bits noise.Bits) (*big.Rat, error) {
	one := new(big.Int).Lsh(big.NewInt(1), noisePlaces)
	law, err := noise.NewDiscreteGaussian(new(big.Rat).SetInt(new(big.Int).Mul(one, one)))
	if err != nil {
		return nil, err
	}
	k, err := law.Sample(bits)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetFrac(k, one), nil
}

// rounded returns x + scale·z to the nearest multiple of 2^−40 below.
func rounded(x, scale float64, z *big.Rat) float64 {
	r := new(big.Rat).Mul(new(big.Rat).SetFloat64(scale), z)
	r.Add(r, new(big.Rat).SetFloat64(x))
	steps := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), releasePlaces))
	n := numeric.Floor(r.Mul(r, steps))
	f, _ := new(big.Rat).SetFrac(n, steps.Num()).Float64()
	return f
}

// finish converts the divergences to ε. Draw has put the upper divergence in Epsilon. This is
// post-processing.
func (out *Published) finish(v *analysis.Votes, o *analysis.Options, p *PublishOptions) {
	answered := v.Len()
	if o.Answered != nil {
		answered = 0
		for _, a := range o.Answered {
			if a {
				answered++
			}
		}
	}
	most := float64(answered) * o.GNMax.IndependentRDP(p.Order)
	if o.Threshold != nil {
		most += float64(v.Len()) * o.Threshold.IndependentRDP(p.Order)
	}
	// What holds for any votes, and that no divergence is below 0, is public.
	out.RDP = min(max(out.RDP, 0), most)
	convert := func(rdp float64) float64 { return rdp + p.rdp(p.Order) - math.Log(o.Delta)/(p.Order-1) }
	out.Estimate, out.Epsilon = convert(out.RDP), convert(min(max(out.Epsilon, 0), most))
}
