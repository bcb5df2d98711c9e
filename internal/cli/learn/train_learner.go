package learn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The methods of networks.
const (
	dpSGD  = "dp-sgd"
	dpFTRL = "dp-ftrl"
)

// modelNames are the values of --model: the networks, and the models of the learners.
func modelNames() []string {
	names := slices.Clone(Models)
	for _, l := range learner.All() {
		if !slices.Contains(names, l.Model) {
			names = append(names, l.Model)
		}
	}
	return names
}

// methodNames are the values of --method.
func methodNames() []string { return append([]string{dpSGD}, methodsOf("")...) }

// methodsOf are the methods of a model beside dp-sgd; of all models without one.
func methodsOf(model string) (names []string) {
	for _, l := range learner.All() {
		if l.Method != "" && (model == "" || l.Model == model) && !slices.Contains(names, l.Method) {
			names = append(names, l.Method)
		}
	}
	return names
}

// learners lists the learners for help.
func learners() string {
	type line struct{ flags, about string }
	var lines []line
	width := 0
	for _, l := range learner.All() {
		flags := "--model " + l.Model
		if l.Method != "" { // a method that several models have
			if flags = "--method " + l.Method; slices.ContainsFunc(lines, func(x line) bool { return x.flags == flags }) {
				continue
			}
		}
		lines = append(lines, line{flags, l.About})
		width = max(width, len(flags))
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, l.flags, l.about)
	}
	return b.String()
}

// needsDelta refuses DP-SGD without a delta, and says what can be used.
func needsDelta(why string) error {
	return diagnostic.New("D164", diagnostic.Span{}, "DP-SGD has no guarantee without a delta: its noise is Gaussian").
		Because("%s", why).Try("%s need none", withoutDelta())
}

