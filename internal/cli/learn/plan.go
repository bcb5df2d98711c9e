package learn

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A recipe is what the flags say of a run, and then, completed, all of it. What the flags
// leave out depends on public things alone: the kind of model, the number of columns, the
// measure of the payer, the guarantee, and the number of units once that may be known.
type recipe struct {
	target    privacy.Epsilon
	delta     privacy.Delta
	noise     float64 // the multiplier; 0: by target
	units     int64   // a public number of units; 0: it will be a noisy count
	count     string  // the event of that count
	sampling  int64   // a unit is in a step with probability 1/sampling
	thinned   int64   // the most examples of a step whose size nobody gave; 0: no limit
	batch     int64
	epochs    float64
	steps     int
	physical  int // examples computed at a time; 0: as package learn has it
	clip      float64
	clipping  learn.ClipMode
	rate      float64
	optimizer optimizer.Kind
	schedule  optimizer.Shape
	sampler   learn.Sampler
	perUnit   int

	settings learner.Settings // for learners other than DP-SGD
}

func (r *recipe) define(fs *flag.FlagSet) {
	fs.Func("target-epsilon", "the whole run costs `E` at most: as little noise as that allows", workplace.Amount(&r.target, privacy.ParseEpsilon))
	fs.Func("delta", "at `D` (default by the domain that pays, or 1e-5); 0: at none, which DP-SGD cannot", func(text string) (err error) {
		r.delta, err = privacy.ParseDelta(text)
		return err
	})
	fs.Func("noise", "in place of --target-epsilon: the noise multiplier `Z`, noise in terms of the clip", aboveZero(&r.noise))
	fs.Func("n", "the number of units is public: `N` (default: a noisy count, charged)", wholeUpTo(&r.units, privacy.MaxCount))
	fs.Func("sampling", "a unit is in a step with probability `Q` (default by the model and the measure)", func(text string) error {
		var q float64
		if err := aboveZero(&q)(text); err != nil || q > 1 || q < 1e-9 {
			return errors.New("want a number from 1e-9 to 1")
		}
		r.sampling = int64(math.Round(1 / q))
		return nil
	})
	fs.Func("batch", "in place of --sampling, with -n: `B` units a step, in expectation", wholeUpTo(&r.batch, privacy.MaxCount))
	fs.Func("epochs", "go `X` times through the data, in expectation (default by the model)", aboveZero(&r.epochs))
	fs.Func("steps", "in place of --epochs: `N` steps", func(text string) error {
		var n int64
		err := wholeUpTo(&n, 1e9)(text)
		r.steps = int(n)
		return err
	})
	fs.Func("physical", "`N` examples are computed at a time (default 64): a matter of speed, memory and rounding", func(text string) error {
		var n int64
		err := wholeUpTo(&n, 1<<16)(text)
		r.physical = int(n)
		return err
	})
	fs.Func("clip", "the norm `C` at which what one unit adds is clipped (default 1; of a cnn and scatter 0.1)", aboveZero(&r.clip))
	fs.Func("clipping", "`flat|per-layer|adaptive` (default flat)", func(text string) error {
		return chosen(&r.clipping, text, learn.Flat, learn.PerLayer, learn.Adaptive)
	})
	fs.Func("rate", "the learning rate `R` (default by the noise)", aboveZero(&r.rate))
	fs.Func("schedule", "how the rate goes on: `cosine|constant`, to 0 or not at all (default cosine)", func(text string) error {
		return chosen(&r.schedule, text, optimizer.Cosine, optimizer.Constant)
	})
	fs.Func("optimizer", "`sgd|momentum|adam` (default momentum)", func(text string) error {
		return chosen(&r.optimizer, text, optimizer.SGD, optimizer.Momentum, optimizer.Adam)
	})
	fs.Func("sampler", "how noise is drawn: `fast|exact` (default fast; see docs/learn.md)", func(text string) error {
		return chosen(&r.sampler, text, learn.Fast, learn.Exact)
	})
	fs.Func("rounds", "of a tree: each column has `N` turns; of kmeans: the centers move so often; of dp-ftrl: as many passes", command.Whole(&r.settings.Rounds))
	fs.Func("clusters", "of kmeans: `N` centers (default 8)", command.Whole(&r.settings.Clusters))
	fs.Func("components", "of a pca: `N` components (default 5)", command.Whole(&r.settings.Components))
	fs.Func("regularization", "of a linear model by a perturbation: `L`, on the scale of the sum of losses (default by the noise)", aboveZero(&r.settings.Regularization))
	fs.Func("max-per-unit", "a unit keeps at most `K` of its examples (default by the table's bounds, at most 8)", func(text string) error {
		var n int64
		err := wholeUpTo(&n, 1<<20)(text)
		r.perUnit = int(n)
		return err
	})
}

