package referee

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Renyi returns an interval whose lower end the Rényi divergence of order α > 1, in nats,
// of count events e is certainly not below, for some mechanism of the event and one
// direction of neighbours. It is what bounds of divergences are held against. Of
// compositions divergences add up, exactly (van Erven and Harremoës 2014, Theorem 28).
//
// With g(u) = (1+u)^α - 1 - αu >= 0 the moment is A = E_Q[(P/Q)^α] = 1 + E_Q[g(P/Q - 1)],
// as E_Q[P/Q] = 1: a sum of positive terms, of which any part is a lower bound.
func Renyi(e privacy.Event, rel privacy.Neighbours, count int64, order *big.Rat, work int64) (Interval, bool) {
	a := numeric.Of(order)
	once, ok := renyi(e, rel, order, work)
	if !ok {
		return Interval{}, false
	}
	return once.Mul(numeric.OfInt(count)).Quo(a.Sub(one())), true
}

// renyi is ln A.
func renyi(e privacy.Event, rel privacy.Neighbours, order *big.Rat, work int64) (Interval, bool) {
	a := numeric.Of(order)
	up := a.Mul(a.Sub(one())).Quo(two()) // of N(μ,1) against N(0,1): ln A = α(α-1)μ²/2
	if mu2 := gaussian(e, rel); mu2 != nil {
		return up.Mul(numeric.Of(mu2)), true
	}
	switch e := e.(type) {
	case privacy.ZCDP: // which Gaussian noise attains
		return a.Mul(a.Sub(one())).Mul(numeric.Of(e.Rho.Rat())), true
	case privacy.Laplace:
		return laplace(numeric.Of(new(big.Rat).Quo(distance(e.Sensitivity, rel), e.Scale)), a), true
	case privacy.Exponential:
		eps := numeric.Of(e.Epsilon.Rat())
		return ranged(eps, a), eps.Cmp(most()) < 0
	case privacy.Poisson:
		mu2 := gaussian(e.Event, privacy.AddRemove)
		if mu2 != nil && rel == privacy.AddRemove {
			return sampled(root(mu2), numeric.Of(e.Rate), order)
		}
		if l, ok := law(e.Event, rel, work); ok && rel == privacy.AddRemove && l.moderate() {
			return l.Removed(e.Rate).logMoment(a).Max(l.Added(e.Rate).logMoment(a)), true
		}
		return Interval{}, false
	}
	if l, ok := law(e, rel, work); ok {
		return l.logMoment(a), true
	}
	return Interval{}, false
}

// logMoment is ln A of the listed outputs, and of what only Q has.
func (l Law) logMoment(a Interval) Interval {
	top := zero()
	for _, o := range l.Outputs {
		top = top.Max(a.Mul(o.Loss))
	}
	if top.Cmp(numeric.OfInt(1<<10)) < 0 {
		sum := l.Found.Mul(a.Sub(one())) // g(-1)
		for _, o := range l.Outputs {
			if back := o.Loss.Neg(); back.Cmp(most()) < 0 { // else nearly all of Q: left out
				sum = sum.Add(o.P.Mul(exp(back)).Mul(excess(o.Loss, a)))
			}
		}
		return log1p(sum)
	}
	// A itself, its greatest term put aside: of terms so large the 1 is nothing.
	var logs []Interval
	var greatest Interval
	for _, o := range l.Outputs {
		if !o.P.Positive() {
			continue
		}
		x := o.P.Log().Add(a.Sub(one()).Mul(o.Loss))
		if logs == nil || x.Cmp(greatest) > 0 {
			greatest = x
		}
		logs = append(logs, x)
	}
	if greatest.Cmp(numeric.OfFloat(0x1p100)) > 0 {
		return greatest // the other terms are a factor of few
	}
	sum := zero()
	for _, x := range logs {
		sum = sum.Add(exp(x.Sub(greatest)))
	}
	return greatest.Add(sum.Log())
}

// excess is g(e^x - 1). For small arguments it is α(α-1)/2·u²·(1+t)^(α-2) for some t
// between 0 and u = e^x - 1.
func excess(x, a Interval) Interval {
	size := x.Max(x.Neg())
	if a.Mul(size).Cmp(numeric.OfFloat(0x1p-50)) < 0 {
		u := rise(size)
		if x.Cmp(zero()) < 0 {
			u = fall(size)
		}
		bend := exp(a.Sub(two()).Mul(x))
		return a.Mul(a.Sub(one())).Quo(two()).Mul(u.Mul(u)).Mul(one().Hull(bend))
	}
	if x.Cmp(zero()) < 0 {
		return positive(a.Mul(fall(size)).Sub(fall(a.Mul(size))))
	}
	return positive(rise(a.Mul(size)).Sub(a.Mul(rise(size))))
}

