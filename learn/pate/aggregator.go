package pate

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Options say how votes become labels. Exactly one of Gamma and Sigma is required.
type Options struct {
	// Classes is their declared number. Required.
	Classes int
	// Gamma is that of LNMax: each number of votes gets Laplace noise of scale 1/γ.
	Gamma *big.Rat
	// Sigma is that of GNMax: each number of votes gets Gaussian noise.
	Sigma *big.Rat
	// Threshold and ThresholdSigma make GNMax the confident one: a query is answered
	// if the largest number of votes, with noise, is at least the threshold.
	Threshold, ThresholdSigma *big.Rat
	// Budget pays for every query before its answer leaves. Required.
	Budget budget.Budget
	// Delta is the δ at which an approx budget charges Gaussian noise.
	Delta privacy.Delta
}

// ErrOptions is wrapped by the refusal of options that no guarantee covers.
var ErrOptions = errors.New("no such aggregator")

// An Aggregator answers queries by the teachers' votes, and pays.
//
// Between neighbours one teacher's vote moves from a class to another. So each number
// of votes changes by 1 at most, their L2 distance is √2 at most, and the largest
// changes by 1 at most, whichever votes another class gains. Where a unit is replaced
// by one that may go to another teacher, two votes move and all distances double.
//
//   - LNMax is mechanism.NoisyMax with Laplace noise, 2γ-DP (4γ where units are
//     replaced): its theorem, and its proofs of what runs, are there.
//   - GNMax names the largest of numbers with discrete Gaussian noise: post-processing
//     of a noisy histogram, which is the event. Its Rényi divergences are those of
//     continuous noise, α/σ² (Canonne, Kamath and Steinke 2020, Theorem 4).
//   - The threshold's test is post-processing of one such number.
//
// Gaussian noise is drawn over the multiples of a grid so fine that σ is 2^40 steps or
// more; ties, which the lowest class wins, are as good as absent.
//
// It is safe for concurrent use.
type Aggregator struct {
	o         Options
	laplace   *mechanism.NoisyMax
	gaussian  *gaussian
	threshold *gaussian
	bits      noise.Bits
}

// NewAggregator returns an aggregator.
func NewAggregator(o Options) (*Aggregator, error) {
	refuse := func(format string, args ...any) (*Aggregator, error) {
		return nil, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	switch {
	case o.Classes < 2:
		return refuse("%d classes; want two or more", o.Classes)
	case o.Budget == nil:
		return refuse("nobody pays")
	case (o.Gamma == nil) == (o.Sigma == nil):
		return refuse("want either gamma or sigma")
	case (o.Threshold == nil) != (o.ThresholdSigma == nil):
		return refuse("a threshold and its sigma belong together")
	case o.Threshold != nil && o.Sigma == nil:
		return refuse("only GNMax has a threshold")
	}
	votes := int64(1) // how many votes one unit moves
	if o.Budget.Neighbours() == privacy.ReplaceOne {
		votes = 2
	}
	a := &Aggregator{o: o, bits: noise.System()}
	var err error
	if o.Gamma != nil {
		a.laplace, err = newLaplace(o.Gamma, votes)
	} else {
		a.gaussian, err = newGaussian(o.Sigma, 2*votes*votes)
	}
	if err == nil && o.Threshold != nil {
		a.threshold, err = newGaussian(o.ThresholdSigma, votes*votes)
	}
	if err != nil {
		return refuse("%v", err)
	}
	return a, nil
}

// newLaplace returns LNMax where each number changes by so many votes at most: scale
// 1/γ is that of ε = 2γ a vote.
func newLaplace(gamma *big.Rat, votes int64) (*mechanism.NoisyMax, error) {
	epsilon, err := privacy.NewEpsilon(new(big.Rat).Mul(gamma, big.NewRat(2*votes, 1)))
	if err != nil {
		return nil, err
	}
	if gamma.Sign() <= 0 {
		return nil, errors.New("gamma must be above 0")
	}
	places := places(new(big.Rat).Inv(gamma))
	return mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: mechanism.ScoreOptions{
		Sensitivity: big.NewRat(votes, 1), Epsilon: epsilon, Grid: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), places)),
	}})
}

// scalePlaces makes a scale 2^40 steps or more.
const scalePlaces = 40