func aboveZero(to *float64) func(string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseFloat(text, 64); err != nil || !(*to > 0) || math.IsInf(*to, 0) {
			return errors.New("want a positive number")
		}
		return nil
	}
}

func wholeUpTo(to *int64, most int64) func(string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 || *to > most {
			return fmt.Errorf("want a whole number from 1 to %d", most)
		}
		return nil
	}
}

// chosen reads a flag that is one of several words.
func chosen[S ~string](to *S, text string, words ...S) error {
	var all []string
	for _, w := range words {
		all = append(all, string(w))
	}
	var word string
	err := command.OneOf(&word, text, all)
	*to = S(word)
	return err
}

// check refuses flags that contradict each other.
func (r *recipe) check() error {
	exclude := func(a, b string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "--%s and --%s exclude each other", a, b)
	}
	switch {
	case r.target.Sign() > 0 && r.noise > 0:
		return exclude("target-epsilon", "noise")
	case r.epochs > 0 && r.steps > 0:
		return exclude("epochs", "steps")
	case r.batch > 0 && r.sampling > 0:
		return exclude("batch", "sampling")
	case r.batch > 0 && r.units == 0:
		return diagnostic.New("D113", diagnostic.Span{}, "--batch needs -n").
			Because("the cost depends on the share of units that a step samples, and a batch size would reveal their number").
			Try("-n if the number of units is public; else --sampling 0.05")
	case r.batch > r.units && r.units > 0:
		return diagnostic.New("D164", diagnostic.Span{}, "a batch of %d of %d units", r.batch, r.units)
	}
	return nil
}

// publicEpsilon is the target of a run over public data: it need hide nothing, so it has
// as little noise as there can be.
const publicEpsilon = "1000"

// priced refuses a run whose cost nobody bounds.
func (r *recipe) priced(public bool) (err error) {
	switch {
	case r.target.Sign() > 0 || r.noise > 0:
		return nil
	case public:
		r.target, err = privacy.ParseEpsilon(publicEpsilon)
		return err
	}
	return diagnostic.New("D070", diagnostic.Span{}, "the cost of training is missing").
		Because("its whole cost is reserved before it begins").Try("--target-epsilon 1")
}

// countShare is the part of the target that the noisy count costs: 1/50 of it. At
// epsilon 1 the count is off by 50 or so.
const countShare = 50

// addsUp reports measures in which sampling makes Gaussian noise no cheaper. There one
// step with everybody is worth more than many steps with few.
func addsUp(m filter.Measure) bool { return m == filter.ZCDP || m == filter.GDP }

// complete chooses whatever was left out and does not need the number of units.
func (r *recipe) complete(model string, measure filter.Measure) {
	widest := int64(1 << 14) // up to this many examples the sum is fast
	if addsUp(measure) {     // a small step costs as much as a large one
		widest = 1 << 19 // half of what package learn allows
	}
	set := func(sampling int64, steps int) {
		if r.sampling == 0 && r.batch == 0 {
			r.sampling, r.thinned = sampling, widest
			// A step of a few dozen units is all noise.
			if r.units > 0 {
				r.sampling = min(r.sampling, max(1, r.units/64))
			}
		}
		if r.steps == 0 && r.epochs == 0 {
			r.steps = steps
		}
	}
	switch {
	case addsUp(measure):
		set(1, 200)
	case model == "cnn":
		set(100, 3000)
	case model == "mlp":
		set(20, 400)
	case model == input.Scattered: // Tramèr and Boneh 2021: large steps, 40 times through the data
		set(8, 320)
	default:
		set(20, 300)
	}
	r.optimizer = cmp.Or(r.optimizer, optimizer.Momentum)
	if model == "cnn" { // Tramèr and Boneh 2021, with this network
		r.clip, r.rate = cmp.Or(r.clip, 0.1), cmp.Or(r.rate, 0.5)
	}
	if model == input.Scattered {
		r.clip = cmp.Or(r.clip, 0.1)
	}
	r.clip = cmp.Or(r.clip, 1)
	r.perUnit = max(r.perUnit, 1)
}

