package pld

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// The largest lattices, of 2^exactLg points for laws that lie on a lattice and 2^maxLg
// for others: 185 and 130 MiB with tables and results.
const (
	exactLg = 21
	maxLg   = 20
)

// Compose returns the law of the loss of all terms together, sharp at the target.
func Compose(meter *work.Meter, terms []Term, t Target) (*Result, error) {
	if err := check(terms, t); err != nil {
		return nil, err
	}
	e := &engine{meter: meter, terms: terms}
	for _, m := range terms {
		e.counts = append(e.counts, float64(m.Count))
		f := profileOf(meter, m.Above, profileSize(len(terms)))
		if k, _, _ := f.cumulant(0); len(f) == 0 || math.IsNaN(k) || math.IsInf(k, 0) {
			return nil, errors.New("compose: the losses of an event leave the range of what is computed in")
		}
		e.profiles = append(e.profiles, f)
		e.total += float64(m.Count)
		e.max += float64(m.Count) * m.Above.Max()
		end, _ := m.Above.Ends()
		e.logKeep += float64(m.Count) * math.Log1p(-end)
	}
	e.max += 4*unit*math.Abs(e.max)*float64(len(terms)+4) + lost // above 0, also where it underflowed
	p, h := e.plan(t)
	e.lattice(&p, h)
	r, err := e.run(p)
	for errors.Is(err, errCells) {
		h = 4 * p.step
		e.lattice(&p, h)
		p.note += fmt.Sprintf("the step is coarsened to %.3g to keep within %d cells; ", p.step, maxNodes)
		r, err = e.run(p)
	}
	// Where laws have edges or atoms off the lattice, the bracket is wider than the
	// step was chosen for.
	for err == nil && r.floor && !e.exact {
		width := r.width(t, p.saddle) / p.tolerance
		h = p.step / min(4, max(1.5, math.Sqrt(50*width)))
		work := (p.high - p.low) / h * float64(len(terms)+100)
		if !(width > 1 && work <= maxWork || t.Tolerance == 0 && width > 0.02 && work <= cheapWork) {
			break
		}
		e.lattice(&p, h)
		finer, err := e.run(p)
		if err != nil {
			break
		}
		r = finer
	}
	if err == nil {
		r.wide, r.exact, r.events = r.width(t, p.saddle) > p.tolerance, e.exact, e.total
	}
	return r, err
}

var errCells = errors.New("a pair needs too many cells")

// maxWork bounds lattice points times terms of a refinement that the tolerance needs:
// a second or two; cheapWork that of one which makes it much better.
const (
	maxWork   = 1 << 26
	cheapWork = 1 << 23
)

// width returns the width of the answer to the target, in ε.
func (r *Result) width(t Target, theta float64) float64 {
	if t.Given == GivenEpsilon {
		b := r.Delta(t.Epsilon)
		if b.High == 0 {
			return 0
		}
		return (b.High - b.Low) / (b.High * theta)
	}
	b := r.Epsilon(t.Delta)
	if math.IsInf(b.High, 1) {
		return 0
	}
	return b.High - b.Low
}

// engine composes one list of terms.
type engine struct {
	meter    *work.Meter
	terms    []Term
	profiles []profile
	counts   []float64
	total    float64 // of events
	max      float64 // the greatest finite loss
	logKeep  float64 // ln P{every loss is finite}
	offsets  []float64
	exact    bool // every loss lies on the lattice
}

// outsideRough is ln of the tilted mass that may lie beyond either end of the window.
const outsideRough = -20.0

// plan decides on everything but the lattice, for which it proposes a step: above
// and below together, a step h errs by some (1+θ)h²/8 in ε for each event, as a cell
// gains a variance of h²/6 above and loses h²/12 below, and (1+θ)/2 of that counts;
// crossings add as much as some ten events.
func (e *engine) plan(t Target) (p plan, h float64) {
	smooth := slices.ContainsFunc(e.terms, func(m Term) bool { return m.Above.Thresholds(2) != nil })
	p.theta, p.epsilon, p.logDelta = saddle(e.meter, e.profiles, e.counts, e.max, smooth, func(epsilon, logDelta float64) bool {
		if t.Given == GivenEpsilon {
			return epsilon < t.Epsilon && logDelta > -800
		}
		finite := t.Delta + math.Expm1(e.logKeep)
		return finite <= 0 && logDelta > -40 || finite > 0 && logDelta > math.Log(finite)
	})
	// What little has the highest losses counts as +Inf: under further tilts it
	// would outweigh all else.
	for i, m := range e.terms {
		if m.Above.Thresholds(2) != nil {
			e.profiles[i] = e.profiles[i].cut(p.logDelta - 25 - math.Log(e.total))
		}
	}
	outside := outsideRough
	var step float64
	if step, e.exact = e.common(); e.exact {
		outside = -30
		// The step is given. A greater tilt leaves one point's weight in float64.
		p.theta = min(p.theta, 30/step)
	}
	e.tilt(&p, outside)
	p.tolerance = t.Tolerance
	if p.tolerance == 0 {
		p.tolerance = tolerance(math.Abs(p.epsilon))
		if t.Given == GivenEpsilon { // d ln δ/dε is about -θ
			p.tolerance = min(p.tolerance, narrow/p.saddle)
		}
	}
	h = stepFor(p.tolerance, p.saddle, e.total)
	return p, min(h, p.sd/16, 0.25/(1+p.saddle))
}