// places returns the least n >= 0 for which the scale is 2^40 steps of 2^−n or more; at
// most 62.
func places(scale *big.Rat) uint {
	n := uint(0)
	for steps := new(big.Rat).Set(scale); n < 62 && steps.Cmp(big.NewRat(1<<scalePlaces, 1)) < 0; n++ {
		steps.Mul(steps, big.NewRat(2, 1))
	}
	return n
}

// gaussian is noise on numbers of votes.
type gaussian struct {
	places uint // a vote is 2^places steps
	law    *noise.DiscreteGaussian
	event  privacy.Event
}

func newGaussian(sigma *big.Rat, squared int64) (*gaussian, error) {
	if sigma.Sign() <= 0 {
		return nil, errors.New("sigma must be above 0")
	}
	g := &gaussian{places: places(sigma)}
	variance := new(big.Rat).Mul(sigma, sigma)
	steps := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2*g.places))
	var err error
	if g.law, err = noise.NewDiscreteGaussian(steps.Mul(steps, variance)); err != nil {
		return nil, err
	}
	g.event = privacy.DiscreteGaussian{Variance: variance, SensitivitySquared: big.NewRat(squared, 1)}
	return g, g.event.Validate()
}

// noisy returns a number of steps with noise.
func (g *gaussian) noisy(bits noise.Bits, steps *big.Int) (*big.Int, error) {
	k, err := g.law.Sample(bits)
	if err != nil {
		return nil, err
	}
	return k.Add(k, steps), nil
}

// steps returns a number of votes in steps.
func (g *gaussian) steps(votes int64) *big.Int {
	n := big.NewInt(votes)
	return n.Lsh(n, g.places)
}

// Events are what the answer to one query reveals: the test's and the answer's, the
// second only of a query that is answered.
func (a *Aggregator) Events() (test, answer privacy.Event) {
	if a.threshold != nil {
		test = a.threshold.event
	}
	if a.laplace != nil {
		return nil, a.laplace.Event()
	}
	return test, a.gaussian.event
}

// NoLabel stands for the label of a query that was not answered.
const NoLabel int32 = -1

// Answer releases the label of a query by its votes, one number a class. Of a query
// that the confident aggregator does not answer it is NoLabel.
//
// Whether a query is answered is paid for always, the label only if it is. An error
// that wraps budget.ErrExceeded leaves the budget as it is.
func (a *Aggregator) Answer(ctx context.Context, votes []int32) (label int32, err error) {
	if len(votes) != a.o.Classes {
		return NoLabel, fmt.Errorf("answer query: %d numbers of votes; want one for each of %d classes", len(votes), a.o.Classes)
	}
	if a.threshold != nil {
		if ok, err := a.test(ctx, a.largest(votes)); err != nil || !ok {
			return NoLabel, err
		}
	}
	return a.name(ctx, votes)
}

// Student is what interactive aggregation knows of a query: the student's own
// probabilities of the classes, which are public, the number of teachers, and from
// which of the probabilities on the student is taken at its word.
type Student struct {
	Probabilities []float64
	Teachers      int
	Sure          float64
}

// Ask is interactive aggregation (Papernot et al. 2018, Algorithm 2; with the
// threshold's test): it names the teachers' label where they disagree with the student
// by the threshold or more, otherwise, where the student is sure, the student's own.
//
// The test is on the largest of n_j − M·p_j with M teachers. As p and M are public, one
// moved vote changes it by 1 at most, and it costs what the confident test costs.
func (a *Aggregator) Ask(ctx context.Context, votes []int32, s Student) (label int32, err error) {
	if len(votes) != a.o.Classes || len(s.Probabilities) != a.o.Classes {
		return NoLabel, fmt.Errorf("ask: want a number for each of %d classes", a.o.Classes)
	}
	if a.threshold == nil {
		return NoLabel, fmt.Errorf("ask: %w: interactive aggregation has a threshold", ErrOptions)
	}
	sure := 0
	var largest *big.Int
	for j, p := range s.Probabilities {
		if !(p >= 0 && p <= 1) {
			return NoLabel, errors.New("ask: a student's probability is not between 0 and 1")
		}
		if p > s.Probabilities[sure] {
			sure = j
		}
		// The student's part is rounded to the grid, which is public as it is.
		part := new(big.Rat).SetFloat64(p)
		part.Mul(part, new(big.Rat).SetInt(a.threshold.steps(int64(s.Teachers))))
		steps := a.threshold.steps(int64(votes[j]))
		if steps.Sub(steps, numeric.Floor(part)); largest == nil || steps.Cmp(largest) > 0 {
			largest = steps
		}
	}
	switch ok, err := a.test(ctx, largest); {
	case err != nil:
		return NoLabel, err
	case ok:
		return a.name(ctx, votes)
	case s.Probabilities[sure] >= s.Sure:
		return int32(sure), nil
	}
	return NoLabel, nil
}