// plan is the run for a number of units, before its noise is chosen. If the number is a noisy
// count, neither the sampling rate nor the number of steps rises with it: what the run costs
// at most is known before the count, because a smaller rate costs no more.
func (r *recipe) plan(units int64, bounded bool, neighbours privacy.Neighbours) learn.Plan {
	p := learn.Plan{
		Population: learn.Population{Units: units, Basis: learn.Public}, Batch: r.batch,
		Clip: learn.Clip{Mode: r.clipping, Norm: r.clip}, Physical: r.physical,
		Noise:     learn.Noise{Multiplier: r.noise, Sampler: r.sampler},
		Optimizer: optimizer.Spec{Kind: r.optimizer, Rate: cmp.Or(r.rate, 1), Schedule: optimizer.Schedule{Shape: cmp.Or(r.schedule, optimizer.Cosine)}},
		Delta:     r.delta, Neighbours: neighbours, Steps: r.steps,
	}
	if r.clipping == learn.Adaptive {
		p.Clip.Quantile = 0.5
	}
	if bounded {
		p.Units = learn.Units{Mode: learn.Bounded, Examples: r.perUnit}
	}
	if p.Batch == 0 {
		sampling := r.sampling
		if r.thinned > 0 {
			sampling = max(sampling, (units*int64(r.perUnit)+r.thinned-1)/r.thinned)
		}
		p.Batch = max(1, (units+sampling/2)/sampling)
		if r.units == 0 {
			p.Population = learn.Population{Units: p.Batch * sampling, Basis: learn.NoisyCount, Count: r.count, Alike: sampling == r.sampling}
		}
		p.Batch = min(p.Batch, p.Population.Units)
	}
	if p.Steps == 0 {
		p.Steps = int(min(max(1, math.Round(r.epochs*float64(p.Population.Units)/float64(p.Batch))), 1e12)) // 1e12 is more than any plan may have
	}
	return p
}

// rateFor chooses a learning rate by the noise of a plan. Over a run of T steps at rate η
// with momentum β, noise of deviation s a step moves a parameter by about 0.6·η·s·√T/(1-β),
// where 0.6 is the share that the cosine schedule leaves. The score of an example whose
// features have norm x moves x times as far. That product shall be at most 2, which was
// best on census data of 1,000 to 32,561 units. With little noise, η is bounded by the rate
// at which descent on a quadratic becomes unstable, 2(1+β)/L, with the curvature L = x²/4 of
// the logistic loss, or x² of the squared one.
func rateFor(p learn.Plan, model string, norm float64, classes int) float64 {
	beta, curvature := 0.0, norm*norm/4
	if classes == 0 {
		curvature = norm * norm
	}
	switch p.Optimizer.Kind {
	case optimizer.Adam:
		return 0.02
	case optimizer.Momentum:
		beta = 0.9
	}
	s := p.Noise.Multiplier * p.Clip.Norm / float64(p.Batch)
	rate := 2 * (1 - beta) / (0.6 * s * math.Sqrt(float64(p.Steps)) * norm)
	switch {
	case model == input.Scattered: // nearly all gradients are clipped: that bounds a step, not the curvature
		rate = math.Min(rate, 16)
	case model == "logistic" || model == "linear":
		rate = math.Min(rate, 2*(1+beta)/curvature)
	default: // deeper networks are steeper
		rate = math.Min(rate, math.Min(2*(1+beta)/curvature, 0.5))
	}
	f, _ := numeric.FloorDigits(new(big.Rat).SetFloat64(rate), 2).Float64()
	return f
}

// A payer pays for a run: a domain of a ledger, or nobody.
type payer struct {
	measure    filter.Measure
	neighbours privacy.Neighbours
	whole      filter.Budget // the domain's; zero without a domain
}

// deltaFor is the delta of a target for which none was given. In measures that convert at
// the end it is the domain's own. In measures that add up deltas it is the same share of the
// domain's delta as the target is of its epsilon, less a thousandth, because fast noise adds
// a little.
func (y payer) deltaFor(target privacy.Epsilon) (privacy.Delta, error) {
	b := y.whole
	switch {
	case b.Measure == "":
		return privacy.ParseDelta("1e-5")
	case b.Measure == filter.ZCDP || b.Measure == filter.RDP || b.Measure == filter.GDP:
		return privacy.NewDelta(new(big.Rat).Sub(b.Delta.Rat(), b.SelectionDelta.Rat()))
	case b.Measure == filter.Whitehouse:
		b.Delta = b.SelectionDelta
	}
	share := big.NewRat(1, 1)
	if target.Sign() > 0 && target.Rat().Cmp(b.Epsilon.Rat()) < 0 {
		share.Quo(target.Rat(), b.Epsilon.Rat())
	}
	share.Mul(share, b.Delta.Rat())
	return privacy.NewDelta(numeric.FloorDigits(share.Mul(share, big.NewRat(999, 1000)), 3))
}

