package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
)

// Pate is discreet pate.
func Pate() *command.Command {
	c := &command.Command{
		UsageLine: "pate analyze [flags]",
		For:       command.Owner,
		Short:     "what the answers of a private ensemble of teachers cost",
		Long:      `An ensemble of teachers votes on public examples, and noisy winners are released.`,
		Examples: [2]string{
			"discreet pate analyze --votes votes.csv --aggregator gnmax --sigma 40 --delta 1e-5",
			"discreet pate analyze --votes votes.csv --aggregator lnmax --gamma 0.05 --delta 1e-5 --json",
		},
		Verbs: []*command.Command{pateAnalyzeCommand()},
	}
	for _, v := range c.Verbs {
		v.Of = c.Name()
		c.Words = append(c.Words, v.Name())
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

func pateAnalyzeCommand() *command.Command {
	c := &command.Command{
		UsageLine: "analyze --votes FILE --aggregator lnmax|gnmax|confident --gamma G | --sigma S [--threshold T --sigma-threshold S1] --delta D",
		Short:     "epsilon by any votes, and by these",
		Long: `Votes are CSV without a header: a line a query, a column a class, whole numbers of
teachers. The first epsilon holds whatever the votes are, and is what a budget is
charged. The second depends on the votes and is as private as they are: it must not
be shown. --publish shows it with noise, charged to a domain of a ledger by itself;
nothing is refunded for it.

Neighbours are votes of which one teacher's differ, in as many queries as you like.
The confident aggregator's cost is the expected one; with --answered, the labels that
were released (as discreet label writes them), it is that of the run.`,
		Examples: [2]string{
			"discreet pate analyze --votes votes.csv --aggregator confident --sigma 40 --threshold 200 --sigma-threshold 150 --delta 1e-5",
			"discreet pate analyze --votes votes.csv --aggregator gnmax --sigma 40 --delta 1e-5 --publish --domain patient --json",
		},
	}
	a := &pateAnalysis{command: c}
	a.define(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		return a.run(ctx, t)
	}
	return c
}

// A voting is what the flags of an aggregator say.
type voting struct {
	aggregator                              string
	gamma, sigma, threshold, thresholdSigma string
}

func (v *voting) define(fs *flag.FlagSet) {
	fs.Func("aggregator", "how votes become labels: `lnmax|gnmax|confident`", func(text string) error {
		return command.OneOf(&v.aggregator, text, []string{"lnmax", "gnmax", "confident"})
	})
	fs.StringVar(&v.gamma, "gamma", "", "of lnmax: Laplace noise of scale 1/`G`, a query is 2G-DP")
	fs.StringVar(&v.sigma, "sigma", "", "of gnmax and confident: Gaussian noise of standard deviation `S`")
	fs.StringVar(&v.threshold, "threshold", "", "of confident: a query is answered if the noisy largest number of votes is `T` or more")
	fs.StringVar(&v.thresholdSigma, "sigma-threshold", "", "of confident: the standard deviation `S1` of that noise")
}

// check refuses flags that the aggregator does not take, and the lack of those that it needs.
func (v *voting) check() error {
	want := map[string][]bool{"lnmax": {true, false, false}, "gnmax": {false, true, false}, "confident": {false, true, true}}[v.aggregator]
	if want == nil {
		return command.Missing("the aggregator", "--aggregator lnmax, gnmax or confident")
	}
	for i, f := range []struct{ name, value string }{{"gamma", v.gamma}, {"sigma", v.sigma}, {"threshold", v.threshold}, {"sigma-threshold", v.thresholdSigma}} {
		switch has := f.value != ""; {
		case want[min(i, 2)] && !has:
			return command.Missing("a parameter of "+v.aggregator, "--"+f.name)
		case !want[min(i, 2)] && has:
			return diagnostic.New("D115", diagnostic.Span{}, "--%s has no effect with --aggregator %s", f.name, v.aggregator)
		}
	}
	return nil
}

// numberOf reads a flag that check has seen.
func numberOf(name, text string, positive bool) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, diagnostic.New("D112", diagnostic.Span{}, "--%s: want a number", name)
	}
	if positive && !(x > 0) {
		return 0, diagnostic.New("D181", diagnostic.Span{}, "--%s %s: want a number above 0", name, text)
	}
	return x, nil
}

// options describe the aggregator to package analysis.
func (v *voting) options() (o analysis.Options, err error) {
	if err := v.check(); err != nil {
		return o, err
	}
	if v.aggregator == "lnmax" {
		gamma, err := numberOf("gamma", v.gamma, true)
		o.LNMax = &analysis.LNMax{Gamma: gamma}
		return o, err
	}
	sigma, err := numberOf("sigma", v.sigma, true)
	o.GNMax = &analysis.GNMax{Sigma: sigma}
	if err != nil || v.aggregator == "gnmax" {
		return o, err
	}
	o.Threshold = &analysis.Threshold{}
	if o.Threshold.At, err = numberOf("threshold", v.threshold, false); err == nil {
		o.Threshold.Sigma, err = numberOf("sigma-threshold", v.thresholdSigma, true)
	}
	return o, err
}

