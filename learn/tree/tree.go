// Package tree learns sums of small trees from tables: additive models, in which each
// feature has a curve of its own that people can read.
//
// It is the private explainable boosting machine (Nori, Caruana, Bu, Shen and Kulkarni
// 2021, "Accuracy, Interpretability, and Differential Privacy via Explainable
// Boosting"): features take turns; each time a tree over one feature is drawn whose splits
// are random and see no data, the residuals in its leaves are added up with noise, and
// the curve takes a step. A noisy histogram of each feature, released once, says how
// many examples a leaf has.
//
// It guarantees what the options state, as package cost has it; what is released is the
// whole model. Bins come from declared domains and bounds, never from data.
//
// It does not guarantee that a curve is right where few examples are: there it is noise.
package tree

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/internal/decision"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
)

// Options say what is learned, how, and under which guarantee.
type Options struct {
	cost.Options
	// Features are what trees are about. Required.
	Features []feature.Feature
	// Lower and Upper bound the targets of a regression, which are clamped. Required
	// there.
	Lower, Upper float64
	// Cuts is how finely numbers are cut; see feature.Cuts. 16 if it is 0.
	Cuts int
	// Rounds is how often each feature has its turn. If it is 0, that is 50 times, or 5
	// where the guarantee is pure: there noise grows with the number of turns, else with its
	// root.
	Rounds int
	// Leaves is how many leaves a tree over a number has; 8 if it is 0. Over a category
	// each value is a leaf.
	Leaves int
	// Rate is how far a step goes, of the way to the minimum of a quadratic bound of
	// the loss; 0.1 if it is 0, or 1/2 where the guarantee is pure.
	Rate float64
}

const (
	maxCuts   = 1 << 12
	maxRounds = 1 << 16
)

// A Model is a sum of curves, one for each feature.
type Model struct {
	// Classes is the number of classes; 0 for a regression.
	Classes  int               `json:"classes"`
	Lower    float64           `json:"lower,omitempty"`
	Upper    float64           `json:"upper,omitempty"`
	Features []feature.Feature `json:"features"`
	// Cuts divide the range of each number, from 0 to 1.
	Cuts []float64 `json:"cuts"`
	// Curves has, for each feature and each of its bins, what it adds to each score.
	// Two classes have one score, of class 1 against 0.
	Curves [][][]float64 `json:"curves"`
}

// Scores are the sums of the curves: logits, or the target on a scale from -1 to 1.
func (m *Model) Scores(x []float32) []float64 {
	scores := make([]float64, outputs(m.Classes))
	for f := range m.Features {
		for k, v := range m.Curves[f][m.Features[f].Bin(x, m.Cuts)] {
			scores[k] += v
		}
	}
	return scores
}

// Class returns the likeliest class.
func (m *Model) Class(x []float32) int {
	return decision.Class(m.Scores(x))
}

// Value returns the predicted target of a regression, within its bounds.
func (m *Model) Value(x []float32) float64 {
	return decision.Target(m.Scores(x)[0], m.Lower, m.Upper)
}

