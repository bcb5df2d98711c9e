package pld

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// A law is a measure on the lattice offset + step·Z, tilted: the weight at an index
// is the P-measure there times e^{θ·loss}/M, and the weights sum to 1. Q is implied
// by the losses.
type law struct {
	index  []int64
	weight []float64
	logM   float64
	end    float64 // P of the loss +Inf
}

// grid is how one pair is put on the lattice.
type grid struct {
	step, offset float64
	theta        float64
	tiltLow      float64 // a further tilt that bounds what is below the window
	logM         float64 // about ln M, so that weights neither overflow nor vanish
	nodes        []int64 // the lattice points that cells end at
}

func (g grid) at(i int64) float64 { return g.offset + float64(i)*g.step }

// below returns the greatest index whose loss is at most l.
func (g grid) below(l float64) int64 {
	i := int64(math.Floor((l - g.offset) / g.step))
	for g.at(i) > l {
		i--
	}
	for g.at(i+1) <= l {
		i++
	}
	return i
}

// on returns the index of a loss that is a lattice point up to rounding.
func (g grid) on(l float64) (int64, bool) {
	i := int64(math.Round((l - g.offset) / g.step))
	return i, math.Abs(l-g.at(i)) <= 8*unit*(math.Abs(l)+math.Abs(g.offset))
}

// builder collects the weights of a law; indices come nearly in order.
type builder struct {
	grid
	law
	mass float64
}

func (b *builder) add(i int64, logP float64) {
	w := math.Exp(logP + b.theta*b.at(i) - b.grid.logM)
	if w == 0 {
		return
	}
	b.put(i, w)
}

func (b *builder) put(i int64, w float64) {
	if n := len(b.index); n > 0 && b.index[n-1] == i {
		b.weight[n-1] += w
	} else {
		b.index, b.weight = append(b.index, i), append(b.weight, w)
	}
	b.mass += w
}

func (b *builder) done(end float64) law {
	b.law.logM = b.grid.logM + math.Log(b.mass)
	b.law.end = end
	for i := range b.weight {
		b.weight[i] /= b.mass
	}
	return b.law
}

// above returns a law that dominates the pair.
//
// The mass of each cell (a, b] goes to its two ends such that the cell keeps its P-
// and its Q-measure: of P, the part (1-e^{a-r})/(1-e^{a-b}) goes up, r the
// logarithm of the ratio of the measures. The profile, as a function of e^ε, is
// thereby replaced with its chords between lattice points; it is convex, so they lie
// above it, and no law on the same points is better (connect the dots: Doroshenko,
// Ghazi, Kamath, Kumar and Manurangsi 2022). A pair with a greater profile dominates
// after composition too (Zhu, Dong and Wang 2022, Theorem 10). What lies below all
// cells goes up to the first end; above them, to the last end and to +Inf.
func above(p loss.Pair, g grid) (law, loss.Rounding) {
	b := builder{grid: g}
	end, _ := p.Ends()
	var rounding loss.Rounding
	if n := len(g.nodes); n > 0 {
		b.index, b.weight = make([]int64, 0, n+2), make([]float64, 0, n+2)
		t := g.thresholds()
		logP, ratio := make([]float64, n+1), make([]float64, n+1)
		rounding = cells(p, t, logP, ratio, 1)
		b.add(g.nodes[0], logP[0])
		for c := 1; c < n; c++ {
			if math.IsInf(logP[c], -1) {
				continue
			}
			lo, hi := t[c], t[c+1]
			w := math.Exp(logP[c] + g.theta*lo - g.logM)
			up := min(1, max(0, math.Expm1(lo-ratio[c])/math.Expm1(lo-hi)))
			b.put(g.nodes[c-1], w*(1-up))
			b.put(g.nodes[c], w*up*math.Exp(g.theta*(hi-lo)))
		}
		if last := logP[n]; !math.IsInf(last, -1) {
			stay := min(1, math.Exp(t[n]-ratio[n]))
			b.add(g.nodes[n-1], last+math.Log(stay))
			end += math.Exp(last) * (1 - stay)
		}
	}
	for _, a := range p.Atoms() {
		if i, ok := g.on(a.Loss); ok {
			b.add(i, a.LogP)
			continue
		}
		i := g.below(a.Loss)
		up := math.Expm1(g.at(i)-a.Loss) / math.Expm1(-g.step)
		b.add(i, a.LogP+math.Log1p(-up))
		b.add(i+1, a.LogP+math.Log(up))
	}
	return b.done(end), rounding
}

