package loss

import "math"

// A ladder makes δ(ε) of a long list of atoms quick to find. With l_k their losses in
// increasing order and P_k their probabilities, all these are sums of positive terms:
//
//	R_k = Σ_{j>=k} P_j e^{l_k-l_j}           = P_k + R_{k+1} - g·R_{k+1}
//	H_k = Σ_{j>k} P_j (1-e^{l_k-l_j}) = δ(l_k) = H_{k+1} + g·R_{k+1},   g = 1-e^{l_k-l_{k+1}}
//
// and, for ε between l_{k-1} and l_k, δ(ε) = H_k + (1-e^{ε-l_k})·R_k. A rung keeps both
// of every rung-th k; ε is at most so many steps below one.
//
// Rounding: R is carried in two floats, in which a step costs what g·R is rounded by,
// a part of g that is no more than the distance of losses; so that an outcome's part in R,
// which falls as e^{-distance}, is right to some units. H is summed with its carry. The
// steps down from a rung cost 3 units each.
type ladder struct{ r, h []float64 }

// rung is how many atoms a step of a ladder is.
const rung = 1 << 10

func newLadder(atoms []Atom) *ladder {
	n := len(atoms)
	l := &ladder{make([]float64, n/rung+1), make([]float64, n/rung+1)}
	var r, h carried
	for k := n - 1; k >= 0; k-- {
		if k+1 < n {
			g := -math.Expm1(atoms[k].Loss - atoms[k+1].Loss)
			t := g * r.sum
			h.add(t)
			h.carry += g * r.carry
			r.carry -= g * r.carry
			r.carry -= math.FMA(g, r.sum, -t)
			r.add(-t)
		}
		r.add(math.Exp(atoms[k].LogP))
		if k%rung == 0 {
			l.r[k/rung], l.h[k/rung] = r.sum+r.carry, h.sum+h.carry
		}
	}
	return l
}

// delta returns δ(ε) less what has no finite loss.
func (l *ladder) delta(atoms []Atom, epsilon float64) float64 {
	lo, hi := 0, len(atoms) // the first atom above ε lies in [lo, hi]
	for lo < hi {
		if mid := (lo + hi) / 2; atoms[mid].Loss > epsilon {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	first := lo
	if first == len(atoms) {
		return 0
	}
	k := (first + rung - 1) / rung * rung
	var r, h float64
	if k < len(atoms) {
		r, h = l.r[k/rung], l.h[k/rung]
	} else {
		k = len(atoms) - 1
		r = math.Exp(atoms[k].LogP)
	}
	for ; k > first; k-- {
		g := -math.Expm1(atoms[k-1].Loss - atoms[k].Loss)
		h += g * r
		r += math.Exp(atoms[k-1].LogP) - g*r
	}
	return h - math.Expm1(epsilon-atoms[k].Loss)*r
}

// A carried sum keeps what each addition rounds off (Neumaier 1974).
type carried struct{ sum, carry float64 }

func (c *carried) add(x float64) {
	s := c.sum + x
	if math.Abs(c.sum) >= math.Abs(x) {
		c.carry += c.sum - s + x
	} else {
		c.carry += x - s + c.sum
	}
	c.sum = s
}
