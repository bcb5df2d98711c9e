package accountant

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/pld"
	"github.com/discreet-dp/discreet/accountant/internal/transform"
	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// An engine answers questions about the law of a plan's loss in one direction.
type engine func(question) (answer, error)

// engines lists those that a plan suits, the best first: the closed curve of
// Gaussian noise; that of a single event; the inversion of the moment generating
// function, whose cost does not grow with the number of steps; the lattice.
func (p *flat) engines(direct orientation) []engine {
	if p.exactlyGaussian() {
		return []engine{p.closed}
	}
	if len(p.terms) == 1 && p.terms[0].count == 1 {
		switch p.terms[0].event.(type) {
		case privacy.WithReplacement, privacy.Shuffled:
			return []engine{p.alone}
		}
		return []engine{p.single(direct)}
	}
	lattice := p.lattice(direct)
	if terms, d, ok := p.gaussianTerms(direct); ok {
		return []engine{p.inversion(terms, d), lattice}
	}
	return []engine{lattice}
}

func (p *flat) closed(q question) (answer, error) {
	of := gdpDelta
	if q.isDelta {
		of = gdpEpsilon
	}
	a, err := of(p, q.x)
	a.note = "the closed curve of Gaussian noise, " + a.note
	return a, err
}

// single reads ε or δ off the curve of one event's dominating pair.
func (p *flat) single(direct orientation) engine {
	return func(q question) (answer, error) {
		t := p.terms[0]
		e, err := t.loss(p.meter, direct, q)
		if err == nil && loss.HasChoice(t.event) {
			e, err = loss.Attained(privacy.OfPlan(simple(p.meter, t.event), t.rel), direct(t))
		}
		if err != nil {
			return answer{}, err
		}
		p.meter.Spend(4 * len(e.Above.Atoms())) // summed once
		blur := blurOf(p.terms[0].event)
		above := func(eps float64) float64 { p.meter.Spend(loss.Steps(e.Above)); return upperCurve(e.Above, eps, blur) }
		below := func(eps float64) float64 { return 0 }
		note := "the hockey-stick curve of the event"
		if e.Below != nil {
			below = func(eps float64) float64 { p.meter.Spend(loss.Steps(e.Below)); return lowerCurve(e.Below, eps, blur) }
		} else {
			note += "; an upper bound"
		}
		if !q.isDelta {
			low, high := below(q.x), above(q.x)
			return answer{bracket(low, high, high), "", note, nil}, nil
		}
		low, _ := epsilonOf(below, q.x)
		_, high := epsilonOf(above, q.x)
		return answer{bracket(low, high, high), "", note, nil}, nil
	}
}

// blurOf is the relative error, at most, of the losses of an event's pair, as one of ε.
// The pair's own losses have some units of the last place. A sample of rate r takes
// ε back to ln(1+(e^ε-1)/r), at most ln(1/r) above it, and at most some ln(1/r)
// times as far from 0 as the slope there says.
func blurOf(e privacy.Event) float64 {
	blur := 0x1p-48
	for {
		switch t := e.(type) {
		case groupSample:
			blur *= float64(t.with + t.without + 1)
			e = t.Poisson
		case privacy.Poisson:
			blur *= 1 - math.Log(toFloat(t.Rate))
			e = t.Event
		case privacy.TruncatedPoisson:
			blur *= 1 - math.Log(toFloat(t.Rate))
			e = t.Event
		case privacy.WithoutReplacement:
			blur *= 1 + math.Log(float64(t.N)/float64(t.M))
			e = t.Event
		default:
			return blur
		}
	}
}

// upperCurve and lowerCurve bound δ(ε) of a pair: Delta is right to Precision for losses
// next to the pair's, and what is denormal to some units. It is zero only where ε is
// no less than every loss.
func upperCurve(p loss.Pair, eps, blur float64) float64 {
	eps *= 1 - blur
	if eps >= p.Max()+math.SmallestNonzeroFloat64 { // above a greatest loss that underflowed to 0, too
		end, _ := p.Ends()
		if end == 0 {
			return 0
		}
		return min(1, up(end))
	}
	return min(1, up(p.Delta(eps)*(1+loss.Precision)+denormal))
}

func lowerCurve(p loss.Pair, eps, blur float64) float64 {
	return max(0, down(p.Delta(eps*(1+blur))*(1-loss.Precision)-denormal))
}

// denormal is more than a few operations on denormal numbers lose.
const denormal = 0x1p-1060

