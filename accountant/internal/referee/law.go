package referee

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A Law is a pair of laws on finitely many outputs.
type Law struct {
	Outputs []Output
	Lost    Interval // P where Q is zero()
	Found   Interval // Q where P is zero()
	Rest    Interval // P of outputs that are not listed, at most; of whatever loss

	others []Interval // Q of the outputs, where it is at hand, or none
}

// An Output is one output, or a set of outputs of one loss.
type Output struct {
	P    Interval
	Loss Interval // ln P/Q
	At   int64    // keys add up where laws multiply, and equal keys have equal losses; 0 is none
}

// Profile is Σ P (1-e^(ε-loss))⁺, the definition.
func (l Law) Profile() Profile {
	return func(eps Interval) Interval {
		sum := l.Lost.Add(zero().Hull(l.Rest))
		factor := one()
		direct := len(l.others) > 0 && eps.Cmp(numeric.OfInt(limit)) < 0
		if direct {
			factor = eps.Exp()
		}
		for i, o := range l.Outputs {
			gap := o.Loss.Sub(eps)
			switch {
			case direct && gap.Cmp(numeric.OfFloat(0x1p-40)) > 0: // where little cancels, as P - e^ε·Q
				sum = sum.Add(positive(o.P.Sub(factor.Mul(l.others[i]))))
			case gap.Cmp(zero()) >= 0:
				sum = sum.Add(o.P.Mul(fall(positive(gap))))
			}
		}
		return sum.Min(one())
	}
}

// Times is the law of two independent events together.
func (l Law) Times(m Law) Law {
	for i := range m.Outputs {
		m.Outputs[i].At = 0 // a key has a meaning in its own law only
	}
	return l.times(m)
}

func (l Law) times(m Law) Law {
	out := Law{
		Lost:  l.Lost.Add(m.Lost).Sub(l.Lost.Mul(m.Lost)),
		Found: l.Found.Add(m.Found).Sub(l.Found.Mul(m.Found)),
		Rest:  l.Rest.Add(m.Rest),
	}
	at := map[int64]int{}
	for _, a := range l.Outputs {
		for _, b := range m.Outputs {
			p := a.P.Mul(b.P)
			if a.At == 0 || b.At == 0 {
				out.Outputs = append(out.Outputs, Output{P: p, Loss: a.Loss.Add(b.Loss)})
				continue
			}
			key := a.At + b.At
			if i, ok := at[key]; ok {
				out.Outputs[i].P = out.Outputs[i].P.Add(p)
				continue
			}
			at[key] = len(out.Outputs)
			out.Outputs = append(out.Outputs, Output{p, a.Loss.Add(b.Loss), key})
		}
	}
	return out
}

// Repeat is count independent events of one law.
func (l Law) Repeat(count int64) Law {
	if len(l.Outputs) == 2 && l.Outputs[0].At > 0 && l.Outputs[1].At > 0 {
		return l.binomial(count)
	}
	out := Law{Outputs: []Output{{one(), zero(), 1 << 40}}}
	for ; count > 0; count >>= 1 {
		if count&1 == 1 {
			out = out.times(l)
		}
		if count > 1 {
			l = l.times(l)
		}
	}
	return out
}

// binomial is Repeat of a law of two outputs: one of them comes k times of n with probability
// C(n,k)·p^k·q^(n-k) under either law, and losses add up.
func (l Law) binomial(count int64) Law {
	out := Law{Lost: l.Lost, Found: l.Found, Rest: l.Rest}.Repeat(count) // of no outputs
	a, b := l.Outputs[0], l.Outputs[1]
	powers := func(x Interval) []Interval {
		all := []Interval{one()}
		for range count {
			all = append(all, all[len(all)-1].Mul(x))
		}
		return all
	}
	p, q := powers(a.P), powers(b.P)
	var under [2][]Interval // Q, by which p and q lie under the other law
	if l.moderate() {
		under = [2][]Interval{powers(a.P.Mul(a.Loss.Neg().Exp())), powers(b.P.Mul(b.Loss.Neg().Exp()))}
	}
	out.Outputs = make([]Output, 0, count+1)
	for k := range count + 1 {
		ways := numeric.Of(new(big.Rat).SetInt(new(big.Int).Binomial(count, k)))
		if under[0] != nil {
			out.others = append(out.others, ways.Mul(under[0][k]).Mul(under[1][count-k]))
		}
		out.Outputs = append(out.Outputs, Output{
			P:    ways.Mul(p[k]).Mul(q[count-k]),
			Loss: numeric.OfInt(k).Mul(a.Loss).Add(numeric.OfInt(count - k).Mul(b.Loss)),
			At:   k*a.At + (count-k)*b.At,
		})
	}
	return out
}

