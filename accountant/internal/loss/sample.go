package loss

import (
	"fmt"
	"math"
)

// sampled is a pair of an event on a random sample of the units. Its loss is an
// increasing function of the loss of the event's own pair (P, Q), so that cells go
// through to that.
//
// removal is ((1-q)Q+qP, Q): sampled takes a loss l to ln(1-q+q·e^l).
// addition is (P, (1-q)P+qQ): sampled takes a loss l to -ln(1-q+q·e^-l).
type (
	removal struct {
		Pair
		rate
		atoms []Atom
	}
	addition struct {
		Pair
		rate
		atoms []Atom
	}
)

// PoissonRemove returns the pair of an event on a Poisson sample of rate q, with the
// record on P's side, where p dominates the event in that direction; PoissonAdd has
// the record on Q's side (Zhu, Dong and Wang 2022, Theorem 11).
//
// Why: let T be the sample of the other units, A = M(T with the record) and B = M(T).
// For α = e^ε > 1-q, H_α((1-q)B+qA ‖ B) = q·H_{(α-1+q)/q}(A ‖ B), which is at most
// the same of (P, Q), that is H_α((1-q)Q+qP ‖ Q); and for c = 1-α(1-q) > 0,
// H_α(B ‖ (1-q)B+qA) = c·H_{αq/c}(B ‖ A). H is jointly convex, so it holds for the
// mixture over T too.
func PoissonRemove(p Pair, q float64) (Pair, error) { return poissonRemove(p, rateOf(q)) }

func poissonRemove(p Pair, q rate) (Pair, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("poisson pair: %w", err)
	}
	if q.rest == 0 {
		return p, nil
	}
	return newRemoval(p, q), nil
}

// PoissonAdd is PoissonRemove for the other direction.
func PoissonAdd(p Pair, q float64) (Pair, error) { return poissonAdd(p, rateOf(q)) }

func poissonAdd(p Pair, q rate) (Pair, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("poisson pair: %w", err)
	}
	if q.rest == 0 {
		return p, nil
	}
	return newAddition(p, q), nil
}

// check refuses what is no probability above 0.
func (r rate) check() error {
	if !(r.q > 0 && r.q <= 1 && r.rest >= 0 && r.rest < 1.5) {
		return fmt.Errorf("rate %v, want above 0, at most 1", r.q)
	}
	return nil
}

func (r *removal) up(l float64) float64   { return logMix(r.rate, l) }
func (r *removal) down(t float64) float64 { return logUnmix(r.rate, t) }

// atom: P' = Q'·e^{L'}, and Q' = Q.
func (r *removal) atom(a Atom) Atom {
	l := r.up(a.Loss)
	return Atom{l, a.LogP - a.Loss + l}
}

// none is ln(1-q).
func (r rate) none() float64 {
	if r.q < 0.5 {
		return math.Log1p(-r.q)
	}
	return math.Log(r.rest)
}

// AtomRounding bounds what the atoms of a pair err by, beyond some units of the last
// place of their losses and logarithms.
func AtomRounding(p Pair) Rounding {
	switch p := p.(type) {
	case *removal: // from whose masses the event's own losses cancel
		e := AtomRounding(p.Pair)
		if atoms := p.Pair.Atoms(); len(atoms) > 0 {
			e.Mass += 4 * unit * max(-atoms[0].Loss, atoms[len(atoms)-1].Loss)
		}
		return e
	case *addition:
		return AtomRounding(p.Pair)
	case *chosen:
		return AtomRounding(p.above).join(AtomRounding(p.below))
	}
	return Rounding{}
}

// newRemoval: where P is zero, the loss is ln(1-q).
func newRemoval(p Pair, q rate) *removal {
	r := &removal{Pair: p, rate: q}
	r.atoms = mapAtoms(p.Atoms(), r.atom)
	if _, noP := p.Ends(); noP > 0 {
		least := r.none()
		r.atoms = append([]Atom{{least, least + math.Log(noP)}}, r.atoms...)
		r.atoms = mapAtoms(r.atoms, func(a Atom) Atom { return a })
	}
	return r
}

func (r *removal) Atoms() []Atom { return r.atoms }

func (r *removal) Max() float64 { return r.up(r.Pair.Max()) }

func (r *removal) Ends() (p, q float64) {
	p, _ = r.Pair.Ends()
	return product(r.q, p), 0
}