// epsilonOf returns two ε next to each other of which curve exceeds delta at the first and
// not at the second: the one is certainly below the least ε at which a curve that
// falls, and lies above this one, is at most delta; the other above the least of a
// curve that lies below. Both are 0 where nothing exceeds delta, +Inf where all does.
func epsilonOf(curve func(float64) float64, delta float64) (lo, hi float64) {
	top := 1.0
	for !(curve(top) <= delta) {
		if top *= 2; top > 1e9 {
			return top / 2, math.Inf(1)
		}
	}
	return bisect(0, top, func(eps float64) bool { return curve(eps) <= delta })
}

// inversion is package transform's.
func (p *flat) inversion(terms []transform.Term, d transform.Direction) engine {
	return func(q question) (answer, error) {
		c, err := transform.New(p.meter, terms, d)
		if err != nil {
			return answer{}, err
		}
		of := c.Delta
		if q.isDelta {
			of = c.Epsilon
		}
		b, err := of(q.x)
		return answer{Bracket(b), "", "privacy loss distribution by inversion of its moment generating function", nil}, err
	}
}

// lattice is package pld's.
func (p *flat) lattice(direct orientation) engine {
	return func(q question) (answer, error) {
		b, note, err := p.composed(p.law(direct, q, 0), q, func() ([]pld.Term, error) {
			terms := make([]pld.Term, len(p.terms))
			for i, t := range p.terms {
				e, err := t.loss(p.meter, direct, q)
				if err != nil {
					return nil, err
				}
				terms[i] = pld.Term{Event: e, Count: int64(t.count)}
			}
			return terms, nil
		})
		if err != nil {
			return answer{}, err
		}
		return answer{b, "", "privacy loss distribution on a lattice by FFT: " + note, nil}, nil
	}
}

// A law is that of a plan's loss in one direction, and between two candidates at a place, or 0; of pairs that are known in part as far as
// the question asked (profiled).
type law struct {
	directions string
	part       float64
	beyond     float64 // logarithm; 0 where no pair depends on the question
}

func (p *flat) law(direct orientation, q question, part float64) law {
	var d strings.Builder
	of := law{part: part}
	for _, t := range p.terms {
		d.WriteString(direct(t).String())
		if t.hasProfile() {
			of.beyond = q.beyond()
		}
	}
	of.directions = d.String()
	return of
}

// A composition is of a law, made for one answer and kept for others.
type composition struct {
	law
	*pld.Result
}

// mostKept bounds how many lattice points all compositions have that are kept, 32 bytes each; the oldest go.
const mostKept = 1 << 21

// composed answers for terms on a lattice. Where many answers are asked for, that is by a composition which another needed, if it is as narrow at q as one for q
// would be planned. Each holds at every ε and δ.
func (p *flat) composed(of law, q question, terms func() ([]pld.Term, error)) (b Bracket, note string, err error) {
	target := pld.Target{Epsilon: q.x, Given: pld.GivenEpsilon}
	if q.isDelta {
		target = pld.Target{Delta: q.x, Given: pld.GivenDelta}
	}
	for _, c := range p.kept {
		if c.law == of && c.Serves(target) {
			return c.answer(q)
		}
	}
	all, err := terms()
	if err != nil {
		return Bracket{}, "", err
	}
	r, err := pld.Compose(p.meter, all, target)
	if err != nil {
		return Bracket{}, "", err
	}
	c := composition{of, r}
	if p.keeps {
		p.kept = slices.Insert(p.kept, 0, c)
		for n, points := 0, 0; n < len(p.kept); n++ {
			if points += p.kept[n].N; points > mostKept {
				p.kept = slices.Delete(p.kept, n, len(p.kept))
			}
		}
	}
	return c.answer(q)
}

func (c composition) answer(q question) (Bracket, string, error) {
	if q.isDelta {
		return Bracket(c.Epsilon(q.x)), c.Note, nil
	}
	return Bracket(c.Delta(q.x)), c.Note, nil
}

// gaussianTerms are the plan's terms if all are Gaussian, Poisson-subsampled or
// not, and all samples lie in one direction.
func (p *flat) gaussianTerms(direct orientation) (terms []transform.Term, d transform.Direction, ok bool) {
	of := map[loss.Direction]transform.Direction{loss.Remove: transform.Remove, loss.Add: transform.Add, loss.Replace: transform.Replace}
	sampled := false
	for i, t := range p.terms {
		g := p.noise(i)
		if g.mu == 0 {
			return nil, 0, false
		}
		e := of[direct(t)]
		if !sampled {
			d = e
		}
		if g.rate < 1 {
			if sampled && e != d {
				return nil, 0, false
			}
			sampled = true
		}
		terms = append(terms, transform.Term{Sigma: 1, Sensitivity: g.mu, Rate: g.rate, Count: int64(t.count)})
	}
	return terms, d, true
}

