package shuffle

import (
	"math"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// logResponse returns a lower bound on ln of the hockey-stick divergence at epsilon
// between the shuffled reports of n users by randomized response over k answers,
// where one user's input differs. It is what an observer really sees on that pair
// of data sets, so that no valid bound lies below it.
func logResponse(meter *work.Meter, n int64, eps0 float64, k int, eps, floor float64) float64 {
	if !(eps < eps0) {
		return math.Inf(-1)
	}
	if k == 2 {
		return logBinaryResponse(meter, n, eps0, eps)
	}
	lo, _ := elsewhere(meter, n, eps0, k).logDelta(eps, floor)
	return lo
}

// logBinaryResponse is exact for all other users' answers equal, say 0. With α =
// 1/(p+1) the count J of ones is Bin(n, α) if the user's answer is 0 too, and has
// likelihood ratio (J·p + (n-J)/p)/n if it is 1. Either law may be the first:
//
//	J >= k:  f·(u/(1+e^-eps0) - (e^ε-1)·h),  f = P(X = k-1), h = P(X >= k)/f
//	J <= k:  the same with                   f = P(X = k),   h = P(X <  k)/f
//
// for X ~ Bin(n-1, α); any k gives a lower bound.
func logBinaryResponse(meter *work.Meter, n int64, eps0, eps float64) float64 {
	low := math.Exp(-eps0)
	x := binomial{n - 1, low / (1 + low), 1 / (1 + low)}
	scale := float64(n) / -math.Expm1(-2*eps0)
	above := math.Floor(scale*(math.Exp(eps-eps0)-low*low)) + 1
	below := math.Ceil(scale*low*(math.Exp(-eps)-low)) - 1
	result := math.Inf(-1)
	try := func(k, h float64, terms int) {
		meter.Spend(64)
		a, b := -math.Expm1(eps-eps0)/(1+low), math.Expm1(eps)*h
		if value := a - b - (a+b)*float64(terms+16)*0x1p-50; value > 0 {
			log := x.logPMF(int64(k))
			result = max(result, log-x.errLog(int64(k), log)+math.Log(value))
		}
	}
	if above <= float64(n) {
		h, terms := tail(meter, float64(n-1)-(above-1), above-1, x.rate/x.rest)
		try(above-1, h, terms)
	}
	if below >= 0 {
		h, terms := tail(meter, below, float64(n-1)-below, x.rest/x.rate)
		try(below, h, terms)
	}
	return result
}

// elsewhere is randomized response over k >= 3 answers when all other users have
// one same input that is neither of the replaced user's two. The observer counts
// these two answers and takes the rest together.
func elsewhere(meter *work.Meter, n int64, eps0 float64, k int) pair {
	low := math.Exp(-eps0)
	truth := 1 / (1 + float64(k-1)*low)
	alpha := low * truth // of each untrue answer
	rest := truth * (1 + float64(k-3)*low)
	return pair{
		meter: meter, n: n, eps0: eps0,
		rate: 2 * alpha, rest: rest,
		atom: truth, other: float64(k-2) * alpha / rest,
	}
}
