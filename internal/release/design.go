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

	"github.com/discreet-dp/discreet/catalog"
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

const (
	pure form = iota
	approximate
	concentrated
)
