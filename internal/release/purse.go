package release

import (
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A purse is a cost with the parts that its form has.
type purse struct {
	form           form
	measure        filter.Measure
	spend          Spend
	neighbours     privacy.Neighbours
	gaussian       map[*stability.Release]bool // approximate: which releases take Gaussian noise, or are choices that share its rho
	gaussianShare  *big.Rat                    // their components' share of the cost together
	gaussianRho    privacy.Rho
	gaussianDelta  privacy.Delta
	selectionDelta privacy.Delta // for each selection
	apart          bool
}

// A form is how a cost is stated.
type form uint8

// newPurse reads the spend in the domain's measure.
func newPurse(c *stability.Certificate, s Spend) (*purse, error) {
	selections := int64(0)
	for _, r := range c.Releases {
		if r.Private {
			selections++
		}
	}
	measure := filter.Measure(c.Domain.Measure)
	p := &purse{spend: s, measure: measure, neighbours: c.Domain.Neighbours, gaussianShare: new(big.Rat)}
	refuse := func(message, hint string) error {
		return diagnostic.New("D071", diagnostic.Span{}, "%s", message).
			Because("domain %q accounts in measure %q", c.Domain.ID, measure).Try("%s", hint)
	}
	switch {
	case s.Rho.Sign() > 0 && s.Epsilon.Sign() > 0:
		return nil, diagnostic.New("D071", diagnostic.Span{}, "both epsilon and rho are given").Try("give one of them")
	case s.Rho.Sign() > 0:
		if measure != filter.ZCDP && measure != filter.RDP {
			return nil, refuse("a cost in rho", "give "+spellings(measure))
		}
		p.form = concentrated
	case s.Epsilon.Sign() > 0 && s.Delta.Sign() > 0:
		if measure == "pure" {
			return nil, refuse("a cost with delta", "give epsilon alone")
		}
		p.form = approximate
	case s.Epsilon.Sign() > 0:
		p.form = pure
	default:
		return nil, diagnostic.New("D070", diagnostic.Span{}, "no cost is given").
			Because("how much of the budget an answer may use is the analyst's choice").
			Try("give %s, or set a default in the catalog", spellings(measure)).By(diagnostic.NameCost)
	}
	if selections == 0 {
		if p.form == concentrated && s.Delta.Sign() > 0 {
			p.spend.Delta = privacy.Delta{} // nothing spends it
		}
		return p, nil
	}
	delta := s.Delta.Rat()
	switch p.form {
	case pure:
		r := c.Releases[0]
		for _, r = range c.Releases {
			if r.Private {
				break
			}
		}
		return nil, diagnostic.New("D072", privateKey(r), "this grouping key has no public domain, and choosing its groups privately needs a delta").
			Because("with epsilon alone, no group can be shown that might come from a single unit").
			Try("%s; or group by a column with a public domain", map[bool]string{
				true:  "this domain's measure is pure, so its owner would have to declare the domain's values",
				false: "give a delta as well"}[measure == "pure"])
	case concentrated:
		if delta.Sign() == 0 {
			// The default is a hundredth of the owner's selection_delta.
			delta.Mul(c.Domain.SelectionDelta.Rat(), big.NewRat(1, 100))
		}
	case approximate:
		delta.Mul(delta, big.NewRat(1, 2)) // the other half is for Gaussian noise; see chooseGaussian
	}
	each, err := privacy.NewDelta(delta.Mul(delta, big.NewRat(1, selections)))
	if err != nil {
		return nil, diagnostic.New("D074", diagnostic.Span{}, "the delta cannot be split over the statement's group selections").
			Because("%s", diagnostic.Cause(err)).
			Try("give a delta above 1e-100")
	}
	p.selectionDelta = each
	return p, nil
}

func spellings(measure filter.Measure) string {
	switch measure {
	case filter.Pure:
		return "epsilon"
	case filter.ZCDP, filter.RDP:
		return "rho"
	}
	return "epsilon and delta (or epsilon alone)"
}

func privateKey(r *stability.Release) diagnostic.Span {
	for _, k := range r.Keys {
		if k.Domain == nil {
			return k.Expr.Place()
		}
	}
	return r.Span
}

// chooseGaussian decides for each release of an (ε, δ) statement whether its
// components get Laplace or Gaussian noise, by the smaller variance. Within a
// release the ratio of the two variances depends on L0 and the shares alone, and under
// replace-one on how wide each component's values are.
//
// It starts from Gaussian noise everywhere and moves releases to Laplace while
// that is better at the ρ that the remaining share converts to.
//
// Where the measure adds up ρ, choices take part: C of range r are C·r²/8-zCDP (Cesar and Rogers 2021, Lemma 3.4), and what shares ρ has all of it together
// (Bun and Steinke 2016, Lemma 2.3), so that all is (ε·S, δ)-DP for the share S of the cost that converts to ρ (GaussianRho). Else they are C·r-DP. Either says how wide r may
// be, and the wider errs less.
func (p *purse) chooseGaussian(d *Design, all []shares) {
	p.gaussian = map[*stability.Release]bool{}
	for _, r := range d.Releases {
		// Discrete Gaussian noise has a rho, but no mu.
		p.gaussian[r.Release] = len(r.Components) > 0 && p.measure != filter.GDP && (!r.Chosen || p.measure == filter.ZCDP || p.measure == filter.RDP)
	}
	for {
		p.gaussianShare.SetInt64(0)
		some := false
		for i, r := range d.Releases {
			if p.gaussian[r.Release] {
				some = true
				for _, s := range all[i].components {
					p.gaussianShare.Add(p.gaussianShare, s)
				}
				if r.Chosen {
					p.gaussianShare.Add(p.gaussianShare, all[i].choice)
				}
			}
		}
		if !some {
			break
		}
		p.gaussianDelta = p.spend.Delta
		if p.selectionDelta.Sign() > 0 {
			p.gaussianDelta = p.spend.Delta.MulRat(big.NewRat(1, 2))
		}
		rho, err := accountant.GaussianRho(p.spend.Epsilon.MulRat(p.gaussianShare), p.gaussianDelta)
		moved := false
		for i, r := range d.Releases {
			if !p.gaussian[r.Release] {
				continue
			}
			if err != nil || p.laplaceWins(&d.Releases[i], all[i], rho) {
				p.gaussian[r.Release], moved = false, true
			}
		}
		if !moved {
			p.gaussianRho = rho
			return
		}
	}
	// Laplace noise throughout: all of δ is for the selections.
	p.gaussianDelta = privacy.Delta{}
	if p.selectionDelta.Sign() > 0 {
		p.selectionDelta = p.selectionDelta.MulRat(big.NewRat(2, 1))
	}
}

// laplaceWins compares the geometric means over the components of 2·(L1/(ε·s))² and of
// L2²/(2·ρ·s/S), S being the Gaussian components' share, each as they are bundled for that noise. A tree's variances are
// also as its shapes are (see shapeOf).
func (p *purse) laplaceWins(r *Release, s shares, rho privacy.Rho) bool {
	if rho.Sign() == 0 {
		return true
	}
	if r.Chosen { // ε·s/C against √(8·ρ·s/(S·C)), squared
		pure, joint := p.spend.Epsilon.Rat(), rho.Rat()
		pure.Mul(pure, pure).Mul(pure, s.choice).Mul(pure, p.gaussianShare)
		return joint.Mul(joint, big.NewRat(8*r.Choices(), 1)).Cmp(pure) <= 0
	}
	// of is the product over the components.
	of := func(gaussian bool, each *big.Rat) *big.Rat {
		product := big.NewRat(1, 1)
		for _, b := range r.arrange(s, p.neighbours, gaussian, p.apart) {
			if b.shape.Levels > 0 {
				product.Mul(product, big.NewRat(int64(b.shape.Levels)*int64(b.shape.Branching-1), 1))
			}
			for i := range b.components {
				product.Mul(product, each)
				product.Mul(product, b.variance(i, gaussian))
			}
		}
		return product
	}
	epsilon := p.spend.Epsilon.Rat()
	laplace := of(false, new(big.Rat).Quo(big.NewRat(2, 1), new(big.Rat).Mul(epsilon, epsilon)))
	gaussian := of(true, new(big.Rat).Quo(p.gaussianShare, new(big.Rat).Mul(big.NewRat(2, 1), rho.Rat())))
	return laplace.Cmp(gaussian) <= 0
}

// allot gives every component of a release its noise, and returns the laws.
func (r *Release) allot(p *purse, s shares) (laws []mechanism.Additive, err error) {
	gaussian := p.form == concentrated || p.gaussian[r.Release]
	for _, b := range r.arrange(s, p.neighbours, gaussian, p.apart) {
		var law mechanism.Additive
		name, distance := "discrete_laplace", new(big.Float).SetPrec(100).SetRat(b.l1)
		if gaussian {
			name = "discrete_gaussian"
			distance.SetRat(b.l2squared).Sqrt(distance)
		}
		switch {
		case p.form == concentrated:
			law, err = mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: b.l2squared, Rho: p.spend.Rho.MulRat(b.share)})
		case gaussian:
			part := new(big.Rat).Quo(b.share, p.gaussianShare)
			law, err = mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: b.l2squared, Rho: p.gaussianRho.MulRat(part)})
		default:
			law, err = mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: b.l1, Epsilon: p.spend.Epsilon.MulRat(b.share)})
		}
		if err != nil {
			return nil, diagnostic.New("D074", r.Span, "the noise for this cost cannot be drawn").
				Because("%s", diagnostic.Cause(err)).
				Try("give a cost between 1e-9 and 1000")
		}
		laws = append(laws, law)
		for i, c := range b.components {
			n := Noise{Additive: law, Name: name, Shape: b.shape, Terms: 1}
			grid := r.Components[c].Grid
			if b.blend != nil {
				own := blended{law, b.blend.weights[i]}
				sizes := own.sizes()
				n.Additive, n.Terms = own, len(sizes)
				grid = new(big.Rat).Mul(grid, sizes[0])
			}
			n.Sensitivity, _ = new(big.Float).SetPrec(100).Mul(distance, new(big.Float).SetPrec(100).SetRat(grid)).Float64()
			r.Noise[c] = n
		}
		if b.blend != nil {
			r.blends = append(r.blends, mixed{*b.blend, law})
		}
	}
	if !r.Private {
		return laws, nil
	}
	options := mechanism.SelectionOptions{MaxGroups: r.MaxGroups, Neighbours: p.neighbours, Delta: p.selectionDelta}
	switch {
	case s.selection == nil:
		r.counter = r.Counter()
		r.Threshold, err = mechanism.NewCountThreshold(r.Noise[r.counter].Additive, options)
	case p.form == concentrated:
		options.Rho = p.spend.Rho.MulRat(s.selection)
		r.Selection, err = mechanism.ChooseSelection(options)
	default:
		options.Epsilon = p.spend.Epsilon.MulRat(s.selection)
		r.Selection, err = mechanism.ChooseSelection(options)
	}
	if r.Threshold != nil {
		r.least = r.Threshold.Least()
	}
	if err != nil {
		return nil, diagnostic.New("D074", r.Span, "the noise for private group selection cannot be drawn at this cost").
			Because("%s", diagnostic.Cause(err)).
			Try("give a cost between 1e-9 and 1000, and a delta above 1e-100")
	}
	return laws, nil
}