// product is that of two probabilities, and not 0 unless one of them is.
func product(p, q float64) float64 {
	if x := p * q; x > 0 || p == 0 || q == 0 {
		return x
	}
	return math.SmallestNonzeroFloat64
}

func (r *removal) Thresholds(n int) []float64 { return mapLosses(r.Pair.Thresholds(n), r.up) }

func (r *removal) Cells(t, logP, ratio []float64) Rounding {
	e := r.Pair.Cells(mapLosses(t, r.down), logP, ratio)
	for i, l := range ratio {
		ratio[i] = r.up(l)
		logP[i] += ratio[i] - l
	}
	return sampledRounding(e, r.rate, largest(logP, ratio))
}

// sampledRounding: the slope of either map of losses is at most 1-(1-q)e^-most
// where the result is at most most in size.
func sampledRounding(e Rounding, q rate, most float64) Rounding {
	return Rounding{
		Mass:  e.Mass + e.Ratio + 32*unit,
		Ratio: -e.Ratio*math.Expm1(q.none()-most) + 8*unit*most,
	}
}

// largest returns the greatest size of a ratio among cells that have a mass.
func largest(logP, ratio []float64) float64 {
	m := 0.0
	for i, l := range ratio {
		if logP[i] > -745 {
			m = max(m, math.Abs(l))
		}
	}
	return m
}

func (r *removal) Delta(epsilon float64) float64 {
	base := r.down(epsilon)
	if math.IsInf(base, -1) {
		return -math.Expm1(epsilon)
	}
	return r.q * r.Pair.Delta(base)
}

func (a *addition) up(l float64) float64   { return -logMix(a.rate, -l) }
func (a *addition) down(t float64) float64 { return -logUnmix(a.rate, -t) }

func (a *addition) atom(b Atom) Atom { return Atom{a.up(b.Loss), b.LogP} }

// newAddition: where Q is zero, the loss is -ln(1-q).
func newAddition(p Pair, q rate) *addition {
	a := &addition{Pair: p, rate: q}
	a.atoms = mapAtoms(p.Atoms(), a.atom)
	if noQ, _ := p.Ends(); noQ > 0 {
		a.atoms = append(a.atoms, Atom{-q.none(), math.Log(noQ)})
		a.atoms = mapAtoms(a.atoms, func(b Atom) Atom { return b })
	}
	return a
}

func (a *addition) Atoms() []Atom { return a.atoms }

// Max: with outcomes that P alone has, the supremum is -ln(1-q).
func (a *addition) Max() float64 {
	if noQ, _ := a.Pair.Ends(); noQ > 0 {
		return -a.none()
	}
	return a.up(a.Pair.Max())
}

func (a *addition) Ends() (p, q float64) {
	_, q = a.Pair.Ends()
	return 0, product(a.q, q)
}

func (a *addition) Thresholds(n int) []float64 { return mapLosses(a.Pair.Thresholds(n), a.up) }

func (a *addition) Cells(t, logP, ratio []float64) Rounding {
	e := a.Pair.Cells(mapLosses(t, a.down), logP, ratio)
	for i, l := range ratio {
		ratio[i] = a.up(l)
	}
	return sampledRounding(e, a.rate, largest(logP, ratio))
}

func (a *addition) Delta(epsilon float64) float64 {
	// c = 1 - α(1-q), and the event's own αq/c = 1 + (α-1)/c
	if epsilon >= -a.none() {
		return 0
	}
	rise := math.Expm1(epsilon)
	c := a.q - rise*a.rest
	if epsilon > 1 {
		c = -math.Expm1(epsilon + a.none())
	}
	if c <= 0 {
		return 0
	}
	x := rise / c
	if x > 1e300 || epsilon < -1 {
		return c * a.Pair.Delta(epsilon+math.Log(a.q)-math.Log(c))
	}
	return c * a.Pair.Delta(math.Log1p(x))
}

// mapLosses returns the losses moved by f, increasing strictly if t is thresholds.
func mapLosses(t []float64, f func(float64) float64) []float64 {
	if t == nil {
		return nil
	}
	moved := make([]float64, len(t))
	for i, l := range t {
		moved[i] = f(l)
	}
	return moved
}

// chosen is the pair of an event on m of n units drawn without replacement, where
// one unit is replaced by another: of removal at losses above 0 and of addition
// below, with the atom at 0 that makes both laws sum to 1.
type chosen struct {
	above *removal
	below *addition
	zero  float64 // mass of the atom at 0
}

