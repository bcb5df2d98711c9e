// Package release is the trusted core: exact aggregates and a certificate in,
// a noisy table out.
//
// Design decides, from public parameters alone, which noise each component of
// a statement gets and what that reveals, as events. Publish draws the noise.
// It is the only package that reveals exact values (engine.Exact), and nothing
// exact leaves it: not in values, not in errors, not in the set of groups.
package release

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A Spend is what a statement may cost, in one of three forms: Epsilon alone
// (pure), Epsilon and Delta (approximate), or Rho, with Delta for private group
// selection.
type Spend struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	Rho     privacy.Rho
}

// IsZero reports whether s says nothing.
func (s Spend) IsZero() bool {
	return s.Epsilon.Sign() == 0 && s.Delta.Sign() == 0 && s.Rho.Sign() == 0
}

// Options say how a statement's cost is to be spent.
type Options struct {
	Spend Spend
	// Weights share the cost over the aggregates of the statement, in their
	// order; nil means evenly. Group selection counts like an average one.
	Weights []*big.Rat
}

// A Design says which noise every component gets. It depends on no data.
type Design struct {
	Domain   *catalog.Domain
	Releases []Release
	Events   []privacy.Event
	// Delta is the δ at which an approx filter charges the Gaussian noise.
	Delta privacy.Delta
}

// A Release is a certified release with its noise.
type Release struct {
	*stability.Release
	Noise     []Noise             // one a component
	Selection mechanism.Selection // set if the groups are privately selected

	bounds *sync.Map // *big.Int by component and probability, as text: see bound
}

// bound returns how far the noise of a component reaches but with probability beta. It is
// computed once: a design that serves many answers would spend longer on it than on noise.
// The result must not be changed.
func (r *Release) bound(component int, beta *big.Rat) (*big.Int, error) {
	key := fmt.Sprintf("%d %s", component, beta.RatString())
	if r.bounds != nil {
		if known, ok := r.bounds.Load(key); ok {
			return known.(*big.Int), nil
		}
	}
	w, err := r.Noise[component].Bound(beta)
	if err == nil && r.bounds != nil {
		r.bounds.Store(key, w)
	}
	return w, err
}

// Noise is one component's: a discrete Laplace or Gaussian on its grid.
type Noise struct {
	mechanism.Additive
	Name string // "discrete_laplace", "discrete_gaussian"
	// Sensitivity is the L1 (Laplace) or L2 (Gaussian) distance between
	// neighbours over all groups, in the component's own unit.
	Sensitivity float64
	Shape       Shape // of a component that is a tree
}

// NewDesign allots the cost of a statement to its components and selections.
//
// Composition: the components and selections of a statement are one fixed
// plan, so their losses add: Σε, Σδ for pure and approximate events, Σρ for
// Gaussian noise, whose sum is converted once. What the statement is charged is
// computed from the events by the domain's filter, not taken from here.
func NewDesign(c *stability.Certificate, o Options) (*Design, error) {
	d := &Design{Domain: c.Domain}
	if c.Domain == nil {
		return d, nil // no private table: nothing to spend
	}
	shares, err := share(c, o.Weights)
	if err != nil {
		return nil, err
	}
	for _, r := range c.Releases {
		d.Releases = append(d.Releases, Release{Release: r, Noise: make([]Noise, len(r.Components)), bounds: &sync.Map{}})
	}
	if !slices.ContainsFunc(c.Releases, func(r *stability.Release) bool { return r.Private || len(r.Components) > 0 }) {
		return d, nil // public domains alone: nothing is revealed, whatever is spent
	}
	p, err := newPurse(c, o.Spend)
	if err != nil {
		return nil, err
	}
	if p.form == approximate {
		p.chooseGaussian(d, shares)
	}
	for i := range d.Releases {
		if err := d.Releases[i].allot(p, shares[i]); err != nil {
			return nil, err
		}
		for _, n := range d.Releases[i].Noise {
			d.Events = append(d.Events, n.Event())
		}
		if s := d.Releases[i].Selection; s != nil {
			for _, e := range s.Events() {
				if e, err = privacy.Released(e, p.neighbours); err != nil {
					return nil, err
				}
				d.Events = append(d.Events, e)
			}
		}
	}
	d.Delta = p.gaussianDelta
	return d, nil
}

// shares of the cost: one for each component of a release, and one for its
// selection. All shares of a statement add up to 1.
type shares struct {
	components []*big.Rat
	selection  *big.Rat
}

// share splits evenly, or by weight, over the aggregates of the statement, and
// an aggregate's share evenly over its components. A component that several
// aggregates use collects from each.
func share(c *stability.Certificate, weights []*big.Rat) ([]shares, error) {
	aggregates, selections := 0, 0
	for _, r := range c.Releases {
		aggregates += len(r.Aggregates)
		if r.Private {
			selections++
		}
	}
	if weights != nil && len(weights) != aggregates {
		return nil, diagnostic.New("D073", diagnostic.Span{}, "%d weights for %d aggregates", len(weights), aggregates).
			Try("give one weight an aggregate, in the order of the statement")
	}
	total, mean := new(big.Rat), big.NewRat(1, 1)
	for _, w := range weights {
		if w == nil || w.Sign() <= 0 {
			return nil, diagnostic.New("D073", diagnostic.Span{}, "a weight is not positive")
		}
		total.Add(total, w)
	}
	if weights == nil {
		total.SetInt64(int64(aggregates))
	} else {
		mean.Quo(total, big.NewRat(int64(aggregates), 1))
	}
	total.Add(total, new(big.Rat).Mul(mean, big.NewRat(int64(selections), 1)))

	out := make([]shares, len(c.Releases))
	next := 0
	for i, r := range c.Releases {
		out[i].components = make([]*big.Rat, len(r.Components))
		for j := range out[i].components {
			out[i].components[j] = new(big.Rat)
		}
		for _, g := range r.Aggregates {
			w := big.NewRat(1, 1)
			if weights != nil {
				w.Set(weights[next])
			}
			next++
			w.Quo(w, new(big.Rat).Mul(total, big.NewRat(int64(len(g.Components)), 1)))
			for _, j := range g.Components {
				out[i].components[j].Add(out[i].components[j], w)
			}
		}
		if r.Private {
			out[i].selection = new(big.Rat).Quo(mean, total)
		}
	}
	return out, nil
}

