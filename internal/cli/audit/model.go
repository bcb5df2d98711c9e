package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/privacy/plan"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func auditModelCommand() *command.Command {
	c := &command.Command{
		UsageLine: "model --model-file MODEL --table TABLE|--csv FILE|--images FILE [--others FILE] [flags]",
		Of:        "audit",
		Short:     "tell from a model who was in its training data",
		Long: `Membership inference: each example gets a score from the model, and the higher it is,
the more it speaks for having been trained on. By itself the score is how sure the
model is of the example's own label. With --shadows other models are trained on random
halves of the same examples, as the model was trained, and the score is held against
theirs (calibrated loss, and the likelihood ratio LiRA, offline and online).

What matters is how many are found out for certain: the true positive rate where one in
a thousand, and one in a hundred, is accused wrongly, and beside it the most that the
model's certificate allows any attack. Averages over all examples hide them.

Members are what the model was trained on, others what it was not: of a model that was
trained with --holdout both are found in the same table or CSV file; else --others
names a file of people like them. With --holdout 0.5, who was in was a fair coin, and the
guesses prove an epsilon that the training has at least.

Scores are made from exact values: the output is for the owner alone. Of a private table
the ledger's history has it before anything is read. An attack that fails proves nothing.`,
		Examples: [2]string{
			"discreet audit model --model-file income.model --table adult --shadows 16",
			"discreet audit model --model-file digits.model --images train-images --labels train-labels --others t10k-images --other-labels t10k-labels --plot roc.svg",
		},
	}
	a := modelAudit{bits: noise.System()}
	a.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := a.settle(c); err != nil {
			return err
		}
		defer a.Close()
		return a.run(ctx, t)
	}
	return c
}

// A modelAudit is what the flags of audit model say.
type modelAudit struct {
	workplace.Workplace
	input.Examples
	workplace.Statement
	bits noise.Bits

	model               string
	others, otherLabels string
	shadows             int
	confidence          float64
	plot                string
	json                bool
}

func (a *modelAudit) define(fs *flag.FlagSet) {
	a.Workplace.Define(fs)
	a.Examples.Define(fs, "images", "labels")
	a.DefineUnit(fs)
	a.DefineAnalyst(fs)
	fs.StringVar(&a.model, "model-file", "", "the model's `FILE`")
	fs.StringVar(&a.others, "others", "", "examples that were not trained on: a CSV or IDX `FILE`, as those that were (default: what training held out)")
	fs.StringVar(&a.otherLabels, "other-labels", "", "the labels of the other images: an IDX `FILE`")
	fs.Func("shadows", "train `N` models to compare with, 4 or more (default none)", command.Whole(&a.shadows))
	a.confidence = 0.95
	fs.Func("confidence", "of the intervals and the epsilon that is proved, between 0 and 1 (default 0.95): `C`", func(text string) error {
		c, err := strconv.ParseFloat(text, 64)
		if err != nil || !(c > 0 && c < 1) {
			return errors.New("want a number between 0 and 1, such as 0.95")
		}
		a.confidence = c
		return nil
	})
	fs.StringVar(&a.plot, "plot", "", "draw the attacks on logarithmic axes, under what the certificate allows, into `FILE`.svg, or in the terminal with -")
	fs.BoolVar(&a.json, "json", false, "print JSON")
}

func (a *modelAudit) settle(c *command.Command) error {
	if err := a.One(c); err != nil {
		return err
	}
	switch {
	case a.Table != "" && a.others != "":
		return diagnostic.New("D115", diagnostic.Span{}, "--others is for files").Because("for a table, the others are the records that training held out")
	case a.Images != "" && a.others == "":
		return diagnostic.New("D113", diagnostic.Span{}, "images that were not trained on are missing").Try("--others FILE --other-labels FILE")
	case (a.Images != "" && a.others != "") != (a.otherLabels != ""):
		return diagnostic.New("D113", diagnostic.Span{}, "--other-labels goes with --others of images")
	case a.shadows > 0 && a.shadows < 4:
		return diagnostic.New("D113", diagnostic.Span{}, "%d shadow models", a.shadows).Because("the likelihood needs a few models on each side").Try("--shadows 16")
	}
	return terminal.CheckPlot(a.plot, true)
}

