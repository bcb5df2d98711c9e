package filter

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// An Odometer bounds the privacy loss so far of events that are chosen adaptively,
// without a budget: with probability 1 - delta, the loss of the first n answers is at
// most Epsilon of their Sums for all n at once. Whoever stops when he likes knows
// with that confidence what he has revealed. It is no filter: to stop at the first n
// whose Epsilon exceeds something is a budget that Epsilon holds, and a filter's cap is
// larger.
//
// Condition: every event is (ε_i, δ_i)-DP, or ρ_i-zCDP, given the answers before. Of delta
// a part is kept for Σδ_i, as in splitDelta: the loss is that of the answers but for
// exceptional parts, and the probability that there is one stays below that part.
//
// All rest on Ville's inequality: a supermartingale that is never negative and starts
// at 1 exceeds 1/d at some time with probability at most d. Here L is the loss, S = Σε_i²,
// and for every λ > 0
//
//	exp(λ(L - S/2) - λ²S/2)
//
// is one; see whitehouse. (L and S after n answers; ε_i is known before the i-th.) The
// same holds of ρ-zCDP events with 2ρ_i in place of ε_i², because that is all that the proof
// uses: the divergence of order λ+1 is at most (λ+1)ρ_i. So SpentOf counts them.
type Odometer struct {
	kept  Units // for Σδ
	sum   bool  // Σε, exactly
	bound func(Sums) numeric.Interval
}

// ErrNoBound is returned by an odometer whose part of delta for Σδ is used up.
var ErrNoBound = errors.New("the deltas of the events add up to more than the odometer keeps for them")

// ErrNoPoint is returned by the basic odometer for events without an ε, as Gaussian noise.
var ErrNoPoint = errors.New("some event has no epsilon to add up")

// ErrBeyond is wrapped where no epsilon is as large as the bound.
var ErrBeyond = errors.New("the odometer's bound is out of range")

// Epsilon returns the bound on the loss so far, rounded up in the 30th digit.
func (o *Odometer) Epsilon(s Sums) (privacy.Epsilon, error) {
	if s.Delta.Cmp(o.kept) > 0 {
		return privacy.Epsilon{}, ErrNoBound
	}
	if s.Squares.Sign() == 0 {
		return privacy.Epsilon{}, nil // only deltas were spent
	}
	if o.sum {
		if s.NoPoint {
			return privacy.Epsilon{}, ErrNoPoint
		}
		return epsilonOf(s.Epsilon), nil
	}
	eps, err := privacy.NewEpsilon(numeric.CeilDigits(o.bound(s).Hi(), digits))
	if err != nil {
		return privacy.Epsilon{}, fmt.Errorf("%w: %w", ErrBeyond, err)
	}
	return eps, nil
}

// SpentOf returns what events add to the Sums of an odometer, rounded up: of a ρ-zCDP
// event, Gaussian noise above all, ρ to Drift and 2ρ to Squares, of others what SumsOf
// says. It refuses events that are neither, with an error that wraps ErrUnsupported.
//
// The mean of a ρ-zCDP event's loss is at most ρ (the divergence of the orders above 1,
// in the limit), and exp(λ(ℓ - ρ) - λ²ρ) has a mean of at most 1: Drift and Squares are
// what the proof of NewRogersOdometer asks of them.
func SpentOf(events []privacy.Event, n privacy.Neighbours) (Sums, error) {
	return sums(events, n, func(e privacy.Event) (cost, error) {
		eps, delta, isPoint := point(e)
		rho, isZCDP := concentrated(e)
		switch {
		case isZCDP:
			return cost{rho, new(big.Rat).Add(rho, rho), delta, eps}, nil
		case isPoint:
			return cost{drift(eps), square(eps), delta, eps}, nil
		}
		return cost{}, unsupported(e, "it has neither (epsilon, delta) nor a rho")
	})
}

