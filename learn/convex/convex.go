// Package convex learns linear models from private examples: logistic and linear
// regression, by four ways to the same model that have one shape of options.
//
// All minimise, over weights w, the sum
//
//	F(w) = Σᵢ ℓ(w·xᵢ, yᵢ) + (Λ/2)‖w‖²
//
// over examples whose features are scaled down to norm 1 (in units of Options.Norm)
// where they are longer, with a 1 appended for the intercept, so that ‖xᵢ‖² <= 2. The
// loss is that of logistic regression, or, with targets scaled to [-1, 1], the squared
// loss that turns linear at residuals beyond 1 (Huber 1964). Either has a slope in
// [-1, 1] in its first argument, and a curvature of at most c, 1/4 or 1. It is a sum and
// no mean, and Λ is not divided by n: nothing depends on the number of examples, which is
// private where a unit may come or go.
//
//   - Output perturbation finds the minimum and adds noise to it.
//   - Objective perturbation adds a random linear term to F and finds its minimum.
//   - Gradient perturbation descends along noisy gradients; it needs no minimum.
//   - Statistics perturbation, for linear regression alone, solves the normal equations of
//     noisy second moments, with the plain squared loss.
//
// It guarantees what the options state, for everything that Train returns: the whole
// model. The theorems stand at the functions.
//
// It does not guarantee how long Train takes. Output and objective perturbation search
// until a minimum is certain, which depends on the data.
package convex

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/decision"
	"github.com/discreet-dp/discreet/learn/internal/fixed"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Method is a way to a private model.
type Method int

// The methods. There is no default: which is best depends on the guarantee.
const (
	Output     Method = iota + 1 // pure, or zCDP
	Objective                    // pure, or (ε, δ)
	Gradient                     // zCDP; pure with much noise
	Statistics                   // linear regression: zCDP; pure with much noise
)

// String returns the method's name.
func (m Method) String() string {
	switch m {
	case Output:
		return "output perturbation"
	case Objective:
		return "objective perturbation"
	case Gradient:
		return "gradient perturbation"
	case Statistics:
		return "statistics perturbation"
	}
	return fmt.Sprintf("method %d", int(m))
}

// Options say what is learned, how, and under which guarantee.
type Options struct {
	cost.Options
	// Method is the way. Required.
	Method Method
	// Norm bounds the L2 norm of an example's features; longer ones are scaled down. It
	// is public: a function of the features' declared domains. Required.
	Norm float64
	// Lower and Upper bound the targets of a regression, which are clamped. Required
	// there.
	Lower, Upper float64
	// NoIntercept leaves the constant feature out.
	NoIntercept bool
	// Regularization is Λ, on the scale above. If it is 0 it is chosen from Examples, or
	// from a noisy count of them, for which a fiftieth of the guarantee is taken.
	// Objective perturbation raises it where the guarantee needs more.
	Regularization float64
	// Examples is about how many examples there are, if that is public. It sets
	// the length of the steps of gradient perturbation, and Regularization, and no
	// guarantee depends on it.
	Examples int
	// Steps is the number of steps of gradient perturbation; 60 if it is 0.
	Steps int
	// Travel is how far gradient perturbation lets a weight go in all steps together,
	// about; 30 if it is 0, or 6 for a regression.
	Travel float64
}

// A Model is a learned linear model. All of it is released.
type Model struct {
	// Classes is the number of classes; 0 for a regression.
	Classes int `json:"classes"`
	// Norm is that of the Options: what a model is given is scaled down likewise.
	Norm float64 `json:"norm"`
	// Lower and Upper are those of the Options.
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	// Intercept tells whether the last weight is that of a constant 1.
	Intercept bool `json:"intercept"`
	// Weights are those of the only problem, of class 1 against 0 or of the target; or
	// of one for each of three classes or more, against the rest.
	Weights [][]float64 `json:"weights"`
}

// Scores returns w·x of each problem.
func (m *Model) Scores(features []float32) []float64 {
	x := make([]int32, len(features), len(features)+1)
	fixed.Vector(x, features, m.Norm)
	if m.Intercept {
		x = append(x, fixed.One)
	}
	scores := make([]float64, len(m.Weights))
	for k, w := range m.Weights {
		for j, v := range x {
			scores[k] += w[j] * float64(v) / fixed.One
		}
	}
	return scores
}

// Class returns the likeliest class.
func (m *Model) Class(features []float32) int {
	return decision.Class(m.Scores(features))
}

// Value returns the predicted target of a regression, within its bounds.
func (m *Model) Value(features []float32) float64 {
	return decision.Target(m.Scores(features)[0], m.Lower, m.Upper)
}

// Check refuses a model that does not fit together, or not with examples of a width and
// a number of classes: somebody may have written it.
func (m *Model) Check(width, classes int) error {
	problems := 1
	if classes > 2 {
		problems = classes
	}
	if m.Intercept {
		width++
	}
	switch {
	case m.Classes != classes || classes < 0 || classes == 1:
		return fmt.Errorf("%d classes, of examples with %d", m.Classes, classes)
	case !(m.Norm > 0):
		return fmt.Errorf("a norm of %v bounds no features", m.Norm)
	case classes == 0 && !(m.Lower < m.Upper):
		return fmt.Errorf("no targets between %v and %v", m.Lower, m.Upper)
	case len(m.Weights) != problems:
		return fmt.Errorf("%d problems, not %d", len(m.Weights), problems)
	}
	for _, w := range m.Weights {
		if len(w) != width {
			return fmt.Errorf("%d weights of %d", len(w), width)
		}
	}
	return nil
}

