package budget

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// PartitionOptions say how private data are divided.
type PartitionOptions struct {
	// Names are those of the parts, known without looking at the data.
	Names []string
	// Spread is the number of parts that a unit can be in, before and after a
	// replacement together: with one record a unit, 1 under AddRemove and 2 under
	// ReplaceOne. More exactly it bounds the sum of the shares of the theorem.
	Spread int64
}

// Partition divides the data that a budget pays for into parts, each with a budget
// of its own: the parent pays Spread times the most that any part has spent, in each
// coordinate of its measure, and is told of increases only.
//
// Theorem. Let the parts be functions of disjoint portions of the data, by a rule
// that is public. For neighbours D and D' let there be shares w_i >= 0 with Σw_i <=
// Spread such that each release on part i, given all answers before, has between D
// and D' a loss of at most w_i times its charge, in the measure's own terms (ε, ρ, μ²,
// Rényi divergence, ε², and δ). Then all that is released from the parts, adaptively
// and in any order, is charged enough: whatever the filter promises of what it
// admits holds.
//
// Proof. Fix D and D'. Write l_t for the loss of the t-th release between them, which
// is known before its answer, and K_i for what was charged to part i so far. Then
//
//	Σl_t <= Σ_i w_i·K_i <= (Σ_i w_i)·max_i K_i <= Spread·max_i K_i
//
// on every path, for loss and δ apart, and the right-hand side is what the parent was
// charged. Every filter's theorem is about a pair of databases at a time and asks
// of the losses between them only that they are predictable and that their sum
// stays within the cap on every path (see package filter at each measure; zCDP:
// Whitehouse et al. 2023, pure and approx: Rogers et al. 2016). McSherry 2009,
// Theorem 4, is the case of fixed events and Spread 1. ∎
//
// Where a unit is in at most n parts, shares of 1 for these and 0 for the others
// show Spread n, of any release. With fewer: let the parts' records differ in c_i
// places, Σc_i <= c, and let a release on part i that is charged κ for c records cost
// at most κ·c_i/c when c_i differ. Shares c_i/c show Spread 1. So it is with noise and
// choices calibrated to a sensitivity of c times that of one record (ε is linear in
// c_i, ρ and μ² are quadratic); not with a Gaussian converted at a δ of the request,
// which is δ for every part that is touched.
//
// A part may be divided further. Parts are told apart by their place in the result,
// not by name. What the parent's history shows of a part is an increase of a
// maximum (see filter.EventOf), and an answer that increases nothing leaves no record
// there. All this is kept in memory: after a restart a new partition charges anew.
func Partition(parent Budget, o PartitionOptions) ([]Budget, error) {
	switch {
	case parent == nil:
		return nil, errors.New("partition: the parent is missing")
	case o.Spread < 1:
		return nil, fmt.Errorf("partition of %q: a unit is in %d parts", parent.Name(), o.Spread)
	case len(o.Names) == 0:
		return nil, fmt.Errorf("partition of %q: there are no parts", parent.Name())
	}
	p := &partition{parent: parent, lock: lockOf(parent), spread: o.Spread}
	parts := make([]Budget, len(o.Names))
	for i, name := range o.Names {
		parts[i] = &part{partition: p, name: parent.Name() + "/" + name}
	}
	return parts, nil
}

// A partition is what its parts share.
type partition struct {
	parent Budget
	lock   lock
	spread int64
	most   filter.Total // that any part has spent
}

type part struct {
	*partition
	name  string
	spent filter.Total
}

func (p *part) Name() string                   { return p.name }
func (p *part) Neighbours() privacy.Neighbours { return p.parent.Neighbours() }
func (p *part) Filter() filter.Filter          { return p.parent.Filter() }
func (p *part) own() lock                      { return p.lock }
func (p *part) self() Budget                   { return p }

func (p *part) Left(ctx context.Context) (filter.Amounts, error) { return remaining(ctx, p) }

func (p *part) Reserve(ctx context.Context, r Release) (Reservation, error) {
	return reserve(ctx, p, r)
}

// left is what others have paid for already, and what the parent can pay for.
func (p *part) left(ctx context.Context) (filter.Total, error) {
	above, err := leftOf(ctx, p.parent)
	if err != nil {
		return filter.Total{}, err
	}
	return p.spent.Left(p.most).Add(above.Quo(p.spread)), nil
}

func (p *part) charge(t *trial, r Release) error {
	f := p.Filter()
	asked, err := f.Charge(r.Events, r.Delta)
	if err != nil {
		return err
	}
	spent := p.spent.Add(asked)
	most := p.most.Max(spent)
	increase := p.most.Left(most).Times(p.spread)
	t.set(&p.spent, spent)
	t.set(&p.most, most)
	if increase.Equal(filter.Total{}) {
		return nil
	}
	if !increase.Within(f.Budget()) { // it may be no event at all
		left, err := leftOf(t.ctx, p.parent)
		if err != nil {
			return err
		}
		return exceeded(p.parent, increase, left)
	}
	e, err := filter.EventOf(f, increase)
	if err != nil {
		return err
	}
	return t.charge(p.parent, Release{Statement: p.name + ": " + r.Statement, Events: []privacy.Event{e}, Delta: r.Delta})
}
