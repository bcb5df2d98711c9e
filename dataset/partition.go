package dataset

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/budget"
)

// Partition divides a dataset by keys that are public and different: the i-th result
// has the records whose key is keys[i]. Those with another key, and those on which key
// panics, are in none. The parts together cost what the most costly of them costs.
//
// Theorem. A change of c records changes c_i of part i, Σc_i <= c. Each part is charged
// for c, as if all changes were in it, and what is charged for noise and choices that
// are calibrated to a sensitivity of c records is at least c/c_i times the loss of
// c_i, because that loss is star-shaped: κ(s)/s does not decrease. So the shares c_i/c
// of budget.Partition's theorem add up to 1.
//
// Proof that they are. The ε of Laplace noise and of the exponential mechanism is
// proportional to the distance, the ρ of Gaussian noise to its square. Rényi divergence
// of ε-DP (see package filter): 1 − R(ε)/ε = (1/t)·∫ds/(1+e^{sε}) over s in [1, 2t+1], t =
// α−1, decreases in ε, and so does 1 − R/ε of what is less than that, the smallest of R,
// ε and αε²/2. ∎
//
// The number of parts that a unit can be in, before and after a replacement together,
// is so accounted for by the stability: with 1 record a unit, 2 under ReplaceOne, and
// noise for 2 records in each part. Where the loss is not known to be star-shaped and
// c exceeds 1, releases are refused: Gaussian noise under approx and whitehouse, which
// convert it at a δ that every part spends, and all under gdp.
func Partition[T any, K comparable](d Dataset[T], keys []K, key func(T) K) []Dataset[T] {
	parts := make([]Dataset[T], len(keys))
	s, index := divide(d.usable(), keys)
	for i := range parts {
		parts[i].source = s
	}
	if s.err != nil {
		return parts
	}
	for at, whole := range s.stakes {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = fmt.Sprint(k)
		}
		budgets, err := budget.Partition(whole.budget, budget.PartitionOptions{Names: names, Spread: 1})
		for i := range parts {
			if at == 0 {
				parts[i].stakes = nil
			}
			if err != nil {
				parts[i].source = parts[i].failed(err)
				continue
			}
			parts[i].stakes = append(parts[i].stakes, stake{budgets[i], whole.stability, max(whole.divided, whole.stability)})
		}
	}
	for i, records := range split(d.records(), index, key) {
		parts[i] = with(parts[i].source, records)
	}
	return parts
}

// split counts before it copies: parts that grow would be copied over and over.
func split[T any, K comparable](records []T, index map[K]int, key func(T) K) [][]T {
	place := make([]int32, len(records))
	each(len(records), func(i int) {
		if at, ok := index[key(records[i])]; ok {
			place[i] = int32(at) + 1
		}
	}, nil)
	counts := make([]int, len(index)+1)
	for _, at := range place {
		counts[at]++
	}
	parts := make([][]T, len(index))
	for i := range parts {
		parts[i] = make([]T, 0, counts[i+1])
	}
	for i, at := range place {
		if at > 0 {
			parts[at-1] = append(parts[at-1], records[i])
		}
	}
	return parts
}

// divide checks keys and returns the place of each.
func divide[K comparable](s source, keys []K) (source, map[K]int) {
	if err := checkKeys[K](); err != nil {
		return s.failed(err), nil
	}
	index := make(map[K]int, len(keys))
	for i, k := range keys {
		index[k] = i
	}
	if len(index) != len(keys) {
		return s.failed(refuse("two keys are the same")), nil
	}
	if len(keys) == 0 || len(keys) >= math.MaxInt32 {
		return s.failed(refuse("there are %d keys", len(keys))), nil
	}
	return s, index
}
