package mechanism

import (
	"fmt"
	"iter"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// maxAnswers bounds c; more is a mistake.
const maxAnswers = 1 << 30

// SparseVectorOptions are those of a run with several answers.
type SparseVectorOptions struct {
	// Threshold, Sensitivity, Monotone and Grid are those of AboveThresholdOptions.
	Threshold   float64
	Sensitivity *big.Rat
	Monotone    bool
	Grid        *big.Rat
	// Answers is the number c of queries that may be above before the run halts.
	// Required.
	Answers int
	// Epsilon is the guarantee of the whole run. Required.
	Epsilon privacy.Epsilon
	// ValueEpsilon is the part of Epsilon that pays for the values of the queries
	// above, with noise of their own; without it there are none.
	ValueEpsilon privacy.Epsilon
}

func (o SparseVectorOptions) above() AboveThresholdOptions {
	return AboveThresholdOptions{Threshold: o.Threshold, Sensitivity: o.Sensitivity, Epsilon: o.Epsilon, Monotone: o.Monotone, Grid: o.Grid}
}

func (o SparseVectorOptions) check() error {
	if o.Answers < 1 || o.Answers > maxAnswers {
		return fmt.Errorf("%w: the number of answers is not between 1 and 2^30", ErrParameter)
	}
	return nil
}

// SparseVector is one run of the sparse vector technique: AboveThreshold until c
// queries were above, with one noisy threshold throughout.
//
// Theorem (Lyu, Su and Li 2017, for their Algorithm 7, and for monotone queries; gaps:
// Ding et al. 2023; over the integers by the proof at AboveThreshold). With
// noise of scale n/ε₁ on the threshold, 2cn/ε₂ on each query (cn/ε₂ if monotone), and
// cn/ε₃ on each value, for queries n steps apart, the run is (ε₁+ε₂+ε₃)-DP. In that
// proof each of the c answers above costs e^(ε₂/c), and its value, whose noise moves
// by q−q', e^(ε₃/c).
//
// What it returns beside which queries are above is the gap or a fresh draw; the noisy
// query that was compared would not be private for any ε (Lyu, Su and Li 2017, their
// Algorithm 3). It must not be used concurrently.
type SparseVector struct {
	*run
	fresh *noise.DiscreteLaplace // on values; nil without
}

// NewSparseVector starts a run. Its whole cost is the Event, from the start.
func NewSparseVector(o SparseVectorOptions) (*SparseVector, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	values := o.ValueEpsilon.Rat()
	rest := o.Epsilon.Rat()
	if rest.Sub(rest, values).Sign() <= 0 {
		return nil, fmt.Errorf("%w: epsilon is not positive, or all of it is for values", ErrParameter)
	}
	r, err := newRun(o.above(), int64(o.Answers), rest)
	if err != nil {
		return nil, err
	}
	r.most = o.Answers
	v := &SparseVector{run: r}
	if values.Sign() > 0 {
		c := big.NewRat(int64(o.Answers), 1)
		if v.fresh, err = stepNoise(c.Mul(c, r.steps), values); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Ask returns the answer to the next query, and ErrHalted after the last answer above.
func (v *SparseVector) Ask(bits noise.Bits, query float64) (Answer, error) {
	return v.ask(noise.NewStream(bits), query, v.next)
}

// All answers the queries as they come, until the last answer above, the last has
// come, or the bits fail, which is the last pair.
func (v *SparseVector) All(bits noise.Bits, queries iter.Seq[float64]) iter.Seq2[Answer, error] {
	return v.all(bits, queries, v.kernel())
}

// kernel returns the mechanism, under the claim that the options allow.
func (v *SparseVector) kernel() kernel {
	if v.monotone() {
		return v.answersMonotone
	}
	return v.answers
}

// answers is the mechanism. Without values, the claim holds for fresh noise of any
// scale, so that its last term is nothing.
//
//dp:adjacent each(queries) <= 1
//dp:requires !v.run.started && v.run.spent == 0 && v.run.most > 0
//dp:cost 1/scale(v.run.rho) + 2*float64(v.run.most)/scale(v.run.query) + float64(v.run.most)/scale(v.fresh)
func (v *SparseVector) answers(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return v.each(stream, queries, func(stream *noise.Stream, q int64) (reply, error) { return v.next(stream, q) })
}

// next answers one query.
func (v *SparseVector) next(stream *noise.Stream, q int64) (reply, error) {
	nu, err := v.query.Int64(stream)
	if err != nil {
		return reply{}, err
	}
	if q+nu < v.noisy {
		return reply{}, nil
	}
	x := reply{above: true, gap: q + nu - v.noisy}
	if v.fresh != nil {
		k, err := v.fresh.Int64(stream)
		if err != nil {
			return reply{}, err
		}
		x.value = q + k
	}
	v.spent++
	v.halted = v.spent >= v.most
	return x, nil
}

// answersMonotone is answers for queries that all rise or all fall.
//
//dp:adjacent each(queries) in [0, 1]
//dp:requires !v.run.started && v.run.spent == 0 && v.run.most > 0
//dp:cost 1/scale(v.run.rho) + float64(v.run.most)/scale(v.run.query) + float64(v.run.most)/scale(v.fresh)
func (v *SparseVector) answersMonotone(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return v.answers(stream, queries)
}

// ValueBound returns α such that a value is at most α from its query, but with
// probability at most beta.
func (v *SparseVector) ValueBound(beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if v.fresh == nil {
		return 0, fmt.Errorf("%w: a run without an epsilon for values", ErrParameter)
	}
	q, err := v.fresh.Bound(beta)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return v.grid.upper(new(big.Rat).SetInt(q.Add(q, big.NewInt(1)))), nil // half a step for rounding
}

// AdaptiveSparseVector is one run of the adaptive sparse vector technique with gaps:
// queries far above the threshold cost half of what those just above it cost, so that
// a run has from c to 2c−1 answers above.
//
// Each query is first compared with twice the noise, against the threshold plus two
// standard deviations of that noise; if it is not above, again with fresh noise against
// the threshold.
//
// Theorem (Ding, Wang, Zhang and Kifer 2019). In the proof at
// AboveThreshold, noise of scale 4cn/ε₂ that lets a query be far above moves by
// n+q−q' <= 2n, at a factor e^(ε₂/2c); noise of scale 2cn/ε₂ that lets it be above, at
// e^(ε₂/c); all else does not move, and comparisons that fail still do, as q' <= q+n.
// The run ends when less than ε₂/c is left of ε₂. Monotone queries need half the noise.
//
// It must not be used concurrently.
type AdaptiveSparseVector struct {
	*run
	first *noise.DiscreteLaplace // for far above; query is that of the second comparison
	far   int64                  // two standard deviations of it
}

// NewAdaptiveSparseVector starts a run. Its whole cost is the Event, from the start.
// It has no values.
func NewAdaptiveSparseVector(o SparseVectorOptions) (*AdaptiveSparseVector, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.ValueEpsilon.Sign() != 0 {
		return nil, fmt.Errorf("%w: an adaptive run has no values", ErrParameter)
	}
	r, err := newRun(o.above(), int64(o.Answers), o.Epsilon.Rat())
	if err != nil {
		return nil, err
	}
	r.most = 2 * o.Answers // in halves: far above costs one, above two
	v := &AdaptiveSparseVector{run: r}
	twice := v.query.Scale()
	if v.first, err = stepNoise(twice.Add(twice, twice), big.NewRat(1, 1)); err != nil {
		return nil, err
	}
	scale, _ := twice.Float64()
	v.far = int64(math.Ceil(2 * math.Sqrt2 * scale)) // public, and any would do
	return v, nil
}

// Ask returns the answer to the next query, and ErrHalted after the last answer above.
func (v *AdaptiveSparseVector) Ask(bits noise.Bits, query float64) (Answer, error) {
	return v.ask(noise.NewStream(bits), query, v.next)
}

// All answers the queries as they come, until the last answer above, the last has
// come, or the bits fail, which is the last pair.
func (v *AdaptiveSparseVector) All(bits noise.Bits, queries iter.Seq[float64]) iter.Seq2[Answer, error] {
	return v.all(bits, queries, v.kernel())
}

// kernel returns the mechanism, under the claim that the options allow.
func (v *AdaptiveSparseVector) kernel() kernel {
	if v.monotone() {
		return v.answersMonotone
	}
	return v.answers
}

// answers is the mechanism.
//
//dp:adjacent each(queries) <= 1
//dp:requires !v.run.started && v.run.spent == 0 && v.run.most > 1 && scale(v.first) == 2*scale(v.run.query)
//dp:cost 1/scale(v.run.rho) + float64(v.run.most)/scale(v.run.query)
func (v *AdaptiveSparseVector) answers(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return v.each(stream, queries, func(stream *noise.Stream, q int64) (reply, error) { return v.next(stream, q) })
}

// next answers one query.
func (v *AdaptiveSparseVector) next(stream *noise.Stream, q int64) (reply, error) {
	xi, err := v.first.Int64(stream)
	if err != nil {
		return reply{}, err
	}
	if gap := q + xi - v.noisy; gap >= v.far {
		v.spent++
		v.halted = v.spent > v.most-2
		return reply{above: true, far: true, gap: gap}, nil
	}
	nu, err := v.query.Int64(stream)
	if err != nil {
		return reply{}, err
	}
	gap := q + nu - v.noisy
	if gap < 0 {
		return reply{}, nil
	}
	v.spent += 2
	v.halted = v.spent > v.most-2
	return reply{above: true, gap: gap}, nil
}

// answersMonotone is answers for queries that all rise or all fall.
//
//dp:adjacent each(queries) in [0, 1]
//dp:requires !v.run.started && v.run.spent == 0 && v.run.most > 1 && scale(v.first) == 2*scale(v.run.query)
//dp:cost 1/scale(v.run.rho) + float64(v.run.most)/(2*scale(v.run.query))
func (v *AdaptiveSparseVector) answersMonotone(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return v.answers(stream, queries)
}

// Bound returns α as AboveThreshold's does, over the 2n draws for n queries: a query
// that is wrongly above has too large a draw, the first one by two deviations more than
// the second; one that is wrongly below has a second draw that is too small.
func (v *AdaptiveSparseVector) Bound(n int, beta *big.Rat) (float64, error) {
	second, err := v.run.Bound(2*n, beta)
	if err != nil {
		return 0, err
	}
	first, err := v.bound(2*n, beta, v.first)
	if math.IsInf(first, 1) {
		return first, err
	}
	return max(second, first-v.grid.float(v.far)), err
}