// NewBasicOdometer returns the odometer that adds up: Σε, while Σδ is at most delta. It
// knows nothing of events without an ε.
//
// Theorem (Dwork et al. 2006; Rogers et al. 2016, for adaptive choices): but
// for exceptional parts of probability Σδ_i in all, no answer has a loss above its ε_i.
func NewBasicOdometer(delta privacy.Delta) *Odometer {
	return &Odometer{kept: floorUnits(delta.Rat()), sum: true}
}

// OdometerOptions are those of the odometers of Whitehouse, Ramdas, Rogers and Wu
// 2023, "Fully-Adaptive Composition in Differential Privacy".
type OdometerOptions struct {
	Delta privacy.Delta // the whole probability
	Kept  privacy.Delta // of it, for the events' own deltas
	// At is the S = Σε² where the bound shall be tight, fixed beforehand.
	At *big.Rat
}

func (o OdometerOptions) new(bound func(log, at numeric.Interval) func(Sums) numeric.Interval) (*Odometer, error) {
	if o.At == nil || o.At.Sign() <= 0 {
		return nil, errors.New("odometer: the sum of squares to be tight at is missing or not positive")
	}
	rest, err := splitDelta(Budget{Delta: o.Delta, SelectionDelta: o.Kept})
	if err != nil {
		return nil, fmt.Errorf("odometer: %w", err)
	}
	log, err := logInverse(rest)
	if err != nil {
		return nil, fmt.Errorf("odometer: %w", err)
	}
	return &Odometer{kept: floorUnits(o.Kept.Rat()), bound: bound(log, numeric.Of(o.At))}, nil
}

// NewLineOdometer returns the odometer that is, at S = At, as tight as the whitehouse
// filter, and linear in S elsewhere.
//
// Theorem: Ville's inequality at λ = √(2ln(1/d)/At), solved for L:
//
//	L <= S/2 + λS/2 + ln(1/d)/λ.
func NewLineOdometer(o OdometerOptions) (*Odometer, error) {
	return o.new(func(log, at numeric.Interval) func(Sums) numeric.Interval {
		return func(s Sums) numeric.Interval { return line(numeric.Of(s.Squares.Rat()), log, at) }
	})
}

func line(s, log, at numeric.Interval) numeric.Interval {
	two := numeric.OfInt(2)
	lambda := two.Mul(log).Quo(at).Sqrt()
	return s.Mul(numeric.OfInt(1).Add(lambda)).Quo(two).Add(log.Quo(lambda))
}

// NewMixtureOdometer returns an odometer that is nowhere far from tight, best around
// some multiple of S = At.
//
// Theorem (the method of mixtures: Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon
// 2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
// Proposition 6): with H = At,
//
//	L <= S/2 + √((S+H)(2ln(1/d) + ln(S/H + 1))).
//
// Proof: see mixture, for M = L - S/2.
func NewMixtureOdometer(o OdometerOptions) (*Odometer, error) {
	return o.new(func(log, at numeric.Interval) func(Sums) numeric.Interval {
		return func(s Sums) numeric.Interval {
			squares := numeric.Of(s.Squares.Rat())
			return squares.Quo(numeric.OfInt(2)).Add(mixture(squares, at, log))
		}
	})
}

// mixture returns the bound that M exceeds at some time with probability at most d,
// log = ln(1/d), if exp(λM - λ²S/2) is a supermartingale for every λ > 0.
//
// Proof. Average it over λ with the density 2√(H/2π)·e^(-λ²H/2), λ > 0. That is a
// supermartingale which starts at 1 and equals 2Φ(M/√(S+H))·√(H/(S+H))·exp(M²/2(S+H)),
// of which the first factor is at least 1 where M >= 0. Ville's inequality says when it
// exceeds 1/d.
func mixture(s, h, log numeric.Interval) numeric.Interval {
	both := numeric.OfInt(2).Mul(log).Add(s.Quo(h).Add(numeric.OfInt(1)).Log())
	return s.Add(h).Mul(both).Sqrt()
}