// Removed and Added are the law on a Poisson sample of rate q: (1-q)Q+qP against Q, and
// P against (1-q)P+qQ.
func (l Law) Removed(q *big.Rat) Law {
	rate := numeric.Of(q)
	out := Law{Lost: rate.Mul(l.Lost), Rest: l.Rest}
	for _, o := range l.Outputs {
		loss := mixed(rate, o.Loss)
		out.Outputs = append(out.Outputs, Output{o.P.Mul(exp(loss.Sub(o.Loss))), loss, 0})
	}
	if rest := one().Sub(rate); l.Found.Positive() && rest.Positive() {
		out.Outputs = append(out.Outputs, Output{P: rest.Mul(l.Found), Loss: rest.Log()})
	}
	return out.keyed()
}

// Added is the other direction.
func (l Law) Added(q *big.Rat) Law {
	rate := numeric.Of(q)
	out := Law{Found: rate.Mul(l.Found), Rest: l.Rest}
	for _, o := range l.Outputs {
		out.Outputs = append(out.Outputs, Output{o.P, mixed(rate, o.Loss.Neg()).Neg(), 0})
	}
	rest := one().Sub(rate)
	switch {
	case l.Lost.Positive() && rest.Positive():
		out.Outputs = append(out.Outputs, Output{P: l.Lost, Loss: rest.Log().Neg()})
	case l.Lost.Positive():
		out.Lost = l.Lost
	}
	return out.keyed()
}

// limit bounds the sizes of losses whose exponentials are within reach.
const limit = 1 << 18

// moderate reports whether every loss is one whose exponential is within reach.
func (l Law) moderate() bool {
	most := numeric.OfInt(limit)
	for _, o := range l.Outputs {
		if o.Loss.Cmp(most) >= 0 || o.Loss.Neg().Cmp(most) >= 0 {
			return false
		}
	}
	return true
}

// mixed is ln(1-q+q·e^x).
func mixed(rate, x Interval) Interval {
	lo, _ := x.Ends()
	if lo.Cmp(zero()) >= 0 {
		return log1p(rate.Mul(rise(x)))
	}
	return one().Sub(rate.Mul(fall(x.Neg()))).Log()
}

// keyed gives every output of two or three its own key, so that equal numbers of each
// are merged: what matters of an order is the counts.
func (l Law) keyed() Law {
	if len(l.Outputs) <= 3 {
		for i := range l.Outputs {
			l.Outputs[i].At = 1 << (20 * i)
		}
	}
	return l
}

// approx is the law of the worst (e, lost)-DP event: see Response.
func approx(e, lost *big.Rat) Law {
	x, d := numeric.Of(e), numeric.Of(lost)
	p := one().Sub(d).Quo(one().Add(exp(x.Neg())))
	return Law{Lost: d, Found: d, Outputs: []Output{
		{p.Mul(exp(x.Neg())), x.Neg(), 1},
		{p, x, 1 << 20},
	}}
}

// answers is k-ary randomized response with probability p of the truth: of the two
// true answers one is likelier by p(k-1)/(1-p), the other less likely by that.
func answers(p *big.Rat, k int64) Law {
	other := new(big.Rat).Sub(big.NewRat(1, 1), p)
	other.Quo(other, big.NewRat(k-1, 1))
	loss := numeric.Of(new(big.Rat).Quo(p, other)).Log()
	l := Law{Outputs: []Output{{numeric.Of(p), loss, 1}, {numeric.Of(other), loss.Neg(), 1 << 20}}}
	if k > 2 {
		l.Outputs = append(l.Outputs, Output{numeric.Of(new(big.Rat).Mul(other, big.NewRat(k-2, 1))), zero(), 1 << 40})
	}
	return l
}

