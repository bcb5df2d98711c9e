package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/shuffle"
	"github.com/discreet-dp/discreet/accountant/internal/subsample"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

var errLocalDelta = errors.New("shuffling amplifies randomizers that are pure; no theorem here covers one with a δ")
var errLocalRange = errors.New("the randomizer's ε leaves the range of what is computed in")

// localRandomizer is what package shuffle knows of a shuffled event's randomizer.
func localRandomizer(meter *work.Meter, e privacy.Shuffled) (shuffle.Randomizer, error) {
	if r, ok := e.Event.(privacy.RandomizedResponse); ok {
		odds := new(big.Rat).Sub(big.NewRat(1, 1), r.P)
		odds.Quo(new(big.Rat).Mul(r.P, big.NewRat(int64(r.K-1), 1)), odds)
		f, _ := odds.Float64()
		if local, err := shuffle.Response(f, r.K); err == nil {
			return local, nil
		}
	}
	c, err := inside(meter, e.Event, privacy.ReplaceOne)
	if err != nil {
		return shuffle.Randomizer{}, err
	}
	if c.point == nil {
		return shuffle.Randomizer{}, errLocalDelta
	}
	eps, delta := c.point()
	if delta.Sign() > 0 {
		return shuffle.Randomizer{}, errLocalDelta
	}
	local := shuffle.Randomizer{Epsilon0: upFloat(eps)}
	if math.IsInf(local.Epsilon0, 1) {
		return shuffle.Randomizer{}, errLocalRange
	}
	switch simple(meter, e.Event).(type) {
	case privacy.Pure: // randomized response among others
	case privacy.Laplace:
		// Elsewhere its blanket leaves the range of its arithmetic: above, it has less than
		// e^-50 of the noise.
		local.Laplace = 1e-100 <= local.Epsilon0 && local.Epsilon0 <= 100
		local.Other = !local.Laplace
	default:
		local.Other = true
	}
	return local, nil
}

// shuffledClaims: what is observed is a function of the reports in their order, so
// that the local ε holds; the amplified curve is package shuffle's.
func shuffledClaims(meter *work.Meter, e privacy.Shuffled) (claims, error) {
	local, err := localRandomizer(meter, e)
	if err != nil {
		return claims{}, fmt.Errorf("%v: %w", e, err)
	}
	pure := pureClaims(new(big.Rat).SetFloat64(local.Epsilon0), false)
	known := map[question]answer{}
	alone := func(q question) (answer, error) {
		if a, ok := known[q]; ok {
			return a, nil
		}
		b, note, err := bestShuffled(meter, e.N, local, q)
		if err != nil {
			return answer{}, err
		}
		known[q] = answer{b, Both, note, nil}
		return known[q], nil
	}
	return claims{
		point: pure.point,
		curve: func(logDelta float64) float64 {
			delta := math.Exp(logDelta)
			if delta > 0 {
				if a, err := alone(question{delta, true}); err == nil {
					return a.High
				}
			}
			return local.Epsilon0
		},
		alone: alone,
		rdp:   pure.rdp,
		zcdp:  pure.zcdp,
		gdp:   pure.gdp,
	}, nil
}

// bestShuffled returns the least of the bounds that are proved for the randomizer, and
// a note that names all of them. A bound that is refused is left out of the choice.
func bestShuffled(meter *work.Meter, n int64, r shuffle.Randomizer, q question) (best Bracket, note string, err error) {
	best.High = math.Inf(1)
	ask := shuffle.Delta
	if q.isDelta {
		ask = shuffle.Epsilon
	}
	var winner shuffle.Method
	low := 0.0 // holds whichever theorem is the best
	others := func(m shuffle.Method, says string) { note += fmt.Sprintf("; %s: %s", m, says) }
	for _, m := range shuffle.Methods {
		b, refused := ask(meter, m, n, r, q.x)
		switch {
		case errors.Is(refused, shuffle.ErrUnproved):
			continue
		case errors.Is(refused, shuffle.ErrDomain) && m == shuffle.Closed:
			others(m, "outside its domain")
			continue
		case refused != nil:
			return Bracket{}, "", refused
		}
		others(m, fmt.Sprintf("%.10g", b.High))
		low = max(low, b.Low)
		if b.High < best.High {
			winner, best = m, Bracket(b)
		}
	}
	best.Low = min(low, best.High)
	return best, fmt.Sprintf("%s, of local ε %.6g%s", winner, r.Epsilon0, note), nil
}

// withReplacementClaims are those of a sample by independent draws, from those of
// groups: a unit may come several times.
func withReplacementClaims(meter *work.Meter, e privacy.WithReplacement) (claims, error) {
	profile, inner, err := withReplacementProfile(meter, e)
	if err != nil {
		return claims{}, err
	}
	var c claims
	c.curve = func(logDelta float64) float64 { return profile.Epsilon(math.Exp(logDelta), 1e9) }
	var copies func(k int64, order float64) float64
	switch {
	case inner.exact:
		mu2 := upFloat(inner.gdp())
		copies = func(k int64, a float64) float64 { return a * mu2 * float64(k) * float64(k) / 2 }
	case inner.point != nil:
		eps, delta := inner.point()
		if delta.Sign() > 0 {
			return c, nil
		}
		one := upFloat(eps)
		copies = func(k int64, a float64) float64 { return pureRDP(one * float64(k))(a) }
	default:
		return c, nil
	}
	curve, err := subsample.WithReplacementRDP(meter, e.M, e.N, copies)
	if err != nil {
		return claims{}, err
	}
	c.rdp = each(curve)
	return c, nil
}