// WithoutReplacement returns the pair of an event on m of n units drawn without
// replacement, under replacement of one unit. p must dominate the event under
// replacement and mirror itself: its profile is that of (Q, P). Zhu, Dong and Wang
// 2022, Theorem 11 for subsets; the inequality is Balle, Barthe and Gaboardi 2018,
// Theorem 11: for α >= 1 and γ = m/n
//
//	H_α((1-γ)R+γA ‖ (1-γ)R+γA') <= γ·H_{1+(α-1)/γ}(P ‖ Q)
//
// where A, A', R are the event on a subset with the unit, with its replacement and
// with another in its place, pairwise neighbours; below α = 1 by symmetry.
//
// One query attains it at each α; compositions of it are upper bounds.
func WithoutReplacement(p Pair, m, n int64) (Pair, error) {
	if m < 1 || n < m {
		return nil, fmt.Errorf("pair without replacement: %d of %d, want 1 <= m <= n", m, n)
	}
	return sampledReplaced(p, rateAmong(m, n))
}

// rateAmong is m/n.
func rateAmong(m, n int64) rate { return rate{float64(m) / float64(n), float64(n-m) / float64(n)} }

// SampledReplace is WithoutReplacement for units that enter by themselves with
// probability q. There R is the event without the unit, so p must dominate the
// change from either unit to none as well, as it does for additive noise.
func SampledReplace(p Pair, q float64) (Pair, error) { return sampledReplaced(p, rateOf(q)) }

func sampledReplaced(p Pair, q rate) (Pair, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("sampled pair: %w", err)
	}
	if !mirrors(p) {
		return nil, fmt.Errorf("sampled pair: the event's own does not mirror itself: %w", ErrUnsupported)
	}
	if q.rest == 0 {
		return p, nil
	}
	return &chosen{newRemoval(p, q), newAddition(p, q), q.rest * p.Delta(0)}, nil
}

// mirrors reports whether the profile of (Q, P) is that of (P, Q).
func mirrors(p Pair) bool {
	switch p := p.(type) {
	case gaussian, sampledReplace, *logistic:
		return true
	case *discrete:
		return p.noQ == p.noP
	}
	return false
}

func (c *chosen) Atoms() []Atom {
	var atoms []Atom
	zero := c.zero
	for _, a := range c.below.Pair.Atoms() {
		switch {
		case a.Loss < 0:
			atoms = append(atoms, c.below.atom(a))
		case a.Loss == 0:
			zero += math.Exp(a.LogP)
		}
	}
	if zero > 0 {
		atoms = append(atoms, Atom{0, math.Log(zero)})
	}
	for _, a := range c.above.Pair.Atoms() {
		if a.Loss > 0 {
			atoms = append(atoms, c.above.atom(a))
		}
	}
	return atoms
}

func (c *chosen) Max() float64 { return c.above.Max() }

func (c *chosen) Ends() (p, q float64) {
	p, _ = c.above.Ends()
	_, q = c.below.Ends()
	return p, q
}

func (c *chosen) Thresholds(n int) []float64 {
	var t []float64
	for _, l := range c.below.Pair.Thresholds(n) {
		if l < 0 {
			t = append(t, c.below.up(l))
		} else {
			t = append(t, c.above.up(l))
		}
	}
	return t
}

// Cells: a cell across 0 is the two beside it together.
func (c *chosen) Cells(t, logP, ratio []float64) Rounding {
	var e Rounding
	one := func(pair Pair, lo, hi float64) (p, r float64) {
		if !(lo < hi) {
			return math.Inf(-1), 0
		}
		var lp, lr [1]float64
		e = e.join(pair.Cells([]float64{lo, hi}, lp[:], lr[:]))
		return lp[0], lr[0]
	}
	k := 0 // cells wholly at or below 0
	for k < len(logP) && t[k+1] <= 0 {
		k++
	}
	e = e.join(c.below.Cells(t[:k+1], logP[:k], ratio[:k]))
	if k < len(logP) && t[k] < 0 {
		p1, r1 := one(c.below, t[k], 0)
		p2, r2 := one(c.above, 0, t[k+1])
		logP[k] = logAdd(p1, p2)
		ratio[k] = logP[k] - logAdd(p1-r1, p2-r2)
		e.Ratio += 8 * unit
		k++
	}
	return e.join(c.above.Cells(t[k:], logP[k:], ratio[k:]))
}

func (c *chosen) Delta(epsilon float64) float64 {
	if epsilon >= 0 {
		return c.above.Delta(epsilon)
	}
	return c.below.Delta(epsilon)
}