func (a *modelAudit) run(ctx context.Context, t *terminal.Terminal) error {
	m, err := input.LoadModel(a.model)
	if err != nil {
		return err
	}
	if m.Net == nil {
		return diagnostic.New("D165", diagnostic.Span{}, "the model in %s is not a network", a.model).
			Because("the attacks compare its losses with those of networks that they train themselves")
	}
	others := input.Examples{CSV: a.others, Unit: a.Unit, AsTable: true}
	a.AsTable, a.Screen, others.Screen = true, t, t
	if err := a.Open(&a.Workplace); err != nil {
		return err
	}
	a.Tell(t)
	if err := m.Fits(ctx, &a.Examples); err != nil {
		return err
	}
	if a.Images != "" {
		others = input.Examples{Images: a.others, Labels: a.otherLabels}
	}
	if a.others != "" {
		if err := others.Open(&a.Workplace); err != nil {
			return err
		}
		others.Tell(t)
		if others.Table != "" {
			if err := m.Fits(ctx, &others); err != nil {
				return err
			}
		}
	} else if m.Data.Selection.Holdout == 0 {
		return diagnostic.New("D165", diagnostic.Span{}, "training held no records out").
			Because("the attack needs examples that were not trained on, to compare members with").Try("train with --holdout 0.5, or name --others")
	}
	for _, side := range []*input.Examples{&a.Examples, &others} {
		if side.Table == "" || side.Public {
			continue
		}
		if a.Ledger == nil {
			if err := a.OpenGuarding(ctx); err != nil {
				return err
			}
		}
		if _, _, err := a.Recorder(ctx); err != nil {
			return err
		}
		if err := a.Ledger.Access(ctx, side.Domain().ID, cmp.Or(a.Analyst, workplace.DefaultAnalyst()), "audit model: "+side.Source(), time.Now()); err != nil {
			return err
		}
	}
	members, rest, err := a.sides(ctx, m, &others)
	if err != nil {
		return err
	}
	r := &leakReport{Model: a.model, Data: a.Source(), Private: !a.Public || others.File != "", Members: members.Len(), Others: rest.Len(), Shadows: a.shadows}
	if r.Private {
		r.Notice = auditPrivate
	}
	if m.Certificate != nil {
		r.Guarantee = &m.Certificate.Guarantee
	}
	if r.Members == 0 || r.Others == 0 {
		return diagnostic.New("D132", diagnostic.Span{}, "there must be some members and some others")
	}
	set, member := mixed(members, rest)
	claim, err := a.claim(ctx, m)
	if err != nil {
		return err
	}
	curves, err := a.attack(ctx, t, m, set, member, r, claim)
	if err != nil {
		return unplayableModel(err)
	}
	if a.plot != "" {
		if err := a.draw(t, curves, r, claim); err != nil {
			return err
		}
	}
	if a.json {
		return t.WriteJSON(r)
	}
	r.write(t)
	return nil
}

