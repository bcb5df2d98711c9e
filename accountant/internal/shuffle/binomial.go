package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// A binomial is the number of successes in n independent trials. Both rates are
// given, since 1-rate would lose what is known of the smaller one.
type binomial struct {
	n          int64
	rate, rest float64
}

var half = func(n int64) binomial { return binomial{n, 0.5, 0.5} }

// logPMF returns ln P(X = k), by Stirling's formula with the exponents kept as the
// divergences k·ln(k/np) + np - k, which do not cancel (Loader 2000).
//
// Its error is at most errLog(k, result): the rate is a float64, which moves the
// result by |k-np|·2⁻⁵³/rest, and the divergences are good to a few units in the
// last place.
func (b binomial) logPMF(k int64) float64 {
	n, x := float64(b.n), float64(k)
	switch {
	case k < 0 || k > b.n:
		return math.Inf(-1)
	case b.n == 0:
		return 0
	case k == 0:
		return n * log1m(b.rate, b.rest)
	case k == b.n:
		return n * log1m(b.rest, b.rate)
	}
	y := float64(b.n - k)
	return -divergence(x, n, b.rate) - divergence(y, n, b.rest) +
		stirling(b.n) - stirling(k) - stirling(b.n-k) +
		0.5*(math.Log(n/(2*math.Pi*y))-math.Log(x))
}

// errLog bounds the error of a log probability of this law at k.
func (b binomial) errLog(k int64, log float64) float64 {
	away := math.Abs(math.FMA(float64(b.n), b.rate, -float64(k)))
	if away > 0 { // a law with a rate of 1 is certain
		away /= b.rest
	}
	return 0x1p-50 * (away + math.Abs(log) + 32)
}

// log1m returns ln(1-p), given q = 1-p.
func log1m(p, q float64) float64 {
	if p < 0.5 {
		return math.Log1p(-p)
	}
	return math.Log(q)
}

// divergence returns x·ln(x/M) + M - x for M = n·rate, which is never negative.
func divergence(x, n, rate float64) float64 {
	t := math.FMA(n, rate, -x) / x
	return x * excess(t)
}

// excess returns t - ln(1+t), by its series in t/(2+t) where that cancels.
func excess(t float64) float64 {
	if math.Abs(t) > 0.2 {
		return t - math.Log1p(t)
	}
	u := t / (2 + t) // ln(1+t) = 2·(u + u³/3 + u⁵/5 + ...), t = 2u/(1-u)
	w := u * u
	sum, power := 0.0, 1.0
	for i := 3.0; i < 31; i += 2 {
		sum += power / i
		power *= w
	}
	return 2 * w * (1/(1-u) - u*sum)
}

// stirling returns ln(n!) - (n+½)·ln n + n - ½·ln 2π for n >= 1.
func stirling(n int64) float64 {
	x := float64(n)
	if n < 16 {
		l, _ := math.Lgamma(x + 1)
		return l - (x+0.5)*math.Log(x) + x - 0.5*math.Log(2*math.Pi)
	}
	w := 1 / (x * x)
	return (1.0/12 - w*(1.0/360-w*(1.0/1260-w*(1.0/1680-w/1188)))) / x
}

// logTailBelow bounds ln P(X <= k) from above for k below the mean: the masses
// fall at least geometrically from k downward.
func (b binomial) logTailBelow(k int64) float64 {
	if k < 0 {
		return math.Inf(-1)
	}
	x := float64(k)
	return geometric(b.logPMF(k), x/(float64(b.n)-x+1)*(b.rest/b.rate))
}

// logTailAbove bounds ln P(X >= k) from above for k above the mean.
func (b binomial) logTailAbove(k int64) float64 {
	if k > b.n {
		return math.Inf(-1)
	}
	x := float64(k)
	return geometric(b.logPMF(k), (float64(b.n)-x)/(x+1)*(b.rate/b.rest))
}

// geometric bounds the log of a sum whose first term is e^first and whose terms
// fall at least by the factor r; with r not below 1 it knows nothing but 1.
func geometric(first, r float64) float64 {
	if !(r < 1) {
		return 0
	}
	return math.Min(0, first-math.Log1p(-r)+0x1p-20)
}

// tail returns the sum of the products r1, r1·r2, ... where ri is
// odds·(left-i+1)/(above+i): P(X > k)/P(X = k) for odds, left = n-k and above = k of a
// binomial. It also returns the number of terms, by which its relative error is at
// most terms·2⁻⁵¹, provided that the ratios are below 1.
func tail(meter *work.Meter, left, above, odds float64) (sum float64, terms int) {
	if r := odds * left / (above + 1); r < 1 && 40/(1-r) > longest {
		if sum, terms, ok := fraction(meter, left, above, odds); ok {
			return sum, terms
		}
	}
	for term := 1.0; left > 0; terms++ {
		if terms%longest == 0 {
			meter.Spend(longest / 4)
		}
		above++
		r := odds * left / above
		term *= r
		sum += term
		left--
		// What is left out is at most term·r/(1-r).
		if term*r < 0x1p-56*(1-r)*sum || term == 0 {
			break
		}
	}
	return sum, terms
}

// longest is from how many terms on a tail is sought as a continued fraction first.
const longest = 1 << 10

// fraction is tail by Gauss's continued fraction of 1 + tail, which is the hypergeometric
// function F(1, -left; above+1; -odds) (DLMF 15.7.5 with b = 1; Abramowitz and Stegun 26.5.8):
//
//	1/(1+tail) = h_1,  h_m = 1 - α_m/(1 + β_m/h_{m+1}),   with c = above+1 and
//	α_m = (c+m-2)(left-m+1)·odds / ((c+2m-3)(c+2m-2)),  α_1 = left·odds/c
//	β_m = m(left+c+m-1)·odds / ((c+2m-2)(c+2m-1)).
//
// Every h_m is such a quotient of positive sums and lies in [1-α_m, 1]; h falls in the
// next h, so that two ends, each rounded outward, close on it in turns.
func fraction(meter *work.Meter, left, above, odds float64) (sum float64, terms int, ok bool) {
	const out = 0x1p-49 // more than the rounding of a coefficient
	c := above + 1
	for levels := 16.0; levels <= 1<<12; levels *= 4 {
		meter.Spend(4 * int(levels))
		if levels >= left {
			return 0, 0, false
		}
		lo, hi := 0.0, 1.0 // of h_{levels+1}
		for m := levels; m >= 1; m-- {
			alpha := left * odds / c
			if m > 1 {
				alpha = (c + m - 2) * (left - m + 1) * odds / ((c + 2*m - 3) * (c + 2*m - 2))
			}
			beta := m * (left + c + m - 1) * odds / ((c + 2*m - 2) * (c + 2*m - 1))
			next := 1 - alpha*(1+out)/(1+beta/hi)
			hi = min(1, (1-alpha*(1-out)/(1+beta/max(lo, 1e-300)))*(1+0x1p-50)+0x1p-52)
			if lo = next - 0x1p-51; !(lo > 0) {
				lo = 0
			}
		}
		low, high := (1-hi)/hi, (1-lo)/lo
		if e := (high - low) / low; e < 0x1p-41*(1+low) { // some thirty times what the terms of the sum would err by
			return low + (high-low)/2, int(e*0x1p51) + 16, true
		}
	}
	return 0, 0, false
}

// logAdd returns ln(e^x + e^y).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(x, -1) {
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}