// outputs is how many scores there are.
func outputs(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// Check refuses a model that does not fit together, or not with examples of a width and
// a number of classes: somebody may have written it.
func (m *Model) Check(width, classes int) error {
	switch {
	case m.Classes != classes || classes < 0 || classes == 1:
		return fmt.Errorf("%d classes, of examples with %d", m.Classes, classes)
	case len(m.Cuts) > 2*maxCuts || !slices.IsSorted(m.Cuts):
		return fmt.Errorf("its %d cuts are too many or in no order", len(m.Cuts))
	case classes == 0 && !(m.Lower < m.Upper):
		return fmt.Errorf("no targets between %v and %v", m.Lower, m.Upper)
	case len(m.Curves) != len(m.Features):
		return fmt.Errorf("%d curves of %d features", len(m.Curves), len(m.Features))
	}
	if err := feature.Check(m.Features, width); err != nil {
		return err
	}
	for f, curve := range m.Curves {
		if len(curve) != m.Features[f].Bins(m.Cuts) {
			return fmt.Errorf("curve %d has %d bins", f, len(curve))
		}
		for _, at := range curve {
			if len(at) != outputs(classes) {
				return fmt.Errorf("curve %d has %d scores", f, len(at))
			}
		}
	}
	return nil
}

// A training is calibrated noise for everything that a run releases.
type training struct {
	o          Options
	set        *example.Set
	plan       *cost.Plan
	cuts       []float64
	outputs    int
	sizes, sum *cost.Noise
}

// Train learns a model from the examples of set, and charges b for it beforehand. It fails
// only for its options, the form of the set, the budget and the bits.
func Train(ctx context.Context, bits noise.Bits, b budget.Budget, set *example.Set, o Options) (*Model, error) {
	r, err := Plan(b, set, o)
	if err != nil {
		return nil, err
	}
	return r.Train(ctx, bits)
}

// Plan returns the run that Train makes, before b is charged for it: of set it takes the
// form alone.
func Plan(b budget.Budget, set *example.Set, o Options) (*cost.Run[*Model], error) {
	return cost.Calibrate(b, o.Options, false, func(c cost.Options) (*cost.Run[*Model], error) {
		o := o
		o.Options = c
		t, err := newTraining(b, set, o)
		if err != nil {
			return nil, err
		}
		return cost.NewRun(t.plan, "train an additive model of trees", t.run), nil
	})
}

// newTraining calibrates.
//
// Theorem. An example lies in one bin of each feature. It moves a histogram of one by 1 in
// both norms, and the F histograms by F in L1 and √F in L2. In a turn it moves the sums of
// one leaf by its residuals, which are integers on the grid: one of at most One in size
// for two classes or a target; and for several the differences p−e between what is
// predicted and the truth, of which Σ|pₖ−eₖ| <= 2 and Σ(pₖ−eₖ)² <= 2, as Σpₖ = 1, rounded
// toward zero. Predictions of an example are functions of its features and of what was
// released before, splits of random bits alone. Releases that see those before add up:
// ε (Dwork et al. 2006), ρ (Bun and Steinke 2016, Lemma 2.3).
func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	rounds, rate := 50, 0.1
	if o.Delta.Sign() == 0 && o.Rho.Sign() == 0 {
		rounds, rate = 5, 0.5
	}
	for _, d := range []struct {
		value *int
		to    int
	}{{&o.Cuts, 16}, {&o.Rounds, rounds}, {&o.Leaves, 8}} {
		if *d.value == 0 {
			*d.value = d.to
		}
	}
	if o.Rate == 0 {
		o.Rate = rate
	}
	t := &training{o: o}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	t.cuts, t.outputs = feature.Cuts(o.Cuts), outputs(set.Classes)
	f := big.NewRat(int64(len(o.Features)), 1)
	if t.sizes, err = t.plan.Noise(big.NewRat(1, 10), 1, cost.Sensitivity{L1: f, L2Squared: f}); err != nil {
		return nil, err
	}
	if t.sum, err = t.plan.Noise(big.NewRat(9, 10), o.Rounds*len(o.Features), residual(set.Classes)); err != nil {
		return nil, err
	}
	return t, nil
}

// residual is how far an example moves the sums of a turn.
func residual(classes int) cost.Sensitivity {
	n := int64(1)
	if classes > 2 {
		n = 2
	}
	return cost.Sensitivity{L1: big.NewRat(n*fixed.One, 1), L2Squared: big.NewRat(n*fixed.One*fixed.One, 1)}
}

func (t *training) check() error {
	o := t.o
	switch {
	case t.set.Classes < 0 || t.set.Classes == 1:
		return fmt.Errorf("%d classes", t.set.Classes)
	case t.set.Classes == 0 && !(o.Lower < o.Upper && !math.IsInf(o.Upper-o.Lower, 0)):
		return fmt.Errorf("no targets between %v and %v", o.Lower, o.Upper)
	case o.Cuts < 2 || o.Cuts > maxCuts || o.Rounds < 1 || o.Rounds > maxRounds || o.Leaves < 1:
		return fmt.Errorf("%d cuts, %d rounds, %d leaves", o.Cuts, o.Rounds, o.Leaves)
	case !(o.Rate > 0 && o.Rate <= 1):
		return fmt.Errorf("a rate of %v is not between 0 and 1", o.Rate)
	}
	for _, f := range o.Features {
		if f.Values > 1<<16 {
			return fmt.Errorf("a category of %d values", f.Values)
		}
	}
	return feature.Check(o.Features, t.set.Width)
}

// An ensemble is a model in the making, with what it says of each example.
type ensemble struct {
	*training
	rows   []int
	bins   [][]uint16  // of each feature, for each example
	sizes  [][]float64 // noisy, of each bin
	scores []float64   // outputs of each example
	model  *Model
}

func (t *training) run(ctx context.Context, bits noise.Bits) (*Model, error) {
	e, err := t.start(bits)
	if err != nil {
		return nil, err
	}
	stream := noise.NewStream(bits)
	for round := range t.o.Rounds {
		t.plan.Progress(round, t.o.Rounds)
		for f := range t.o.Features {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			leaf, leaves, err := t.split(stream, f)
			if err != nil {
				return nil, err
			}
			noisy, err := t.sum.Add(bits, e.residuals(f, leaf, leaves), fixed.Places)
			if err != nil {
				return nil, err
			}
			e.step(f, leaf, leaves, noisy)
		}
	}
	return e.model, nil
}

