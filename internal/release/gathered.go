package release

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// gathered is the noise of a sum of noisy numbers, each so often. Whatever hangs together of them, each lies within its bound but with its share of a
// probability, and the standard deviation of the sum is at most the sum of theirs (Minkowski).
type gathered struct {
	mechanism.Additive // that of one
	parts              []mechanism.Additive
	times              []*big.Int
	rounded            *big.Int // and by how much what was rounded moves it at most
}

// AddTo is nobody's: see added.
func (gathered) AddTo(bits noise.Bits, values []*big.Int) error { return added{}.AddTo(bits, values) }

// Variance is at least that of the sum.
func (g gathered) Variance() float64 {
	deviation, _ := new(big.Float).SetInt(g.rounded).Float64()
	for i, law := range g.parts {
		times, _ := new(big.Float).SetInt(g.times[i]).Float64()
		deviation += times * math.Sqrt(law.Variance())
	}
	return deviation * deviation
}

// Bound is that of the sum.
func (g gathered) Bound(beta *big.Rat) (*big.Int, error) {
	sum := new(big.Int).Set(g.rounded)
	share := new(big.Rat).Quo(beta, big.NewRat(int64(len(g.parts)), 1))
	for i, law := range g.parts {
		b, err := law.Bound(share)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, new(big.Int).Mul(b, g.times[i]))
	}
	return sum, nil
}

// ScaleIn is the scale of the widest.
func (g gathered) ScaleIn(grid *big.Rat) (widest float64) {
	for i, law := range g.parts {
		widest = max(widest, law.ScaleIn(new(big.Rat).Mul(grid, new(big.Rat).SetInt(g.times[i]))))
	}
	return widest
}

// added is the noise of so many noisy numbers of one law together, each of a draw of its own. Of fewer it is no wider, since sums
// of symmetric unimodal variables are the less peaked the more they are (Birnbaum 1948).
type added struct {
	mechanism.Additive
	terms int
}

// AddTo is nobody's: the noise was drawn when what is added up was released.
func (added) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: it is in the values that are added up")
}

// Variance is that of the sum.
func (a added) Variance() float64 { return float64(a.terms) * a.Additive.Variance() }

// mostExact is of how many draws package noise bounds a sum by its law.
const mostExact = 256

// Bound is that of the sum: by its exact law where that is known, and never more than by noiseOfSums.
func (a added) Bound(beta *big.Rat) (*big.Int, error) {
	var best *big.Int
	if _, b, c, ok := sumsOf(a, beta, 1); ok {
		best, _ = big.NewFloat(math.Ceil((math.Sqrt(b) + c) * above)).Int(nil)
	}
	var exact *big.Int
	var err error
	switch law := a.Additive.(type) {
	case blended:
		if a.terms*len(law.weights) > mostExact {
			break
		}
		if exact, err = (blended{law.Additive, slices.Repeat(law.weights, a.terms)}).Bound(beta); err == nil {
			exact.Add(exact, big.NewInt(int64(a.terms/2))) // each was rounded by itself
		}
	case interface {
		BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
	}:
		if a.terms <= mostExact {
			exact, err = law.BoundOfSum(a.terms, beta)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case exact == nil && best == nil:
		return nil, errors.New("bound noise: the law of this sum is not known")
	case best == nil || exact != nil && exact.Cmp(best) < 0:
		return exact, nil
	}
	return best, nil
}

// together is the noise of a sum of components of a group, each so often, over so many groups.
//
// Components that have noise together are linear in the same draws, so that their sum is too: with the sum of their weights, but for what
// was rounded of each, by at most a half. Others have draws of their own.
func (r *Release) together(parts []stability.Part, groups int) Noise {
	n := r.Noise[parts[0].Component]
	if len(parts) == 1 {
		if groups > 1 {
			n.Additive, n.Terms = added{n.Additive, groups}, n.Terms*groups
		}
		return n
	}
	g := gathered{Additive: n.Additive, rounded: new(big.Int)}
	n.Terms = 0
	for _, p := range parts {
		own := r.Noise[p.Component]
		g.parts, g.times, n.Terms = append(g.parts, own.Additive), append(g.times, new(big.Int).Abs(p.Times)), n.Terms+own.Terms
	}
	if law, ok := r.blended(parts); ok {
		for _, times := range g.times {
			g.rounded.Add(g.rounded, times)
		}
		g.rounded.Rsh(g.rounded.Add(g.rounded, big.NewInt(1)), 1)
		g.Additive, g.parts, g.times, n.Terms = law, []mechanism.Additive{law}, []*big.Int{big.NewInt(1)}, len(law.sizes())
	}
	if groups > 1 {
		for i, law := range g.parts {
			g.parts[i] = added{law, groups}
		}
		g.rounded.Mul(g.rounded, big.NewInt(int64(groups)))
		n.Terms *= groups
	}
	n.Additive = g
	return n
}

// blended is the noise of such a sum where all of it is that of one blend.
func (r *Release) blended(parts []stability.Part) (sum blended, ok bool) {
	for _, m := range r.blends {
		sum = blended{Additive: m.law}
		for _, p := range parts {
			at := slices.Index(m.blend.components, p.Component)
			if ok = at >= 0; !ok {
				break
			}
			for i, w := range m.blend.weights[at] {
				if i == len(sum.weights) {
					sum.weights = append(sum.weights, new(big.Rat))
				}
				sum.weights[i] = new(big.Rat).Add(sum.weights[i], new(big.Rat).Mul(w, new(big.Rat).SetInt(p.Times)))
			}
		}
		if ok && len(sum.sizes()) > 0 {
			return sum, true
		}
	}
	return blended{}, false
}