// cells is Pair.Cells for thresholds from -Inf to +Inf. The two unbounded cells hold
// next to nothing but are measured more roughly than the others; their errors are
// put into their ratios, up or down as sign says, and do not count for all cells.
func cells(p loss.Pair, t, logP, ratio []float64, sign float64) loss.Rounding {
	n := len(logP)
	for _, c := range []int{0, n - 1} {
		e := p.Cells(t[c:c+2], logP[c:c+1], ratio[c:c+1])
		ratio[c] += sign * e.Ratio
	}
	if n <= 2 {
		return loss.Rounding{}
	}
	return p.Cells(t[1:n], logP[1:n-1], ratio[1:n-1])
}

func (g grid) thresholds() []float64 {
	t := make([]float64, 0, len(g.nodes)+2)
	t = append(t, math.Inf(-1))
	for _, i := range g.nodes {
		t = append(t, g.at(i))
	}
	return append(t, math.Inf(1))
}

// below returns a law that the pair dominates.
//
// To merge the outcomes of a cell is post-processing, after which the cell has one
// loss r, the logarithm of the ratio of its measures. To round r down to the lattice
// while P keeps its measure is to enlarge Q, which lessens P(S) - e^ε Q(S) for every
// S; and so it does after composition, as products of measures are monotone. So the
// law is below the pair wherever the cells are cut.
//
// How they are cut makes it good: where the ends of the cell around a point lie
// halfway to the next points, its ratio differs from the point by some w²/12 times
// the slope of the law; the ends are moved until it is the point or hardly above it.
// Then only the variance inside of cells is lost, w²/12 each.
func below(p loss.Pair, g grid) (law, loss.Rounding) {
	b, rounding := belowSmooth(p, g)
	b.march(p.Atoms())
	end, _ := p.Ends()
	return b.done(end), rounding
}

// belowSmooth is below without the atoms.
func belowSmooth(p loss.Pair, g grid) (builder, loss.Rounding) {
	b := builder{grid: g}
	var rounding loss.Rounding
	if n := len(g.nodes); n > 0 {
		b.index, b.weight = make([]int64, 0, n+2), make([]float64, 0, n+2)
		cut := g.halfway()
		logP, ratio := make([]float64, n), make([]float64, n)
		rounding = cells(p, cut, logP, ratio, -1)
		raises := 1.1
		for try := range 10 {
			short, excess := g.misfit(logP, ratio)
			if excess > 0.04*g.step*g.step && try < 4 {
				g.balance(cut, ratio)
			} else if short > 1e-9 {
				g.raise(cut, logP, ratio, raises)
				raises *= 1.3
			} else {
				break
			}
			rounding = cells(p, cut, logP, ratio, -1)
		}
		for c := range logP {
			r := min(max(ratio[c], cut[c]), cut[c+1])
			if 0 < c && c+1 < n {
				r += rounding.Ratio
			}
			if r >= g.at(g.nodes[0]-1) && logP[c] > -745 {
				b.add(g.below(r), logP[c])
			}
		}
	}
	rounding.Ratio *= 2 // a ratio that rounding took below its point was put on it
	return b, rounding
}

// halfway returns ends of cells between the points, closer to one whose other
// neighbour is close: what a wide cell has too much is on its upper side then.
func (g grid) halfway() []float64 {
	n := len(g.nodes)
	cut := make([]float64, n+1)
	cut[0], cut[n] = math.Inf(-1), math.Inf(1)
	for c := 1; c < n; c++ {
		w := g.nodes[c] - g.nodes[c-1]
		if c+1 < n {
			w = min(w, g.nodes[c+1]-g.nodes[c])
		}
		cut[c] = g.at(g.nodes[c]) - float64(w)/2*g.step
	}
	return cut
}

// width returns the narrower gap beside a node.
func (g grid) width(c int) float64 {
	w := int64(math.MaxInt64)
	if c > 0 {
		w = g.nodes[c] - g.nodes[c-1]
	}
	if c+1 < len(g.nodes) {
		w = min(w, g.nodes[c+1]-g.nodes[c])
	}
	return float64(w) * g.step
}

