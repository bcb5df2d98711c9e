package release

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/stability"
)

// exclusives are blends of components to which each row adds one at most (stability's exclusive.go has the theorem): each is a term of its own, so that noise is not
// shared, but the cost is. For half of it each of two counts had twice the variance of Gaussian noise, and four times that of Laplace noise. They are of those that are free.
func exclusives(r *stability.Release, free func(int) bool) (all []blend) {
	for _, set := range r.Exclusive {
		var of []int
		for _, i := range set {
			if free(i) {
				of = append(of, i)
			}
		}
		if len(of) < 2 {
			continue
		}
		b := blend{most: r.Components[of[0]].PerGroup}
		for n, i := range of {
			weights, over := make([]*big.Rat, len(of)), make([]*big.Int, len(of))
			for j := range of {
				weights[j], over[j] = new(big.Rat), new(big.Int)
			}
			weights[n].SetInt64(1)
			over[n].SetInt64(1)
			b.components, b.weights = append(b.components, i), append(b.weights, weights)
			b.exact = append(b.exact, fraction{over, big.NewInt(1)})
		}
		all = append(all, b)
	}
	return all
}
