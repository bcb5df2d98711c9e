package loss

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
)

// discrete is a pair of laws on countably many outcomes, as many as count.
type discrete struct {
	atoms []Atom
	noQ   float64 // P{Q = 0}
	noP   float64 // Q{P = 0}
	step  float64 // the losses are spaced by multiples of this, when positive
	once  sync.Once
	fast  *ladder // of many atoms
	cut   bool    // outcomes of higher losses, of no float64's probability, are left out
}

// maxAtoms is the longest list of outcomes that is made: 64 MiB of atoms.
const maxAtoms = 1 << 22

func (d *discrete) Atoms() []Atom            { return d.atoms }
func (d *discrete) Thresholds(int) []float64 { return nil }
func (d *discrete) Ends() (p, q float64)     { return d.noQ, d.noP }

func (d *discrete) Max() float64 {
	if d.cut {
		return math.Inf(1)
	}
	return d.atoms[len(d.atoms)-1].Loss
}

func (d *discrete) Cells(t, logP, ratio []float64) Rounding {
	for i := range logP {
		logP[i], ratio[i] = math.Inf(-1), 0
	}
	return Rounding{}
}

// Delta is the sum of its definition, whose terms are positive.
func (d *discrete) Delta(epsilon float64) float64 {
	if len(d.atoms) > 0 && epsilon < d.atoms[0].Loss && d.noP == 0 {
		return -math.Expm1(epsilon) // all of P less e^ε times all of Q
	}
	if len(d.atoms) > 4*rung {
		d.once.Do(func() { d.fast = newLadder(d.atoms) })
		return d.noQ + d.fast.delta(d.atoms, epsilon)
	}
	sum := d.noQ
	for i := len(d.atoms) - 1; i >= 0 && d.atoms[i].Loss > epsilon; i-- {
		sum -= math.Exp(d.atoms[i].LogP) * math.Expm1(epsilon-d.atoms[i].Loss)
	}
	return sum
}

// Step returns the spacing of the lattice that all of a discrete pair's losses lie
// on, or 0: they may be off it by a relative rounding error only.
func Step(p Pair) float64 {
	if d, ok := p.(*discrete); ok {
		return d.step
	}
	return 0
}

// RandomizedResponse returns the pair of binary randomized response at e, which
// dominates every e-DP event (Kairouz, Oh and Viswanath 2015, Theorem 3.3's proof).
func RandomizedResponse(e float64) (Pair, error) { return Approximate(e, 0) }

// Approximate returns the pair that dominates every (e, delta)-DP event: with
// probability delta an outcome that gives the database away, else randomized
// response (Kairouz, Oh and Viswanath 2015, Definition 3.1 and Theorem 3.3).
func Approximate(e, delta float64) (Pair, error) {
	if !(e >= 0 && e <= 1e6 && delta >= 0 && delta < 1) || e == 0 && delta == 0 {
		return nil, fmt.Errorf("pair of (%v, %v)-DP: want 0 <= epsilon <= 1e6, 0 <= delta < 1, not both 0", e, delta)
	}
	keep := math.Log1p(-delta)
	if e == 0 {
		return &discrete{atoms: []Atom{{0, keep}}, noQ: delta, noP: delta, step: 1}, nil
	}
	high := -math.Log1p(math.Exp(-e)) // ln of 1/(1+e^-e)
	return &discrete{
		atoms: []Atom{{-e, keep + high - e}, {e, keep + high}},
		noQ:   delta,
		noP:   delta,
		step:  2 * e,
	}, nil
}

// Response returns the pair of k-ary randomized response under replacement: the
// true answer with probability p, each other with (1-p)/(k-1).
func Response(p float64, k int) (Pair, error) {
	r := new(big.Rat).SetFloat64(p)
	if r == nil {
		return nil, fmt.Errorf("response pair of p %v among %d: want 0 < p < 1", p, k)
	}
	return response(r, k)
}

