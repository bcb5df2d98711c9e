package mechanism

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrHalted is returned for a query to a run that has given all its answers, or
// that failed.
var ErrHalted = errors.New("the run has halted")

// An Answer is what a run of queries against a threshold says to one of them.
type Answer struct {
	// Above is whether the query was above the threshold, by their noisy values.
	Above bool
	// Gap is by how much, if it was: the noisy query less the noisy threshold.
	Gap float64
	// Value is the query with noise of its own, if it was above and the run has
	// such answers.
	Value float64
	// Far is whether an adaptive run found the query far above, at half the cost.
	Far bool
}

// AboveThresholdOptions are those of a run that halts at its first answer.
type AboveThresholdOptions struct {
	// Threshold is a public number. It is rounded to the grid.
	Threshold float64
	// Sensitivity is the most by which one query changes between neighbours.
	// Required.
	Sensitivity *big.Rat
	// Epsilon is the guarantee of the whole run. Required.
	Epsilon privacy.Epsilon
	// Monotone promises that between any two neighbours all queries change in the
	// same direction, as counts do when a unit is added. It needs half the noise.
	Monotone bool
	// Grid is that of ScoreOptions, for queries and threshold.
	Grid *big.Rat
}

// AboveThreshold is one run of the mechanism of that name: it takes queries until
// one of them is above a threshold, all with noise, and halts. Queries may depend
// on the answers before; how many there are costs nothing.
//
// Theorem (Dwork and Roth 2014, Theorem 3.23; the noise split as in Lyu, Su and Li
// 2017; over the integers, and with the gap: Wang et al. 2019 and Ding et al.
// 2023). Let ρ be noise of scale n/ε₁ on the threshold, ν noise of scale 2n/ε₂ on
// each query, for queries d(q) <= n steps apart, and ε₁+ε₂ = ε. Map the noise under
// which D gives some answers to noise under which its neighbour D' gives the same:
//
//   - ρ+n for ρ, at the cost of a factor e^ε₁ in probability;
//   - ν for a query below: q'+ν <= q+n+ν < T+ρ+n;
//   - ν+n+q−q' for the one above, which keeps its gap, at a factor of at most e^ε₂
//     since 0 <= n+q−q' <= 2n.
//
// The map is injective: given the answers it adds a constant to each draw. Monotone
// queries need ν of scale n/ε₂ only: where q' >= q, n+q−q' <= n; where q' <= q, keep
// ρ and add q−q' <= n to the last ν. All numbers are integers, there are no ties to
// break.
//
// It must not be used concurrently.
type AboveThreshold struct{ *run }

// NewAboveThreshold starts a run. Its whole cost is the Event, from the start.
func NewAboveThreshold(o AboveThresholdOptions) (*AboveThreshold, error) {
	r, err := newRun(o, 1, o.Epsilon.Rat())
	if err != nil {
		return nil, err
	}
	return &AboveThreshold{r}, nil
}

// Ask returns the answer to the next query, and ErrHalted after one was above. NaN
// counts as the lowest query.
func (a *AboveThreshold) Ask(bits noise.Bits, query float64) (Answer, error) {
	return a.ask(noise.NewStream(bits), query, a.next)
}

// All answers the queries as they come, until one is above, the last has come, or
// the bits fail, which is the last pair.
func (a *AboveThreshold) All(bits noise.Bits, queries iter.Seq[float64]) iter.Seq2[Answer, error] {
	return a.all(bits, queries, a.kernel())
}

// kernel returns the mechanism, under the claim that the options allow.
func (a *AboveThreshold) kernel() kernel {
	if a.monotone() {
		return a.answersMonotone
	}
	return a.answers
}

// answers is the mechanism.
//
//dp:adjacent each(queries) <= 1
//dp:requires !a.run.started
//dp:cost 1/scale(a.run.rho) + 2/scale(a.run.query)
func (a *AboveThreshold) answers(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return a.each(stream, queries, func(stream *noise.Stream, q int64) (reply, error) { return a.next(stream, q) })
}

// next answers one query.
func (a *AboveThreshold) next(stream *noise.Stream, q int64) (reply, error) {
	nu, err := a.query.Int64(stream)
	if err != nil {
		return reply{}, err
	}
	if q+nu < a.noisy {
		return reply{}, nil
	}
	a.halted = true
	return reply{above: true, gap: q + nu - a.noisy}, nil
}

// answersMonotone is the mechanism for queries that all rise or all fall.
//
//dp:adjacent each(queries) in [0, 1]
//dp:requires !a.run.started
//dp:cost 1/scale(a.run.rho) + 1/scale(a.run.query)
func (a *AboveThreshold) answersMonotone(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error] {
	return a.answers(stream, queries)
}

// A run is what the mechanisms against a threshold share: the noisy threshold,
// drawn before the first query, the noise for the queries, and how far it has come.
// They refer to it, so that a copy of one goes on with the same run: a copy with
// answers of its own would be a second run at the same noisy threshold, unpaid.
type run struct {
	scores
	threshold int64                  // in steps
	rho       *noise.DiscreteLaplace // on the threshold
	query     *noise.DiscreteLaplace // on the queries
	noisy     int64                  // the threshold with noise, once started
	started   bool
	halted    bool
	spent     int // of the most that answers above may cost, in runs with several
	most      int
}

