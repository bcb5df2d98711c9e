// Package bayes learns naive Bayes classifiers from tables: from the noisy counts of what
// each feature looks like in each class, as if features were independent.
//
// One look at the examples gives everything: how many are in each class; for each category
// a histogram in each class; for each number how many there are in each class, their mean
// and their variance within declared bounds, or a histogram with Options.Cuts.
// Bins, domains and bounds are declared, never taken from data (diffprivlib's Gaussian
// naive Bayes takes bounds from the data where none are given, with a warning).
//
// It guarantees what the options state, as package cost has it; what is released is the
// whole model.
//
// It does not guarantee that a model's probabilities are right: which class is likeliest
// often is, how likely it is seldom.
package bayes

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
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
)

// Options say what is looked at, and under which guarantee.
type Options struct {
	cost.Options
	// Features are what the classifier looks at. Required.
	Features []feature.Feature
	// Cuts is how finely numbers are cut for a histogram; see feature.Cuts. If it is 0
	// numbers are taken for normally distributed in each class.
	Cuts int
}

// A Model is a learned classifier.
type Model struct {
	Features []feature.Feature `json:"features"`
	Cuts     []float64         `json:"cuts,omitempty"`
	// Prior has the logarithm of each class's share.
	Prior []float64 `json:"prior"`
	// Likelihood has, for each feature and class, the logarithms of the shares of its
	// bins; none for a normal law.
	Likelihood [][][]float64 `json:"likelihood"`
	// Mean and Variance are, for each feature and class, those of a number's place
	// between its bounds, from −1 to 1; zero of a histogram.
	Mean     [][]float64 `json:"mean"`
	Variance [][]float64 `json:"variance"`
}

// Scores are, for each class, the logarithm of its probability but for a constant.
func (m *Model) Scores(x []float32) []float64 {
	scores := append([]float64{}, m.Prior...)
	for f := range m.Features {
		at := &m.Features[f]
		for c := range scores {
			if shares := m.Likelihood[f][c]; shares != nil {
				scores[c] += shares[at.Bin(x, m.Cuts)]
			} else if u, ok := at.Number(x); ok {
				d := 2*u - 1 - m.Mean[f][c]
				scores[c] -= (d*d/m.Variance[f][c] + math.Log(m.Variance[f][c])) / 2
			}
		}
	}
	return scores
}

// Class returns the likeliest class.
func (m *Model) Class(x []float32) int {
	best, scores := 0, m.Scores(x)
	for c := range scores {
		if scores[c] > scores[best] {
			best = c
		}
	}
	return best
}

// Check refuses a model that does not fit together, or not with examples of a width and
// a number of classes: somebody may have written it.
func (m *Model) Check(width, classes int) error {
	n := len(m.Features)
	switch {
	case classes < 2 || len(m.Prior) != classes:
		return fmt.Errorf("%d classes, of examples with %d", len(m.Prior), classes)
	case len(m.Cuts) > 2*maxCuts || !slices.IsSorted(m.Cuts):
		return fmt.Errorf("its %d cuts are too many or in no order", len(m.Cuts))
	case len(m.Likelihood) != n || len(m.Mean) != n || len(m.Variance) != n:
		return fmt.Errorf("not one law for each of %d features", n)
	}
	if err := feature.Check(m.Features, width); err != nil {
		return err
	}
	for f := range m.Features {
		if len(m.Likelihood[f]) != classes {
			return fmt.Errorf("feature %d has laws of %d classes", f, len(m.Likelihood[f]))
		}
		for c, shares := range m.Likelihood[f] {
			switch {
			case shares == nil && m.Features[f].Values > 0:
				return fmt.Errorf("category %d has no shares", f)
			case shares == nil && (len(m.Mean[f]) != classes || len(m.Variance[f]) != classes || !(m.Variance[f][c] > 0)):
				return fmt.Errorf("number %d has no law", f)
			case shares != nil && len(shares) != m.Features[f].Bins(m.Cuts):
				return fmt.Errorf("feature %d has %d bins", f, len(shares))
			}
		}
	}
	return nil
}

// A training is calibrated noise for everything that a run releases.
type training struct {
	o       Options
	set     *example.Set
	plan    *cost.Plan
	cuts    []float64
	classes *cost.Noise
	of      []*cost.Noise // of each feature
}

// Train learns a classifier from the examples of set, and charges b for it beforehand. It
// fails only for its options, the form of the set, the budget and the bits.
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
		return cost.NewRun(t.plan, "train a naive Bayes classifier", t.run), nil
	})
}

const maxCuts = 1 << 12

