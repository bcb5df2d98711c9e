package release

import (
	"errors"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
)

// An Error says, of each aggregate of a design, what part of the error that it may have its noise
// reaches, at some confidence: 1 or less is near enough. nil means out of reach.
type Error func(*Design) ([]*big.Rat, error)

// ErrTooDear is returned where no cost that can be spent reaches an error.
var ErrTooDear = errors.New("no cost that can be spent reaches this error")

// MaxSpend is the largest epsilon or rho that a price goes up to.
const MaxSpend = 1000

// Price returns the least spend, to one part in a thousand, at which an error is reached, and the
// weights of the aggregates at which it is. Private groups are chosen by noise of their own, so that a value's error does not
// depend on whether it is shown. Its form is the measure's: rho where there is one, and
// else epsilon; with a delta. Weights that are given stay.
//
// What it returns reaches the error: the last design that it looks at is the one that it returns.
// That no lesser spend does is a search's word. It reads public parameters, and whatever the error
// was computed from, and nothing else.
func Price(c *stability.Certificate, delta privacy.Delta, weights []*big.Rat, reached Error) (Options, error) {
	form := func(amount *big.Rat) (s Spend, err error) {
		s.Delta = delta
		switch filter.Measure(c.Domain.Measure) {
		case filter.ZCDP, filter.RDP:
			s.Rho, err = privacy.NewRho(amount)
		case filter.Pure:
			s.Delta = privacy.Delta{}
			fallthrough
		default:
			s.Epsilon, err = privacy.NewEpsilon(amount)
		}
		return s, err
	}
	search := func(weights []*big.Rat) (*big.Rat, *Design, []*big.Rat, error) {
		at := func(amount *big.Rat) (*Design, []*big.Rat, bool, error) {
			s, err := form(amount)
			if err != nil {
				return nil, nil, false, err
			}
			d, err := NewDesign(c, Options{Spend: s, Weights: weights, OwnSelection: true})
			if err != nil {
				return nil, nil, false, err
			}
			parts, err := reached(d)
			if err != nil {
				return nil, nil, false, err
			}
			for _, p := range parts {
				if p == nil || p.Cmp(big.NewRat(1, 1)) > 0 {
					return d, parts, false, nil
				}
			}
			return d, parts, true, nil
		}
		return cheapest(at)
	}
	best, d, parts, err := search(weights)
	if err != nil {
		return Options{}, err
	}
	out := Options{Weights: weights, OwnSelection: true}
	for range 4 {
		if weights != nil || len(parts) < 2 {
			break // they are given, or there is nothing to share
		}
		next := reweigh(d, out.Weights, parts)
		less, e, of, err := search(next)
		if err != nil || less.Cmp(best) >= 0 {
			break
		}
		enough := new(big.Rat).Mul(less, big.NewRat(1002, 1000)).Cmp(best) >= 0
		best, d, parts, out.Weights = less, e, of, next
		if enough {
			break
		}
	}
	out.Spend, err = form(best)
	return out, err
}

// cheapest finds the least amount that is enough, of four digits.
func cheapest(at func(*big.Rat) (*Design, []*big.Rat, bool, error)) (*big.Rat, *Design, []*big.Rat, error) {
	// Amounts are 10^(i/1000) rounded up to four digits, for i in this range.
	amount := func(i int) *big.Rat {
		exponent := int(math.Floor(float64(i) / 1000))
		digits := int64(math.Ceil(math.Pow(10, float64(i)/1000-float64(exponent)) * 1000))
		r := big.NewRat(digits, 1000)
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil))
		if exponent < 0 {
			power.Inv(power)
		}
		return r.Mul(r, power)
	}
	low, high := -12_000, 3*1000 // not enough, as far as is known; and enough
	d, parts, ok, err := at(amount(high))
	if err != nil {
		return nil, nil, nil, err
	}
	if !ok {
		return nil, nil, nil, ErrTooDear
	}
	found := amount(high)
	for high-low > 1 {
		middle := low + (high-low)/2
		e, of, ok, err := at(amount(middle))
		if err == nil && ok {
			high, found, d, parts = middle, amount(middle), e, of
		} else { // too little to be drawn is too little
			low = middle
		}
	}
	return found, d, parts, nil
}

// reweigh gives each aggregate what it needs of the cost: a Gaussian's error falls with the root
// of its part, a Laplace's with its part.
func reweigh(d *Design, weights, parts []*big.Rat) []*big.Rat {
	var need []float64
	for _, r := range d.Releases {
		for _, g := range r.Aggregates {
			w := 1.0
			if weights != nil {
				w, _ = weights[len(need)].Float64()
			}
			p, _ := parts[len(need)].Float64()
			if r.Noise[g.Components[0]].Name == "discrete_gaussian" {
				p *= p
			}
			need = append(need, w*p)
		}
	}
	most := 0.0
	for _, n := range need {
		most = max(most, n)
	}
	const steps = 1_000_000
	out := make([]*big.Rat, len(need))
	for i, n := range need {
		out[i] = big.NewRat(max(1, int64(math.Ceil(n/most*steps))), steps)
	}
	return out
}

// Within is the error of values whose noise alone decides it, counts and sums: at most so much,
// but with probability beta for each.
func Within(target, beta *big.Rat) Error {
	return func(d *Design) ([]*big.Rat, error) {
		var parts []*big.Rat
		for i := range d.Releases {
			r := &d.Releases[i]
			for _, g := range r.Aggregates {
				w, err := r.reach(g.Components[0], beta)
				if err != nil {
					return nil, err
				}
				if sums := r.reachOfSums(g.Components[0], beta); sums == nil {
					w = nil
				} else if sums.Cmp(w) > 0 {
					w = sums
				}
				if w == nil {
					parts = append(parts, nil)
					continue
				}
				parts = append(parts, new(big.Rat).Quo(w, target))
			}
		}
		return parts, nil
	}
}