// largest is the largest number of votes, in the test's steps.
func (a *Aggregator) largest(votes []int32) *big.Int {
	return a.threshold.steps(int64(slices.Max(votes)))
}

// test pays for agrees.
func (a *Aggregator) test(ctx context.Context, steps *big.Int) (bool, error) {
	return budget.Spend(ctx, a.o.Budget, a.release("pate: whether the teachers agree", a.threshold.event), func() (bool, error) { return a.agrees(steps) })
}

// agrees tells whether a number of votes with noise is at least the threshold.
func (a *Aggregator) agrees(steps *big.Int) (bool, error) {
	noisy, err := a.threshold.noisy(a.bits, steps)
	if err != nil {
		return false, fmt.Errorf("test votes: %w", err)
	}
	at := new(big.Rat).SetInt(a.threshold.steps(1))
	return noisy.Cmp(numeric.Ceil(at.Mul(at, a.o.Threshold))) >= 0, nil
}

// name pays for winner.
func (a *Aggregator) name(ctx context.Context, votes []int32) (int32, error) {
	_, event := a.Events()
	label, err := budget.Spend(ctx, a.o.Budget, a.release("pate: what the teachers say", event), func() (int32, error) { return a.winner(votes) })
	if err != nil {
		return NoLabel, err
	}
	return label, nil
}

// winner names the class with the most votes, with noise.
func (a *Aggregator) winner(votes []int32) (int32, error) {
	if a.laplace != nil {
		scores := make([]float64, len(votes))
		for j, n := range votes {
			scores[j] = float64(n)
		}
		class, err := a.laplace.Choose(a.bits, scores)
		return int32(class), err
	}
	top, most := 0, (*big.Int)(nil)
	for j, n := range votes {
		noisy, err := a.gaussian.noisy(a.bits, a.gaussian.steps(int64(n)))
		if err != nil {
			return NoLabel, fmt.Errorf("name class: %w", err)
		}
		if most == nil || noisy.Cmp(most) > 0 {
			top, most = j, noisy
		}
	}
	return int32(top), nil
}

func (a *Aggregator) release(what string, event privacy.Event) budget.Release {
	return budget.Release{Statement: what, Events: []privacy.Event{event}, Delta: a.o.Delta}
}

// A Run is what was released of a list of queries. All of it is public.
type Run struct {
	Labels   []int32 // of the queries that were asked, NoLabel where not answered
	Answered int
	// Beyond is how many reached the threshold when no answer was left of a Plan.
	Beyond int
}

// Asked returns the number of queries that were asked.
func (r *Run) Asked() int { return len(r.Labels) }

// Label answers queries in their order until all are answered, the budget is
// exhausted, or the context is done. It returns what was released until then also
// with an error, which then wraps budget.ErrExceeded or is another's. Released, if it
// is not nil, is called with each label when it may leave, NoLabel too.
func (a *Aggregator) Label(ctx context.Context, votes *analysis.Votes, released func(query int, label int32) error) (*Run, error) {
	r := &Run{}
	if votes.Classes != a.o.Classes {
		return r, fmt.Errorf("label: votes of %d classes for an aggregator of %d", votes.Classes, a.o.Classes)
	}
	for i := range votes.Len() {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		label, err := a.Answer(ctx, votes.Row(i))
		if err != nil {
			return r, fmt.Errorf("label query %d: %w", i, err)
		}
		r.Labels = append(r.Labels, label)
		if label != NoLabel {
			r.Answered++
		}
		if released == nil {
			continue
		}
		if err := released(i, label); err != nil {
			return r, err
		}
	}
	return r, nil
}