func response(p *big.Rat, k int) (Pair, error) {
	one := big.NewRat(1, 1)
	if p.Sign() <= 0 || p.Cmp(one) >= 0 || k < 2 {
		return nil, fmt.Errorf("response pair of p %v among %d: want 0 < p < 1, at least two answers", p, k)
	}
	// Exactly: 1-p of a rounded p near 1 has few digits, and so has p/other - 1 near 0.
	other := new(big.Rat).Sub(one, p)
	other.Quo(other, big.NewRat(int64(k-1), 1))
	ratio := new(big.Rat).Quo(p, other)
	rest := new(big.Rat).Sub(one, p)
	rest.Sub(rest, other)
	logTrue, logOther := logarithm(p), logarithm(other)
	if float(p) > 0.5 {
		logTrue = math.Log1p(-float(new(big.Rat).Sub(one, p)))
	}
	e := math.Log(float(ratio))
	if f := float(ratio); math.IsInf(f, 1) || f == 0 {
		e = logTrue - logOther
	} else if math.Abs(f-1) < 0.5 {
		e = math.Log1p(float(ratio.Sub(ratio, one)))
	}
	if e == 0 {
		return &discrete{atoms: []Atom{{0, 0}}, step: 1}, nil
	}
	high, low := Atom{e, logTrue}, Atom{-e, logOther}
	if e < 0 {
		high, low = Atom{-e, logOther}, Atom{e, logTrue}
	}
	if k == 2 {
		return &discrete{atoms: []Atom{low, high}, step: 2 * high.Loss}, nil
	}
	return &discrete{
		atoms: []Atom{low, {0, logarithm(rest)}, high},
		step:  high.Loss,
	}, nil
}

// logarithm returns ln r of r > 0, which may be too small or too large for a float64.
func logarithm(r *big.Rat) float64 {
	if f := float(r); 1e-300 < f && f < 1e300 {
		return math.Log(f)
	}
	mantissa := new(big.Float)
	exponent := new(big.Float).SetRat(r).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}

// DiscreteLaplace returns the pair of noise with P(x) proportional to e^{-|x|/scale}
// over the integers, for queries whose value moves by the whole number sensitivity.
// An outcome x between the two centres has the loss (2x-sensitivity)/scale.
func DiscreteLaplace(scale float64, sensitivity int64) (Pair, error) {
	if !positive(scale) || sensitivity < 1 || sensitivity >= maxAtoms || float64(sensitivity)/scale > 1e6 {
		return nil, fmt.Errorf("discrete laplace pair of scale %v, sensitivity %d: want them positive and the sensitivity below %d",
			scale, sensitivity, maxAtoms)
	}
	s := float64(sensitivity)
	tail := -math.Log1p(math.Exp(-1 / scale))               // P{X >= 0}
	point := math.Log(-math.Expm1(-1/scale)) + tail         // P{X = 0}
	atoms := make([]Atom, 0, sensitivity+1)                 // P is centred at s, Q at 0
	atoms = append(atoms, Atom{-s / scale, tail - s/scale}) // x <= 0
	for x := 1.0; x < s; x++ {
		atoms = append(atoms, Atom{(2*x - s) / scale, point + (x-s)/scale})
	}
	atoms = append(atoms, Atom{s / scale, tail}) // x >= s
	return &discrete{atoms: atoms, step: 2 / scale}, nil
}

// DiscreteGaussian returns the pair of noise with P(x) proportional to
// e^{-x²/(2·variance)} over the integers (Canonne, Kamath and Steinke 2020), for
// one query whose value moves by the whole number sensitivity. The loss at x is
// sensitivity(x - sensitivity/2)/variance, P centred at the sensitivity.
//
// Outcomes more than 60 standard deviations past both centres, less than e^-1700 in
// sum, are left out.
func DiscreteGaussian(variance float64, sensitivity int64) (Pair, error) {
	s := float64(sensitivity)
	if !positive(variance) || sensitivity < 1 || s*s/variance > 1e6 {
		return nil, fmt.Errorf("discrete gaussian pair of variance %v, sensitivity %d: want them positive", variance, sensitivity)
	}
	reach := math.Ceil(60 * math.Sqrt(variance))
	if 2*reach+s > maxAtoms {
		return nil, fmt.Errorf("discrete gaussian pair of variance %v: more than %d outcomes: %w", variance, maxAtoms, ErrUnsupported)
	}
	total := 1.0 // Σ e^{-x²/(2·variance)} over the integers, smallest terms first
	sum := 0.0
	for x := reach; x >= 1; x-- {
		sum += math.Exp(-x * x / (2 * variance))
	}
	total += 2 * sum
	norm := -math.Log(total)
	atoms := make([]Atom, 0, int(2*reach+s)+1)
	for x := -reach; x <= s+reach; x++ {
		atoms = append(atoms, Atom{s * (x - s/2) / variance, norm - (x-s)*(x-s)/(2*variance)})
	}
	return &discrete{atoms: atoms, step: s / variance, cut: true}, nil
}

// mapAtoms returns the atoms moved by f, which keeps their order, merging those
// whose losses became equal.
func mapAtoms(atoms []Atom, f func(Atom) Atom) []Atom {
	moved := make([]Atom, 0, len(atoms)+1)
	for _, a := range atoms {
		b := f(a)
		if n := len(moved); n > 0 && moved[n-1].Loss >= b.Loss {
			moved[n-1].LogP = logAdd(moved[n-1].LogP, b.LogP)
			continue
		}
		moved = append(moved, b)
	}
	return slices.Clip(moved)
}