// sides reads both sides.
func (a *modelAudit) sides(ctx context.Context, m *input.Model, others *input.Examples) (members, rest *example.Set, err error) {
	var sides [2]*example.Set
	for i, e := range []*input.Examples{&a.Examples, others} {
		switch s := m.Data.Selection; {
		case m.Data.Shape != nil:
			sides[i], err = m.Read(ctx, &a.Workplace, e, 1)
		case a.others != "" && i == 1:
			s.Holdout, s.Held = 0, false // these records were never split
			sides[i], err = e.Read(ctx, &a.Workplace, m.Encoding(), s)
		default: // the two parts of the training source: trained on, held out
			s.Held = i == 1
			sides[i], err = a.Read(ctx, &a.Workplace, m.Encoding(), s)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return sides[0], sides[1], nil
}

// mixed joins both sides, sorted by the content of the examples, and says who is a member. An
// attack may then use places, ties and sums: they are a function of the examples that does not
// depend on who is a member.
func mixed(members, others *example.Set) (set *example.Set, member []bool) {
	set = joined(members, others)
	order := make([]int, set.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareExamples(set, i, j) })
	member = make([]bool, len(order))
	for i, row := range order {
		member[i] = row < members.Len()
	}
	return set.Pick(order), member
}

// compareExamples orders examples by their numbers and labels; equal numbers by their bits.
func compareExamples(set *example.Set, i, j int) int {
	row := func(i int) []float32 { return set.Features[i*set.Width : (i+1)*set.Width] }
	return cmp.Or(
		slices.CompareFunc(row(i), row(j), func(x, y float32) int {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(math.Float32bits(x), math.Float32bits(y)))
		}),
		cmp.Compare(labelOf(set, i), labelOf(set, j)))
}

// joined is one set after another; no unit is in both.
func joined(a, b *example.Set) *example.Set {
	set := &example.Set{Width: a.Width, Classes: a.Classes, Outputs: a.Outputs,
		Features: append(append([]float32(nil), a.Features...), b.Features...),
		Labels:   append(append([]int32(nil), a.Labels...), b.Labels...),
		Targets:  append(append([]float32(nil), a.Targets...), b.Targets...)}
	if a.Units != nil && b.Units != nil {
		set.Units = append([]int32(nil), a.Units...)
		for _, u := range b.Units {
			set.Units = append(set.Units, int32(a.UnitCount())+u)
		}
	}
	return set
}

// claim is the trade-off that a model's certificate states: the curve of its whole plan. It
// is nil where there is no certificate.
func (a *modelAudit) claim(ctx context.Context, m *input.Model) (audit.Points, error) {
	if m.Certificate == nil {
		return nil, nil
	}
	g := m.Certificate.Guarantee
	points := audit.Points{{Epsilon: g.Epsilon, Delta: g.Delta.Float64()}}
	if g.Group > 1 || g.Event == "" {
		return points, nil // the event speaks of one example of the group
	}
	charged, err := plan.Parse(g.Event)
	if err != nil {
		return points, nil // the plan of another learner
	}
	event, err := charged.Event()
	if err != nil {
		return points, nil
	}
	last := math.Inf(1)
	for _, epsilon := range []float64{0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 6, 8} {
		curve, err := accountant.DeltaCurve(ctx, event, []float64{epsilon}, accountant.Options{Neighbours: g.Neighbours})
		if err != nil {
			break
		}
		delta := curve[0].Y.High
		points = append(points, audit.Point{Epsilon: epsilon, Delta: delta})
		if last-delta < 1e-15 {
			break // delta is convex in e^epsilon: greater ones claim less, but for 1e-10 of power
		}
		last = delta
	}
	return points, nil
}

