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
	l, err := c.lay(s, eps, s.exponent(eps)-(ln2π+math.Log(s.curvature()))/2)
	if err != nil {
		return 0, 0, 0, err
	}
	low, mid, high = l.value(eps).logs()
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
	if c.nothing() || delta >= 1 {
		return loss.Bracket{}, nil
	}
	b, err := c.epsilon(math.Log(delta))
	if err != nil {
		return loss.Bracket{}, fmt.Errorf("find epsilon: %w", err)
	}
	if b.High-b.Low > max(1e-3*b.High, 1e-6) {
		return loss.Bracket{}, fmt.Errorf("find epsilon: %w: the bracket is %.1e wide", ErrUnsuited, b.High-b.Low)
	}
	return b, b.Check()
}

func (c *Composition) epsilon(logDelta float64) (b loss.Bracket, err error) {
	slack := 4 * ulp * (1 + math.Abs(logDelta)) // rounding of log δ and of log(delta)
	s, ok := c.saddleOf(logDelta)
	if !ok {
		return b, fmt.Errorf("%w: no saddle point", ErrUnsuited)
	}
	eps := s.stationary()
	if !(eps > 0) {
		_, _, high, err := c.logDelta(0)
		if err != nil || high+slack <= logDelta {
			return b, err
		}
		if s, ok = c.saddleAt(0); !ok {
			return b, fmt.Errorf("%w: no saddle point", ErrUnsuited)
		}
		eps = 0
	}
	l, err := c.lay(s, eps, logDelta)
	if err != nil {
		return b, err
	}
	// Newton's method; δ is log-concave enough near its own tangent, and what comes
	// out is checked.
	for range 40 {
		v := l.value(eps)
		_, mid, _ := v.logs()
		step := (mid - logDelta) / (v.slope / v.mid)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			return b, fmt.Errorf("%w: the root search fails", ErrUnsuited)
		}
		next := max(0, eps-step)
		done := math.Abs(next-eps) <= 1e-13*eps
		eps = next
		if done {
			break
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