// A sampledGaussian is Gaussian noise on a Poisson sample, or without one at rate 1;
// mu is the distance under AddRemove, and 0 where an event is nothing of the kind.
type sampledGaussian struct{ rate, mu float64 }

// noise looks it up of the i-th term.
func (p *flat) noise(i int) sampledGaussian {
	t := &p.terms[i]
	if t.noise == nil {
		g := t.sampledGaussian(p.meter)
		t.noise = &g
	}
	return *t.noise
}

func (t term) sampledGaussian(meter *work.Meter) (g sampledGaussian) {
	e := t.event
	g.rate = 1
	if p, sampled := simple(meter, e).(privacy.Poisson); sampled {
		if g.rate = toFloat(p.Rate); g.rate > 0.99 && new(big.Rat).SetFloat64(g.rate).Cmp(p.Rate) != 0 {
			return sampledGaussian{} // what is left of 1-rate in a float64 has few digits
		}
		e = p.Event
	}
	c, err := inside(meter, e, privacy.AddRemove)
	if err != nil || !c.exact {
		return sampledGaussian{}
	}
	g.mu = upRoot(c.gdp())
	if _, stated := e.(privacy.GDP); stated && t.replaces() {
		g.mu /= 2 // GDP's μ is of the whole replacement
	}
	return g
}

// loss is the dominating pair of one event of the term, good enough for the question.
func (t term) loss(meter *work.Meter, direct orientation, q question) (loss.Event, error) {
	if l, ok, err := t.profiled(meter, q); ok {
		return l, err
	}
	if e, ok := t.event.(groupSample); ok {
		return e.loss(meter, direct(t))
	}
	if e, ok := t.event.(privacy.RandomizedResponse); ok && t.rel == privacy.ReplaceSpecial {
		return loss.SpecialResponse(e, direct(t))
	}
	l, err := loss.Of(privacy.OfPlan(simple(meter, t.event), t.rel), direct(t))
	if !errors.Is(err, loss.ErrUnsupported) || t.point == nil {
		return l, err
	}
	// Nothing but an (ε, δ) is known: its worst mechanism is randomized response.
	eps, delta := t.point()
	worst, bad := loss.Approximate(upFloat(eps), upFloat(delta))
	if delta.Sign() == 0 {
		worst, bad = loss.RandomizedResponse(upFloat(eps))
	}
	return loss.Event{Above: worst}, bad
}

func (t term) replaces() bool { return t.rel == privacy.ReplaceOne }

// simple joins what happens on one sample into one event where it can: a sample of a
// sample, and Gaussian events, which are one of noise √(Σμ²).
func simple(meter *work.Meter, e privacy.Event) privacy.Event {
	switch e := e.(type) {
	case privacy.Poisson:
		e.Event = simple(meter, e.Event)
		if p, ok := e.Event.(privacy.Poisson); ok {
			return privacy.Poisson{Rate: new(big.Rat).Mul(e.Rate, p.Rate), Event: p.Event}
		}
		if e.Rate.Cmp(big.NewRat(1, 1)) == 0 {
			return e.Event
		}
		return e
	case privacy.TruncatedPoisson:
		e.Event = simple(meter, e.Event)
		return e
	case privacy.WithoutReplacement:
		if e.Event = simple(meter, e.Event); e.M == e.N {
			return e.Event
		}
		return e
	case privacy.Repeat:
		if e.Count == 1 {
			return simple(meter, e.Event)
		}
	case privacy.Sum:
		if len(e.Events) == 1 {
			return simple(meter, e.Events[0])
		}
	default:
		return e
	}
	c, err := inside(meter, e, privacy.AddRemove)
	if err != nil || !c.exact || states(e) {
		return e
	}
	return privacy.Gaussian{Variance: big.NewRat(1, 1), SensitivitySquared: c.gdp()}
}

// states reports whether e has a GDP event, whose μ is the distance under whichever
// relation, not under AddRemove.
func states(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.GDP:
		return true
	case privacy.Repeat:
		return states(e.Event)
	case privacy.Sum:
		for _, t := range e.Events {
			if states(t) {
				return true
			}
		}
	}
	return false
}