// start finds everybody's bins and releases their histograms.
func (t *training) start(bits noise.Bits) (*ensemble, error) {
	e := &ensemble{training: t, rows: t.plan.Rows(true)}
	e.scores = make([]float64, len(e.rows)*t.outputs)
	e.model = &Model{Classes: t.set.Classes, Lower: t.o.Lower, Upper: t.o.Upper, Features: t.o.Features, Cuts: t.cuts}
	for _, f := range t.o.Features {
		counts := make([]int64, f.Bins(t.cuts))
		at := make([]uint16, len(e.rows))
		for i, row := range e.rows {
			b := f.Bin(t.set.Features[row*t.set.Width:(row+1)*t.set.Width], t.cuts)
			at[i] = uint16(b)
			counts[b]++
		}
		sizes, err := t.sizes.Add(bits, counts, 0)
		if err != nil {
			return nil, err
		}
		curve := make([][]float64, len(counts))
		for b := range curve {
			curve[b] = make([]float64, t.outputs)
		}
		e.bins, e.sizes, e.model.Curves = append(e.bins, at), append(e.sizes, sizes), append(e.model.Curves, curve)
	}
	return e, nil
}

// split draws a tree over a feature: the leaf of each bin.
func (t *training) split(stream *noise.Stream, feature int) (leaf []int, leaves int, err error) {
	f := &t.o.Features[feature]
	leaf = make([]int, f.Bins(t.cuts))
	if f.Values > 0 {
		for b := range leaf {
			leaf[b] = b
		}
		return leaf, len(leaf), nil
	}
	before := make([]bool, len(leaf)) // a leaf begins
	for range t.o.Leaves - 1 {
		b, err := stream.Below(uint64(len(leaf)))
		if err != nil {
			return nil, 0, err
		}
		before[b] = true
	}
	before[len(leaf)-1] = true // the bin of missing values
	for b := 1; b < len(leaf); b++ {
		if leaf[b] = leaf[b-1]; before[b] {
			leaf[b]++
		}
	}
	return leaf, leaf[len(leaf)-1] + 1, nil
}

// residuals are the sums of each leaf, on the grid: the gradient of the loss.
func (e *ensemble) residuals(f int, leaf []int, leaves int) []int64 {
	sums := make([]int64, leaves*e.outputs)
	one := make([]int64, e.outputs)
	for i, b := range e.bins[f] {
		e.residual(i, one)
		for k, r := range one {
			sums[leaf[b]*e.outputs+k] += r
		}
	}
	return sums
}

// residual is the gradient of an example's loss in its scores.
func (e *ensemble) residual(i int, to []int64) {
	s, row := e.scores[i*e.outputs:(i+1)*e.outputs], e.rows[i]
	switch {
	case e.set.Classes == 0:
		y := min(max(float64(e.set.Targets[row]), e.o.Lower), e.o.Upper)
		to[0] = fixed.Number(s[0] - (2*(y-e.o.Lower)/(e.o.Upper-e.o.Lower) - 1))
	case e.set.Classes == 2:
		to[0] = fixed.Number(1/(1+math.Exp(-s[0])) - float64(e.set.Labels[row]))
	default:
		softmax(s, to)
		to[e.set.Labels[row]] -= fixed.One
		// As integers: Σpₖ <= One after rounding down, so that the others' sum to at most
		// One − p of the label, which is the size of its own.
	}
}

// softmax gives probabilities on the grid, rounded down.
func softmax(s []float64, to []int64) {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range s {
		largest = max(largest, v)
	}
	for _, v := range s {
		sum += math.Exp(v - largest)
	}
	for k, v := range s {
		to[k] = fixed.Number(math.Exp(v-largest) / sum)
	}
}

// step moves a curve against the noisy residuals of its leaves, by what minimises the
// quadratic that bounds the loss: its curvature is at most c for each example, 1/4 of a
// logistic loss, 1/2 of one with several classes, 1 of a squared one. Leaves of
// which little is seen beside the noise move less.
func (e *ensemble) step(f int, leaf []int, leaves int, noisy []float64) {
	c := 0.25
	switch {
	case e.set.Classes == 0:
		c = 1
	case e.set.Classes > 2:
		c = 0.5
	}
	sizes := make([]float64, leaves)
	for b, l := range leaf {
		sizes[l] += e.sizes[f][b]
	}
	moves := make([]float64, len(noisy))
	for i, r := range noisy {
		moves[i] = -e.o.Rate * r / (c * (max(sizes[i/e.outputs], 0) + e.sum.Deviation(fixed.Places)))
	}
	for b, l := range leaf {
		for k := range e.outputs {
			e.model.Curves[f][b][k] += moves[l*e.outputs+k]
		}
	}
	for i, b := range e.bins[f] {
		for k := range e.outputs {
			e.scores[i*e.outputs+k] += moves[leaf[b]*e.outputs+k]
		}
	}
}