// A pateAnalysis is what the flags of pate analyze say.
type pateAnalysis struct {
	voting
	workplace.Workplace
	workplace.Statement
	command         *command.Command
	votes, answered string
	delta           privacy.Delta
	orders          []float64
	compare, json   bool
	publish         bool
	domain          string
	publishing      pate.PublishOptions
	beta, noise, at string
}

func (a *pateAnalysis) define(fs *flag.FlagSet) {
	fs.StringVar(&a.votes, "votes", "", "the votes' `FILE` (- for standard input)")
	a.voting.define(fs)
	fs.Func("delta", "the `D` of the epsilons", workplace.Amount(&a.delta, privacy.ParseDelta))
	fs.Func("orders", "Rényi orders, or moments of lnmax: `A,B..C,...` (default 2 to 500, moments 1 to 20)", func(text string) (err error) {
		a.orders, err = command.OrdersAbove(text, 0)
		return err
	})
	fs.StringVar(&a.answered, "answered", "", "of confident: the `FILE` of the labels that were released; the cost is then that of the run")
	fs.BoolVar(&a.compare, "compare-pysyft", false, "show also what PySyft reports, which takes labels for row numbers")
	fs.BoolVar(&a.json, "json", false, "print JSON")
	fs.BoolVar(&a.publish, "publish", false, "release the cost of these votes with noise; spends budget of --domain")
	fs.StringVar(&a.domain, "domain", "", "with --publish: charge the ledger's domain `DOMAIN`")
	fs.Func("teachers", "with --publish: the declared number `N` of teachers", func(text string) error {
		var n int64
		err := wholeUpTo(&n, pate.MaxTeachers)(text)
		a.publishing.Teachers = int(n)
		return err
	})
	fs.StringVar(&a.at, "publish-order", "", "with --publish: at the Rényi order `A`, chosen without a look at the votes (default about twice the one that is best for any votes)")
	fs.StringVar(&a.beta, "beta", "", "with --publish: the smoothness `B` of the sensitivity, below 1/2A (default 0.4/A)")
	fs.StringVar(&a.noise, "publish-sigma", "", "with --publish: noise of `S` times the smooth sensitivity (default: a tenth of divergence)")
	fs.Func("publish-delta", "with --publish: the `D` of the charge, in domains that do not add up divergences", workplace.Amount(&a.publishing.Delta, privacy.ParseDelta))
	a.DefineConfidence(fs, "with --publish: of the upper bound, `C` between 0 and 1 (default 0.95)")
	a.DefineLedger(fs, "with --publish: the ledger's `FILE` (default discreet.ledger)")
	a.DefineAnalyst(fs)
}