// newRun calibrates noise that, with c queries above, costs ε₁ for the threshold
// and ε₂ for the queries, ε₁+ε₂ = epsilon. Of all such splits, ε₁:ε₂ = 1:(2c)^(2/3),
// or 1:c^(2/3) if monotone, has the least variance of q+ν−ρ (Lyu, Su and Li
// 2017); privacy holds for any, so that the cube root may be a float.
func newRun(o AboveThresholdOptions, c int64, epsilon *big.Rat) (*run, error) {
	s, err := newScores(ScoreOptions{Sensitivity: o.Sensitivity, Epsilon: o.Epsilon, Monotone: o.Monotone, Grid: o.Grid})
	if err != nil {
		return nil, err
	}
	r := &run{scores: s, threshold: s.grid.round(o.Threshold)}
	if r.threshold <= -maxSteps || r.threshold >= maxSteps {
		return nil, fmt.Errorf("%w: the threshold is not a number, or beyond 2^60 steps of the grid", ErrParameter)
	}
	answers := new(big.Rat).Mul(s.factor, big.NewRat(c, 1)) // 2c, or c
	first, rest := split(epsilon, answers)
	if r.rho, err = stepNoise(s.steps, first); err != nil {
		return nil, err
	}
	if r.query, err = stepNoise(answers.Mul(answers, s.steps), rest); err != nil {
		return nil, err
	}
	return r, nil
}

// split returns epsilon in two parts, nearly 1 : answers^(2/3).
func split(epsilon, answers *big.Rat) (first, rest *big.Rat) {
	f, _ := answers.Float64()
	ratio := int64(1024 * math.Pow(f, 2.0/3))
	first = new(big.Rat).Mul(epsilon, big.NewRat(1024, 1024+ratio))
	return first, new(big.Rat).Sub(epsilon, first)
}

// Event is what the whole run reveals, however many queries it reads.
func (r *run) Event() privacy.Event { return privacy.SparseVector{Epsilon: r.epsilon} }

// Halted reports whether the run has given its last answer.
func (r *run) Halted() bool { return r.halted }

// Bound returns α such that among the first n queries, but with probability at most
// beta, each that the run calls above is at least the threshold less α, and each
// that it calls below is at most the threshold plus α (Dwork and Roth 2014, Theorem
// 3.24): then the noise on the threshold is small with probability 1−β/2, and that on
// each query with 1−β/2n.
func (r *run) Bound(n int, beta *big.Rat) (float64, error) {
	return r.bound(n, beta, r.query)
}

func (r *run) bound(n int, beta *big.Rat, query *noise.DiscreteLaplace) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("%w: there are no queries", ErrParameter)
	}
	part := new(big.Rat).Mul(beta, half)
	rho, err := r.rho.Bound(part)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	nu, err := query.Bound(part.Quo(part, big.NewRat(int64(n), 1)))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	steps := rho.Add(rho, nu)
	steps.Add(steps, big.NewInt(2)) // half a step for rounding each, and one for <
	return r.grid.upper(new(big.Rat).SetInt(steps)), nil
}

// A kernel is a mechanism against a threshold over whole numbers, of which its claim
// speaks: queries and replies in steps of the grid.
//
// Neighbours whose queries are n steps apart are linked by n pairs that are one step
// apart, so that claims for one step are enough. To ask one query after the other is the
// same as all at once: the noisy threshold and what is left are the run's.
type kernel func(stream *noise.Stream, queries iter.Seq[int64]) iter.Seq2[reply, error]

// A reply is an Answer in steps.
type reply struct {
	above, far bool
	gap, value int64
}

// ask answers one query.
func (r *run) ask(stream *noise.Stream, query float64, next func(*noise.Stream, int64) (reply, error)) (Answer, error) {
	if r.halted {
		return Answer{}, ErrHalted
	}
	if err := r.start(stream); err != nil {
		return r.answer(reply{}, err)
	}
	return r.answer(next(stream, r.grid.round(query)))
}

func (r *run) all(bits noise.Bits, queries iter.Seq[float64], answers kernel) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		if r.halted {
			yield(Answer{}, ErrHalted)
			return
		}
		rounded := func(yield func(int64) bool) {
			for q := range queries {
				if !yield(r.grid.round(q)) {
					return
				}
			}
		}
		for x, err := range answers(noise.NewStream(bits), rounded) {
			if !yield(r.answer(x, err)) {
				return
			}
		}
	}
}

// answer puts a reply in the units of the queries. After a failure the run is over: its
// state has seen bits that the answers do not show.
func (r *run) answer(x reply, err error) (Answer, error) {
	if err != nil {
		r.halted = true
		return Answer{}, fmt.Errorf("answer query: %w", err)
	}
	if !x.above { // the most are below, and say nothing else
		return Answer{}, nil
	}
	return Answer{Above: x.above, Far: x.far, Gap: r.grid.float(x.gap), Value: r.grid.float(x.value)}, nil
}

// each answers queries until the run halts, the last has come, or the bits fail.
func (r *run) each(stream *noise.Stream, queries iter.Seq[int64], next func(*noise.Stream, int64) (reply, error)) iter.Seq2[reply, error] {
	return func(yield func(reply, error) bool) {
		if err := r.start(stream); err != nil {
			yield(reply{}, err)
			return
		}
		for q := range queries {
			x, err := next(stream, q)
			if !yield(x, err) || r.halted {
				return
			}
		}
	}
}

// start draws the noisy threshold, once for the run.
func (r *run) start(stream *noise.Stream) error {
	if r.started {
		return nil
	}
	rho, err := r.rho.Int64(stream)
	if err != nil {
		return fmt.Errorf("draw threshold: %w", err)
	}
	r.started, r.noisy = true, r.threshold+rho
	return nil
}