// Train learns a model from the examples of set, and charges b for it beforehand. Several
// classes are several problems, each of one class against the rest, which share the
// guarantee evenly.
//
// It fails only for its options, the form of the set, the budget and the bits, and where
// output or objective perturbation of more than about ten million examples cannot be
// certain of its minimum.
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
	return cost.Calibrate(b, o.Options, o.Method == Objective, func(c cost.Options) (*cost.Run[*Model], error) {
		o := o
		o.Options = c
		t, err := newTraining(b, set, o)
		if err != nil {
			return nil, err
		}
		return cost.NewRun(t.plan, "train a linear model by "+o.Method.String(), t.run), nil
	})
}

// A way is a method that is calibrated: it learns one problem at a time.
type way interface {
	learn(ctx context.Context, bits noise.Bits, p *problem, size float64) ([]float64, error)
}

// A training is calibrated noise for everything that a run releases.
type training struct {
	o        Options
	set      *example.Set
	plan     *cost.Plan
	problems int
	width    int // of the weights
	count    *cost.Noise
	way      way
}

func newTraining(b budget.Budget, set *example.Set, o Options) (*training, error) {
	t := &training{o: o, problems: 1}
	var err error
	if t.plan, err = cost.New(b, set, o.Options); err != nil {
		return nil, err
	}
	t.set = t.plan.Set()
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	if set.Classes > 2 {
		t.problems = set.Classes
	}
	t.width = set.Width
	if !o.NoIntercept {
		t.width++
	}
	whole := big.NewRat(1, 1)
	counts := o.Method == Gradient || o.Method == Output && o.Regularization == 0
	if counts && o.Examples == 0 {
		if t.count, err = t.plan.Noise(big.NewRat(1, 50), 1, cost.Sensitivity{L1: big.NewRat(1, 1), L2Squared: big.NewRat(1, 1)}); err != nil {
			return nil, err
		}
		whole.Sub(whole, big.NewRat(1, 50))
	}
	share := whole.Quo(whole, big.NewRat(int64(t.problems), 1)) // each problem's
	switch o.Method {
	case Output:
		t.way, err = newOutput(t, share)
	case Objective:
		t.way, err = newObjective(t, share)
	case Gradient:
		t.way, err = newGradient(t, share)
	case Statistics:
		t.way, err = newStatistics(t, share)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cost.ErrParameter, err)
	}
	return t, nil
}

// charge adds an event that each problem makes, at its share.
func (t *training) charge(share *big.Rat, e privacy.Event) error {
	all := big.NewRat(int64(t.problems), 1)
	return t.plan.Charge(all.Mul(all, share), cost.Repeated(e, t.problems))
}

func (t *training) check() error {
	o := t.o
	switch {
	case o.Method < Output || o.Method > Statistics:
		return fmt.Errorf("there is no %v", o.Method)
	case !(o.Norm > 0) || math.IsInf(o.Norm, 0):
		return fmt.Errorf("a norm of %v bounds no features", o.Norm)
	case t.set.Classes < 0 || t.set.Classes == 1:
		return fmt.Errorf("%d classes", t.set.Classes)
	case t.set.Classes == 0 && !(o.Lower < o.Upper && !math.IsInf(o.Upper-o.Lower, 0)):
		return fmt.Errorf("no targets between %v and %v", o.Lower, o.Upper)
	case o.Method == Statistics && t.set.Classes > 0:
		return fmt.Errorf("%v is of linear regression", o.Method)
	case !(o.Regularization >= 0) || math.IsInf(o.Regularization, 0):
		return fmt.Errorf("a regularization of %v", o.Regularization)
	case !(o.Travel >= 0) || math.IsInf(o.Travel, 0):
		return fmt.Errorf("a travel of %v", o.Travel)
	case o.Examples < 0 || o.Steps < 0 || o.Steps > 1<<20:
		return fmt.Errorf("%d examples, %d steps", o.Examples, o.Steps)
	}
	return nil
}

// loss is that of the problems.
func (t *training) loss() loss {
	if t.set.Classes > 0 {
		return logistic{}
	}
	return huber{}
}

// normSquared bounds ‖x‖².
func (t *training) normSquared() int64 {
	if t.o.NoIntercept {
		return 1
	}
	return 2
}

func (t *training) run(ctx context.Context, bits noise.Bits) (*Model, error) {
	rows := t.plan.Rows(true)
	size := float64(t.o.Examples)
	if t.count != nil {
		n, err := t.count.Add(bits, []int64{int64(len(rows))}, 0)
		if err != nil {
			return nil, err
		}
		size = n[0]
	}
	size = max(size, 1)
	x := fixed.Clip(t.set, rows, t.o.Norm, !t.o.NoIntercept)
	m := &Model{Classes: t.set.Classes, Norm: t.o.Norm, Lower: t.o.Lower, Upper: t.o.Upper, Intercept: !t.o.NoIntercept}
	for k := range t.problems {
		w, err := t.way.learn(ctx, bits, &problem{loss: t.loss(), x: x, y: t.outputs(rows, k)}, size)
		if err != nil {
			return nil, err
		}
		m.Weights = append(m.Weights, w)
	}
	return m, nil
}

// outputs are the y of problem k: 1 for its class and 0 for the rest, or the target
// scaled to [-1, 1].
func (t *training) outputs(rows []int, k int) []float64 {
	y := make([]float64, len(rows))
	class := int32(k)
	if t.problems == 1 {
		class = 1
	}
	for i, row := range rows {
		switch {
		case t.set.Classes == 0:
			z := min(max(float64(t.set.Targets[row]), t.o.Lower), t.o.Upper)
			y[i] = min(max(2*(z-t.o.Lower)/(t.o.Upper-t.o.Lower)-1, -1), 1)
		case t.set.Labels[row] == class:
			y[i] = 1
		}
	}
	return y
}