// laplace is that of Laplace noise, t its sensitivity over its scale (Mironov 2017,
// Proposition 6): with c(z) = e^z - 1 - z
//
//	A - 1 = (α·c((α-1)t) + (α-1)·c(-αt))/(2α-1).
func laplace(t, a Interval) Interval {
	b := a.Sub(one())
	x, y := b.Mul(t), a.Mul(t)
	odds := two().Mul(a).Sub(one())
	if x.Cmp(numeric.OfInt(1<<10)) > 0 {
		return x.Add(a.Quo(odds).Log()) // less e^(-αt) and so on
	}
	return log1p(a.Mul(curve(x, 1)).Add(b.Mul(curve(y, -1))).Quo(odds))
}

// curve is e^z - 1 - z for z = sign·x, x >= 0; of small z between z²/2 and that times 1+z.
func curve(x Interval, sign int) Interval {
	if x.Cmp(numeric.OfFloat(0x1p-60)) < 0 {
		half := x.Mul(x).Quo(two())
		if sign < 0 {
			return half.Mul(one().Sub(x)).Hull(half)
		}
		return half.Hull(half.Mul(one().Add(x)))
	}
	if sign < 0 {
		return positive(x.Sub(fall(x)))
	}
	return positive(rise(x).Sub(x))
}

// ranged is that of a choice with two outcomes, whose losses are t and t-ε, at about the
// worst t: such a choice has range ε.
func ranged(e, a Interval) Interval {
	best := zero()
	for i := int64(1); i < 16 && e.Cmp(most()) < 0; i++ {
		t := e.Mul(numeric.OfInt(i)).Quo(numeric.OfInt(16))
		// P = e^t q, 1-P = e^(t-ε)(1-q): q = (1-e^(t-ε))/(e^t-e^(t-ε)).
		q := fall(e.Sub(t)).Quo(exp(t).Mul(fall(e)))
		p := exp(t).Mul(q)
		l := Law{Outputs: []Output{{P: p, Loss: t}, {P: exp(t.Sub(e)).Mul(one().Sub(q)), Loss: t.Sub(e)}}}
		best = best.Max(l.logMoment(a))
	}
	return best
}

// sampled is that of (1-q)N(0,1) + qN(μ,1) against N(0,1). Of whole orders it is a sum,
//
//	A - 1 = Σ over l >= 2 of C(α,l) q^l (1-q)^(α-l) (e^(l(l-1)μ²/2) - 1);
//
// of others an integral of φ·g(w-1), w = 1-q+q·e^(μx-μ²/2), by the trapezoidal rule. The
// integrand is analytic for |Im x| < π/μ, on whose line Im x = y it is at most e^(y²/2)
// times φ(w^α + 1 + α(w+1)), with an integral of at most A + 1 + 2α; so that the rule of
// step h errs by at most 2e^(c²/2)(A+1+2α)/(e^(2πc/h)-1), c < π/μ (Trefethen and Weideman
// 2014, Theorem 5.1). A increases with α. What is left out is positive.
func sampled(mu, q Interval, order *big.Rat) (Interval, bool) {
	a := numeric.Of(order)
	f, _ := order.Float64()
	_, m := mu.Float64s()
	if f > 300 || m > 30 || f*m*m > 1<<14 {
		return Interval{}, false
	}
	n := int64(math.Ceil(f))
	above := sampledWhole(mu, q, n)
	if order.IsInt() {
		return log1p(above), true
	}
	c := math.Min(0.9*math.Pi/m, 12)
	h := 2 * math.Pi * c / (c*c/2 + 140)
	step := numeric.OfFloat(h)
	sum := zero()
	for j := int64(-15 / h); float64(j)*h < 15+f*m; j++ {
		x := step.Mul(numeric.OfInt(j))
		w := mu.Mul(x).Sub(mu.Mul(mu).Quo(two())) // its logarithm: mixed
		sum = sum.Add(density(x).Mul(excess(mixed(q, w), a)))
	}
	cc := numeric.OfFloat(c)
	fault := two().Mul(exp(cc.Mul(cc).Quo(two()))).Mul(above.Add(two()).Add(two().Mul(a))).
		Quo(rise(two().Mul(pi()).Mul(cc).Quo(step)))
	sum = sum.Mul(step)
	return log1p(positive(sum.Sub(fault)).Hull(sum)), true
}

func sampledWhole(mu, q Interval, n int64) Interval {
	sum := zero()
	choose := new(big.Int)
	for l := int64(2); l <= n; l++ {
		term := numeric.Of(new(big.Rat).SetInt(choose.Binomial(n, l))).Mul(power(q, l)).Mul(power(one().Sub(q), n-l))
		square := mu.Mul(mu).Mul(numeric.OfInt(l * (l - 1))).Quo(two())
		sum = sum.Add(term.Mul(rise(square)))
	}
	return sum
}
