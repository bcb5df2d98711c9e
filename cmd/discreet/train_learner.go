package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	budgets "github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The methods of networks.
const (
	dpSGD  = "dp-sgd"
	dpFTRL = "dp-ftrl"
)

// modelNames are what --model may be: the networks, and what the learners learn.
func modelNames() []string {
	names := slices.Clone(models)
	for _, l := range learner.All() {
		if !slices.Contains(names, l.Model) {
			names = append(names, l.Model)
		}
	}
	return names
}

// methodNames are what --method may be.
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
		if l.Method != "" { // of several models
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

// needsDelta refuses DP-SGD, and says what there is.
func needsDelta(why string) error {
	return diagnostic.New("D164", diagnostic.Span{}, "DP-SGD has no guarantee without a delta: its noise is Gaussian").
		Because("%s", why).Try("%s need none", withoutDelta())
}

// withoutDelta names the learners that are worth having without a delta.
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

// What only some learners heed, and DP-SGD.
var (
	dpSGDHeeds = []string{"noise", "sampling", "batch", "epochs", "steps", "clip", "clipping", "rate", "schedule", "optimizer", "sampler", "initial", "checkpoint", "resume", "plot", "spec", "hidden"}
	oneHeeds   = append([]string{"rounds", "clusters", "components", "regularization"}, dpSGDHeeds...)
)

// gave reports whether a flag was given.
func (v *training) gave(name string) bool {
	return slices.ContainsFunc(v.command.given, func(g given) bool { return g.name == name })
}

// choose finds the learner of --model and --method, and refuses flags that it does not
// heed.
func (v *training) choose() error {
	if v.model == "" && v.spec == "" {
		return diagnostic.New("D113", diagnostic.Span{}, "nothing says which --model").
			Try("--model logistic or tree for classes, linear or tree for numbers, cnn for images")
	}
	if v.model != "" && v.spec != "" {
		return diagnostic.New("D115", diagnostic.Span{}, "--model and --spec exclude each other")
	}
	model, heeds, what := v.model, dpSGDHeeds, "a network by DP-SGD"
	if v.spec != "" {
		model = "mlp" // any network will do
	}
	switch l, ok := learner.Find(model, v.method); {
	case ok:
		v.learner, heeds, what = &l, l.Settings, "a "+model+" model"
		v.untargeted = l.Predicts == learner.Nothing
		if l.Method != "" {
			what += " by " + l.Method
		}
		if l.Method == dpFTRL {
			heeds = append(slices.Clone(heeds), "hidden", "spec")
		}
	case (v.method == "" || v.method == dpSGD) && slices.Contains(models, model):
		if v.gave("delta") && v.delta.Sign() == 0 {
			return needsDelta("none was asked for")
		}
	default:
		d := diagnostic.New("D163", diagnostic.Span{}, "a %s model is not trained by --method %s", model, v.method)
		if methods := methodsOf(model); methods != nil {
			return d.Try("--method %s", strings.Join(append([]string{dpSGD}, methods...), ", or "))
		}
		return d.Try("there is one way to it: leave --method out")
	}
	for _, name := range oneHeeds {
		if v.gave(name) && !slices.Contains(heeds, name) {
			return diagnostic.New("D115", diagnostic.Span{}, "--%s is not of %s", name, what)
		}
	}
	return nil
}

// suits refuses a learner of classes for numbers, and the other way round.
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

// learn is a run of another learner than DP-SGD: planned, charged whole, and only then is
// anything read.
func (v *training) learn(ctx context.Context, t *terminal, j *job) error {
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
	if v.public {
		if err := v.load(ctx, j); err != nil {
			return err
		}
		if s.Examples = j.set.Len(); s.Examples == 0 {
			return diagnostic.New("D161", diagnostic.Span{}, "there are no examples in %s", v.source())
		}
		v.units = int64(j.set.UnitCount())
	}
	form := j.data.form(!v.own())
	form.Network = j.spec
	c, err := y.choose(ctx, v.learner, form, s, cost.Options{Epsilon: v.target, Delta: v.delta, PerUnit: j.data.Selection.PerUnit})
	if err != nil {
		return err
	}
	if j.budget == nil { // the run's own, of which nobody keeps a ledger
		j.unpaid = !v.public
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

// form is what is known of the examples before any is read.
func (d *modelData) form(units bool) learner.Form {
	set := &example.Set{Outputs: 1, Classes: len(d.Classes), Features: []float32{}}
	f := learner.Form{Set: set, Norm: d.norm()}
	if d.Shape != nil {
		set.Width = product(d.Shape)
		for i := range set.Width {
			f.Features = append(f.Features, feature.Feature{Name: fmt.Sprintf("pixel %d, %d", i/d.Shape[1], i%d.Shape[1]), At: i, Lower: -1, Upper: 1})
		}
	} else {
		set.Width = d.Encoding.Width()
		f.Features = feature.Of(d.Encoding)
	}
	if len(d.Classes) == 0 && (d.Encoding == nil || d.Encoding.Target == nil) {
		set.Classes = 1 // and no label is known: see example.NewBuilder
	}
	if set.Classes > 0 {
		set.Labels = []int32{}
	} else {
		set.Targets = []float32{}
	}
	if units {
		set.Units = []int32{}
	}
	return f
}

// A chosenRun is planned: what it guarantees, and the event that is charged for it.
type chosenRun struct {
	learner.Run
	budget    budgets.Budget // one that suffices for just this run
	whole     privacy.Event
	delta     privacy.Delta
	guarantee learn.Guarantee
	share     atomic.Uint64 // of it that is made, a float64
}

// choose plans a run whose cost in the payer's own measure is the target, or where the
// learner cannot meet that exactly as much of it as a thousandth less noise would exceed.
func (y payer) choose(ctx context.Context, l *learner.Learner, form learner.Form, s learner.Settings, o cost.Options) (c *chosenRun, err error) {
	refused := func(err error) error {
		text := err.Error()
		for _, prefix := range []string{cost.ErrParameter.Error() + ": "} {
			if _, after, found := strings.Cut(text, prefix); found {
				text = after
			}
		}
		return diagnostic.New("D164", diagnostic.Span{}, "no run of --model %s has epsilon %v at delta %v", strings.TrimSpace(l.Model+" "+l.Method), o.Epsilon, o.Delta).
			Because("%s", text).Try("a larger --target-epsilon, or another --model")
	}
	f, err := y.allowanceOf(o)
	if err != nil {
		return nil, refused(err)
	}
	at := func(share *big.Rat) (*chosenRun, bool, error) {
		c, err := y.at(ctx, l, form, s, o, share, f)
		if err != nil {
			return nil, false, err
		}
		charge, err := f.Charge([]privacy.Event{c.whole}, o.Delta)
		return c, err == nil && charge.Within(f.Budget()), err
	}
	// What fails must fail before it is paid for.
	certified := func(c *chosenRun) (*chosenRun, error) {
		c.guarantee, err = learn.GuaranteeOf(c.Event(), c.whole, c.delta, accountant.Options{Neighbours: y.neighbours})
		if err != nil {
			return nil, refused(err)
		}
		return c, nil
	}
	c, ok, err := at(big.NewRat(1, 1))
	switch {
	case err != nil:
		return nil, refused(err)
	case ok:
		return certified(c)
	}
	low, high := big.NewRat(0, 1), big.NewRat(1, 1) // of a thousand parts
	var best *chosenRun
	for range 24 {
		middle := new(big.Rat).Add(low, high)
		middle = numeric.FloorDigits(middle.Quo(middle, big.NewRat(2, 1)), 5)
		if middle.Cmp(low) <= 0 {
			break
		}
		c, ok, err := at(middle)
		switch {
		case err != nil || !ok:
			high = middle
		default:
			best, low = c, middle
		}
		if gap := new(big.Rat).Sub(high, low); best != nil && gap.Mul(gap, big.NewRat(1000, 1)).Cmp(low) <= 0 {
			break
		}
	}
	if best == nil {
		return nil, refused(errors.New("so little buys nothing"))
	}
	return certified(best)
}

// allowanceOf is the filter that a target amounts to: pure where it has no delta.
func (y payer) allowanceOf(o cost.Options) (filter.Filter, error) {
	if o.Delta.Sign() == 0 {
		return filter.New(filter.Budget{Measure: filter.Pure, Epsilon: o.Epsilon, Neighbours: y.neighbours})
	}
	return y.allowance(o.Epsilon, o.Delta)
}

// at plans the run at a share of the target, and finds the event that it is as a whole.
//
// A plan that is fixed beforehand is one mechanism, and enters a filter by its guarantee.
// Where that is an (ε, δ) it is the one that package cost was asked for and keeps to: the
// learner's noise is ρ-zCDP for a ρ whose conversion at δ is ε, or its theorem is of (ε, δ)
// itself. Other measures charge what the plan is in their own terms.
func (y payer) at(ctx context.Context, l *learner.Learner, form learner.Form, s learner.Settings, o cost.Options, share *big.Rat, f filter.Filter) (*chosenRun, error) {
	epsilon, err := privacy.NewEpsilon(new(big.Rat).Mul(share, o.Epsilon.Rat()))
	if err != nil {
		return nil, err
	}
	o.Epsilon = epsilon
	delta := o.Delta
	point := delta.Sign() > 0 && (f.Measure() == filter.Approx || f.Measure() == filter.Whitehouse)
	switch {
	case point || delta.Sign() == 0:
	// What is no zCDP, or what GDP knows nothing of, as discrete Gaussian noise: without a
	// delta it is of every measure.
	case l.Point || f.Measure() == filter.GDP:
		o.Delta = privacy.Delta{}
	default:
		if o.Rho, err = filter.ZCDPRho(epsilon, delta); err != nil {
			return nil, err
		}
		o.Epsilon = privacy.Epsilon{}
	}
	own := filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta, Neighbours: y.neighbours}
	if delta.Sign() == 0 {
		own.Measure = filter.Pure
	}
	c := &chosenRun{delta: delta}
	if c.budget, err = budgets.NewInMemory("this run", own); err != nil {
		return nil, err
	}
	o.Progress = func(share float64) { c.share.Store(math.Float64bits(share)) }
	if c.Run, err = l.Plan(c.budget, form, s, o); err != nil {
		return nil, err
	}
	switch {
	case point:
		c.whole = privacy.Approx{Epsilon: epsilon, Delta: delta}
	default:
		c.whole, err = accountant.Guarantee(ctx, c.Event(), f, delta, accountant.Options{Neighbours: y.neighbours})
	}
	return c, err
}

// fit charges the run, reads the examples, and makes it. It returns the model as files
// hold it.
func (v *training) fit(ctx context.Context, t *terminal, j *job, c *chosenRun) (text []byte, err error) {
	release := budgets.Release{Statement: said(v.command), Events: []privacy.Event{c.whole}, Delta: c.delta}
	reservation, err := j.budget.Reserve(ctx, release)
	if err != nil {
		return nil, v.refused(ctx, err)
	}
	if !j.unpaid && !v.public {
		t.say("charged %v", c.whole)
	}
	done := t.watch(ctx, func() string { return "training " + gauge(math.Float64frombits(c.share.Load())) })
	defer done()
	if err := v.load(ctx, j); err != nil {
		return nil, err
	}
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

// A learnedPlan is what a certificate says of another learner's plan.
type learnedPlan struct {
	Model    string           `json:"model"`
	Method   string           `json:"method,omitempty"`
	Settings learner.Settings `json:"settings"`
	Events   []string         `json:"events"` // for the relation, sensitivities of a unit's examples together
}

// file is the model's file.
func (v *training) file(j *job, c *chosenRun, s learner.Settings, text []byte) (*learn.Model, error) {
	plan := learnedPlan{Model: cmp.Or(v.model, "network"), Method: v.learner.Method, Settings: s}
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
	data := learn.Data{Names: []string{v.source()}, Units: v.units, Unit: v.unitName(), Bound: j.data.Selection.PerUnit, Mode: learn.Single, Public: j.public}
	if !v.own() {
		data.Mode = learn.Bounded
	}
	if data.Units > 0 {
		data.Basis = learn.Public
	}
	return &learn.Model{
		Learner: v.learner.Kind, Encoding: encoding, Learned: text,
		Certificate: &learn.Certificate{
			Data: data, Plan: planned, Method: strings.TrimSpace(v.learner.Model + " " + v.learner.Method), Guarantee: c.guarantee,
			Ledger: learn.Entry{Budget: j.paidBy(), Run: fmt.Sprintf("%x", sha256.Sum256(text))[:32], Statement: said(v.command), Charged: c.whole.String()},
			Code:   learn.ThisCode(), Date: time.Now().UTC(),
		},
	}, nil
}