// misfit returns the tilted mass of cells whose ratio is just below their point,
// and the mean by which ratios exceed a lattice point.
func (g grid) misfit(logP, ratio []float64) (short, excess float64) {
	for c, i := range g.nodes {
		mass := math.Exp(logP[c] + g.theta*g.at(i) - g.logM)
		switch e := g.off(c, ratio); {
		case e < 0:
			short += mass
			excess -= mass * e
		case e > 0:
			excess += mass * (e - math.Floor(e/g.step)*g.step)
		}
	}
	return short, excess
}

// off returns how far a cell's ratio is from its point, 0 where that is beyond
// repair.
func (g grid) off(c int, ratio []float64) float64 {
	if e := ratio[c] - g.at(g.nodes[c]); math.Abs(e) < g.width(c)/2 {
		return e
	}
	return 0
}

// balance moves each end against the misfit of the two cells beside it. To move
// both ends of a cell by x moves its ratio by about x.
func (g grid) balance(cut, ratio []float64) {
	before := g.off(0, ratio)
	for c := 1; c < len(g.nodes); c++ {
		here := g.off(c, ratio)
		room := min(g.width(c-1), g.width(c)) / 4
		cut[c] -= max(-room, min(room, (before+here)/2-0.005*g.step*g.step))
		before = here
	}
}

// raise moves ends up that belong to a cell whose ratio is below its point. No
// cell's ratio falls by that. How much a move x of both ends of (a, b] gains is
// judged by the densities f there: x(f(b)(b-r) + f(a)(r-a))/P.
func (g grid) raise(cut, logP, ratio []float64, times float64) {
	n := len(g.nodes)
	margin := 0.01 * g.step * g.step
	density := func(c int) float64 { // relative to exp(-logM)
		return math.Exp(logP[c]-g.logM+g.theta*g.at(g.nodes[c])) / g.width(c)
	}
	lack := func(c int) float64 {
		e := g.off(c, ratio)
		if e >= 0 {
			return 0
		}
		gain := 1.0
		if 0 < c && c+1 < n {
			here := density(c)
			a, b := math.Sqrt(density(c-1)*here), math.Sqrt(density(c+1)*here)
			gain = (b*(cut[c+1]-ratio[c]) + a*(ratio[c]-cut[c])) / (here * g.width(c))
		}
		return -e*times/max(0.05, min(1, gain)) + margin
	}
	before := lack(0)
	for c := 1; c < n; c++ {
		here := lack(c)
		if x := max(before, here); x > 0 {
			cut[c] += min(min(g.width(c-1), g.width(c))/4, x)
		}
		before = here
	}
}

// march puts atoms on the lattice from below. Atoms are collected in order until
// their common ratio reaches the next lattice point, and of the last only the part
// that makes the ratio that point exactly: a randomized merge, so post-processing
// still, and nothing is rounded. What remains at the end is rounded down.
func (b *builder) march(atoms []loss.Atom) {
	if !slices.ContainsFunc(atoms, func(a loss.Atom) bool { _, ok := b.on(a.Loss); return !ok }) {
		for _, a := range atoms {
			i, _ := b.on(a.Loss)
			b.add(i, a.LogP)
		}
		return
	}
	var held []loss.Atom
	var goal int64
	lack := 0.0 // Σ p(e^{goal-l}-1): what Q has too much for the goal
	scale := 0.0
	flush := func() {
		if len(held) == 0 {
			return
		}
		p, q := math.Inf(-1), math.Inf(-1)
		for _, h := range held {
			p, q = sum(p, h.LogP), sum(q, h.LogP-h.Loss)
		}
		r := min(max(p-q, held[0].Loss), held[len(held)-1].Loss)
		b.add(b.grid.below(r), p)
		held = held[:0]
	}
	for _, a := range atoms {
		for {
			if math.IsInf(a.LogP, -1) {
				break
			}
			if i, ok := b.on(a.Loss); ok && len(held) == 0 {
				b.add(i, a.LogP)
				break
			}
			if len(held) == 0 {
				goal, lack, scale = b.grid.below(a.Loss)+1, 0, a.LogP
			}
			worth := -math.Expm1(b.at(goal) - a.Loss)
			gain := math.Exp(a.LogP-scale) * worth
			if gain <= lack {
				held = append(held, a)
				lack -= gain
				break
			}
			part := math.Log(lack) + scale - a.LogP - math.Log(worth)
			total := a.LogP + part
			for _, h := range held {
				total = sum(total, h.LogP)
			}
			b.add(goal, total)
			held = held[:0]
			a.LogP += math.Log(-math.Expm1(min(0, part)))
		}
	}
	flush()
}

func sum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