// NewStitchedOdometer returns an odometer that grows like √(S ln ln S), which is the
// least possible, for S above At.
//
// Theorem (stitching: Howard et al. 2021, Theorem 1; the constants are those of the
// proof). Cut S into the epochs (At·2^(k-1), At·2^k], k = 1, 2, ..., with [0, At] for k = 0.
// In epoch k take the line that is tight at its end, at the probability
// d_k = d/((k+1)(k+2)). The d_k add up to d, and each line holds at all times.
func NewStitchedOdometer(o OdometerOptions) (*Odometer, error) {
	return o.new(func(log, at numeric.Interval) func(Sums) numeric.Interval {
		return func(s Sums) numeric.Interval {
			squares := s.Squares.Rat()
			end, k := new(big.Rat).Set(o.At), int64(0)
			for ; squares.Cmp(end) > 0; k++ {
				end.Mul(end, big.NewRat(2, 1))
			}
			epoch := log.Add(numeric.OfInt((k + 1) * (k + 2)).Log())
			return line(numeric.Of(squares), epoch, numeric.Of(end))
		}
	})
}

// NewRogersOdometer returns the odometer of Rogers, Roth, Ullman and Vadhan 2016,
// "Privacy Odometers and Filters", for a database of that many records; half of delta,
// which is below 1/e, is kept for the events' own deltas.
//
// Theorem (in the paper's form, with the constants of the proof below). With n records,
// m = ⌈2 log2 n⌉ and ℓ = ln(2(m+1)/δ), the loss exceeds its mean's bound Σε_i(e^ε_i - 1)/2 at
// some time by more than
//
//	2√(S(1 + ln √3)·ℓ)                          where 1/n² <= S <= 1
//	√(2(S + 1/n²)(1 + ½ln(n²S + 1))·ℓ)          elsewhere
//
// with probability at most δ/2.
//
// Proof. M, the loss less the sum of its conditional means, has increments in intervals
// of length 2ε_i, so that exp(λM - λ²S/2) is a supermartingale (Hoeffding's lemma) and
// mixture holds for every H fixed beforehand, at d = e^-ℓ. Take the m+1 values H = 1/n²
// and H = 2^-k, k = 1, ..., m: together they fail with probability at most (m+1)d = δ/2.
// The first gives the second line, as in RogersFilter. For S in [1/n², 1] one of the
// others has H <= S <= 2H, and (S+H)(2ℓ + ln(S/H + 1)) <= 2S(2ℓ + ln 3) <= 4S(1 + ½ln 3)ℓ,
// because ℓ > 1.
func NewRogersOdometer(delta privacy.Delta, records int64) (*Odometer, error) {
	if records < 2 {
		return nil, errors.New("rogers odometer: fewer than two records")
	}
	inverse, err := logInverse(delta)
	if err != nil {
		return nil, fmt.Errorf("rogers odometer: %w", err)
	}
	if inverse.Lo().Cmp(big.NewRat(1, 1)) <= 0 {
		return nil, fmt.Errorf("rogers odometer: delta %v is not below 1/e", delta)
	}
	m := int64(2 * bits.Len64(uint64(records-1))) // at least 2 log2 n
	one, two := numeric.OfInt(1), numeric.OfInt(2)
	log := numeric.OfInt(2 * (m + 1)).Log().Add(inverse)
	least := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(records), big.NewInt(records)))
	h := numeric.Of(least)
	half := delta.Rat()
	return &Odometer{kept: floorUnits(half.Quo(half, big.NewRat(2, 1))), bound: func(s Sums) numeric.Interval {
		squares := s.Squares.Rat()
		x := numeric.Of(squares)
		var excess numeric.Interval
		if squares.Cmp(least) >= 0 && squares.Cmp(big.NewRat(1, 1)) <= 0 {
			excess = two.Mul(x.Mul(one.Add(numeric.OfInt(3).Log().Quo(two))).Mul(log).Sqrt())
		} else {
			excess = two.Mul(x.Add(h)).Mul(one.Add(x.Quo(h).Add(one).Log().Quo(two))).Mul(log).Sqrt()
		}
		return numeric.Of(s.Drift.Rat()).Add(excess)
	}}, nil
}
