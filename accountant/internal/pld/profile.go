package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A piece is a part of a pair's law that planning takes for one point.
type piece struct {
	lo, hi float64 // between which the losses lie
	loss   float64
	logP   float64
}

// A profile is a coarse picture of a pair's law, good to a few percent. It chooses
// the tilt, the step and the window; nothing certified rests on it.
type profile []piece

// profileSize is how many pieces a profile has, of plans of many terms fewer: planning asks
// some hundred times for all of them.
func profileSize(terms int) int { return max(24, min(128, 1<<14/terms)) }

func profileOf(meter *work.Meter, p loss.Pair, size int) profile {
	meter.Spend(loss.CellSteps(p)*size + len(p.Atoms()))
	var f profile
	if t := p.Thresholds(size); len(t) > 1 {
		logP, ratio := make([]float64, len(t)-1), make([]float64, len(t)-1)
		p.Cells(t, logP, ratio)
		for i := range logP {
			if !math.IsInf(logP[i], -1) {
				f = append(f, piece{t[i], t[i+1], min(max(ratio[i], t[i]), t[i+1]), logP[i]})
			}
		}
	}
	atoms := p.Atoms()
	per := (len(atoms) + 4*size - 1) / (4 * size)
	for len(atoms) > 0 {
		n := min(per, len(atoms))
		f = append(f, group(atoms[:n]))
		atoms = atoms[n:]
	}
	return f
}

// group takes consecutive atoms for one point.
func group(atoms []loss.Atom) piece {
	g := piece{lo: atoms[0].Loss, hi: atoms[len(atoms)-1].Loss, logP: math.Inf(-1)}
	top := math.Inf(-1)
	for _, a := range atoms {
		top = max(top, a.LogP)
	}
	sum, moment := 0.0, 0.0
	for _, a := range atoms {
		w := math.Exp(a.LogP - top)
		sum += w
		moment += w * a.Loss
	}
	g.loss, g.logP = moment/sum, top+math.Log(sum)
	if len(atoms) == 1 || math.IsInf(top, -1) {
		g.loss = atoms[0].Loss
	}
	return g
}

// cumulant returns K(θ) = ln E e^{θL} over the finite losses, and K'(θ), K”(θ).
func (f profile) cumulant(theta float64) (k, mean, variance float64) {
	top := math.Inf(-1)
	for i := range f {
		top = max(top, f[i].logP+theta*f[i].loss)
	}
	var sum, first, second float64
	for i := range f {
		e := f[i].logP + theta*f[i].loss - top
		if e < -60 {
			continue
		}
		w := math.Exp(e)
		sum += w
		first += w * f[i].loss
		second += w * f[i].loss * f[i].loss
	}
	mean = first / sum
	spread := 0.0 // K'' about the mean, where second/sum - mean² would cancel
	if second/sum > 1e4*(second/sum-mean*mean) {
		for i := range f {
			if e := f[i].logP + theta*f[i].loss - top; e >= -60 {
				d := f[i].loss - mean
				spread += math.Exp(e) * d * d
			}
		}
		variance = spread / sum
	} else {
		variance = second/sum - mean*mean
	}
	return top + math.Log(sum), mean, variance
}

// cut takes the highest losses, whose P-measure is at most e^share, down to where
// the others end, as a law from above does with what it does not count as +Inf.
func (f profile) cut(share float64) profile {
	n := len(f)
	tail := math.Inf(-1)
	for ; n > 1; n-- {
		t := sum(tail, f[n-1].logP)
		if t > share {
			break
		}
		tail = t
	}
	if top := f[n-1].hi; !math.IsInf(tail, -1) {
		return append(f[:n:n], piece{top, top, top, tail})
	}
	return f[:n]
}

// coarseness returns the width of the widest piece near the top.
func (f profile) coarseness() float64 {
	w := 0.0
	for _, p := range f[max(0, len(f)-8):] {
		w = max(w, p.hi-p.lo)
	}
	return w
}