// withReplacementProfile is the profile of the sampled event, and what is known of
// the event inside.
func withReplacementProfile(meter *work.Meter, e privacy.WithReplacement) (subsample.Profile, claims, error) {
	inner, err := inside(meter, e.Event, privacy.ReplaceOne)
	if err != nil {
		return nil, claims{}, err
	}
	group, err := groups(meter, inner)
	if err != nil {
		return nil, claims{}, fmt.Errorf("%v: %w", e, err)
	}
	profile, err := subsample.WithReplacement(meter, e.M, e.N, group)
	return profile, inner, err
}

// groups is the best rule for groups of units that an event's claims allow.
func groups(meter *work.Meter, c claims) (subsample.Group, error) {
	switch {
	case c.exact:
		return subsample.Gaussian(upRoot(c.gdp()) * (1 + 0x1p-50))
	case c.point != nil:
		eps, delta := c.point()
		return subsample.Approximate(upFloat(eps), upFloat(delta))
	case c.zcdp != nil:
		if rho, delta := c.zcdp(); delta.Sign() == 0 {
			return subsample.ZCDP(meter, upFloat(rho))
		}
	}
	switch {
	case c.rdp != nil:
		return subsample.Groups(profileOfRDP(meter, c.rdp)), nil
	case c.curve != nil:
		return subsample.Groups(inverse(c.curve)), nil
	}
	return nil, errors.New("it has no profile for groups of units")
}

// profileOfRDP is δ at each ε that divergences give, at the default orders.
func profileOfRDP(meter *work.Meter, rdp func(orders, out []float64)) subsample.Profile {
	orders := DefaultOrders()
	rs := make([]float64, len(orders))
	rdp(orders, rs)
	return func(eps float64) float64 {
		meter.Spend(2 * len(orders))
		least := 0.0
		for i, a := range orders {
			if r := rs[i] * (1 + rdpError); r < math.Inf(1) {
				log := canonne.logDelta(r, a, eps)
				least = math.Min(least, log+((a-1)*(r+eps)+2+math.Abs(math.Log(a-1)))*0x1p-50)
			}
		}
		return math.Max(math.Exp(least), math.SmallestNonzeroFloat64)
	}
}

// inverse is the profile of a curve: the least δ, nearly, at which its ε is reached.
func inverse(curve func(logDelta float64) float64) subsample.Profile {
	return func(eps float64) float64 {
		if !(curve(0) <= eps) {
			return 1
		}
		lo, hi := -705.0, 0.0
		for hi-lo > 1e-6 {
			if mid := lo + (hi-lo)/2; curve(mid) <= eps {
				hi = mid
			} else {
				lo = mid
			}
		}
		return math.Exp(hi)
	}
}

// hasProfile reports whether profile finds one.
func (t term) hasProfile() bool {
	switch t.event.(type) {
	case privacy.WithReplacement, privacy.Shuffled:
		return true
	}
	return false
}

// profile is a bound on δ at each ε >= 0 of an event that has no closed pair.
func (t term) profile(meter *work.Meter) (p subsample.Profile, knots int, err error) {
	switch e := t.event.(type) {
	case privacy.WithReplacement:
		p, _, err = withReplacementProfile(meter, e)
		return p, 1200, err
	case privacy.Shuffled:
		r, err := localRandomizer(meter, e)
		if err != nil {
			return nil, 0, err
		}
		m := shuffle.Clones
		switch {
		case r.Laplace:
			m = shuffle.Blanket
		case r.Answers != 0:
			m = shuffle.Stronger // the blanket is dearer to compute at every knot
		}
		at, err := shuffle.Profile(meter, m, e.N, r)
		return at, 240, err
	}
	return nil, 0, nil
}

// profiled returns the pair of dots on such an event's profile. What lies beyond the
// last counts as lost, which is for all events of the term a e^-20 part of the δ asked
// about, and where δ is the answer at most e^-100.
func (t term) profiled(meter *work.Meter, q question) (l loss.Event, ok bool, err error) {
	p, n, err := t.profile(meter)
	if p == nil || err != nil {
		return loss.Event{}, err != nil, err
	}
	logTop := math.Max(-700, q.beyond()-math.Log(t.count))
	top := p.Epsilon(math.Exp(logTop), 690)
	if top > 690 {
		top = 690
	}
	above, err := subsample.Dots(p, subsample.Knots(math.Max(top, 1e-12), n))
	return loss.Event{Above: above}, true, err
}

// beyond is the logarithm of what counts as lost.
func (q question) beyond() float64 {
	if q.isDelta {
		return math.Max(-690, math.Log(q.x)-20)
	}
	return -100
}

// alone answers for a single event that has a profile.
func (p *flat) alone(q question) (answer, error) {
	t := p.terms[0]
	if t.alone != nil {
		return t.alone(q)
	}
	profile, _, err := t.profile(p.meter)
	if err != nil {
		return answer{}, err
	}
	high := profile(math.Max(0, q.x))
	if q.isDelta {
		high = profile.Epsilon(q.x, 1e9)
	}
	return answer{bracket(0, high, high), "", "the sum of group profiles over how often a unit is drawn; an upper bound", nil}, nil
}
