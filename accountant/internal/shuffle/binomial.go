package shuffle

import "math"

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
	return 0x1p-50 * (away/b.rest + math.Abs(log) + 32)
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
func tail(left, above, odds float64) (sum float64, terms int) {
	for term := 1.0; left > 0; terms++ {
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