// tolerance is the width of an ε that is wanted where nobody says it, and narrow the relative one of a δ.
func tolerance(epsilon float64) float64 { return max(1e-3*epsilon, 1e-6) }

const narrow = 2e-4

// stepFor is the step by which so many events err by a tolerance: see plan.
func stepFor(tolerance, theta, events float64) float64 {
	return math.Sqrt(4 * tolerance / ((1 + theta) * (events + 10)))
}

// tilt settles the tilt and the window. A tilt that makes ε typical also makes very
// high losses likely where a law has a heavy tail, and the window wide; a lesser one
// costs some of the many digits that rounding leaves.
func (e *engine) tilt(p *plan, outside float64) {
	p.saddle = p.theta
	exponent := func(theta float64) float64 {
		k, _, _ := composed(e.meter, e.profiles, e.counts, theta)
		return k - theta*p.epsilon
	}
	best := *p
	best.window(e.meter, e.profiles, e.counts, outside)
	for _, part := range []float64{0.75, 0.5} {
		q := *p
		q.theta *= part
		dearer := exponent(q.theta) - exponent(p.saddle)
		if !(dearer < 10) {
			break
		}
		q.window(e.meter, e.profiles, e.counts, outside-dearer)
		if q.high-q.low < 0.7*(best.high-best.low) {
			q.sd = best.sd
			best = q
		}
	}
	*p = best
}

// lattice sets the step to about h and the number of points, within memory.
func (e *engine) lattice(p *plan, h float64) {
	p.note = ""
	e.align(&h)
	most := maxLg
	if e.exact {
		most = exactLg
	}
	size := func(h float64) int { return bits.Len64(uint64(min(1e18, (p.high-p.low)/h+4))) }
	if p.lg = max(6, size(h)); p.lg > most {
		p.lg = maxLg
		h = (p.high - p.low) / float64(int64(1)<<maxLg-8)
		// A tilt that changes much over one step loses what is on neighbouring points.
		for range 4 {
			if !(p.theta*h > 1) {
				break
			}
			saddle := p.saddle
			p.theta = 0.5 / h
			e.tilt(p, outsideRough)
			p.saddle = saddle
			h = (p.high - p.low) / float64(int64(1)<<maxLg-8)
		}
		if span := e.span(); span > h {
			h = span / math.Floor(span/h)
		}
		e.exact = false
		p.note = fmt.Sprintf("the step is coarsened to %.3g to keep within %d points; ", h, 1<<maxLg)
	}
	p.step = h
}

// common returns the spacing of a lattice that all losses of all events lie on, if
// there is one and the laws from above and below are the same.
func (e *engine) common() (step float64, ok bool) {
	for _, m := range e.terms {
		if m.Above != m.Below && m.Below != nil || m.Above.Thresholds(2) != nil {
			return 0, false
		}
		if len(m.Above.Atoms()) == 1 {
			continue
		}
		s := loss.Step(m.Above)
		if s == 0 || step != 0 && s != step {
			return 0, false
		}
		step = s
	}
	return step, step > 0
}

// align makes the lattice go through atoms: exactly when all laws are atoms on one
// lattice; else their greatest losses, by each law's own offset, and both of the
// first that has two.
func (e *engine) align(h *float64) {
	e.offsets = make([]float64, len(e.terms))
	for i, m := range e.terms {
		if atoms := m.Above.Atoms(); len(atoms) > 0 {
			e.offsets[i] = atoms[len(atoms)-1].Loss
		}
	}
	if step, ok := e.common(); ok {
		*h, e.exact = step, true
		return
	}
	e.exact = false
	round := math.Exp2(math.Floor(math.Log2(*h)) - 3)
	*h = math.Floor(*h/round) * round // few bits, so that lattice points are exact
	if span := e.span(); span > 0 {
		*h = span / math.Ceil(span / *h)
	}
}

