package transform

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// narrow is the greatest relative width of a δ that is returned.
const narrow = 1e-3

// Delta returns the least δ at which the composition is (eps, δ)-DP in its
// direction. The bracket is about 1e-9 wide, relatively; a wider one than 1e-3 is
// refused with ErrUnsuited.
func (c *Composition) Delta(eps float64) (loss.Bracket, error) {
	if !(eps >= 0) || math.IsInf(eps, 0) {
		return loss.Bracket{}, fmt.Errorf("find delta: epsilon %g is not finite and nonnegative", eps)
	}
	if c.nothing() || eps >= c.sup*(1+8*ulp) {
		return loss.Bracket{}, nil
	}
	if s, ok := c.single(); ok {
		b, err := s.delta(eps)
		if err != nil {
			return b, fmt.Errorf("find delta: %w", err)
		}
		return b, b.Check()
	}
	low, mid, high, err := c.logDelta(eps)
	if err != nil {
		return loss.Bracket{}, fmt.Errorf("find delta: %w", err)
	}
	if high-low > narrow {
		return loss.Bracket{}, fmt.Errorf("find delta: %w: the bracket's relative width is %.1e", ErrUnsuited, high-low)
	}
	b := loss.Bracket{
		Low:      math.Exp(low) * (1 - ulp*(4+math.Abs(low))),
		Estimate: math.Exp(mid),
		High:     math.Nextafter(math.Exp(high)*(1+ulp*(4+math.Abs(high))), 1),
	}
	b.Low, b.High = max(0, min(b.Low, b.Estimate)), min(1, max(b.High, b.Estimate))
	b.Estimate = min(b.Estimate, b.High)
	return b, b.Check()
}

// logDelta brackets log δ.
func (c *Composition) logDelta(eps float64) (low, mid, high float64, err error) {
	// 1 - δ = E[min(1, e^{ε-S})] <= E[e^{(ε-S)/2}].
	half := c.at(-0.5)
	if up := eps/2 + half.k + half.err; up < -40 {
		return math.Log1p(-math.Exp(up) * (1 + 8*ulp)), 0, 0, nil
	}
	s, ok := c.saddleAt(eps)
	if !ok {
		return 0, 0, 0, fmt.Errorf("%w: no saddle point", ErrUnsuited)
	}
	points := c.points(s)
	guess := s.exponent(eps) - (ln2π+math.Log(s.curvature()))/2
	for range 3 {
		l, err := c.lay(points, eps, guess)
		if err != nil {
			return 0, 0, 0, err
		}
		low, mid, high = l.value(eps).logs()
		if high-low < 1e-8 || !(mid < guess-1) {
			break
		}
		guess = mid // errors that were small against the guess may be large against mid
	}
	return low, mid, high, nil
}

// Epsilon returns the least epsilon >= 0 at which the composition is (ε, delta)-DP
// in its direction. The bracket is about 1e-9 wide, relatively; one wider than
// max(1e-3 ε, 1e-6) is refused with ErrUnsuited.
//
// δ(ε) decreases: where its lower bound is above delta, so is ε(delta) above ε, and
// where its upper bound is at most delta, ε(delta) is at most ε.
func (c *Composition) Epsilon(delta float64) (loss.Bracket, error) {
	if !(delta > 0) {
		return loss.Bracket{}, fmt.Errorf("find epsilon: delta %g is not positive", delta)
	}
	if c.nothing() || delta >= c.distance() {
		return loss.Bracket{}, nil
	}
	find := func() (loss.Bracket, error) { return c.epsilon(math.Log(delta)) }
	if s, ok := c.single(); ok {
		find = func() (loss.Bracket, error) { return s.epsilon(delta) }
	}
	b, err := find()
	if err != nil {
		return loss.Bracket{}, fmt.Errorf("find epsilon: %w", err)
	}
	if b.High-b.Low > max(1e-3*b.High, 1e-6) {
		return loss.Bracket{}, fmt.Errorf("find epsilon: %w: the bracket is %.1e wide", ErrUnsuited, b.High-b.Low)
	}
	return b, b.Check()
}

