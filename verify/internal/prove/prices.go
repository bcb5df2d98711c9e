package prove

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/linear"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// prices guesses, for each counter, what the draws of a loop cost in one iteration
// and what those before it do.
func (m *machine) prices(h *head) (steps, before [][]linear.Term) {
	steps, before = make([][]linear.Term, len(m.budget.counters)), make([][]linear.Term, len(m.budget.counters))
	for i, b := range m.budget.counters {
		steps[i] = []linear.Term{{}}
		total := linear.Term{}
		for _, d := range m.draws {
			var costs []linear.Term
			rate := m.eval(b.rate[d], &state{}).num
			if d.Law == p.Choose {
				costs = append(costs, rate.Mul(m.scoreRange(d.Scores)))
			}
			dearest := new(big.Rat)
			for _, leaf := range leaves(m.align[d]) {
				k, ok := m.moved[leaf.String()]
				if !ok {
					k = m.guess(leaf)
				}
				costs = append(costs, rate.Scale(k))
				if k.Cmp(dearest) > 0 {
					dearest = k
				}
			}
			inside := slices.Contains(m.around[d], h.loop)
			if !inside && d.Pos < h.loop.Pos {
				total = total.Add(rate.Scale(dearest))
			}
			if inside {
				for _, s := range slices.Clone(steps[i]) {
					for _, c := range costs {
						if len(steps[i]) < 40 && c.Err() == nil {
							steps[i] = append(steps[i], s.Add(c))
						}
					}
				}
				steps[i] = uniqueTerms(steps[i])
			}
		}
		before[i] = []linear.Term{total}
	}
	return steps, before
}

// guess is the size of a leaf if distances are those of the adjacency.
func (m *machine) guess(x p.Expression) *big.Rat {
	most := new(big.Rat)
	for _, a := range m.c.Adjacent {
		if a.Relation == claim.Bag {
			continue
		}
		low, high := m.bounds(a)
		for _, t := range []linear.Term{low, high} {
			if r, ok := t.IsConstant(); ok && new(big.Rat).Abs(r).Cmp(most) > 0 {
				most.Abs(r)
			}
		}
	}
	var size func(x p.Expression) *big.Rat
	size = func(x p.Expression) *big.Rat {
		switch x := x.(type) {
		case p.Number:
			return new(big.Rat).Abs(x.Value)
		case p.Unary:
			return size(x.X)
		case p.Binary:
			if x.Op == p.Mul {
				return new(big.Rat).Mul(size(x.X), size(x.Y))
			}
			return new(big.Rat).Add(size(x.X), size(x.Y))
		}
		return most
	}
	return size(x)
}
