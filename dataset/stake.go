package dataset

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/budget"
)

// A stake says how far one unit of a budget's domain moves a dataset.
type stake struct {
	budget    budget.Budget
	stability int64
	divided   int64 // the stability at the last Partition, 1 without any
}

// stakes has a stake for each budget.
type stakes []stake

// maxStability keeps products within int64; noise for more means nothing anyway.
const maxStability = 1 << 40

func (all stakes) times(k int64) (stakes, error) {
	scaled := slices.Clone(all)
	for i := range scaled {
		if k > maxStability/scaled[i].stability {
			return nil, refuse("the stability exceeds 2^40")
		}
		scaled[i].stability *= k
	}
	return scaled, nil
}

// and adds stabilities where both datasets depend on a budget: the same unit may be
// in both.
func (all stakes) and(others stakes) (stakes, error) {
	sum := slices.Clone(all)
	for _, o := range others {
		i := slices.IndexFunc(sum, func(s stake) bool { return same(s.budget, o.budget) })
		if i < 0 {
			sum = append(sum, o)
			continue
		}
		sum[i].stability += o.stability
		sum[i].divided = max(sum[i].divided, o.divided)
		if sum[i].stability > maxStability {
			return nil, refuse("the stability exceeds 2^40")
		}
	}
	return sum, nil
}

func same(a, b budget.Budget) bool { return reflect.TypeOf(a).Comparable() && a == b }

// together returns for each stake the sum of the stabilities of all that one budget
// pays for in the end: two parts of a partition, or a quota and what it is a quota
// of. (Budgets of one name count as one, which can only cost more.) Of these each
// is charged for all. Several stakes of which one does not say who pays in the end are
// refused: it might be the others' budget in disguise.
//
// A release with loss κ(s) for a distance s, of which κ(s)/s does not decrease, is
// paid for by this whatever the tree is: for parts i with shares c_i/c of one
// change, whose stabilities are s_i, the distance Σs_i·c_i/c is at most w·Σs_i with w
// = Σc_i/c, and κ of it at most w·κ(Σs_i), the sum of the shares of what the parts
// were charged (see budget.Partition). Charging each for its own s_i would not do:
// ρ of a sum exceeds the sum of the ρ.
func (all stakes) together() ([]int64, error) {
	if len(all) == 1 {
		return []int64{all[0].stability}, nil
	}
	roots := make([]budget.Budget, len(all))
	for i, s := range all {
		root, err := budget.Root(s.budget)
		if err != nil {
			return nil, fmt.Errorf("%w: several budgets pay: %w", ErrParameter, err)
		}
		roots[i] = root
	}
	sums := make([]int64, len(all))
	for i := range all {
		for j, t := range all {
			if same(roots[i], roots[j]) || roots[i].Name() == roots[j].Name() {
				sums[i] += t.stability
			}
		}
	}
	return sums, nil
}