// own is a budget for a run without a ledger: what the run costs, and what fast noise may
// add to its delta.
func (y payer) own(p learn.Plan, target privacy.Epsilon) (budget.Budget, error) {
	if target.Sign() == 0 {
		g, err := p.Guarantee()
		if err != nil {
			return nil, err
		}
		up := new(big.Rat).SetFloat64(g.Epsilon)
		if target, err = privacy.NewEpsilon(numeric.CeilDigits(up, 6)); err != nil {
			return nil, err
		}
	}
	delta, err := privacy.NewDelta(new(big.Rat).Mul(p.Delta.Rat(), big.NewRat(11, 10)))
	if err != nil {
		return nil, err
	}
	return budget.NewInMemory("this run", filter.Budget{Measure: filter.Approx, Epsilon: target, Delta: delta, Neighbours: y.neighbours})
}

// affordable refuses a run that the budget would refuse in the middle.
func affordable(ctx context.Context, b budget.Budget, p learn.Plan, target privacy.Epsilon) error {
	f := b.Filter()
	events, err := p.Cost(ctx, f)
	if err != nil {
		return noSuchRun(target, p, err)
	}
	asked, err := f.Charge(events, p.Delta)
	if err != nil {
		return err
	}
	left, err := b.Left(ctx)
	if err != nil {
		return err
	}
	if !asked.Within(left.Total(f.Measure())) {
		return &ledger.ExhaustedError{Domain: b.Name(), Measure: f.Measure(), Asked: f.Amounts(asked), Left: left}
	}
	return nil
}

// allowance is the filter that stands for a target in the payer's measure.
func (y payer) allowance(target privacy.Epsilon, delta privacy.Delta) (filter.Filter, error) {
	b := filter.Budget{Measure: y.measure, Epsilon: target, Delta: delta, Neighbours: y.neighbours}
	if y.measure == filter.Whitehouse { // its delta has two parts: for events, and for the conversion
		b.Delta, b.SelectionDelta = y.whole.Delta, y.whole.SelectionDelta
	}
	return filter.New(b)
}

// counter counts units with noise.
func counter(target privacy.Epsilon, neighbours privacy.Neighbours) (*mechanism.Histogram, error) {
	share := new(big.Rat).Quo(target.Rat(), big.NewRat(countShare, 1))
	epsilon, err := privacy.NewEpsilon(numeric.FloorDigits(share, 6))
	if err != nil {
		return nil, err
	}
	return mechanism.NewHistogram(mechanism.HistogramOptions{Bins: 1, Epsilon: epsilon, Neighbours: neighbours})
}

// calibrate chooses the least noise at which the plan and its count cost no more than the
// target in the payer's own measure. So a domain whose whole budget is the target admits
// them.
func (y payer) calibrate(ctx context.Context, p learn.Plan, target privacy.Epsilon) (learn.Plan, error) {
	p.Noise.Multiplier = 1
	if p.Clip.Mode != learn.Adaptive { // the count of adaptive clipping may need other noise
		if err := p.Validate(); err != nil {
			return p, noPlan(p, err)
		}
	}
	f, err := y.allowance(target, p.Delta)
	if err != nil {
		return p, noSuchRun(target, p, err)
	}
	within, err := p.Within(ctx, f)
	if err != nil {
		return p, noSuchRun(target, p, err)
	}
	return within, nil
}

// noSuchRun refuses a target that no plan of this form can meet, or noise that gives no
// guarantee.
func noSuchRun(target privacy.Epsilon, p learn.Plan, err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "calibrate: "), "guarantee: ")
	text = text[strings.LastIndex(text, "\n")+1:] // the last of the ways that were tried
	if target.Sign() == 0 {
		return diagnostic.New("D164", diagnostic.Span{}, "a run of %d steps with noise multiplier %g has no guarantee at delta %v", p.Steps, p.Noise.Multiplier, p.Delta).
			Because("%s", text).Try("a larger --noise, such as 1; or --target-epsilon, which finds the noise that it takes")
	}
	return diagnostic.New("D164", diagnostic.Span{}, "no run of %d steps has epsilon %v at delta %v", p.Steps, target, p.Delta).
		Because("%s", text).Try("a larger --target-epsilon, fewer --epochs, or a domain of measure approx, zcdp or rdp")
}

// noPlan refuses flags that describe no run, at any cost.
func noPlan(p learn.Plan, err error) error {
	d := diagnostic.New("D164", diagnostic.Span{}, "no such run can be made: %s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "check training: "), "plan: "))
	if p.Delta.Sign() == 0 {
		return d.Try("a domain of measure approx, zcdp, rdp, gdp or whitehouse")
	}
	return d.Try("--target-epsilon finds the noise that it takes; discreet help train shows what is chosen for a flag that is left out")
}
