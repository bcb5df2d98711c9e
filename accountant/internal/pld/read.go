package pld

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A Result is the law of a plan's loss, known from above and below.
type Result struct {
	meter    *work.Meter
	up, down composition
	cross    *crossing // what down may have too much, if anything
	max      float64   // no finite loss of the plan exceeds this
	floor    bool      // down is below the truth
	wide     bool      // at its target, more than was planned: what is known of the pairs is
	exact    bool      // every loss lies on the lattice
	events   float64
	N        int // points of the lattice
	Step     float64
	Note     string // how it was computed, and what was given up
}

// Delta returns δ(ε). It is sharpest near the target that was planned for.
func (r *Result) Delta(epsilon float64) loss.Bracket {
	b := loss.Bracket{High: 1}
	if epsilon < r.max {
		b.High = min(1, r.up.delta(epsilon, 1))
	} else {
		b.High = r.up.end
	}
	if r.floor {
		b.Low = max(0, r.low(epsilon))
		b.Low = max(b.Low, -math.Expm1(epsilon))
	}
	b.Low = min(b.Low, b.High)
	b.Estimate = b.Low + (b.High-b.Low)/3 // the lattice above errs twice as far
	if !r.floor {
		b.Estimate = b.High
	}
	return b
}

// Epsilon returns ε(δ), the least ε >= 0 with δ(ε) <= δ; +Inf if there is none.
func (r *Result) Epsilon(delta float64) loss.Bracket {
	b := loss.Bracket{High: min(r.up.epsilon(delta, 1), r.max)}
	if delta < r.up.end {
		b.High = math.Inf(1)
	}
	if r.floor {
		b.Low = min(r.lowEpsilon(delta), b.High)
	}
	b.Low, b.High = max(0, b.Low), max(0, b.High)
	switch {
	case !r.floor || math.IsInf(b.High, 1):
		b.Estimate = b.High
	default:
		b.Estimate = b.Low + (b.High-b.Low)/3
	}
	return b
}

// Serves reports whether the answer to another target is as narrow as Compose plans it by a tolerance of 0; where what is known of the pairs is too
// wide for that, whether lattice and rounding add as little. Every answer of a Result holds: those far from what it was composed for are wide.
func (r *Result) Serves(t Target) bool {
	epsilon := t.Epsilon
	if t.Given == GivenDelta {
		b := r.Epsilon(t.Delta)
		if math.IsInf(b.High, 1) {
			return false
		}
		if b.High-b.Low <= tolerance(b.High) || !r.wide {
			return b.High-b.Low <= tolerance(b.High)
		}
		epsilon = b.High
	} else if epsilon >= r.max { // all that is infinite is known
		return true
	}
	b, beyond := r.Delta(epsilon), r.Delta(epsilon+r.Step)
	if !(beyond.High > 0 && beyond.High < b.High) {
		return false
	}
	theta := math.Log(b.High/beyond.High) / r.Step
	most := min(theta*tolerance(epsilon), narrow) // of δ, relatively
	if !r.wide {
		return b.High-b.Low <= most*b.High
	}
	return (r.exact || r.Step <= stepFor(most/theta, theta, r.events)) && r.up.rounds(epsilon, most) && (!r.floor || r.down.rounds(epsilon, most))
}

// rounds reports whether the errors of tail change δ(ε) by a part of it at most.
func (c *composition) rounds(epsilon, part float64) bool {
	x := (epsilon - c.offset) / c.step
	return x >= 0 && x < float64(len(c.tail)-1) && c.slack <= part*c.tail[int(x)+1]
}

// low returns a lower bound on δ(ε).
func (r *Result) low(epsilon float64) float64 {
	r.meter.Spend(8)
	d := r.down.delta(epsilon, -1)
	if r.cross != nil {
		shift := r.down.shift + r.cross.up.shift + r.cross.down.shift
		d = r.down.delta(epsilon+shift, -1) - r.cross.at(epsilon+shift)
	}
	return d
}