// attack runs all attacks for which there are shadow models.
func (a *modelAudit) attack(ctx context.Context, t *terminal.Terminal, m *input.Model, set *example.Set, member []bool, r *leakReport, claim audit.Points) (curves []curve, err error) {
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	phi := make([]float64, len(rows))
	if err := leakage.NewScorer(m.Net, set).Scores(ctx, rows, phi); err != nil {
		return nil, err
	}
	attacks, shadows := leakage.Attacks[:1], &leakage.Shadows{}
	if a.shadows > 0 {
		attacks = leakage.Attacks
		step, done := t.Progress(ctx, "training shadow models", a.shadows)
		defer done()
		shadows, err = leakage.Train(ctx, a.learner(m, set), leakage.GameOptions{Examples: len(rows), Shadows: a.shadows, Bits: a.bits, Progress: func(int) { step() }})
		done()
		if err != nil {
			return nil, err
		}
	}
	var scores []float64
	for _, name := range attacks {
		if scores, err = shadows.Scores(name, phi); err != nil {
			return nil, err
		}
		roc, err := leakage.NewROC(scores, member)
		if err != nil {
			return nil, err
		}
		report, err := roc.Report(name, a.confidence)
		if err != nil {
			return nil, err
		}
		one := attackReport{Report: report}
		for _, rate := range report.Rates {
			if claim != nil {
				one.Allowed = append(one.Allowed, claim.Power(rate.Target))
			}
		}
		r.Attacks = append(r.Attacks, one)
		curves = append(curves, curve{name, roc})
	}
	if a.others == "" && m.Data.Selection.Holdout == 0.5 && set.Units == nil {
		r.Bound, err = a.bound(set, scores, member, m)
	}
	return curves, err
}

// bound is what the coins of the held-out half prove, by the last attack. The key drew a
// coin for each record by its content, so records that occur twice share one: they are left
// out.
func (a *modelAudit) bound(set *example.Set, scores []float64, member []bool, m *input.Model) (*leakage.Bound, error) {
	twice := func(i, j int) bool { // equal records stand side by side
		return 0 <= i && j < len(member) && compareExamples(set, i, j) == 0
	}
	var s []float64
	var in []bool
	for i := range member {
		if !twice(i-1, i) && !twice(i, i+1) {
			s, in = append(s, scores[i]), append(in, member[i])
		}
	}
	if len(s) == 0 {
		return nil, nil
	}
	o := leakage.GuessOptions{Confidence: a.confidence, Delta: 1e-5, Bits: a.bits}
	if m.Certificate != nil {
		o.Delta = m.Certificate.Guarantee.Delta.Float64()
	}
	return leakage.Guess(s, in, o)
}

func labelOf(set *example.Set, i int) float64 {
	if set.Classes > 0 {
		return float64(set.Labels[i])
	}
	return float64(set.Targets[i])
}

// learner trains shadow models as the model was trained: by its plan and under a budget of
// their own that ends with the run, because a shadow model is thrown away. A model without a
// certificate of such a plan has plainly trained shadows.
func (a *modelAudit) learner(m *input.Model, set *example.Set) leakage.Learner {
	var plan learn.Plan
	if m.Certificate == nil || m.Certificate.Method != "dp-sgd" || json.Unmarshal(m.Certificate.Plan, &plan) != nil {
		return &leakage.Plain{Spec: m.Network, Set: set, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.002}, Epochs: 30}
	}
	return leakage.LearnerFunc(func(ctx context.Context, rows []int) (leakage.Scorer, error) {
		seed, err := a.bits.Uint64()
		if err != nil {
			return nil, err
		}
		g := m.Certificate.Guarantee
		epsilon, err := privacy.EpsilonFromFloat(g.Epsilon * (1 + 1e-9)) // the certificate's number is a rounded float64
		if err != nil {
			return nil, err
		}
		b, err := budget.NewInMemory("shadows", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: plan.Delta, Neighbours: plan.Neighbours})
		if err != nil {
			return nil, err
		}
		run, err := learn.Start(ctx, learn.Options{Plan: plan, Network: m.Network, Data: set.Pick(rows), Budget: b, Statement: "a shadow model", Seed: seed, Workers: 1})
		if err != nil {
			return nil, err
		}
		if err := run.Train(ctx); err != nil {
			return nil, err
		}
		return leakage.NewScorer(run.Network(), set), nil
	})
}

// unplayableModel gives an audit's error the one form.
func unplayableModel(err error) error {
	if errors.Is(err, leakage.ErrParameter) {
		return diagnostic.New("D132", diagnostic.Span{}, "%s", diagnostic.Cause(err))
	}
	return unplayable(err)
}
