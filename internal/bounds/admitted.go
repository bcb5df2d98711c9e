package bounds

import (
	"context"
	"errors"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// Filters are the filters by name.
func Filters() []filter.Measure {
	return []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Rogers, filter.Whitehouse, filter.RDP, filter.GDP}
}

// Admitted counts how often a filter admits an event. If the filter has no charge for the
// event itself (rdp for poisson(...), say), it is its guarantee in the filter's measure. For
// filters of (ε, δ) points that is a pure one; there is no δ here at which to find another.
func Admitted(ctx context.Context, name filter.Measure, e privacy.Event, epsilon privacy.Epsilon, delta privacy.Delta, o accountant.Options) (*big.Int, error) {
	refused := errors.New("no guarantee for groups of units is known in its measure")
	if o.Group <= 1 { // groups are counted by the guarantee alone
		var n *big.Int
		if n, refused = filter.Admitted(name, e, epsilon, delta, o.Neighbours); !errors.Is(refused, filter.ErrUnsupported) {
			return n, refused
		}
	}
	b := filter.Budget{Measure: name, Epsilon: epsilon, Delta: delta, Neighbours: o.Neighbours}
	switch name {
	case filter.Pure, filter.Approx, filter.Whitehouse, filter.Rogers:
		b.Measure, b.Delta = filter.Pure, privacy.Delta{}
	}
	f, err := filter.New(b)
	if err != nil {
		return nil, refused
	}
	guarantee, err := accountant.Guarantee(ctx, e, f, privacy.Delta{}, o)
	if err != nil {
		return nil, refused
	}
	return filter.Admitted(name, guarantee, epsilon, delta, o.Neighbours)
}