// lowEpsilon returns some ε that is below the least one with δ(ε) <= delta: one where
// the lower bound of δ still exceeds delta.
func (r *Result) lowEpsilon(delta float64) float64 {
	hi := r.down.epsilon(delta, -1)
	if r.cross == nil || math.IsInf(hi, 1) {
		return hi
	}
	lo := 0.0
	for gap := r.down.step; hi-gap > 0; gap *= 2 { // close to hi first, where bounds are sharp
		if r.low(hi-gap) > delta {
			lo = hi - gap
			break
		}
	}
	for range 30 {
		if mid := (lo + hi) / 2; r.low(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// at returns δ of the finite losses at lattice point j, with its error on the side
// of sign.
func (c *composition) at(j int, sign float64) float64 {
	if sign < 0 {
		j = max(j, c.peak) // δ falls in ε
	}
	t := c.slack
	if j < len(c.tail) {
		t = max(0, c.tail[j]+sign*c.slack)
	} else if sign < 0 {
		return 0
	}
	if t == 0 {
		return 0 // of sign -1 alone: slack is positive
	}
	return c.scaled(t, c.loss(j), sign)
}

// scaled returns t·e^{logM-θ·loss} with its error on the side of sign. Neither factor
// need be a float64 by itself.
func (c *composition) scaled(t, loss, sign float64) float64 {
	x, log := c.logM-c.theta*loss, math.Log(t)
	size := math.Abs(c.logM) + math.Abs(c.theta*loss) + math.Abs(log)
	return math.Exp(x + log + sign*(c.factor+8*unit*size))
}

func (c *composition) loss(j int) float64 { return c.offset + float64(j)*c.step }

// delta returns a bound on δ(ε), an upper one if sign is 1, a lower one if -1. A
// profile of a law on a lattice is linear in e^ε between lattice points.
func (c *composition) delta(epsilon, sign float64) float64 {
	epsilon -= sign * c.shift
	x := (epsilon - c.offset) / c.step
	switch {
	case x < 0 && sign > 0:
		return 1
	case x < float64(c.peak) && sign < 0:
		return c.end + c.at(c.peak, sign)
	case x >= float64(len(c.tail)):
		if sign < 0 {
			return c.end
		}
		return c.end + c.scaled(c.slack, epsilon, sign) // all but what may lie above the window is 0
	}
	j := int(x)
	f := math.Expm1(epsilon-c.loss(j)) / math.Expm1(c.step)
	f = min(1, max(0, f+sign*-1e-12))
	return c.end + (1-f)*c.at(j, sign) + f*c.at(j+1, sign)
}

// epsilon returns a bound on the least ε with δ(ε) <= delta.
func (c *composition) epsilon(delta, sign float64) float64 {
	rest := delta - c.end
	if rest < 0 || rest == 0 && sign > 0 {
		return math.Inf(1)
	}
	lo, hi := -1, len(c.tail) // at(lo) > rest >= at(hi), taking at(-1) for +Inf
	if c.at(hi-1, sign) > rest {
		if sign < 0 {
			return c.loss(hi-1) - c.shift
		}
		// Beyond the window: δ <= end + e^{logM-θε}·(the greatest weight, below 1).
		return (c.logM+c.factor-math.Log(rest))/c.theta*(1+1e-14) + c.shift
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; c.at(mid, sign) > rest {
			lo = mid
		} else {
			hi = mid
		}
	}
	if hi == 0 {
		if sign > 0 {
			return c.loss(0) + c.shift
		}
		return 0
	}
	if hi == len(c.tail) {
		return c.loss(hi-1) + c.shift
	}
	a, b := c.at(lo, sign), c.at(hi, sign)
	f := min(1, max(0, (a-rest)/(a-b)+sign*1e-12))
	e := c.loss(lo) + math.Log1p(f*math.Expm1(c.step)) + sign*c.shift
	return e + sign*4*unit*(math.Abs(e)+math.Abs(c.offset))
}
