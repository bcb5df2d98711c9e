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
	// order; nil means evenly. Group selection by noise of its own counts like an average one.
	Weights []*big.Rat
	// Apart gives each component noise of its own, as shares of noise need.
	Apart bool
	// OwnSelection has private groups chosen by noise of their own, also where a count could choose them: the
	// noise of a value that is shown is then the same as of all (see threshold.go).
	OwnSelection bool
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
	Noise  []Noise // one a component
	blends []mixed // the noise of components that have it together
	// Selection or Threshold is set if the groups are privately selected: by noise of its own, or by the
	// noisy count that is the component Counter.
	Selection mechanism.Selection
	Threshold *mechanism.CountThreshold
	Choice    *Choice // set if one group alone is published: then no component has noise
	Events    []privacy.Event

	// Where Threshold is set, Counter and Threshold.Least.
	counter int
	least   *big.Int
	bounds  *sync.Map // *big.Int by component and probability, as text: see bound
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
	// Terms is of how many draws the noise is the sum, each of at most the scale; 1 of a component
	// that has noise of its own.
	Terms int
}

// NewDesign allots the cost of a statement to its components and selections.
//
// Composition: the components and selections of a statement are one fixed
// plan, so their losses add: Σε, Σδ for pure and approximate events, Σρ for
// Gaussian noise, whose sum is converted once. What the statement is charged is
// computed from the events by the domain's filter, not taken from here.
//
// A count decides which private groups are shown, unless many would be shown only by a selection of their own: where
// its threshold is more than a quarter above the number of units at which that keeps a group half of the time.
func NewDesign(c *stability.Certificate, o Options) (*Design, error) {
	d, err := design(c, o)
	if o.OwnSelection || err == nil && !slices.ContainsFunc(d.Releases, func(r Release) bool { return r.Threshold != nil }) {
		return d, err
	}
	o.OwnSelection = true
	own, failure := design(c, o)
	if err != nil || failure != nil {
		return d, err
	}
	for i, r := range d.Releases {
		if r.Threshold == nil {
			continue
		}
		if most := new(big.Int).Mul(own.Releases[i].Selection.HalfCount(), big.NewInt(5)); most.Cmp(new(big.Int).Lsh(r.least, 2)) < 0 {
			return own, nil
		}
	}
	return d, nil
}

func design(c *stability.Certificate, o Options) (*Design, error) {
	d := &Design{Domain: c.Domain}
	if c.Domain == nil {
		return d, nil // no private table: nothing to spend
	}
	shares, err := share(c, o)
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
	p.apart = o.Apart
	if p.form == approximate {
		p.chooseGaussian(d, shares)
	}
	for i := range d.Releases {
		if d.Releases[i].Chosen {
			event, err := d.Releases[i].choose(p, shares[i].choice)
			if err != nil {
				return nil, err
			}
			d.Releases[i].Events = []privacy.Event{event}
			continue
		}
		laws, err := d.Releases[i].allot(p, shares[i])
		if err != nil {
			return nil, err
		}
		events := &d.Releases[i].Events
		for _, law := range laws {
			*events = append(*events, law.Event())
		}
		for _, e := range d.Releases[i].selectionEvents() {
			if e, err = privacy.Released(e, p.neighbours); err != nil {
				return nil, err
			}
			*events = append(*events, e)
		}
	}
	for _, r := range d.Releases {
		d.Events = append(d.Events, r.Events...)
	}
	d.Delta = p.gaussianDelta
	return d, nil
}

// selectionEvents are what the selection of groups reveals.
func (r *Release) selectionEvents() []privacy.Event {
	switch {
	case r.Selection != nil:
		return r.Selection.Events()
	case r.Threshold != nil:
		return r.Threshold.Events()
	}
	return nil
}

// shares of the cost: one for each component of a release, and one for a selection by noise of
// its own, or for its choice. All shares of a statement add up to 1.
type shares struct {
	components        []*big.Rat
	selection, choice *big.Rat
}

// share splits evenly, or by weight, over the aggregates of the statement, and
// an aggregate's share evenly over its components. A component that several
// aggregates use collects from each. A choice counts as an aggregate.
func share(c *stability.Certificate, o Options) ([]shares, error) {
	weights := o.Weights
	aggregates, selections := 0, 0
	selected := func(r *stability.Release) bool { return r.Private && (o.OwnSelection || r.Counter() < 0) }
	for _, r := range c.Releases {
		aggregates += len(r.Aggregates)
		if r.Chosen {
			aggregates++
		}
		if selected(r) {
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
		weight := func(parts int) *big.Rat {
			w := big.NewRat(1, 1)
			if weights != nil {
				w.Set(weights[next])
			}
			next++
			return w.Quo(w, new(big.Rat).Mul(total, big.NewRat(int64(parts), 1)))
		}
		if r.Chosen {
			out[i].choice = weight(1)
		}
		for _, g := range r.Aggregates {
			w := weight(len(g.Components))
			for _, j := range g.Components {
				out[i].components[j].Add(out[i].components[j], w)
			}
		}
		if selected(r) {
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
	gaussian       map[*stability.Release]bool // approximate: which releases take Gaussian noise, or are choices that share its rho
	gaussianShare  *big.Rat                    // their components' share of the cost together
	gaussianRho    privacy.Rho
	gaussianDelta  privacy.Delta
	selectionDelta privacy.Delta // for each selection
	apart          bool
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