// reach is how far the noise of a component moves its value, but with probability beta.
func (r *Release) reach(component int, beta *big.Rat) (*big.Rat, error) {
	w, err := r.bound(component, beta)
	if err != nil {
		return nil, err
	}
	return scaled(w, r.Components[component].Grid), nil
}

// reachOfSums is how far noise moves the values of the grouping sets that are sums of a component's, each but with probability beta; nil
// where that is not known.
func (r *Release) reachOfSums(component int, beta *big.Rat) *big.Rat {
	far := new(big.Rat)
	if len(r.Sums) == 0 {
		return far
	}
	a, b, c, ok := r.noiseOfSums(component, beta)
	if !ok {
		return nil
	}
	for _, of := range r.Sums {
		m := float64(of)
		w := math.Sqrt(m*b) + c
		if of <= rewrite.MostExact {
			w = min(w, math.Sqrt(m*a))
		}
		if w = w * above; math.IsInf(w, 0) || math.IsNaN(w) {
			return nil
		}
		if x := new(big.Rat).SetFloat64(w); x.Cmp(far) > 0 {
			far = x
		}
	}
	return far
}

// A Pilot is what a first answer says of the values that a second one, of the same bounded rows,
// is to come near.
type Pilot struct{ Tables []*Table }

// Within is the error of values at this pilot: at most target, or, if it is relative, at most that
// part of the value, but with probability beta for each.
//
// Theorem. Let v be a value without noise, and let the pilot's interval of it hold but with
// probability β/2, and the second answer's noise stay below w but with probability β/2. Then with
// probability 1−β both do, whatever is decided by the pilot, since the second noise is drawn anew.
//
// A count or a sum is off by at most w, and |v| is at least the least absolute value of the pilot's interval.
// An average is c + S/N, with noise e on S and f on N. Where N ≥ n > |f|,
//
//	|(S+e)/(N+f) − S/N| = |e·N − S·f| / (N·(N+f)) ≤ (|e| + |S/N|·|f|) / (n − |f|),
//
// and what the answer is clamped to only brings it nearer. The pilot bounds n and |S/N|, which is also at
// most how far the bounds lie from c.
func (p *Pilot) Within(target *big.Rat, relative bool, beta *big.Rat) Error {
	half := new(big.Rat).Mul(beta, big.NewRat(1, 2))
	return func(d *Design) ([]*big.Rat, error) {
		var parts []*big.Rat
		for i := range d.Releases {
			r, t := &d.Releases[i], p.Tables[i]
			for _, g := range r.Aggregates {
				each := new(big.Rat).Mul(half, big.NewRat(1, int64(len(g.Components))))
				widths := make([]*big.Int, len(g.Components))
				second := make([]*big.Rat, len(g.Components))
				for j, c := range g.Components {
					var err error
					if widths[j], err = t.release.bound(c, each); err != nil {
						return nil, err
					}
					if second[j], err = r.reach(c, each); err != nil {
						return nil, err
					}
				}
				worst := new(big.Rat)
				for group := range t.keys {
					part := t.part(g, group, widths, second, target, relative)
					if part == nil {
						worst = nil
						break
					}
					if part.Cmp(worst) > 0 {
						worst = part
					}
				}
				parts = append(parts, worst)
			}
		}
		return parts, nil
	}
}

// part is what part of the target the second noise reaches in a group; nil: it may be any.
func (t *Table) part(g stability.Aggregate, group int, widths []*big.Int, second []*big.Rat, target *big.Rat, relative bool) *big.Rat {
	off := second[0]
	if len(second) > 1 {
		count, sum := t.extent(g.Components[0], group, widths[0]), t.extent(g.Components[1], group, widths[1])
		least := new(big.Rat).Sub(count.lower, second[0])
		if least.Sign() <= 0 {
			return nil
		}
		c := t.release.Components[g.Components[1]]
		center := scaled(c.Center, c.Grid)
		slope := largest(new(big.Rat).Sub(g.Lower, center), new(big.Rat).Sub(g.Upper, center))
		if seen := new(big.Rat).Quo(largest(sum.lower, sum.upper), count.lower); seen.Cmp(slope) < 0 {
			slope = seen
		}
		off = new(big.Rat).Add(second[1], slope.Mul(slope, second[0]))
		off.Quo(off, least)
	}
	allowed := target
	if relative {
		v := t.value(g, group, widths)
		if v.lower.Sign() <= 0 && v.upper.Sign() >= 0 {
			return nil
		}
		least := new(big.Rat).Abs(v.lower)
		if other := new(big.Rat).Abs(v.upper); other.Cmp(least) < 0 {
			least = other
		}
		allowed = least.Mul(least, target)
	}
	return new(big.Rat).Quo(off, allowed)
}

func (t *Table) extent(component, group int, width *big.Int) extent {
	n, grid := t.noisy[component][group], t.release.Components[component].Grid
	return extent{scaled(new(big.Int).Sub(n, width), grid), scaled(new(big.Int).Add(n, width), grid)}
}

// largest is the larger absolute value.
func largest(a, b *big.Rat) *big.Rat {
	a, b = new(big.Rat).Abs(a), new(big.Rat).Abs(b)
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
