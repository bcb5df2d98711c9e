package datanode

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/noise"
)

// A Norm measures how far two results of a function are apart: L1Norm or L2Norm.
type Norm func(x, y []float64) float64

// L1Norm is the sum of the absolute differences.
func L1Norm(x, y []float64) float64 { return floats.Distance(x, y, 1) }

// L2Norm is the root of the sum of the squared differences.
func L2Norm(x, y []float64) float64 { return floats.Distance(x, y, 2) }

// An Oracle draws a record from the distribution that databases are imagined to come
// from. Uniform64 are fair bits.
type Oracle interface {
	Draw(uniform64 Source) float64
}

// A Source yields fair bits, as gonum's distributions take them.
type Source interface{ Uint64() uint64 }

// Normal is the normal distribution.
type Normal struct{ Mean, Deviation float64 }

// Draw implements Oracle.
func (o Normal) Draw(s Source) float64 {
	return distuv.Normal{Mu: o.Mean, Sigma: o.Deviation, Src: s}.Rand()
}

// Mixture is a Gaussian mixture: each part with a probability in proportion to its
// weight.
type Mixture struct {
	Weights []float64
	Parts   []Normal
}

// Draw implements Oracle.
func (o Mixture) Draw(s Source) float64 {
	return o.Parts[int(distuv.NewCategorical(o.Weights, s).Rand())].Draw(s)
}

// EstimateOptions say whose sensitivity is estimated, and how.
type EstimateOptions struct {
	Query  func(records []float64) []float64
	Norm   Norm
	Oracle Oracle
	// Records is the size of a database.
	Records int
	// Gamma is the share of neighbours that may lie farther apart than the estimate;
	// Samples is the number of pairs that are drawn. One of them is required.
	Gamma   float64
	Samples int
}

// An Estimate is what a function's sensitivity was seen to be on pairs of
// neighbouring databases drawn at random. It is no bound: other databases may lie
// farther apart, and the real ones need not be like those drawn. Noise for it is not
// differentially private. No access definition takes it; an owner who relies on it
// all the same vouches for the number in Vouched.
//
// Theorem (Rubinstein and Aldà 2017, "Pain-Free Random Differential Privacy with
// Sensitivity Sampling"; here the largest of the distances, k = m). Let G be the distance of a random pair,
// and G_max the largest of m independent ones. With probability at least 1−γ over all
// draws, G <= G_max, if m >= ln(1/ρ)/2(γ−ρ)² for some ρ < γ.
//
// Proof: by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart the
// empirical distribution of G, 1 at G_max, exceeds the true one by more than
// √(ln(1/ρ)/2m) = γ−ρ anywhere with probability at most ρ. Otherwise G > G_max has
// probability at most γ−ρ.
type Estimate struct {
	Largest float64 // distance seen; the estimate
	Mean    float64 // distance seen
	Samples int     // m
	Gamma   float64 // γ, over all randomness: of the pair at hand too
	Rho     float64 // ρ, the part of γ for the pairs drawn
}

// String says that this is an estimate and no bound.
func (e Estimate) String() string {
	return fmt.Sprintf("estimated sensitivity %.6g (no bound: of %d random pairs; another one is farther apart with probability up to %.3g)", e.Largest, e.Samples, e.Gamma)
}

// EstimateSensitivity draws pairs of databases of so many records that differ in the
// last one, and returns how far the query's values were apart.
func EstimateSensitivity(bits noise.Bits, o EstimateOptions) (e Estimate, err error) {
	if bits == nil || o.Query == nil || o.Norm == nil || o.Oracle == nil || o.Records < 1 {
		return Estimate{}, errors.New("estimate sensitivity: bits, query, norm, oracle or the number of records is missing")
	}
	if e, err = planSamples(o.Gamma, o.Samples); err != nil {
		return Estimate{}, fmt.Errorf("estimate sensitivity: %w", err)
	}
	source := &fallible{bits: bits}
	for range e.Samples {
		x := make([]float64, o.Records+1)
		for i := range x {
			x[i] = o.Oracle.Draw(source)
		}
		y := slices.Clone(x[:o.Records])
		y[o.Records-1] = x[o.Records]
		a, b := o.Query(x[:o.Records]), o.Query(y)
		if source.err != nil {
			return Estimate{}, fmt.Errorf("estimate sensitivity: %w", source.err)
		}
		if len(a) != len(b) {
			return Estimate{}, errors.New("estimate sensitivity: the query's values are not always as many")
		}
		g := o.Norm(a, b)
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return Estimate{}, errors.New("estimate sensitivity: the query's values are not finite")
		}
		e.Largest = max(e.Largest, g)
		e.Mean += g / float64(e.Samples)
	}
	return e, nil
}

// maxSamples bounds the pairs; gammas below some 1e-4 need more.
const maxSamples = 1 << 30

// planSamples returns the number of pairs and ρ for a γ, or γ and ρ for a number of
// pairs, the best of each.
//
// For γ, ln(1/ρ)/2(γ−ρ)² is least where ρ(1 + 2ln(1/ρ)) = γ. (In closed form,
// ρ = e^(W+1/2), W being the lower real branch W₋₁(−γ/2√e) of Lambert's function;
// other branches are complex.) For m, ρ + √(ln(1/ρ)/2m) is least where
// 8m·ρ²·ln(1/ρ) = 1. Both left sides grow with ρ up to e^(-1/2), and the root below it
// is the least.
func planSamples(gamma float64, samples int) (Estimate, error) {
	switch {
	case (gamma != 0) == (samples != 0):
		return Estimate{}, errors.New("exactly one of gamma and the number of samples must be given")
	case gamma != 0:
		if !(gamma > 0 && gamma < 1) {
			return Estimate{}, errors.New("gamma is not between 0 and 1")
		}
		rho := root(func(rho float64) bool { return rho*(1-2*math.Log(rho)) < gamma })
		m := math.Ceil(-math.Log(rho) / (2 * (gamma - rho) * (gamma - rho)))
		if !(m <= maxSamples) {
			return Estimate{}, errors.New("gamma needs more than 2^30 samples")
		}
		return Estimate{Samples: int(m), Gamma: gamma, Rho: rho}, nil
	case samples < 1 || samples > maxSamples:
		return Estimate{}, errors.New("the number of samples is not between 1 and 2^30")
	}
	m := float64(samples)
	rho := root(func(rho float64) bool { return -8*m*rho*rho*math.Log(rho) < 1 })
	e := Estimate{Samples: samples, Gamma: rho + math.Sqrt(-math.Log(rho)/(2*m)), Rho: rho}
	if !(e.Gamma < 1) {
		return Estimate{}, errors.New("so few samples say nothing")
	}
	return e, nil
}

// root returns the number in (0, e^(-1/2)) up to which less holds.
func root(less func(float64) bool) float64 {
	low, high := 0.0, math.Exp(-0.5)
	for range 200 {
		if middle := low + (high-low)/2; less(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// fallible makes a Source of bits, and keeps the first error.
type fallible struct {
	bits noise.Bits
	err  error
}

// Uint64 returns the bits' next number; after an error, one on which samplers end.
func (f *fallible) Uint64() uint64 {
	if f.err == nil {
		var w uint64
		if w, f.err = f.bits.Uint64(); f.err == nil {
			return w
		}
	}
	return 1 << 62
}