// A pateResult is what pate analyze prints as JSON.
type pateResult struct {
	Independent analysis.Bound `json:"independent"`
	Dependent   privateBound   `json:"dependent"`
	Answered    float64        `json:"answered"`
	// Published is null unless --publish was given.
	Published *pate.Published `json:"published"`
	Asked     int             `json:"asked"`
	Classes   int             `json:"classes"`
	Improved  struct {
		Independent analysis.Bound `json:"independent"`
		Dependent   privateBound   `json:"dependent"`
	} `json:"improved"`
	PySyft   *pysyft  `json:"pysyft,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// A privateBound is a bound that is marked as private.
type privateBound struct {
	analysis.Bound
	Publishable bool `json:"publishable"` // false
}

// A pysyft is what PySyft reports of the same votes.
type pysyft struct {
	WithLabelsAsRows privateBound `json:"with_labels_as_rows"`
	WithEveryRow     privateBound `json:"with_every_row"`
	Note             string       `json:"note"`
}

func (a *pateAnalysis) run(ctx context.Context, t *terminal.Terminal) error {
	t.JSON = a.json
	o, err := a.voting.options()
	if err != nil {
		return err
	}
	switch {
	case a.votes == "":
		return command.Missing("the file of votes", "--votes FILE")
	case a.delta.Sign() == 0:
		return command.Missing("the delta", "--delta D")
	case a.publish && a.answered == "" && o.Threshold != nil:
		return command.Missing("the file of the labels that were released (an expected cost bounds nothing)", "--answered FILE")
	case a.answered != "" && o.Threshold == nil:
		return diagnostic.New("D115", diagnostic.Span{}, "--answered is for --aggregator confident: the others answer all queries")
	}
	o.Delta, o.Orders = a.delta.Float64(), a.orders
	if err := a.preparePublishing(ctx, o); err != nil {
		return err
	}
	defer a.Close()
	done := t.Busy(ctx, "reading votes")
	v, err := readVotes(a.votes, t.In)
	done()
	if err != nil {
		return err
	}
	if a.answered != "" {
		if o.Answered, err = readAnswered(a.answered, v.Len()); err != nil {
			return err
		}
	}
	done = t.Busy(ctx, "analysing votes")
	r, err := a.analyze(v, o)
	done()
	if err != nil {
		return err
	}
	if a.publish {
		done = t.Busy(ctx, "publishing")
		r.Published, err = pate.Publish(ctx, v, o, a.publishing)
		done()
		if err != nil {
			return pateRefusal(err)
		}
	}
	if a.json {
		return t.WriteJSON(r)
	}
	return r.write(t, a)
}

func (a *pateAnalysis) analyze(v *analysis.Votes, o analysis.Options) (*pateResult, error) {
	found, err := analysis.Analyze(v, o)
	if err != nil {
		return nil, diagnostic.New("D181", diagnostic.Span{}, "%v", err)
	}
	r := &pateResult{Independent: bounded(found.Independent), Dependent: privateBound{Bound: bounded(found.Dependent)}, Answered: found.Answered, Asked: v.Len(), Classes: v.Classes}
	r.Improved.Independent, r.Improved.Dependent = bounded(found.Improved.Independent), privateBound{Bound: bounded(found.Improved.Dependent)}
	if s := v.Suspicious(); s != "" {
		r.Warnings = append(r.Warnings, s)
	}
	last := o.Orders
	if last == nil && o.LNMax != nil {
		last = analysis.DefaultMoments()
	} else if last == nil {
		last = analysis.DefaultOrders()
	}
	if at := slices.Max(last); r.Independent.Order == at || r.Dependent.Order == at {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the least epsilon is at %g, the last order or moment that was tried: --orders 1.5,2..%g may find less", at, 5*at))
	}
	if a.compare {
		if r.PySyft, err = comparePySyft(v, o, r.Dependent); err != nil {
			return nil, diagnostic.New("D181", diagnostic.Span{}, "%v", err)
		}
	}
	return r, nil
}

// comparePySyft reads votes as PySyft's perform_analysis does. Its documentation and tests
// pass aggregated labels where row numbers belong: the row with the number of the label
// then stands for each query, and only the first rows count.
func comparePySyft(v *analysis.Votes, o analysis.Options, right privateBound) (*pysyft, error) {
	var rows []int
	for i := range v.Len() {
		label := 0
		for j, n := range v.Row(i) {
			if n > v.Row(i)[label] {
				label = j
			}
		}
		rows = append(rows, min(label, v.Len()-1))
	}
	if o.Answered != nil {
		o.Answered = make([]bool, v.Len())
		for i := range o.Answered {
			o.Answered[i] = true
		}
	}
	wrong, err := analysis.Analyze(v.Rows(rows), o)
	if err != nil {
		return nil, err
	}
	return &pysyft{privateBound{Bound: bounded(wrong.Dependent)}, right,
		"PySyft's perform_analysis takes the labels that its own documentation passes for row numbers: it analyses the first rows again and again"}, nil
}

// ofPublish are the flags that have an effect only with --publish.
var ofPublish = []string{"domain", "teachers", "publish-order", "beta", "publish-sigma", "publish-delta", "confidence", "ledger", "anchor", "analyst"}

// preparePublishing refuses whatever can be refused before votes are read.
func (a *pateAnalysis) preparePublishing(ctx context.Context, o analysis.Options) error {
	p := &a.publishing
	if !a.publish {
		for _, g := range a.command.Given {
			if slices.Contains(ofPublish, g.Name) {
				return diagnostic.New("D115", diagnostic.Span{}, "--%s has no effect without --publish", g.Name)
			}
		}
		return nil
	}
	if o.LNMax != nil {
		return diagnostic.New("D182", diagnostic.Span{}, "the cost of lnmax cannot be published").
			Because("no bound on its smooth sensitivity is proved").Try("gnmax and confident have one")
	}
	if a.domain == "" {
		return diagnostic.New("D140", diagnostic.Span{}, "no domain pays for this release").
			Because("a cost that depends on the votes leaves with noise, charged to a domain of a ledger").
			Try("name the domain with --domain and the ledger with --ledger")
	}
	if p.Teachers < 1 {
		return command.Missing("the declared number of teachers", "--teachers N")
	}
	for _, f := range []struct {
		to         *float64
		name, text string
	}{{&p.Order, "publish-order", a.at}, {&p.Beta, "beta", a.beta}, {&p.Sigma, "publish-sigma", a.noise}} {
		if f.text == "" {
			continue
		}
		var err error
		if *f.to, err = numberOf(f.name, f.text, true); err != nil {
			return err
		}
	}
	p.Confidence = a.Confidence
	a.Resolve()
	if err := a.OpenLedger(ctx); err != nil {
		return err
	}
	b, err := durable.New(ctx, a.Ledger, durable.Options{Domain: a.domain, Analyst: cmp.Or(a.Analyst, workplace.DefaultAnalyst()), Now: time.Now})
	if err != nil {
		return err
	}
	switch m := b.Filter().Measure(); {
	case m != filter.RDP && p.Delta.Sign() == 0:
		return command.Missing("the delta at which domain "+a.domain+", of measure "+string(m)+", is charged for the publication,", "--publish-delta D")
	case m == filter.RDP && p.Delta.Sign() > 0:
		return diagnostic.New("D115", diagnostic.Span{}, "--publish-delta has no effect").Because("domain %q adds up divergences", a.domain)
	}
	p.Budget = b
	return nil
}

// pateRefusal gives refusals of package pate the one form.
func pateRefusal(err error) error {
	switch {
	case errors.Is(err, analysis.ErrConditions):
		return diagnostic.New("D182", diagnostic.Span{}, "%v", err).Because("nothing was charged").
			Try("another --publish-order or --sigma may meet the conditions; the cost for any votes needs none")
	case errors.Is(err, pate.ErrPublication):
		return diagnostic.New("D182", diagnostic.Span{}, "%v", err).Because("nothing was charged")
	case errors.Is(err, pate.ErrOptions):
		return diagnostic.New("D181", diagnostic.Span{}, "%v", err)
	}
	return err
}

// readVotes reads a file, or standard input.
func readVotes(name string, in io.Reader) (*analysis.Votes, error) {
	r := in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, workplace.Unreadable(name, err)
		}
		defer f.Close()
		r = f
	}
	v, err := analysis.ReadVotes(r)
	var bad *analysis.ReadError
	if errors.As(err, &bad) {
		return nil, diagnostic.New("D180", diagnostic.Span{}, "%s: %v", name, bad).Try("%s", bad.Hint)
	}
	if err != nil {
		return nil, workplace.Unreadable(name, err)
	}
	return v, nil
}

// readAnswered reads which of the queries were answered.
func readAnswered(name string, n int) ([]bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, workplace.Unreadable(name, err)
	}
	defer f.Close()
	answered, err := pate.ReadAnswered(f, n)
	var bad *pate.LabelsError
	if errors.As(err, &bad) {
		return nil, diagnostic.New("D180", diagnostic.Span{}, "%s: %v", name, bad).Try("labels are CSV with the header row,label, as discreet label writes them")
	}
	if err != nil {
		return nil, workplace.Unreadable(name, err)
	}
	return answered, nil
}

// write prints a result for people.
func (r *pateResult) write(t *terminal.Terminal, a *pateAnalysis) error {
	at := "order"
	if a.aggregator == "lnmax" {
		at = "moment"
	}
	bound := func(name string, b analysis.Bound, note string) {
		fmt.Fprintf(t.Out, "%-12s epsilon %s at %s %s: %s\n", name, figure(b.Epsilon), at, figure(b.Order), note)
	}
	answered := figure(r.Answered)
	if a.aggregator == "confident" && a.answered == "" {
		answered += " expected"
	}
	fmt.Fprintf(t.Out, "%-12s %d queries, %d classes; answered %s\n", "votes", r.Asked, r.Classes, answered)
	bound("independent", r.Independent, "holds for any votes")
	bound("dependent", r.Dependent.Bound, "PRIVATE, of these votes; not to be published")
	bound("improved", r.Improved.Independent, "the first by a tighter conversion")
	bound("", r.Improved.Dependent.Bound, "the second, PRIVATE")
	if p := r.PySyft; p != nil {
		bound("pysyft", p.WithLabelsAsRows.Bound, "WRONG: labels taken for row numbers")
	}
	if p := r.Published; p != nil {
		charged, err := json.Marshal(p.Charged)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		fmt.Fprintf(t.Out, "%-12s epsilon %s at order %s: with confidence %s the cost is no more; estimated %s\n", "published", figure(p.Epsilon), figure(p.Order), figure(p.Confidence), figure(p.Estimate))
		t.Say("%s", t.Paint(terminal.Dim, "charged for the publication: "+string(charged)))
	}
	for _, w := range r.Warnings {
		t.Say("warning: %s", w)
	}
	return nil
}

// figure prints a number for people.
func figure(x float64) string { return terminal.Short(terminal.JSONNumber(x)) }

// bounded is a bound as JSON can hold it: the largest number in place of infinity.
func bounded(b analysis.Bound) analysis.Bound {
	b.Epsilon = min(b.Epsilon, math.MaxFloat64)
	return b
}
