package release

import (
	"errors"
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A stored release is sharpened by another one of the same bounded rows: what is published is the average of both, each noisy number
// weighted by one over the variance of its noise.
//
// Theorem. Let S be the salt, drawn independently of the data, and q_S the bounded values, whose sensitivity the certificate bounds for each
// value of S. The stored release adds noise of variance u to q_S, and the other one of variance v, by noise of its own; for each S they are ρ₁-zCDP and
// ρ₂-zCDP, the second whatever it was decided by (Bun and Steinke 2016, Lemmas 1.7 and 2.3), together (ρ₁+ρ₂)-zCDP, and so is the pair with S drawn, whose law is the same for all
// data. The average is post-processing. It is q_S + (v·e₁ + u·e₂)/(u+v), whose noise has the variance uv/(u+v) at most, which is that of noise for ρ₁+ρ₂,
// as the variances of noise for ρ at one sensitivity are as 1/ρ. Rounding it is rounding noise (see nearest).
//
// leastVariance keeps rounding, which adds at most an eighth to the variance (roundingVariance), within a hundredth of the standard deviation; mostRatio of the variances of a part and
// the average keeps its bound near the one that noise of its own would have (noise.BoundOfAverage).
const (
	leastVariance = 7
	mostRatio     = 256
)

// Averages reports whether a stored answer to a design can be sharpened: its groups are complete, and each noisy number
// has discrete Gaussian noise of its own.
func (d *Design) Averages() bool {
	for i := range d.Releases {
		r := &d.Releases[i]
		if r.Private || r.Chosen || r.Sets != nil || len(r.Sums) > 0 || r.trees() > 0 || len(r.blends) > 0 || len(r.Components) == 0 || len(r.Events) != len(r.Components) {
			return false
		}
		for j := range r.Noise {
			if e, ok := r.Noise[j].Event().(privacy.DiscreteGaussian); !ok || e.String() != r.Events[j].String() {
				return false
			}
		}
	}
	return len(d.Releases) > 0
}

// Rest is the noise that a release must be given, beside one that was released by some events, so that the average of both
// is as precise as a design; nil where there is none.
func (d *Design) Rest(released []privacy.Event) *Design {
	if !d.Averages() || len(released) != len(d.Events) {
		return nil
	}
	rest := &Design{Domain: d.Domain, Delta: d.Delta}
	for _, r := range d.Releases {
		part := Release{Release: r.Release, bounds: &sync.Map{}}
		for i, n := range r.Noise {
			asked := r.Events[i].(privacy.DiscreteGaussian)
			first, ok := released[len(rest.Events)].(privacy.DiscreteGaussian)
			if !ok || first.SensitivitySquared.Cmp(asked.SensitivitySquared) != 0 || first.Variance.Cmp(asked.Variance) <= 0 || asked.Variance.Cmp(big.NewRat(leastVariance, 1)) < 0 {
				return nil
			}
			// 1/v = 1/w − 1/u
			v := new(big.Rat).Mul(first.Variance, asked.Variance)
			v.Quo(v, new(big.Rat).Sub(first.Variance, asked.Variance))
			most := new(big.Rat).Mul(asked.Variance, big.NewRat(mostRatio, 1))
			if v.Cmp(most) > 0 || first.Variance.Cmp(most) > 0 {
				return nil
			}
			law, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: asked.SensitivitySquared, Variance: v})
			if err != nil {
				return nil
			}
			n.Additive = law
			part.Noise, part.Events = append(part.Noise, n), append(part.Events, law.Event())
			rest.Events = append(rest.Events, law.Event())
		}
		rest.Releases = append(rest.Releases, part)
	}
	return rest
}

// Averaged is the design of the average of what was released by some events and by the rest, which is not nil.
func (d *Design) Averaged(released []privacy.Event, rest *Design) (*Design, error) {
	out := *d
	out.Releases = nil
	at := 0
	for i, r := range d.Releases {
		r.Noise, r.bounds = append([]Noise{}, r.Noise...), &sync.Map{}
		for j := range r.Noise {
			law := averaged{Additive: r.Noise[j].Additive}
			for k, e := range []privacy.Event{released[at], rest.Releases[i].Events[j]} {
				g, err := noise.NewDiscreteGaussian(e.(privacy.DiscreteGaussian).Variance)
				if err != nil {
					return nil, err
				}
				law.parts[k] = g
			}
			r.Noise[j].Additive, r.Noise[j].Terms = law, 2
			at++
		}
		out.Releases = append(out.Releases, r)
	}
	return &out, nil
}

// Average makes the table of release i of an averaged design of one that is stored and one of the rest.
func (d *Design) Average(i int, s *Stored, fresh *Table, bits noise.Bits) (*Table, error) {
	r := &d.Releases[i]
	if s == nil || len(s.Noisy) != len(r.Components) {
		return nil, errShape
	}
	t := &Table{release: r, keys: fresh.keys, noisy: make([][]*big.Int, len(r.Components)), trees: fresh.trees}
	for j := range t.noisy {
		if len(s.Noisy[j]) != len(t.keys) {
			return nil, errShape
		}
		first, second, denominator := r.Noise[j].Additive.(averaged).weights()
		for g, n := range s.Noisy[j] {
			if n == nil {
				return nil, errShape
			}
			sum := new(big.Int).Mul(n, first)
			z, err := nearest(bits, sum.Add(sum, new(big.Int).Mul(fresh.noisy[j][g], second)), denominator)
			if err != nil {
				return nil, err
			}
			t.noisy[j] = append(t.noisy[j], z)
		}
	}
	return t, nil
}

// averaged is the noise of a rounded average, in place of noise of a law of its own.
type averaged struct {
	mechanism.Additive
	parts [2]*noise.DiscreteGaussian
}

// weights are whole numbers over a denominator, as one over the variances.
func (a averaged) weights() (first, second, denominator *big.Int) {
	u, v := a.parts[0].Variance(), a.parts[1].Variance()
	first, second = new(big.Int).Mul(v.Num(), u.Denom()), new(big.Int).Mul(u.Num(), v.Denom())
	return first, second, new(big.Int).Add(first, second)
}

// AddTo is nobody's: see added.
func (averaged) AddTo(noise.Bits, []*big.Int) error {
	return errors.New("add noise: it is in the values that are averaged")
}

// Variance is that of the average, and of rounding.
func (a averaged) Variance() float64 { return a.Additive.Variance() + roundingVariance }

// ScaleIn is that of the wider of the two weighted draws.
func (a averaged) ScaleIn(grid *big.Rat) float64 {
	least, _ := a.parts[0].Variance().Float64()
	other, _ := a.parts[1].Variance().Float64()
	return a.Additive.ScaleIn(grid) * math.Sqrt(a.Additive.Variance()/min(least, other))
}

// Bound is that of the average.
func (a averaged) Bound(beta *big.Rat) (*big.Int, error) {
	return noise.BoundOfAverage(a.parts[0], a.parts[1], beta)
}