// A form is how a cost is stated.
type form uint8

const (
	pure form = iota
	approximate
	concentrated
)

// A purse is a cost with the parts that its form has.
type purse struct {
	form           form
	measure        filter.Measure
	spend          Spend
	neighbours     privacy.Neighbours
	gaussian       map[*stability.Release]bool // approximate: which releases take Gaussian noise
	gaussianShare  *big.Rat                    // their components' share of the cost together
	gaussianRho    privacy.Rho
	gaussianDelta  privacy.Delta
	selectionDelta privacy.Delta // for each selection
}

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
func (p *purse) chooseGaussian(d *Design, all []shares) {
	p.gaussian = map[*stability.Release]bool{}
	for _, r := range d.Releases {
		// Discrete Gaussian noise has a rho, but no mu.
		p.gaussian[r.Release] = len(r.Components) > 0 && p.measure != filter.GDP
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
			if err != nil || p.laplaceWins(r.Release, all[i].components, rho) {
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
// L2²/(2·ρ·s/S), S being the Gaussian components' share. A tree's variances are also as its
// shapes are (see shapeOf).
func (p *purse) laplaceWins(r *stability.Release, shares []*big.Rat, rho privacy.Rho) bool {
	if rho.Sign() == 0 {
		return true
	}
	product := big.NewRat(1, 1)
	for i, c := range r.Components {
		var l, g Shape
		if c.Kind == stability.Tree {
			l, g = shapeOf(c.Places, false), shapeOf(c.Places, true)
			product.Mul(product, big.NewRat(int64(l.Levels)*int64(l.Branching-1), int64(g.Levels)*int64(g.Branching-1)))
		}
		l1, _ := r.Distances(c, l.Levels, p.neighbours)
		_, l2squared := r.Distances(c, g.Levels, p.neighbours)
		scale := l1.Quo(l1, new(big.Rat).Mul(p.spend.Epsilon.Rat(), shares[i]))
		laplace := new(big.Rat).Mul(big.NewRat(2, 1), new(big.Rat).Mul(scale, scale))
		part := new(big.Rat).Mul(rho.Rat(), new(big.Rat).Quo(shares[i], p.gaussianShare))
		product.Mul(product, laplace.Quo(laplace, l2squared.Quo(l2squared, part.Mul(part, big.NewRat(2, 1)))))
	}
	return product.Cmp(big.NewRat(1, 1)) <= 0
}

// allot gives every component of a release its noise.
func (r *Release) allot(p *purse, s shares) error {
	for i, c := range r.Components {
		gaussian := p.form == concentrated || p.gaussian[r.Release]
		if c.Kind == stability.Tree {
			r.Noise[i].Shape = shapeOf(c.Places, gaussian)
		}
		l1, l2squared := r.Distances(c, r.Noise[i].Shape.Levels, p.neighbours)
		var n mechanism.Additive
		var err error
		name := "discrete_laplace"
		sensitivity := new(big.Rat).Mul(l1, c.Grid)
		switch {
		case p.form == concentrated:
			n, err = mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: l2squared, Rho: p.spend.Rho.MulRat(s.components[i])})
			name = "discrete_gaussian"
		case gaussian:
			part := new(big.Rat).Quo(s.components[i], p.gaussianShare)
			n, err = mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: l2squared, Rho: p.gaussianRho.MulRat(part)})
			name = "discrete_gaussian"
		default:
			n, err = mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: l1, Epsilon: p.spend.Epsilon.MulRat(s.components[i])})
		}
		if err != nil {
			return diagnostic.New("D074", r.Span, "the noise for this cost cannot be drawn").
				Because("%s", diagnostic.Cause(err)).
				Try("give a cost between 1e-9 and 1000")
		}
		r.Noise[i].Additive, r.Noise[i].Name = n, name
		r.Noise[i].Sensitivity, _ = sensitivity.Float64()
		if name == "discrete_gaussian" {
			r.Noise[i].Sensitivity = root(new(big.Rat).Mul(l2squared, new(big.Rat).Mul(c.Grid, c.Grid)))
		}
	}
	if !r.Private {
		return nil
	}
	options := mechanism.SelectionOptions{MaxGroups: r.MaxGroups, Neighbours: p.neighbours, Delta: p.selectionDelta}
	if p.form == concentrated {
		options.Rho = p.spend.Rho.MulRat(s.selection)
	} else {
		options.Epsilon = p.spend.Epsilon.MulRat(s.selection)
	}
	selection, err := mechanism.ChooseSelection(options)
	if err != nil {
		return diagnostic.New("D074", r.Span, "the noise for private group selection cannot be drawn at this cost").
			Because("%s", diagnostic.Cause(err)).
			Try("give a cost between 1e-9 and 1000, and a delta above 1e-100")
	}
	r.Selection = selection
	return nil
}

func root(r *big.Rat) float64 {
	f, _ := new(big.Float).Sqrt(new(big.Float).SetPrec(100).SetRat(r)).Float64()
	return f
}