// span returns the distance of the atoms of the first law that has two, or 0.
func (e *engine) span() float64 {
	for _, m := range e.terms {
		if atoms := m.Above.Atoms(); len(atoms) == 2 {
			return atoms[1].Loss - atoms[0].Loss
		}
	}
	return 0
}

func (e *engine) run(p plan) (*Result, error) {
	if !(p.step > 0) || math.IsInf(p.step, 0) || math.IsNaN(p.low+p.high) {
		return nil, fmt.Errorf("compose: no lattice fits (step %v, window %v to %v)", p.step, p.low, p.high)
	}
	s := newSpectrum(e.meter, p.lg)
	n := int64(1) << p.lg
	var offset float64
	for i, c := range e.counts {
		offset += c * e.offsets[i]
	}
	first := int64(math.Floor((p.low+p.high)/2/p.step-offset/p.step)) - n/2
	w := window{n: int(n), first: first, start: offset + float64(first)*p.step, end: offset + float64(first+n)*p.step}
	var up, down side
	var merged []mergedTerm
	r := &Result{meter: e.meter, floor: true, max: e.max, N: int(n), Step: p.step}
	variance := 0.0 // of what rounding to the lattice moves
	for i, m := range e.terms {
		k, _, _ := e.profiles[i].cumulant(p.theta)
		g := grid{meter: e.meter, step: p.step, offset: e.offsets[i], theta: p.theta, tiltLow: p.tiltLow, logM: k}
		if f := e.profiles[i]; len(f) == 0 || !g.reaches(f[0].lo, f[len(f)-1].hi) || !g.reachesAll(m.Above.Atoms()) || m.Below != nil && !g.reachesAll(m.Below.Atoms()) {
			return nil, fmt.Errorf("compose: no lattice of step %v holds losses so far apart", p.step)
		}
		if m.Above.Thresholds(2) != nil {
			g.nodes = place(e.profiles[i], g, e.counts[i])
			if len(g.nodes) > maxNodes {
				return nil, fmt.Errorf("compose on steps of %g: %w", p.step, errCells)
			}
		}
		u, ru := above(m.Above, g)
		d, rd := u, ru
		switch {
		case m.Below == nil:
			r.floor = false
		case !e.exact:
			t := mergedTerm{grid: g}
			t.atoms, t.rounding = merge(m.Below, g)
			if !g.reachesAll(t.atoms) { // of a cell without end, whose mass is next to nothing
				r.floor = false
				break
			}
			rd = t.rounding
			end, _ := m.Below.Ends()
			var v float64
			d, v = t.law(0, end)
			variance += e.counts[i] * v
			merged = append(merged, t)
		}
		s.multiply(u, d, m.Count)
		up.take(u, ru, g, e.counts[i], &p)
		down.take(d, rd, g, e.counts[i], &p)
	}
	us, ds, slack := s.sums()
	r.up = up.composition(us, w, &p, slack)
	r.down = down.composition(ds, w, &p, slack)
	r.up.end *= 1 + r.up.factor
	if r.down.end *= 1 - r.down.factor; r.down.end < lost {
		r.down.end = 0 // a factor does not round denormal numbers down
	}
	if r.floor && variance > 0 {
		r.cross = e.crossings(s, merged, variance, w, &p)
	}
	r.Note = p.note + fmt.Sprintf("tilted FFT of %d points of step %.3g", n, p.step)
	switch {
	case !r.floor:
		r.Note += "; upper bound only"
	case r.cross != nil && r.cross.lambda*r.cross.lambda*variance > 40:
		r.Note += "; too coarse for a lower bound"
	}
	if math.IsNaN(r.up.logM+r.up.slack+r.up.factor+r.up.shift) || math.IsInf(r.up.slack, 0) {
		return nil, fmt.Errorf("compose: the composition did not come out as numbers (%s)", r.Note)
	}
	return r, nil
}

func (g grid) reachesAll(atoms []loss.Atom) bool {
	for _, a := range atoms {
		if !g.reaches(a.Loss) {
			return false
		}
	}
	return true
}

// mergedTerm is a term's pair from below, merged.
type mergedTerm struct {
	grid
	atoms    []loss.Atom
	rounding loss.Rounding
}