// distance bounds δ(0), the total variation distance, which is subadditive and at
// most q(2Φ(mu/2)-1) of each step, q(2Φ(mu)-1) with replace.
func (c *Composition) distance() float64 {
	d := math.Erf(math.Sqrt(c.gauss / 8))
	for _, e := range c.events {
		x := e.n * e.q * math.Erf(e.mu/math.Sqrt(8))
		if e.dir == Replace {
			x = e.n * e.q * math.Erf(e.mu/math.Sqrt2)
		}
		d += x
	}
	return min(1, d*(1+1e-12))
}

func (c *Composition) epsilon(logDelta float64) (b loss.Bracket, err error) {
	slack := 4 * ulp * (1 + math.Abs(logDelta)) // rounding of log δ and of log(delta)
	s, ok := c.saddleOf(logDelta)
	if !ok {
		return b, fmt.Errorf("%w: no saddle point", ErrUnsuited)
	}
	points := c.points(s)
	eps := max(0, chernoff(points, logDelta))
	var l *line
	for range 3 {
		if l, err = c.lay(points, eps, logDelta); err != nil {
			return b, err
		}
		if eps, err = l.root(eps, logDelta); err != nil {
			return b, err
		}
		low, _, high := l.value(eps).logs()
		if high-low < 1e-6 {
			break // the line, laid for logDelta, is precise enough here
		}
	}
	if eps == 0 {
		if _, _, high := l.value(0).logs(); high+slack <= logDelta {
			return b, nil
		}
	}
	v := l.value(eps)
	low, mid, high := v.logs()
	steep := -v.slope / v.mid
	if !(steep > 0) || math.IsInf(low, 0) {
		return b, fmt.Errorf("%w: the bound of δ is empty", ErrUnsuited)
	}
	// Outward from the root until the bounds certify.
	reach := (high-low)/steep + math.Abs(mid-logDelta)/steep + 4*ulp*eps
	for range 30 {
		up := eps + reach
		if _, _, high := l.value(up).logs(); high+slack <= logDelta {
			b.High = up
			break
		}
		reach *= 2
	}
	if b.High == 0 {
		return b, fmt.Errorf("%w: no epsilon is certified", ErrUnsuited)
	}
	reach = (high-low)/steep + math.Abs(mid-logDelta)/steep + 4*ulp*eps
	for range 30 {
		down := eps - reach
		if down <= 0 {
			break
		}
		if low, _, _ := l.value(down).logs(); low-slack > logDelta {
			b.Low = down
			break
		}
		reach *= 2
	}
	b.Estimate = min(max(eps, b.Low), b.High)
	return b, nil
}

// root solves mid δ(ε) = e^{logDelta} for ε >= 0 by Newton's method on log δ, held
// between the ends known so far.
func (l *line) root(eps, logDelta float64) (float64, error) {
	lo, hi := 0., math.Inf(1)
	for range 200 {
		v := l.value(eps)
		_, mid, _ := v.logs()
		if math.IsNaN(mid) || math.IsInf(mid, 1) {
			return 0, fmt.Errorf("%w: the root search fails", ErrUnsuited)
		}
		if mid > logDelta {
			lo = eps
		} else {
			hi = eps
		}
		next := eps + (mid-logDelta)/(-v.slope/v.mid)
		if !(next >= lo && next <= hi) || math.IsInf(next, 1) {
			if math.IsInf(hi, 1) {
				next = 2*eps + 1/l.base.theta
			} else {
				next = (lo + hi) / 2
			}
		}
		if math.Abs(next-eps) <= 1e-13*eps || hi < 1e-30 {
			return next, nil
		}
		eps = next
	}
	return eps, nil
}
