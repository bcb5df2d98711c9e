package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
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
	meter        *work.Meter
	step, offset float64
	theta        float64
	tiltLow      float64 // a further tilt that bounds what is below the window
	logM         float64 // about ln M, so that weights neither overflow nor vanish
	nodes        []int64 // the lattice points that cells end at
}

func (g grid) at(i int64) float64 { return g.offset + float64(i)*g.step }

// far is how many steps from its offset a lattice has points that a float64 tells apart.
const far = 1 << 51

// reaches reports whether the lattice has points beside every loss.
func (g grid) reaches(losses ...float64) bool {
	for _, l := range losses {
		if !(math.Abs(l-g.offset) < far*g.step && math.Abs(l) < far*g.step) {
			return false
		}
	}
	return true
}

// below returns the greatest index whose loss is at most l, which the lattice reaches.
func (g grid) below(l float64) int64 {
	i := int64(math.Floor((l - g.offset) / g.step))
	for ; g.at(i) > l; i-- {
		g.meter.Spend(1)
	}
	for ; g.at(i+1) <= l; i++ {
		g.meter.Spend(1)
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
	g.meter.Spend(loss.CellSteps(p)*len(g.nodes) + 8*len(p.Atoms()))
	end, _ := p.Ends()
	rounding := loss.AtomRounding(p)
	if n := len(g.nodes); n > 0 {
		b.index, b.weight = make([]int64, 0, n+2), make([]float64, 0, n+2)
		t := g.thresholds()
		logP, ratio := make([]float64, n+1), make([]float64, n+1)
		e := cells(p, t, logP, ratio, 1)
		rounding = loss.Rounding{Mass: max(rounding.Mass, e.Mass), Ratio: max(rounding.Ratio, e.Ratio)}
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
		b.split(a, 0)
	}
	return b.done(end), rounding
}

// split gives an atom to the two lattice points beside it such that its Q-measure is
// kept, or to the one that it lies on. Weights are those of P times e^{λX}, X the
// move. It returns the tilted variance of the move.
func (b *builder) split(a loss.Atom, lambda float64) float64 {
	if i, ok := b.on(a.Loss); ok {
		b.add(i, a.LogP)
		return 0
	}
	i := b.grid.below(a.Loss)
	down, up := a.Loss-b.at(i), b.at(i+1)-a.Loss
	w := math.Exp(a.LogP + b.theta*b.at(i) - b.grid.logM)
	part := math.Expm1(-down) / math.Expm1(-b.step)
	if w != 0 {
		b.put(i, w*(1-part)*math.Exp(-lambda*down))
		b.put(i+1, w*part*math.Exp(lambda*up+b.theta*b.step))
	}
	return w * down * up
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

// merge returns atoms that the pair dominates: its own, and of its continuous part
// one for each cell around a node, halfway to the next nodes. To merge the outcomes
// of a cell is post-processing, after which the cell has one loss, the logarithm of
// the ratio of its measures. Nothing but the variance inside of cells is lost, w²/12
// of a cell of width w.
func merge(p loss.Pair, g grid) ([]loss.Atom, loss.Rounding) {
	atoms := p.Atoms()
	n := len(g.nodes)
	if n == 0 {
		return atoms, loss.AtomRounding(p)
	}
	g.meter.Spend(loss.CellSteps(p) * n)
	cut := make([]float64, n+1)
	cut[0], cut[n] = math.Inf(-1), math.Inf(1)
	for c := 1; c < n; c++ {
		cut[c] = (g.at(g.nodes[c-1]) + g.at(g.nodes[c])) / 2
	}
	logP, ratio := make([]float64, n), make([]float64, n)
	rounding, e := cells(p, cut, logP, ratio, -1), loss.AtomRounding(p)
	rounding = loss.Rounding{Mass: max(rounding.Mass, e.Mass), Ratio: max(rounding.Ratio, e.Ratio)}
	merged := make([]loss.Atom, 0, n+len(atoms))
	for c := range logP {
		// What is below the nodes has no weight: P may lose it.
		if r := min(max(ratio[c], cut[c]), cut[c+1]); r >= g.at(g.nodes[0]-1) && logP[c] > -745 {
			merged = append(merged, loss.Atom{Loss: r, LogP: logP[c]})
		}
	}
	return append(merged, atoms...), rounding
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
