package release

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// Private groups are chosen by a released count of their units where there is one that hides few (see NewDesign):
// the count then has the part of the cost that a selection of its own would take. mechanism.CountThreshold has the theorem of privacy.
//
// What is shown lies high rather than low, the more so the nearer it is to the threshold τ. An interval says so:
//
// Theorem. Let N be symmetric, log-concave noise on the integers, P(|N| > w) ≤ β/2, and let a group of n units be shown
// if v = n + N ≥ τ. Then the interval from v−w, or from 1 where v ≤ τ+w, to v+w misses n with probability at most β given
// that the group is shown, whatever n ≥ 1 is.
//
// Proof. Where n ≥ τ, the group is shown with probability P(N ≥ τ−n) ≥ 1/2, and a miss has |N| > w: at most
// (β/2)/(1/2). Where n < τ ≤ v, the upper end is not below n, and the lower end is above n only if v > τ+w, which given
// v ≥ τ has the probability P(N > τ−n+w)/P(N ≥ τ−n). Tails of log-concave laws are log-concave, so that this falls with
// τ−n, and is at most P(N > w)/P(N ≥ 0) ≤ (β/4)/(1/2). Discrete Laplace and Gaussian noise are log-concave.
//
// Values of other components have noise of their own, which does not depend on whether a group is shown.

// shown returns the groups that are shown of those that the engine found, with their noisy counts if these decide.
func (r *Release) shown(rows [][]sqltype.Value, bits noise.Bits) (chosen [][]sqltype.Value, counts []*big.Int, err error) {
	slices.SortFunc(rows, func(a, b []sqltype.Value) int { return compareKeys(a, b, len(r.Keys)) })
	units := make([]*big.Int, len(rows))
	for i, row := range rows {
		if units[i], err = integer(row[len(row)-1]); err != nil {
			return nil, nil, err
		}
	}
	if r.Threshold == nil {
		keep, err := r.Selection.Select(bits, units)
		if err != nil {
			return nil, nil, fmt.Errorf("select groups: %w", err)
		}
		for i, row := range rows {
			if keep[i] {
				chosen = append(chosen, row)
			}
		}
		return chosen, nil, nil
	}
	column := len(r.Keys)
	for _, c := range r.Components[:r.counter] {
		if c.Kind != stability.Tree {
			column++
		}
	}
	noisy, err := integers(rows, column)
	if err != nil {
		return nil, nil, err
	}
	if err := r.Noise[r.counter].AddTo(bits, noisy); err != nil {
		return nil, nil, fmt.Errorf("draw noise: %w", err)
	}
	for i, row := range rows {
		if units[i].Sign() > 0 && r.Threshold.Shows(noisy[i]) {
			chosen, counts = append(chosen, row), append(counts, noisy[i])
		}
	}
	return chosen, counts, nil
}

// decides reports whether this component decides which groups are shown.
func (r *Release) decides(component int) bool { return r.Threshold != nil && component == r.counter }

// nearThreshold reports whether the interval of a count that decided, with width's w, has the lower end 1.
func (r *Release) nearThreshold(noisy, w *big.Int) bool {
	if noisy.IsInt64() && w.IsInt64() && r.least.IsInt64() && max(noisy.Int64(), -noisy.Int64(), w.Int64()) <= fitting {
		return noisy.Int64()-w.Int64() <= r.least.Int64()
	}
	return new(big.Int).Sub(noisy, w).Cmp(r.least) <= 0
}

// width is the half width of the interval of a component's value in a group that is shown, which misses with
// probability beta; of a count that decided, see nearThreshold.
func (r *Release) width(component int, beta *big.Rat) (*big.Int, error) {
	if r.decides(component) {
		beta = new(big.Rat).Mul(beta, big.NewRat(1, 2))
	}
	return r.bound(component, beta)
}