// law puts the atoms on the lattice with weights e^{λX}, X their moves, and returns
// the tilted variance of X.
func (t *mergedTerm) law(lambda, end float64) (law, float64) {
	t.meter.Spend(8 * len(t.atoms))
	b := builder{grid: t.grid}
	b.index, b.weight = make([]int64, 0, 2*len(t.atoms)), make([]float64, 0, 2*len(t.atoms))
	variance := 0.0
	for _, a := range t.atoms {
		variance += b.split(a, lambda)
	}
	mass := b.mass
	return b.done(end), variance / mass
}

// crossings composes the measures that bound what moves add to δ.
func (e *engine) crossings(s *spectrum, merged []mergedTerm, variance float64, w window, p *plan) *crossing {
	lambda := max(math.Sqrt(2/variance), 2.5*(1+p.theta))
	lambda = min(lambda, max(1.5/p.step, 2.5*(1+p.theta)))
	s.reset()
	var up, down side
	for i, t := range merged {
		u, _ := t.law(lambda, 0)
		d, _ := t.law(-lambda, 0)
		s.multiply(u, d, e.terms[i].Count)
		up.take(u, t.rounding, t.grid, e.counts[i], p)
		down.take(d, t.rounding, t.grid, e.counts[i], p)
	}
	us, ds, slack := s.sums()
	return &crossing{
		meter: e.meter,
		theta: p.theta, lambda: lambda, step: p.step, offset: w.start,
		up: up.crossed(us, w, p, slack), down: down.crossed(ds, w, p, slack),
	}
}

// window is the part of the lattice of sums that is computed.
type window struct {
	n          int
	first      int64   // index of its first point
	start, end float64 // losses of its first point, and of the first point past it
}

// reach returns the greatest size of a loss in a law.
func (g grid) reach(l law) float64 {
	if len(l.index) == 0 {
		return 0
	}
	m := 0.0
	for _, i := range l.index {
		m = max(m, math.Abs(g.at(i)))
	}
	return m + math.Abs(g.offset)
}

// side gathers, over the terms, what one composition needs beside the spectrum.
type side struct {
	logM, logKeep float64
	factor, shift float64
	over, under   float64 // Chernoff exponents of the tilted sum
	least, most   float64 // index of the sum
}

func (s *side) take(l law, r loss.Rounding, g grid, count float64, p *plan) {
	reach := g.reach(l)
	s.logM += count * l.logM
	s.logKeep += count * math.Log1p(-l.end)
	s.factor += count * (r.Mass + 8*unit*(12+p.theta*reach+math.Abs(l.logM)))
	s.shift += count * (r.Ratio + 16*unit*reach)
	if len(l.index) > 0 {
		s.least += count * float64(slices.Min(l.index))
		s.most += count * float64(slices.Max(l.index))
	}
	s.over += count * l.cumulant(g, p.tiltHigh)
	s.under += count * l.cumulant(g, p.tiltLow)
}

// cumulant returns ln E e^{λ·loss} of the tilted law.
func (l law) cumulant(g grid, lambda float64) float64 {
	g.meter.Spend(3 * len(l.weight))
	mean := 0.0
	for i, w := range l.weight {
		mean += w * g.at(l.index[i])
	}
	s := 0.0
	for i, w := range l.weight {
		if x := lambda * (g.at(l.index[i]) - mean); x > 600 {
			s += math.Exp(x + math.Log(w))
		} else {
			s += w * math.Exp(x)
		}
	}
	return math.Log(s) + lambda*mean
}

// outside bounds the tilted mass of the sum outside of the window.
func (s *side) outside(w window, p *plan) float64 {
	out := 0.0 // at most all of it on either side
	if s.most >= float64(w.first)+float64(w.n) {
		out += min(1, math.Exp(s.over-p.tiltHigh*w.end))
	}
	if s.least < float64(w.first) {
		out += min(1, math.Exp(s.under-p.tiltLow*(w.start-p.step)))
	}
	return out
}

func (s *side) composition(folded []float64, w window, p *plan, e float64) composition {
	c := newComposition(folded, w.first, p.theta, p.step, e, s.outside(w, p))
	c.offset, c.logM = w.start, s.logM
	c.end = -math.Expm1(s.logKeep)
	c.factor += s.factor
	c.shift = s.shift
	return c
}

func (s *side) crossed(folded []float64, w window, p *plan, e float64) crossed {
	c := crossed{
		weight: make([]float64, w.n),
		logM:   s.logM,
		factor: s.factor,
		slack:  e,
		lost:   s.outside(w, p),
		shift:  s.shift,
	}
	for j := range c.weight {
		c.weight[j] = folded[(w.first+int64(j))&int64(w.n-1)]
	}
	return c
}
