package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// SuccessBound is the largest probability with which an attack on (ε, δ)-private
// answers guesses a bit that is a fair coin: (e^ε + δ)/(1 + e^ε).
//
// Theorem (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015): let p and q be
// the probabilities of guessing 1 where the bit is 1 and where it is 0. Then
// p ≤ e^ε·q + δ and 1−q ≤ e^ε·(1−p) + δ, and their sum is (1+e^ε)(p + 1 − q) ≤
// 2·(e^ε + δ); an attack is right with probability (p + 1 − q)/2.
//
// ε is the loss of everything that the attack saw. Also of each of many bits, all
// fair and independent: whatever the others are, the theorem speaks of this one.
func SuccessBound(epsilon, delta float64) float64 {
	if !(epsilon >= 0) || !(delta >= 0) {
		return 1
	}
	b := 1/(1+math.Exp(-epsilon)) + delta/(1+math.Exp(epsilon))
	return min(1, b*(1+4e-16))
}

// PValue is the largest probability with which answers that allow success b in each
// of n guesses let an attack be right in at least correct of them. A small one
// refutes the guarantee that b comes from.
//
// Theorem: if, given all guesses before, a guess is right with probability at most b,
// the number of right ones is dominated by a binomial law, Bin(n, b). Trials that
// draw everything anew are independent. And it holds for the n bits of one database,
// fair and independent, when the answers are (ε, 0)-private (Steinke, Nasr and
// Jagielski 2023): given the answers t and the bits before, the odds of bit i are the
// ratio of P(t | bit i is 1, bits before) and P(t | bit i is 0, bits before), averages
// over the bits after of probabilities whose ratio is within e^±ε; so that every guess
// that is a function of t has SuccessBound(ε, 0).
func PValue(correct, n int, b float64) float64 {
	switch {
	case correct <= 0 || b >= 1:
		return 1
	case correct > n || !(b > 0):
		return 0
	}
	return tail(correct, n, b)
}

// tail is P(Bin(n, p) ≥ k), for 0 < k ≤ n.
func tail(k, n int, p float64) float64 {
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// ClopperPearson returns bounds of a probability of which k of n independent trials
// came true: each is wrong with probability at most alpha. It is the inversion of the
// exact binomial tests (Clopper and Pearson 1934), rounded outward.
func ClopperPearson(k, n int, alpha float64) (lo, hi float64, err error) {
	if n < 1 || k < 0 || k > n || !(alpha > 0 && alpha < 0.5) {
		return 0, 0, bad("%d of %d at %v", k, n, alpha)
	}
	return lower(k, n, alpha), 1 - lower(n-k, n, alpha), nil
}

// lower is the largest p, to nine digits, at which k of n or more is as rare as alpha.
func lower(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	lo, hi := 0.0, 1.0
	for range 200 {
		p := lo + (hi-lo)/2
		if tail(k, n, p) <= alpha {
			lo = p
		} else {
			hi = p
		}
	}
	return lo * (1 - 1e-9)
}

// Counts are the guesses of an attack over many independent runs.
type Counts struct {
	Members        int `json:"members"`         // runs in which the bit was set
	TruePositives  int `json:"true_positives"`  // of these, guessed so
	Others         int `json:"others"`          // runs in which it was not
	FalsePositives int `json:"false_positives"` // of these, guessed to be set
}

// Runs is the number of runs.
func (c Counts) Runs() int { return c.Members + c.Others }

// Correct is how often the guess was right.
func (c Counts) Correct() int { return c.TruePositives + c.Others - c.FalsePositives }

// Success is the share of right guesses.
func (c Counts) Success() float64 { return float64(c.Correct()) / float64(c.Runs()) }

// EpsilonLowerBound returns an ε that what was attacked has at least, at δ: if it were
// (ε, δ)-private with less, the runs would come out so with probability at most
// 1 − confidence. It is 0 where the runs say nothing.
//
// Theorem: (ε, δ)-privacy implies P₁(A) ≤ e^ε·P₀(A) + δ for every event A, and the same
// with 0 and 1 exchanged. A is that the attack says 1, and that it says 0; the two
// probabilities are bounded by Clopper and Pearson at (1 − confidence)/2 each.
func (c Counts) EpsilonLowerBound(delta, confidence float64) (float64, error) {
	if !(delta >= 0 && delta < 1) || !(confidence > 0 && confidence < 1) {
		return 0, bad("delta %v, confidence %v", delta, confidence)
	}
	alpha := (1 - confidence) / 2
	tp, _, err := ClopperPearson(c.TruePositives, c.Members, alpha)
	if err != nil {
		return 0, err
	}
	_, fp, err := ClopperPearson(c.FalsePositives, c.Others, alpha)
	if err != nil {
		return 0, err
	}
	return max(0, logRatio(tp-delta, fp), logRatio(1-fp-delta, 1-tp)), nil
}

func logRatio(p, q float64) float64 {
	if !(p > 0) || !(q > 0) {
		return 0
	}
	return math.Log(p / q)
}

// OneRunEpsilon returns an ε that a single run over the bits of many units proves, at δ
// and with a confidence: of units bits, each a fair coin, an attack guessed so many and
// was right so often. Which ones it guesses may depend on the answers; how many may not.
//
// Theorem (Steinke, Nasr and Jagielski 2023): under (ε, δ)-privacy the
// number of right guesses is at least v with probability at most β + 2·units·δ·α,
// where β = P(B ≥ v), α = max over i of P(v−i ≤ B < v)/i, and B is
// Bin(guesses, e^ε/(1+e^ε)). With δ = 0 that is PValue.
func OneRunEpsilon(units, guesses, correct int, delta, confidence float64) (float64, error) {
	if units < 1 || guesses < 1 || guesses > units || correct < 0 || correct > guesses ||
		!(delta >= 0 && delta < 1) || !(confidence > 0 && confidence < 1) {
		return 0, bad("%d right of %d guesses about %d units, delta %v, confidence %v", correct, guesses, units, delta, confidence)
	}
	rejected := func(epsilon float64) bool {
		b := SuccessBound(epsilon, 0)
		p := PValue(correct, guesses, b)
		if delta > 0 {
			alpha, at := 0.0, p
			for i := 1; i <= correct; i++ {
				alpha = max(alpha, (PValue(correct-i, guesses, b)-at)/float64(i))
			}
			p += 2 * float64(units) * delta * alpha
		}
		return p <= 1-confidence
	}
	lo, hi := 0.0, 1.0
	if !rejected(lo) {
		return 0, nil
	}
	for rejected(hi) && hi < 64 {
		hi *= 2
	}
	for range 100 {
		if e := (lo + hi) / 2; rejected(e) {
			lo = e
		} else {
			hi = e
		}
	}
	return lo * (1 - 1e-9), nil
}