// withoutDelta names the learners that are useful without a delta.
func withoutDelta() string {
	var names []string
	for _, l := range learner.All() {
		name := "--model " + l.Model
		if l.Method != "" {
			name = "--method " + l.Method
		}
		if l.Pure && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// The flags that DP-SGD uses, and those that only some of all learners use.
var (
	dpSGDHeeds = []string{"noise", "sampling", "batch", "epochs", "steps", "clip", "clipping", "rate", "schedule", "optimizer", "sampler", "initial", "checkpoint", "resume", "plot", "spec", "hidden"}
	oneHeeds   = append([]string{"rounds", "clusters", "components", "regularization"}, dpSGDHeeds...)
)

// gave reports whether a flag was given.
func (v *training) gave(name string) bool {
	return slices.ContainsFunc(v.command.Given, func(g command.Given) bool { return g.Name == name })
}

// choose finds the learner of --model and --method, and refuses flags that this learner does
// not use.
func (v *training) choose() error {
	if v.model == "" && v.spec == "" {
		return diagnostic.New("D113", diagnostic.Span{}, "the --model is missing").
			Try("--model logistic or tree for classes, linear or tree for numbers, cnn or scatter for images")
	}
	if v.model != "" && v.spec != "" {
		return diagnostic.New("D115", diagnostic.Span{}, "--model and --spec exclude each other")
	}
	model, heeds, what := v.model, dpSGDHeeds, "a network by DP-SGD"
	if v.spec != "" {
		model = "mlp" // every specified network takes the options of "mlp"
	}
	switch l, ok := learner.Find(model, v.method); {
	case ok:
		v.learner, heeds, what = &l, l.Settings, "a "+model+" model"
		v.Untargeted = l.Predicts == learner.Nothing
		if l.Method != "" {
			what += " by " + l.Method
		}
		if l.Method == dpFTRL {
			heeds = append(slices.Clone(heeds), "hidden", "spec")
		}
	case (v.method == "" || v.method == dpSGD) && slices.Contains(Models, model):
		if v.gave("delta") && v.delta.Sign() == 0 {
			return needsDelta("none was asked for")
		}
	default:
		d := diagnostic.New("D163", diagnostic.Span{}, "a %s model is not trained by --method %s", model, v.method)
		if methods := methodsOf(model); methods != nil {
			return d.Try("--method %s", strings.Join(append([]string{dpSGD}, methods...), ", or "))
		}
		return d.Try("it has only one method: leave --method out")
	}
	for _, name := range oneHeeds {
		if v.gave(name) && !slices.Contains(heeds, name) {
			return diagnostic.New("D115", diagnostic.Span{}, "--%s is not of %s", name, what)
		}
	}
	return nil
}

// suits refuses a learner of classes for a number, and a learner of numbers for classes.
func suits(l *learner.Learner, t task) error {
	wrong := func(why string) error {
		var others []string
		for _, o := range learner.All() {
			if o.Predicts == learner.Either && o.Method == "" {
				others = append(others, o.Model)
			}
		}
		return diagnostic.New("D163", diagnostic.Span{}, "a %s model: %s", l.Model, why).Try("--model %s", strings.Join(others, ", "))
	}
	switch {
	case l.Predicts == learner.Classes && t.classes == 0:
		return wrong("its target is a class, not a number")
	case l.Predicts == learner.Number && t.classes > 0:
		return wrong("its target is a number, not a class")
	}
	return nil
}

// learn makes a run of a learner other than DP-SGD: planned, charged whole, and then fitted.
func (v *training) learn(ctx context.Context, t *terminal.Terminal, j *job) error {
	y, err := v.whoPays(ctx, j)
	if err != nil {
		return err
	}
	switch {
	case y.measure == filter.Pure && v.delta.Sign() > 0:
		return diagnostic.New("D115", diagnostic.Span{}, "--delta %v, of a domain of measure pure", v.delta).Because("it has no delta to spend")
	case y.measure != filter.Pure && !v.gave("delta"):
		if v.delta, err = y.deltaFor(v.target); err != nil {
			return err
		}
	}
	s := v.settings
	s.Steps, s.Rate, s.Clip, s.Examples = v.steps, v.rate, v.clip, int(v.units)
	if v.learner.Method == dpFTRL {
		s.Seed = v.initial
	}
	if v.Public {
		if err := v.load(ctx, j); err != nil {
			return err
		}
		if s.Examples = j.set.Len(); s.Examples == 0 {
			return diagnostic.New("D161", diagnostic.Span{}, "there are no examples in %s", v.Source())
		}
		v.units = int64(j.set.UnitCount())
	}
	form := j.data.Form(!v.Own())
	form.Network = j.spec
	c, err := y.choose(ctx, j.budget, v.learner, form, s, cost.Options{Epsilon: v.target, Delta: v.delta, PerUnit: j.data.Selection.PerUnit})
	if err != nil {
		return err
	}
	if j.budget == nil { // no ledger pays: the budget ends with the run
		j.unpaid = !v.Public
		j.budget = c.budget
	}
	text, err := v.fit(ctx, t, j, c)
	if err != nil {
		return err
	}
	file, err := v.file(j, c, s, text)
	if err != nil {
		return err
	}
	if err := learn.WriteModel(v.out, file); err != nil {
		return diagnostic.New("D109", diagnostic.Span{}, "%v", err).Because("the charge stays")
	}
	return v.report(ctx, t, j, c.whole.String(), nil, file)
}

// A chosenRun is a planned run: its guarantee, and the event that is charged for it.
type chosenRun struct {
	learner.Run
	budget    budget.Budget // pays; without a ledger, just enough for this run
	whole     privacy.Event
	delta     privacy.Delta
	guarantee learn.Guarantee
	share     atomic.Uint64 // the finished share of the run, as a float64
}

// choose plans a run that costs the target in the payer's own measure; b pays for it, or
// nobody if b is nil.
func (y payer) choose(ctx context.Context, b budget.Budget, l *learner.Learner, form learner.Form, s learner.Settings, o cost.Options) (*chosenRun, error) {
	refused := func(err error) error {
		text := err.Error()
		if _, after, found := strings.Cut(text, cost.ErrParameter.Error()+": "); found {
			text = after
		}
		return diagnostic.New("D164", diagnostic.Span{}, "no run of --model %s has epsilon %v at delta %v", strings.TrimSpace(l.Model+" "+l.Method), o.Epsilon, o.Delta).
			Because("%s", text).Try("a larger --target-epsilon, or another --model")
	}
	c := &chosenRun{budget: b, delta: o.Delta}
	var err error
	if o.Within, err = y.allowanceOf(o); err != nil {
		return nil, refused(err)
	}
	if b == nil {
		own := filter.Budget{Measure: filter.Approx, Epsilon: o.Epsilon, Delta: o.Delta, Neighbours: y.neighbours}
		if o.Delta.Sign() == 0 {
			own.Measure = filter.Pure
		}
		if c.budget, err = budget.NewInMemory("this run", own); err != nil {
			return nil, refused(err)
		}
	}
	o.Progress = func(share float64) { c.share.Store(math.Float64bits(share)) }
	if c.Run, err = l.Plan(c.budget, form, s, o); err != nil {
		return nil, refused(err)
	}
	if c.whole, err = c.Charge(ctx); err != nil {
		return nil, refused(err)
	}
	// Whatever can fail must fail before the charge.
	if c.guarantee, err = learn.GuaranteeOf(c.Event(), c.whole, c.delta, accountant.Options{Neighbours: y.neighbours}); err != nil {
		return nil, refused(err)
	}
	return c, nil
}

// allowanceOf is the filter that stands for a target: pure if it has no delta.
func (y payer) allowanceOf(o cost.Options) (filter.Filter, error) {
	if o.Delta.Sign() == 0 {
		return filter.New(filter.Budget{Measure: filter.Pure, Epsilon: o.Epsilon, Neighbours: y.neighbours})
	}
	return y.allowance(o.Epsilon, o.Delta)
}

// fit charges the run, reads the examples, and fits the model. It returns the model as a file
// holds it.
func (v *training) fit(ctx context.Context, t *terminal.Terminal, j *job, c *chosenRun) (text []byte, err error) {
	release := budget.Release{Statement: command.Said(v.command), Events: []privacy.Event{c.whole}, Delta: c.delta}
	reservation, err := j.budget.Reserve(ctx, release)
	if err != nil {
		return nil, v.refused(ctx, err)
	}
	if !j.unpaid && !v.Public {
		t.Say("charged %v", c.whole)
	}
	if err := v.load(ctx, j); err != nil {
		return nil, err
	}
	done := t.Watch(ctx, func() string {
		share := math.Float64frombits(c.share.Load())
		return fmt.Sprintf("training %s %.0f%%", terminal.Gauge(share), 100*share)
	})
	defer done()
	m, err := c.Fit(ctx, noise.System(), j.set)
	if err != nil {
		return nil, v.refused(ctx, err)
	}
	if text, err = json.Marshal(m); err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}
	note, err := json.Marshal(map[string]string{"model": fmt.Sprintf("%x", sha256.Sum256(text))})
	if err != nil {
		return nil, err
	}
	return text, reservation.Commit(ctx, note)
}

// A LearnedPlan is the plan of such a learner in a model's certificate.
type LearnedPlan struct {
	Model    string           `json:"model"`
	Method   string           `json:"method,omitempty"`
	Settings learner.Settings `json:"settings"`
	Events   []string         `json:"events"` // under the relation; sensitivities are of all examples of a unit
}

// file is the model's file.
func (v *training) file(j *job, c *chosenRun, s learner.Settings, text []byte) (*learn.Model, error) {
	plan := LearnedPlan{Model: cmp.Or(v.model, "network"), Method: v.learner.Method, Settings: s}
	for _, e := range c.Events() {
		plan.Events = append(plan.Events, e.String())
	}
	planned, err := json.Marshal(plan)
	if err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}
	encoding, err := json.Marshal(j.data)
	if err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}
	data := learn.Data{Names: []string{v.Source()}, Units: v.units, Unit: v.UnitName(), Bound: j.data.Selection.PerUnit, Mode: learn.Single, Public: j.public}
	if !v.Own() {
		data.Mode = learn.Bounded
	}
	if data.Units > 0 {
		data.Basis = learn.Public
	}
	return &learn.Model{
		Learner: v.learner.Kind, Encoding: encoding, Learned: text,
		Certificate: &learn.Certificate{
			Data: data, Plan: planned, Method: strings.TrimSpace(v.learner.Model + " " + v.learner.Method), Guarantee: c.guarantee,
			Ledger: learn.Entry{Budget: j.paidBy(), Run: fmt.Sprintf("%x", sha256.Sum256(text))[:32], Statement: command.Said(v.command), Charged: c.whole.String()},
			Code:   learn.ThisCode(), Date: time.Now().UTC(),
		},
	}, nil
}
