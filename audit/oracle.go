package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// count is the exact answer.
func count(ctx context.Context, secret []bool, q Subset) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(q) != len(secret) {
		return 0, bad("a query over %d units, of %d", len(q), len(secret))
	}
	var n int64
	for i, in := range q {
		if in && secret[i] {
			n++
		}
	}
	return n, nil
}

// Exact answers without noise.
func Exact(secret []bool) Oracle {
	return func(ctx context.Context, q Subset) (float64, error) {
		n, err := count(ctx, secret, q)
		return float64(n), err
	}
}

// Bounded answers with fresh noise that is uniform on a fine grid from −e to e: what
// is often taken for protection, and is not, whatever e below the order of √n.
func Bounded(bits noise.Bits, secret []bool, e float64) (Oracle, error) {
	const steps = 1 << 20 // from 0 to e
	if !(e >= 0) || math.IsInf(e, 0) {
		return nil, bad("noise within ±%v", e)
	}
	n := big.NewInt(2*steps + 1)
	return func(ctx context.Context, q Subset) (float64, error) {
		exact, err := count(ctx, secret, q)
		if err != nil {
			return 0, err
		}
		k, err := noise.Uniform(bits, n)
		if err != nil {
			return 0, fmt.Errorf("draw noise: %w", err)
		}
		return float64(exact) + e*float64(k.Int64()-steps)/steps, nil
	}, nil
}

// PrivateOptions say how Private answers.
type PrivateOptions struct {
	// Mechanism adds the noise to each count, whose sensitivity is 1. Required.
	Mechanism mechanism.Additive
	// Budget pays for each answer. Required; its neighbours must be AddRemove.
	Budget budget.Budget
	// Delta is the δ at which a filter converts Gaussian noise; see filter.Filter.
	Delta privacy.Delta
}

// Private answers as Discreet does: each query is charged to a budget before it is
// computed, and gets fresh noise. What the budget does not cover is refused.
func Private(bits noise.Bits, secret []bool, o PrivateOptions) (Oracle, error) {
	switch {
	case o.Mechanism == nil || o.Budget == nil:
		return nil, bad("no mechanism or no budget")
	case o.Budget.Neighbours() != privacy.AddRemove:
		return nil, bad("the budget of %s speaks of %v, a unit's bit of add-remove", o.Budget.Name(), o.Budget.Neighbours())
	}
	release := budget.Release{Statement: "count of a subset", Events: []privacy.Event{o.Mechanism.Event()}, Delta: o.Delta}
	return func(ctx context.Context, q Subset) (float64, error) {
		if len(q) != len(secret) {
			return 0, bad("a query over %d units, of %d", len(q), len(secret))
		}
		a, err := budget.Spend(ctx, o.Budget, release, func() (float64, error) {
			n, err := count(ctx, secret, q)
			if err != nil {
				return 0, err
			}
			values := []*big.Int{big.NewInt(n)}
			if err := o.Mechanism.AddTo(bits, values); err != nil {
				return 0, err
			}
			noisy, _ := new(big.Float).SetInt(values[0]).Float64()
			return noisy, nil
		})
		if errors.Is(err, budget.ErrExceeded) {
			err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return a, err
	}, nil
}