// stated is the law of outcomes with the given probabilities. What either lacks of 1 is
// on outcomes that the other does not have.
func stated(p, q []*big.Rat) Law {
	l := Law{}
	one := big.NewRat(1, 1)
	lost, found := new(big.Rat).Set(one), new(big.Rat).Set(one)
	for i := range p {
		if p[i].Sign() > 0 && q[i].Sign() > 0 {
			lost.Sub(lost, p[i])
			found.Sub(found, q[i])
			l.Outputs = append(l.Outputs, Output{P: numeric.Of(p[i]), Loss: numeric.Of(new(big.Rat).Quo(p[i], q[i])).Log()})
		}
	}
	l.Lost, l.Found = numeric.Of(lost), numeric.Of(found)
	return l.keyed()
}

// discreteLaplace is noise with P(x) proportional to e^(-|x|/scale) over the
// integers, of a value that moves by s: an outcome x between has the loss (2x-s)/scale.
func discreteLaplace(scale *big.Rat, s int64) Law {
	b := numeric.Of(scale)
	r := exp(one().Quo(b).Neg())
	tail := one().Quo(one().Add(r)) // P{X >= 0}
	point := fall(one().Quo(b)).Mul(tail)
	var l Law
	for x := int64(0); x <= s; x++ {
		p := exp(numeric.OfInt(s - x).Quo(b).Neg())
		if x == 0 || x == s {
			p = p.Mul(tail)
		} else {
			p = p.Mul(point)
		}
		l.Outputs = append(l.Outputs, Output{p, numeric.OfInt(2*x - s).Quo(b), 1<<40 + 2*x - s})
	}
	return l
}

// discreteGaussian is noise with P(x) proportional to e^(-x²/2v) over the integers: an
// outcome x has the loss s(x-s/2)/v. What is further than reach from both centres is
// Rest: at most the two tails beyond r, each at most e^(-r²/2v)/(1-e^(-r/v)).
func discreteGaussian(v *big.Rat, s, reach int64) Law {
	variance := numeric.Of(v)
	at := func(x int64) Interval {
		return exp(numeric.Of(new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(x), big.NewInt(x)), big.NewInt(2))).Quo(variance).Neg())
	}
	tails := two().Mul(at(reach)).Quo(fall(numeric.OfInt(reach).Quo(variance)))
	total := zero()
	weights := make([]Interval, reach+1)
	for x := reach; x >= 0; x-- {
		weights[x] = at(x)
		total = total.Add(weights[x])
		if x > 0 {
			total = total.Add(weights[x])
		}
	}
	total = total.Hull(total.Add(tails))
	l := Law{Rest: tails.Quo(total)}
	for x := s - reach; x <= s+reach; x++ {
		d := x - s
		if d < 0 {
			d = -d
		}
		loss := numeric.Of(new(big.Rat).SetFrac64(s*(2*x-s), 2)).Quo(variance)
		l.Outputs = append(l.Outputs, Output{weights[d].Quo(total), loss, 1<<40 + 2*x - s})
	}
	return l
}

// cells is N(μ,1) against N(0,1), seen through cells: of whatever falls between two
// neighbouring cuts, which increase, only that is told. As post-processing it
// reveals no more than the noise does, and its profile is a lower bound.
func cells(mu Interval, cuts []Interval) Law {
	var l Law
	p, q := make([]Interval, 0, len(cuts)+2), make([]Interval, 0, len(cuts)+2)
	p, q = append(p, one()), append(q, one()) // P and Q above the cut
	for _, c := range cuts {
		p, q = append(p, tail(c.Sub(mu))), append(q, tail(c))
	}
	p, q = append(p, zero()), append(q, zero())
	for i := 1; i < len(p); i++ {
		a, b := p[i-1].Sub(p[i]), q[i-1].Sub(q[i])
		if a.Positive() && b.Positive() {
			l.Outputs = append(l.Outputs, Output{P: a, Loss: a.Quo(b).Log()})
		}
	}
	return l.keyed()
}