// newTraining calibrates: the count of classes and each feature have the same share.
//
// Theorem. An example is in one class, and in one bin of a category there: it moves each
// histogram by 1. Of a number z in [-1, 1] it adds (1, z, z²−1/2) to its class, or nothing
// where it is missing: 1 + |z| + |z²−1/2| <= 5/2, and 1 + z² + (z²−1/2)² = z⁴ + 5/4 <=
// 9/4, also after rounding toward zero on the grid. Releases of all examples add up:
// ε (Dwork et al. 2006), ρ (Bun and Steinke 2016, Lemma 2.3).
func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	t := &training{o: o}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	switch err := feature.Check(o.Features, set.Width); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	case set.Classes < 2:
		return nil, fmt.Errorf("%w: %d classes", cost.ErrParameter, set.Classes)
	case o.Cuts < 0 || o.Cuts == 1 || o.Cuts > maxCuts:
		return nil, fmt.Errorf("%w: %d cuts", cost.ErrParameter, o.Cuts)
	}
	if o.Cuts > 0 {
		t.cuts = feature.Cuts(o.Cuts)
	}
	share := big.NewRat(1, int64(len(o.Features)+1))
	one := big.NewRat(1, 1)
	count := cost.Sensitivity{L1: one, L2Squared: one}
	if t.classes, err = t.plan.Noise(share, 1, count); err != nil {
		return nil, err
	}
	for f := range o.Features {
		s := count
		if t.normal(f) {
			s = moments()
		}
		n, err := t.plan.Noise(share, 1, s)
		if err != nil {
			return nil, err
		}
		t.of = append(t.of, n)
	}
	return t, nil
}

// normal says whether a feature is taken for normally distributed.
func (t *training) normal(f int) bool { return t.cuts == nil && t.o.Features[f].Values == 0 }

// moments is how far an example moves those of a number.
func moments() cost.Sensitivity {
	return cost.Sensitivity{L1: big.NewRat(5*fixed.One, 2), L2Squared: big.NewRat(9*fixed.One*fixed.One, 4)}
}

// moment is what an example adds.
func moment(z float64) (one, first, second int64) {
	return fixed.One, fixed.Number(z), fixed.Number(z*z - 0.5)
}

func (t *training) run(ctx context.Context, bits noise.Bits) (*Model, error) {
	rows := t.plan.Rows(true)
	m := &Model{Features: t.o.Features, Cuts: t.cuts}
	counts := make([]int64, t.set.Classes)
	for _, row := range rows {
		counts[t.set.Labels[row]]++
	}
	noisy, err := t.classes.Add(bits, counts, 0)
	if err != nil {
		return nil, err
	}
	m.Prior = logShares(noisy)
	for f := range t.o.Features {
		t.plan.Progress(f, len(t.o.Features))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		learn := t.histogram
		if t.normal(f) {
			learn = t.law
		}
		if err := learn(bits, m, rows, f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// logShares are those of noisy counts; what noise made small counts as one example.
func logShares(counts []float64) []float64 {
	sum := 0.0
	for _, c := range counts {
		sum += max(c, 1)
	}
	shares := make([]float64, len(counts))
	for i, c := range counts {
		shares[i] = math.Log(max(c, 1) / sum)
	}
	return shares
}

// features are those of an example.
func (t *training) features(row int) []float32 {
	return t.set.Features[row*t.set.Width : (row+1)*t.set.Width]
}

// histogram learns a feature by the counts of its bins in each class.
func (t *training) histogram(bits noise.Bits, m *Model, rows []int, f int) error {
	at := &t.o.Features[f]
	bins := at.Bins(t.cuts)
	counts := make([]int64, t.set.Classes*bins)
	for _, row := range rows {
		counts[int(t.set.Labels[row])*bins+at.Bin(t.features(row), t.cuts)]++
	}
	noisy, err := t.of[f].Add(bits, counts, 0)
	if err != nil {
		return err
	}
	shares := make([][]float64, t.set.Classes)
	for c := range shares {
		shares[c] = logShares(noisy[c*bins : (c+1)*bins])
	}
	m.Likelihood = append(m.Likelihood, shares)
	m.Mean, m.Variance = append(m.Mean, nil), append(m.Variance, nil)
	return nil
}

// law learns a number's mean and variance in each class. They are put where numbers
// between −1 and 1 can have them, with a variance of 1/1000 at least.
func (t *training) law(bits noise.Bits, m *Model, rows []int, f int) error {
	at := &t.o.Features[f]
	sums := make([]int64, 3*t.set.Classes)
	for _, row := range rows {
		if u, ok := at.Number(t.features(row)); ok {
			c := 3 * t.set.Labels[row]
			one, first, second := moment(2*u - 1)
			sums[c] += one
			sums[c+1] += first
			sums[c+2] += second
		}
	}
	noisy, err := t.of[f].Add(bits, sums, fixed.Places)
	if err != nil {
		return err
	}
	mean, variance := make([]float64, t.set.Classes), make([]float64, t.set.Classes)
	for c := range mean {
		n := max(noisy[3*c], 1)
		mean[c] = min(max(noisy[3*c+1]/n, -1), 1)
		variance[c] = min(max(noisy[3*c+2]/n+0.5-mean[c]*mean[c], 1e-3), 1)
	}
	m.Likelihood = append(m.Likelihood, make([][]float64, t.set.Classes))
	m.Mean, m.Variance = append(m.Mean, mean), append(m.Variance, variance)
	return nil
}
