package audit

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
)

// all returns the subset of all n units, but without those named.
func all(n int, but ...int) Subset {
	q := make(Subset, n)
	for i := range q {
		q[i] = true
	}
	for _, i := range but {
		q[i] = false
	}
	return q
}

func checkTarget(n, target int) error {
	if n < 1 || target < 0 || target >= n {
		return bad("unit %d of %d", target, n)
	}
	return nil
}

// Difference asks for all units and for all but the target, and takes the
// difference: the attack on systems that refuse only small groups.
func Difference(ctx context.Context, o Oracle, n, target int) (bool, error) {
	if err := checkTarget(n, target); err != nil {
		return false, err
	}
	with, err := o(ctx, all(n))
	if err != nil {
		return false, fmt.Errorf("ask for all: %w", err)
	}
	without, err := o(ctx, all(n, target))
	if err != nil {
		return false, fmt.Errorf("ask for all but one: %w", err)
	}
	return with-without > 0.5, nil
}

// Average returns the attack that asks for the target alone, again and again up to k
// times, and rounds the average: fresh noise averages out (the binary average
// attack). With k = 1 and Laplace noise it is the best attack there is: it reaches
// SuccessBound.
func Average(k int) Attack {
	return func(ctx context.Context, o Oracle, n, target int) (bool, error) {
		if err := checkTarget(n, target); err != nil {
			return false, err
		}
		if k < 1 {
			return false, bad("%d queries", k)
		}
		q := make(Subset, n)
		q[target] = true
		sum, answered := 0.0, 0
		for range k {
			a, err := o(ctx, q)
			if errors.Is(err, ErrRefused) && answered > 0 {
				break
			}
			if err != nil {
				return false, fmt.Errorf("ask for one: %w", err)
			}
			sum += a
			answered++
		}
		return sum/float64(answered) > 0.5, nil
	}
}

// Probe sees of each answer only whether it is above a threshold of its choice, and
// finds by bisection where that changes, for all units and for all but the target:
// to answer with a bit is no protection. ProbeQueries says how often it asks.
func Probe(ctx context.Context, o Oracle, n, target int) (bool, error) {
	if err := checkTarget(n, target); err != nil {
		return false, err
	}
	with, err := probe(ctx, o, all(n))
	if err != nil {
		return false, err
	}
	without, err := probe(ctx, o, all(n, target))
	if err != nil {
		return false, err
	}
	return with > without, nil
}

// ProbeQueries is how many queries Probe asks about n units.
func ProbeQueries(n int) int { return 2 * bits.Len(uint(n)) }

// probe finds a count from 0 to n by asking whether it exceeds a threshold.
func probe(ctx context.Context, o Oracle, q Subset) (int, error) {
	lo, hi := 0, 1<<bits.Len(uint(len(q)))-1 // the count is within, so that each question halves what is left
	for lo < hi {
		t := (lo + hi) / 2
		a, err := o(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("ask about a threshold: %w", err)
		}
		if a > float64(t)+0.5 { // all that the attack sees
			lo = t + 1
		} else {
			hi = t
		}
	}
	return lo, nil
}
