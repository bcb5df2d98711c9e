package release

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
)

// A bundle is what has one law: a component, or a blend of several.
type bundle struct {
	components []int
	blend      *blend // or nil
	share      *big.Rat
	shape      Shape // of a tree
	// The distances of what has the law.
	l1, l2squared *big.Rat
}

// variance is that of the i-th component for a cost of 1, but for a factor that all have: of Laplace noise L1²/s², of Gaussian
// noise L2²/s.
func (b *bundle) variance(i int, gaussian bool) *big.Rat {
	v := new(big.Rat).Mul(b.l1, b.l1)
	cost := new(big.Rat).Mul(b.share, b.share)
	if gaussian {
		v, cost = new(big.Rat).Set(b.l2squared), b.share
	}
	if b.blend != nil {
		v.Mul(v, b.blend.factor(i))
	}
	return v.Quo(v, cost)
}

// first is the first component of a bundle.
func (b *bundle) first() int {
	first := b.components[0]
	for _, i := range b.components {
		first = min(first, i)
	}
	return first
}

// arrange bundles a release's components: those are blended whose variances fall by that, by the geometric mean that their
// shares weigh, by more than a hundredth. It reads public parameters alone.
func (r *Release) arrange(s shares, n privacy.Neighbours, gaussian, apart bool) []bundle {
	single := make([]bundle, len(r.Components))
	for i, c := range r.Components {
		b := bundle{components: []int{i}, share: s.components[i]}
		if c.Kind == stability.Tree {
			b.shape = shapeOf(c.Places, gaussian)
		}
		b.l1, b.l2squared = r.Distances(c, b.shape.Levels, n)
		single[i] = b
	}
	taken := make([]*bundle, len(single))
	take := func(candidates []blend) {
		for _, candidate := range candidates {
			b := &bundle{components: candidate.components, blend: &candidate, share: new(big.Rat)}
			free := true
			for _, i := range b.components {
				b.share.Add(b.share, s.components[i])
				free = free && taken[i] == nil
			}
			if !free || len(b.components) < 2 {
				continue
			}
			b.l1, b.l2squared = r.VectorDistances(candidate.most, n)
			gain := 0.0
			for j, i := range b.components {
				ratio, _ := new(big.Rat).Quo(b.variance(j, gaussian), single[i].variance(0, gaussian)).Float64()
				share, _ := new(big.Rat).Quo(s.components[i], b.share).Float64()
				gain -= share * math.Log(ratio)
			}
			if gain > 0.01 {
				for _, i := range b.components {
					taken[i] = b
				}
			}
		}
	}
	if !apart {
		take(blends(r.Release))
		take(exclusives(r.Release, func(i int) bool { return taken[i] == nil }))
	}
	var out []bundle
	for i, b := range single {
		switch {
		case taken[i] == nil:
			out = append(out, b)
		case taken[i].first() == i:
			out = append(out, *taken[i])
		}
	}
	return out
}
