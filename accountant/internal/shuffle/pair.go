package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A pair is two laws (a, b) that the reports of all users are a function of, for
// the two inputs of the user who is replaced. That user reports the first of two
// messages with probability atom, the second with atom/p, p = e^eps0, and for the
// other input the other way round; of the other n-1 users each reports one of the
// two, as a fair coin falls, with probability rate. With C of them doing so,
//
//	(A+X, C-A+Y) against (A+Y, C-A+X),  A ~ Bin(C, ½),  C ~ Bin(n-1, rate).
//
// Exchanging the messages exchanges the laws, so that both directions have the same
// divergence. The likelihood ratio of the two laws at a of the first and b of the
// second message is, by exchangeability of the n users,
//
//	(p·a + b + other·(n-a-b)) / (a + p·b + other·(n-a-b))
//
// where other is 0 if the replaced user always reports one of the two messages.
type pair struct {
	meter      *work.Meter
	n          int64
	eps0       float64
	rate, rest float64
	atom       float64
	other      float64
}

// maxBlock is how many terms a recurrence runs before it starts afresh.
const maxBlock = 1 << 16

// logDelta returns bounds on ln of the hockey-stick divergence at epsilon of the
// two laws, which is a sum over c = C+1. Given a+b = c, a sum over a Bin(c, ½)
// with a positive part, of which only the tail above a threshold k counts:
//
//	D = Σ_c Bin(c-1; n-1, rate) · atom · ((u - y/c)·f - (v-u + 2y/c)·t)
//	u = 1 - e^(ε-ε0)   v = e^ε - e^-ε0   y = other·(n-c)·(e^ε-1)/p
//	f = P(Bin(c-1, ½) = k-1)   t = P(Bin(c-1, ½) >= k)
//
// with k the least number above (v·c+y)/(u+v). Any k gives a lower bound and the
// term is zero at equality, so that a threshold that is rounded wrongly costs less
// than what is added for rounding. What lies outside the window counts fully; the
// window ends where that is a 10⁻¹³ part of the sum, or of e^floor.
func (p pair) logDelta(eps, floor float64) (lo, hi float64) {
	s := newSum(p, eps)
	lo, hi = math.Inf(-1), math.Inf(-1)
	if !(eps < p.eps0) {
		return lo, hi
	}
	if p.rest == 0 { // every other user reports one of the two
		lo, hi, _ = s.block(p.n, p.n+1)
		return lo, math.Nextafter(hi, math.Inf(1))
	}
	first := s.first()
	add := func(from, to int64) int64 {
		l, h, end := s.block(from, to)
		lo, hi = logAdd(lo, l), logAdd(hi, h)
		return end
	}
	ceiling := math.Log(p.atom * s.u) // no term is larger
	enough := func(tail float64) bool { return tail+ceiling < max(hi, floor)-30 }

	mode := max(first, min(p.n, 1+int64(float64(p.n)*p.rate)))
	size := min(maxBlock, 64+4*int64(math.Sqrt(float64(p.n)*p.rate*p.rest)))
	for c := mode; c <= p.n; {
		c = add(c, min(p.n+1, c+size))
		if tail := s.others.logTailAbove(c - 1); c > p.n || enough(tail) {
			hi = logAdd(hi, tail+ceiling)
			break
		}
	}
	for c := mode; c > first; {
		from := max(first, c-size)
		for at := from; at < c; {
			at = add(at, c)
		}
		c = from
		if tail := s.others.logTailBelow(c - 2); c == first || enough(tail) {
			if c > first {
				hi = logAdd(hi, tail+ceiling)
			}
			break
		}
	}
	return lo, math.Nextafter(hi, math.Inf(1))
}

// A sum is logDelta's, at one epsilon.
type sum struct {
	pair
	others   binomial
	u, v     float64
	diff     float64 // v - u, which does not cancel
	perOther float64 // y = perOther·(n-c)
	slope    float64 // 1/(u+v)
	odds     float64
}

func newSum(p pair, eps float64) sum {
	rise, low := math.Expm1(eps), math.Exp(-p.eps0)
	return sum{
		pair:     p,
		others:   binomial{p.n - 1, p.rate, p.rest},
		u:        -math.Expm1(eps - p.eps0),
		v:        math.Exp(eps) - low,
		diff:     rise * (1 + low),
		perOther: p.other * rise * low,
		slope:    -1 / ((2 + rise) * math.Expm1(-p.eps0)),
		odds:     p.rate / p.rest,
	}
}

func (s *sum) y(c int64) float64 { return s.perOther * float64(s.n-c) }

// threshold returns the least count of the first message that speaks for the
// first law by more than epsilon.
func (s *sum) threshold(c int64) int64 {
	return int64((s.v*float64(c)+s.y(c))*s.slope) + 1
}

// first returns a c below which every term is zero: one message of the first kind
// and none of the second speak for the first law only from u·c > y(c) on.
func (s *sum) first() int64 {
	c := s.perOther / (s.u + s.perOther) * float64(s.n)
	return max(1, int64(c*(1-0x1p-40)))
}

// block sums the terms from c up to where its recurrences should start afresh, at
// most to, and returns bounds on the sum's log, and the c that follows.
func (s *sum) block(c, to int64) (lo, hi float64, next int64) {
	c0 := c
	k := min(s.threshold(c), c)
	fair := half(c - 1)
	logW, logF := s.others.logPMF(c-1), fair.logPMF(k-1)
	start := logW + logF + math.Log(s.atom)
	errStart := s.others.errLog(c-1, logW) + fair.errLog(k-1, logF)

	// Weight w, mass f and tail t are relative to the first w and f. A block ends
	// before f, and t with it, falls so far that their errors would grow against them.
	t, terms := tail(s.meter, float64(c-k), float64(k-1), 1)
	w, f := 1.0, 1.0
	var total, size float64 // the sum, and that of its parts' absolute values
	for {
		at := float64(c)
		y := s.y(c) / at
		total += max(0, w*((s.u-y)*f-(s.diff+2*y)*t))
		size += w * ((s.u+y)*f + (s.diff+2*y)*t)
		if c+1 == to || f < 0.125 || w > 0x1p400 || w < 0x1p-400 {
			break
		}
		w *= float64(s.n-c) / at * s.odds
		// One trial more: P(Bin(N+1) >= k) = P(Bin(N) >= k) + ½·P(Bin(N) = k-1).
		t += 0.5 * f
		f *= at / (2 * (at - float64(k-1)))
		c++
		if min(s.threshold(c), c) > k {
			f *= (at - float64(k-1)) / float64(k)
			t -= f
			k++
		}
	}
	c++
	s.meter.Spend(64 + int(c-c0))
	err := (64*float64(c-c0) + 4*float64(terms) + 64) * 0x1p-53 * size
	lo, hi = math.Inf(-1), math.Inf(-1)
	if total > err {
		lo = start - errStart + math.Log(total-err)
	}
	if total+err > 0 {
		hi = start + errStart + math.Log(total+err)
	}
	return lo, hi, c
}
