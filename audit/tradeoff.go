package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A TradeOff is what a guarantee leaves a test that tells two neighbours apart (Dong,
// Roth and Su 2022): how far its true positive rate may rise above its false positive
// rate. It is the ceiling of every ROC curve of an attack, and its own mirror image:
// which of two neighbours is called positive makes no difference.
type TradeOff interface {
	// Power is the largest true positive rate at a false positive rate: concave,
	// never falling.
	Power(falsePositives float64) float64
	// Level is the least false positive rate at which Power is so large.
	Level(truePositives float64) float64
}

// Gaussian is μ-GDP: what one Gaussian release with sensitivity μσ leaves.
// Theorem (Dong, Roth and Su 2022): power ≤ Φ(Φ⁻¹(level) + μ), and T of them in a row
// are √T·μ.
type Gaussian float64

// Power implements TradeOff.
func (mu Gaussian) Power(a float64) float64 {
	if !(mu >= 0) || !(a < 1) || math.IsInf(float64(mu), 1) {
		return 1
	}
	if a <= 0 {
		return 0
	}
	return max(a, normal(mathext.NormalQuantile(a)+float64(mu)))
}

// Level implements TradeOff.
func (mu Gaussian) Level(p float64) float64 {
	if !(mu >= 0) || !(p > 0) || math.IsInf(float64(mu), 1) {
		return 0
	}
	if p >= 1 {
		return 1
	}
	return min(p, normal(mathext.NormalQuantile(p)-float64(mu)))
}

// Delta is the least δ at which μ-GDP is (ε, δ)-private (Balle and Wang 2018).
func (mu Gaussian) Delta(epsilon float64) float64 {
	m := float64(mu)
	switch {
	case m == 0:
		return 0
	case !(m > 0) || math.IsInf(m, 1):
		return 1
	}
	return min(1, max(0, normal(m/2-epsilon/m)-math.Exp(epsilon+logNormal(-m/2-epsilon/m))))
}

// Epsilon is the least ε at which μ-GDP is (ε, δ)-private, to nine digits from below.
func (mu Gaussian) Epsilon(delta float64) float64 {
	if !(delta > 0) {
		if mu == 0 {
			return 0
		}
		return math.Inf(1)
	}
	lo, hi := 0.0, 1.0
	if mu.Delta(0) <= delta {
		return 0
	}
	for mu.Delta(hi) > delta && hi < 1e9 {
		hi *= 2
	}
	for range 100 {
		if e := (lo + hi) / 2; mu.Delta(e) > delta {
			lo = e
		} else {
			hi = e
		}
	}
	return lo
}

// Points are (ε, δ)-guarantees that hold all at once.
// Theorem (Wasserman and Zhou 2010): each leaves power ≤ e^ε·level + δ and
// power ≤ 1 − e^−ε·(1 − δ − level).
type Points []Point

// A Point is one guarantee (ε, δ).
type Point struct{ Epsilon, Delta float64 }

// Power implements TradeOff.
func (ps Points) Power(a float64) float64 {
	a = min(1, max(0, a))
	p := 1.0
	for _, g := range ps {
		if !(g.Epsilon >= 0) || !(g.Delta >= 0) {
			continue // no guarantee, no bound
		}
		p = min(p, a*math.Exp(g.Epsilon)+g.Delta, 1-math.Exp(-g.Epsilon)*(1-g.Delta-a))
	}
	return max(p, a)
}

// Level implements TradeOff.
func (ps Points) Level(p float64) float64 {
	p = min(1, max(0, p))
	a := 0.0
	for _, g := range ps {
		if !(g.Epsilon >= 0) || !(g.Delta >= 0) {
			continue
		}
		a = max(a, math.Exp(-g.Epsilon)*(p-g.Delta))
		if p < 1 { // at 1, e^ε·0 must not become NaN
			a = max(a, 1-g.Delta-math.Exp(g.Epsilon)*(1-p))
		} else {
			a = max(a, 1-g.Delta)
		}
	}
	return min(a, p)
}

// OneRunPValue is the largest probability with which an attack guesses right at least
// correct times, of a fixed number of guesses about as many units, each a fair coin,
// after a single run under f. A small one refutes f. It is far less than the one of
// OneRunEpsilon where δ matters, for it uses the whole curve.
//
// Theorem (Mahloujifar, Melis and Chaudhuri 2024, arXiv 2410.22235): let p_j be the
// probability of j right guesses of n, about m units. For a unit drawn at random, the
// event that it is guessed right and that c or more are right has probability
// r_c = Σ_{j≥c} p_j·j/m; when that unit's bit is flipped, the same answers have it
// guessed wrong and one fewer right, which has probability h_{c−1} =
// Σ_{j≥c−1} p_j·(n−j)/m; and f holds between the two, so that h_{c−1} ≥ Level(r_c).
// A probability τ of correct or more starts with r = τ·correct/m and
// h = τ·(n − correct)/m at least, the recursion forces mass on every fewer count, and all
// of it together is n/m: what exceeds that is no probability.
func OneRunPValue(f TradeOff, units, guesses, correct int) float64 {
	switch {
	case f == nil || units < 1 || guesses < 1 || guesses > units || correct <= 0:
		return 1
	case correct > guesses:
		return 0
	}
	if !impossible(f, units, guesses, correct, 1) {
		return 1
	}
	lo, hi := -700.0, 0.0 // of ln τ
	if impossible(f, units, guesses, correct, math.Exp(lo)) {
		return math.Exp(lo)
	}
	for range 60 {
		if t := (lo + hi) / 2; impossible(f, units, guesses, correct, math.Exp(t)) {
			hi = t
		} else {
			lo = t
		}
	}
	return min(1, math.Exp(hi)*(1+1e-9))
}

func impossible(f TradeOff, units, guesses, correct int, tau float64) bool {
	m, n := float64(units), float64(guesses)
	r, h := tau*float64(correct)/m, tau*(n-float64(correct))/m
	for i := correct - 1; i >= 0; i-- {
		next := f.Level(min(1, r))
		if !(next > h) {
			break // and so for every smaller i
		}
		r += float64(i) / (n - float64(i)) * (next - h)
		h = next
	}
	return r+h > n/m*(1+1e-12)
}

// OneRunMu returns a μ that a single run proves, as OneRunEpsilon does ε: what was
// attacked is not μ-GDP with less. Gaussian(μ).Epsilon(δ) is a lower bound of ε only if
// its trade-off is a Gaussian one, as for full batches.
func OneRunMu(units, guesses, correct int, confidence float64) (float64, error) {
	if units < 1 || guesses < 1 || guesses > units || correct < 0 || correct > guesses || !(confidence > 0 && confidence < 1) {
		return 0, bad("%d right of %d guesses about %d units", correct, guesses, units)
	}
	rejected := func(mu float64) bool {
		return impossible(Gaussian(mu), units, guesses, correct, 1-confidence)
	}
	if !rejected(0) {
		return 0, nil
	}
	lo, hi := 0.0, 1.0
	for rejected(hi) && hi < 64 {
		hi *= 2
	}
	for range 60 {
		if mu := (lo + hi) / 2; rejected(mu) {
			lo = mu
		} else {
			hi = mu
		}
	}
	return lo * (1 - 1e-9), nil
}

func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// logNormal is ln Φ(x), also where Φ(x) is less than any float64.
func logNormal(x float64) float64 {
	if x > -30 {
		return math.Log(normal(x))
	}
	// Mills' ratio: Φ(−t) = φ(t)/t·(1 − 1/t² + 3/t⁴ − 15/t⁶ + …); the next term is 1e-9.
	u := 1 / (x * x)
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) + math.Log1p(-u*(1-u*(3-15*u)))
}
