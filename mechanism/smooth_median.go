package mechanism

import (
	"fmt"
	"math/big"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// SmoothMedianOptions say of what the median is wanted.
type SmoothMedianOptions struct {
	// Lower, Lower+Step, ... up to at most Upper are the candidates, which are public;
	// at most 2^42 of them. Required. Values are clamped to them and rounded to the
	// nearest.
	Lower, Upper, Step *big.Rat
	// MaxRows is the number of values that a unit has at most; 1 if it is not given.
	MaxRows int64
	// Epsilon is the guarantee. Required.
	Epsilon privacy.Epsilon
}

// SmoothMedian adds noise to the median that is in proportion to how far one unit
// can move it in these data, or in data near to them.
//
// The idea is that of smooth sensitivity (Nissim, Raskhodnikova and Smith 2007). The
// scale of the noise depends on the data, so it comes from public scales σ₀ < σ₁ <
// ... < σ_T with σ_(i+1) <= b·σ_i, and the last one holds all candidates. With t(a) the
// least i such that σ_i >= a, and A_k how far the median moves at most when one unit
// changes after k others have, the data's scale is the one with number
//
//	K = max over k >= 0 of t(A_k) − k.
//
// The noise is discrete Laplace of scale σ_I/ε₁, where I = min(K+J, T) and
// P(J = j) = (1−ρ)·ρ^j with ρ = b⁻²: a mixture with tails that fall as a power.
//
// Theorem. Rounded and clamped to the candidates, the median with this noise is
// ε-DP, ε = ε₁ + 2·ln b, when a unit is added, removed or replaced.
//
// Proof. Let x and x' be neighbours. (1) A_k(x) <= A_(k+1)(x') (see sample), so t(A_k(x))
// − k <= t(A_(k+1)(x')) − (k+1) + 1 <= K(x') + 1: the two K differ by at most 1. (2)
// The medians differ by at most A₀(x) <= σ_K, and also by at most A₀(x'). A shift by
// that changes the probabilities of no Laplace law in the mixture, whose scales are
// σ_K/ε₁ or more, by more than e^ε₁. (3) Let Q_K be the mixture. The laws in Q_(K+1)
// have 1/ρ times the weight that they have in Q_K, or less, so Q_(K+1) <= Q_K/ρ. And
// the law that Q_K takes for J = j is at most b times the one that Q_(K+1) takes, of
// which the scale is at most b times as large: P(k) of scale s is tanh(1/2s)·e^(−|k|/s),
// and tanh(y)/y falls. So Q_K <= b·Q_(K+1). The step from one mixture to another and the
// shift, made under the one of them with either K, together cost ε₁ + ln max(1/ρ, b).
//
// The exponential mechanism on ranks (Quantile) mostly serves better; this is for
// data whose values crowd around the median, and for comparison.
type SmoothMedian struct {
	line    line
	rows    int64
	epsilon privacy.Epsilon
	first   *big.Rat   // ε₁
	fall    *big.Rat   // ρ
	scales  []*big.Rat // σ₀, σ₁, ...
	floors  []uint64   // ⌊σ₀⌋, ⌊σ₁⌋, ...
}

const (
	// maxScales bounds how many scales there are; where more would be needed to come
	// down to one step, the smallest is larger.
	maxScales = 4096
	// scaleBits are the binary digits after the point of b and of scales.
	scaleBits = 20
)

// NewSmoothMedian returns the mechanism with the given options.
func NewSmoothMedian(o SmoothMedianOptions) (*SmoothMedian, error) {
	l, err := newLine(o.Lower, o.Upper, o.Step)
	if err != nil {
		return nil, err
	}
	rows, err := contribution("values", o.MaxRows)
	if err != nil {
		return nil, err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return nil, err
	}
	s := &SmoothMedian{line: l, rows: rows, epsilon: o.Epsilon, first: o.Epsilon.Rat()}
	s.first.Mul(s.first, half)
	// 2·ln b <= ε/2, so b is e^(ε/4), rounded down; beyond e^8 nothing is gained.
	quarter := new(big.Rat).Mul(s.first, half)
	if most := big.NewRat(8, 1); quarter.Cmp(most) > 0 {
		quarter = most
	}
	unit := new(big.Rat).SetInt64(1 << scaleBits)
	b := numeric.Of(quarter).Exp().Lo()
	b.Quo(new(big.Rat).SetInt(numeric.Floor(b.Mul(b, unit))), unit)
	if b.Cmp(big.NewRat(1, 1)) <= 0 {
		return nil, fmt.Errorf("%w: epsilon is too small for scales that grow by e^(ε/4)", ErrParameter)
	}
	s.fall = new(big.Rat).Mul(b, b)
	s.fall.Inv(s.fall)
	// From the largest scale down, each at least the one before over b.
	top := new(big.Rat).SetInt(new(big.Int).SetUint64(max(l.last, 1)))
	for scale := top; ; {
		s.scales = append(s.scales, scale)
		if len(s.scales) == maxScales || scale.Cmp(big.NewRat(1, 1)) <= 0 {
			break
		}
		next := new(big.Rat).Quo(scale, b)
		scale = next.Quo(new(big.Rat).SetInt(numeric.Ceil(next.Mul(next, unit))), unit)
	}
	slices.Reverse(s.scales)
	for _, scale := range s.scales {
		s.floors = append(s.floors, numeric.Floor(scale).Uint64())
	}
	for _, scale := range []*big.Rat{s.scales[0], top} {
		if _, err := s.laplace(scale); err != nil {
			return nil, fmt.Errorf("calibrate Laplace noise: %w: %w", ErrParameter, err)
		}
	}
	return s, nil
}

// laplace returns noise of scale σ/ε₁.
func (s *SmoothMedian) laplace(scale *big.Rat) (*noise.DiscreteLaplace, error) {
	return noise.NewDiscreteLaplace(new(big.Rat).Quo(scale, s.first))
}

// Event is what the median reveals.
func (s *SmoothMedian) Event() privacy.Event { return privacy.Pure{Epsilon: s.epsilon} }

// number returns t(width).
func (s *SmoothMedian) number(width uint64) int {
	i, _ := slices.BinarySearch(s.floors, width)
	return i
}

// scale returns K. Since no t exceeds T, no k above T − K matters.
func (s *SmoothMedian) scale(x sample) (most int) {
	rows := int(s.rows)
	for k := 0; len(s.scales)-1-k > most; k++ {
		length, m := (k+1)*rows, x.middle()
		if s.number(x.at(m+length)-x.at(m-length))-k <= most {
			continue // no window of that length is wider
		}
		most = max(most, s.number(x.widest(length))-k)
	}
	return most
}

// Release returns the median with noise. A NaN is left out, and infinities are
// clamped like other values; without values the median is Lower. It relies on the
// caller that a unit has no more values than the options say.
func (s *SmoothMedian) Release(bits noise.Bits, values []float64) (float64, error) {
	x := newSample(s.line, values)
	i := s.scale(x)
	for ; i < len(s.scales)-1; i++ {
		more, err := noise.Bernoulli(bits, s.fall)
		if err != nil {
			return 0, fmt.Errorf("release median: %w", err)
		}
		if !more {
			break
		}
	}
	law, err := s.laplace(s.scales[i])
	if err != nil {
		return 0, fmt.Errorf("release median: %w", err)
	}
	z, err := law.Sample(bits)
	if err != nil {
		return 0, fmt.Errorf("release median: %w", err)
	}
	return s.line.value(z.Add(z, x.median())), nil
}

// Bound returns an α such that the released median is within α of that of the values
// but with probability beta, for data whose σ_K is at most the given scale, in the
// unit of the values: about max A_k·b^−k, which for the data at hand is private.
//
// It leaves β/2 to J, P(J > j) = ρ^(j+1), and β/2 to the Laplace law. What values lose
// when they become candidates is not counted.
func (s *SmoothMedian) Bound(scale, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if err := checkPositive("the scale", scale); err != nil {
		return 0, err
	}
	steps := new(big.Rat).Quo(scale, s.line.step)
	i := sort.Search(len(s.scales)-1, func(i int) bool { return s.scales[i+1].Cmp(steps) > 0 })
	share := new(big.Rat).Mul(beta, half)
	for left := new(big.Rat).Set(s.fall); left.Cmp(share) > 0 && i < len(s.scales)-1; i++ {
		left = numeric.CeilDigits(left.Mul(left, s.fall), 20)
	}
	law, err := s.laplace(s.scales[i])
	if err != nil {
		return 0, err
	}
	q, err := law.Bound(share)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return upFloat(new(big.Rat).Mul(new(big.Rat).SetInt(q), s.line.step)), nil
}
