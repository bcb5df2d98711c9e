package analysis

import (
	"math"

	"github.com/discreet-dp/discreet/learn/pate/internal/tail"
)

// How C5 and C6 are proved, at all q and not at some.
//
// Let x = erfcinv(2q/(m−1)), in which one teacher moves q by h = 1/σ at most, u = −ln q,
// µ = µ2 = σ√u, v = (µ−1)²/σ², l = α−1. All of these rise as q falls. Below q0
//
//	lβ = ln(T1 + T2),  T1 = (1−q)^α/(1−e^−v)^l,  T2 = e^((l(2µ+1) − µ²)/σ²)
//
// since ln B = (2µ+1)/σ² and ln(q·e^ε2)·(µ−1)/µ = −v. So with p = T2/(T1+T2) and the hazard
// g(x) = −d/dx ln erfc(x) = du/dx
//
//	w(x) = −l·dβ/dx = g·((1−p)·K1 + p·K2),  K2 = 1 − l/µ,
//	K1 = l(1−1/µ)/(e^v−1) − α/(e^u−1).
//
// C5 is w >= 0 from x0 = x(q0) on. C6 is that β(y) − β(y+h) does not rise with y from x0
// on: w(y+h) <= w(y).
//
// Theorem 6 applies at all q below one where it does: α <= µ+1 and √u >= 1/σ go on to hold,
// and divided by µ its range is (2µ−1)/σ² >= ln((µ+1)/(µ−1)), of which the left rises and
// the right falls.
//
// In an interval of x each part lies between its values at the ends, being monotone: g
// rises (erfc is log-concave); µ, u, v and K2 rise; (1−1/µ)/(e^v−1), a product of 1/µ and
// t/(e^(t²/σ²)−1) at t = µ−1, falls; of ln(T2/T1), l(2µ+1) − µ² falls as µ >= l, and so
// does −α·ln(1−q), while l·ln(1−e^−v) rises. So w has bounds there, and where they do not
// tell, those of halves are tighter.
//
// C5 holds from any µ on with (2µ−1)/σ² >= ln(αµ/(l(µ−1))): there K1 >= 0, because
// (e^u−1)/(e^v−1) >= e^(u−v) and u−v = (2µ−1)/σ²; and it goes on to hold. K2 >= 0 always.
//
// C6 is proved down to where β is 1e-18 of its value for any votes. There every difference
// of β is below that, by C5, and Publish allows for more.
//
// The bounds are computed in float64 and moved apart by 1e-11 of what went into them,
// many times what packages math and tail claim to be off by. That claim is what remains
// unproved.

// The search for a proof ends at so many intervals, or at so narrow ones in terms of h.
const (
	maxIntervals = 1 << 17
	narrowest    = 0x1p-12
)

// Check reports whether C5 and C6 are proved: each at every q, as said above. False means
// that it does not hold or that no proof was found; nothing may be published then.
func (s *GNMaxSensitivity) Check() (c5, c6 bool) {
	x0 := tail.InverseLogErfc(s.logq0-s.half()) * (1 - 1e-11) // at q0, or a little above
	h := 1 / s.Sigma
	left := maxIntervals
	end := x0
	for ; !s.fallsFrom(end); end += h {
		if left--; left < 0 {
			return false, false
		}
	}
	c5 = s.proved(x0, end, &left, func(a, b float64) bool { lo, _ := s.slope(a, b); return lo >= 0 })
	if !c5 {
		return false, false
	}
	for end = x0; s.rdp(s.half()+tail.LogErfc(end)) > 1e-18*s.independent(); end += h {
		if left--; left < 0 {
			return true, false
		}
	}
	return true, s.proved(x0, end, &left, func(a, b float64) bool {
		lo, _ := s.slope(a, b)
		_, hi := s.slope(a+h, b+h)
		return hi <= lo
	})
}

// half is ln((m−1)/2).
func (s *GNMaxSensitivity) half() float64 { return math.Log(float64(s.Classes-1) / 2) }

// proved reports whether holds is true of intervals that cover all from one x to
// another.
func (s *GNMaxSensitivity) proved(from, to float64, left *int, holds func(a, b float64) bool) bool {
	var all func(a, b float64) bool
	all = func(a, b float64) bool {
		if *left--; *left < 0 {
			return false
		}
		if holds(a, b) {
			return true
		}
		mid := a + (b-a)/2
		return b-a > narrowest/s.Sigma && all(a, mid) && all(mid, b)
	}
	for a := from; a < to; {
		b := a + min(0.25/s.Sigma, 0.0625)
		if !(b > a) || !all(a, b) {
			return false
		}
		a = b
	}
	return true
}

// at returns u, µ and v at x.
func (s *GNMaxSensitivity) at(x float64) (u, mu, v float64) {
	u = -s.half() - tail.LogErfc(x)
	mu = s.Sigma * math.Sqrt(u)
	return u, mu, square((mu - 1) / s.Sigma)
}

// fallsFrom reports whether C5 holds from x on by the inequality that goes on to hold.
func (s *GNMaxSensitivity) fallsFrom(x float64) bool {
	_, mu, _ := s.at(x)
	return (2*mu-1)/square(s.Sigma)*(1-1e-11) >= math.Log(s.Order*mu/((s.Order-1)*(mu-1)))+1e-11
}

// slope bounds w between a and b.
func (s *GNMaxSensitivity) slope(a, b float64) (lo, hi float64) {
	const off = 1e-11
	l := s.Order - 1
	ua, ma, va := s.at(a)
	ub, mb, vb := s.at(b)
	// K1 and K2, which is negative nowhere.
	first := func(mu, v float64) float64 { return l * (1 - 1/mu) / math.Expm1(v) }
	second := func(u float64) float64 { return s.Order / math.Expm1(u) }
	wide := off * (1 + ub)
	k1lo := first(mb, vb)*(1-wide) - second(ua)*(1+wide)
	k1hi := first(ma, va)*(1+wide) - second(ub)*(1-wide)
	k2lo, k2hi := max(0, 1-l/ma-off), 1-l/mb+off
	// p, by ln(T2/T1).
	odds := func(mu, u, v, by float64) float64 {
		x, y, z := (l*(2*mu+1)-mu*mu)/square(s.Sigma), -s.Order*tail.Log1mExp(-u), l*tail.Log1mExp(-v)
		return x + y + z + by*off*(1+(2*l*mu+l+mu*mu)/square(s.Sigma)+y-z)
	}
	share := func(log float64) float64 { return 1 / (1 + math.Exp(-log)) }
	plo, phi := share(odds(mb, ub, va, -1))*(1-off), share(odds(ma, ua, vb, 1))*(1+off)
	mix := func(p, k1, k2 float64) float64 { return (1-p)*k1 + p*k2 }
	lo = min(mix(plo, k1lo, k2lo), mix(phi, k1lo, k2lo))
	hi = max(mix(plo, k1hi, k2hi), mix(phi, k1hi, k2hi))
	// A product with g > 0, by the signs.
	ga, gb := tail.Hazard(a)*(1-off), tail.Hazard(b)*(1+off)
	if lo < 0 {
		lo *= gb
	} else {
		lo *= ga
	}
	if hi < 0 {
		hi *= ga
	} else {
		hi *= gb
	}
	return lo - off*math.Abs(lo), hi + off*math.Abs(hi)
}
