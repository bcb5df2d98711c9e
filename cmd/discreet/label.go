package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"

	budgets "github.com/discreet-dp/discreet/budget" // budget is a function here
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	examples "github.com/discreet-dp/discreet/learn/example" // example is a type of the tests
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
)

func labelCommand() *Command {
	c := &Command{
		UsageLine: "label --aggregator lnmax|gnmax|confident --domain DOMAIN --votes FILE | --images FILE --labels FILE --public FILE --teachers N",
		Short:     "label public examples by a private ensemble of teachers; spends budget",
		Long: `Teachers are trained on disjoint parts of private images, which a keyed hash of each
image chooses, and vote on public ones; or their votes are given. Of each vote a
noisy winner is released, or, by the confident aggregator, whether they agree and
then the winner. Every query is charged to the domain before its label leaves, at a
cost that holds for any votes; when the budget is exhausted, what was released stays.

Labels are CSV with the header row,label, a row being the number of a public example,
from 0. What was not answered has none. discreet pate analyze says what they cost at
these votes, which is private.`,
		Examples: [2]string{
			"discreet label --domain patient --votes votes.csv --aggregator gnmax --sigma 40 > labels.csv",
			"discreet label --domain digits --images train-images.gz --labels train-labels.gz --public public-images.gz --teachers 250 --aggregator confident --sigma 40 --threshold 200 --sigma-threshold 150",
		},
	}
	l := &labelling{}
	l.define(c)
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := none(c, args); err != nil {
			return err
		}
		return l.run(ctx, t)
	}
	return c
}

// A labelling is what the flags of label say.
type labelling struct {
	voting
	workplace
	statement
	votes, images, labels, public, network, keep string
	classes, teachers, epochs, queries           int
	domain                                       string
	delta                                        privacy.Delta
	json                                         bool
}

func (l *labelling) define(c *Command) {
	fs := &c.Flags
	l.voting.define(fs)
	fs.StringVar(&l.votes, "votes", "", "the `FILE` of votes of teachers that were trained elsewhere (- for standard input)")
	fs.StringVar(&l.images, "images", "", "the `FILE` of private images, in the IDX format, gzipped or not")
	fs.StringVar(&l.labels, "labels", "", "the `FILE` of their labels")
	fs.StringVar(&l.public, "public", "", "the `FILE` of public images, which are labelled")
	fs.IntVar(&l.classes, "classes", 10, "with --images: the declared number `K` of classes (default 10)")
	fs.IntVar(&l.teachers, "teachers", 0, "with --images: the number `N` of teachers")
	fs.StringVar(&l.network, "network", "", "with --images: the `FILE` of the teachers' network, as JSON (default a small convolutional one)")
	fs.IntVar(&l.epochs, "epochs", 30, "with --images: `N` passes of a teacher over its part (default 30)")
	fs.StringVar(&l.keep, "private-votes", "", "with --images: write the exact votes to `FILE`, for the owner's pate analyze; they are PRIVATE")
	fs.IntVar(&l.queries, "queries", 0, "ask about the first `N` examples only")
	fs.StringVar(&l.domain, "domain", "", "charge the ledger's domain `DOMAIN`")
	fs.Func("delta", "of domains that add up epsilon and delta: the `D` at which a query with Gaussian noise is charged", amount(&l.delta, privacy.ParseDelta))
	fs.BoolVar(&l.json, "json", false, "print JSON")
	l.defineLedger(fs, "the ledger's `FILE` (default discreet.ledger)")
	l.defineAnalyst(fs)
}

// A labelled is what label prints as JSON.
type labelled struct {
	Labels   []rowLabel `json:"labels"`
	Asked    int        `json:"asked"`
	Answered int        `json:"answered"`
	// Stopped is "budget" if it was exhausted before all was asked, else null.
	Stopped   *string         `json:"stopped"`
	Events    []privacy.Event `json:"events"`
	Domain    string          `json:"domain"`
	Remaining any             `json:"remaining"`
}

type rowLabel struct {
	Row   int   `json:"row"`
	Label int32 `json:"label"`
}

func (l *labelling) run(ctx context.Context, t *terminal) error {
	t.json = l.json
	o, err := l.aggregator()
	if err != nil {
		return err
	}
	if err := l.sources(); err != nil {
		return err
	}
	if l.domain == "" {
		return diagnostic.New("D140", diagnostic.Span{}, "nobody pays for these labels").
			Because("every query is charged to a domain of a ledger, before its label leaves").
			Try("name the domain with --domain and the ledger with --ledger; its owner makes one with discreet ledger create")
	}
	l.resolve()
	defer l.close()
	if err := l.openLedger(ctx); err != nil {
		return err
	}
	if o.Budget, err = durable.New(ctx, l.ledger, durable.Options{Domain: l.domain, Analyst: cmp.Or(l.Analyst, defaultAnalyst()), Now: time.Now}); err != nil {
		return err
	}
	o.Delta = l.delta
	if o.Sigma != nil && l.delta.Sign() == 0 && o.Budget.Filter().Measure() == filter.Approx {
		return missing("at which delta domain "+l.domain+" is charged for Gaussian noise", "--delta D")
	}
	v, err := l.ask(ctx, t)
	if err != nil {
		return err
	}
	o.Classes = v.Classes
	if l.queries > 0 {
		v.Counts = v.Counts[:min(l.queries, v.Len())*v.Classes]
	}
	a, err := pate.NewAggregator(o)
	if err != nil {
		return pateRefusal(err)
	}
	return l.release(ctx, t, a, v, o.Budget)
}

// release answers and prints label by label, so that nothing that was paid is lost.
func (l *labelling) release(ctx context.Context, t *terminal, a *pate.Aggregator, v *analysis.Votes, b budgets.Budget) error {
	out := &labelled{Labels: []rowLabel{}, Domain: l.domain}
	csv := pate.NewLabelsWriter(t.out)
	step, done := t.progress(ctx, "labelling", v.Len())
	run, err := a.Label(ctx, v, func(row int, label int32) error {
		step()
		if !l.json {
			return csv.Write(row, label)
		}
		if label != pate.NoLabel {
			out.Labels = append(out.Labels, rowLabel{row, label})
		}
		return nil
	})
	done()
	out.Asked, out.Answered = run.Asked(), run.Answered
	exhausted := errors.Is(err, budgets.ErrExceeded)
	if err != nil && (!exhausted || run.Asked() == 0) {
		if run.Asked() > 0 {
			t.say("%d queries were asked and %d answered; they stay paid", out.Asked, out.Answered)
		}
		return err
	}
	if exhausted {
		stopped := "budget"
		out.Stopped = &stopped
	}
	test, answer := a.Events()
	if test != nil && out.Asked > 0 {
		out.Events = append(out.Events, privacy.Repeat{Count: out.Asked, Event: test})
	}
	if out.Answered > 0 {
		out.Events = append(out.Events, privacy.Repeat{Count: out.Answered, Event: answer})
	}
	left, err := b.Left(ctx)
	if err != nil {
		return err
	}
	remaining := inMeasure(b.Filter().Measure(), left)
	out.Remaining = remaining
	if l.json {
		return t.writeJSON(out)
	}
	t.say("%d queries asked, %d answered", out.Asked, out.Answered)
	if exhausted {
		t.say("the budget of domain %q does not suffice for more", l.domain)
	}
	for _, e := range out.Events {
		t.say("%s", t.paint(dim, "cost: "+e.String()))
	}
	t.say("%s", t.paint(dim, "left: "+remainingText(remaining)))
	return nil
}

// aggregator reads the aggregator's parameters as the decimals that were written.
func (l *labelling) aggregator() (o pate.Options, err error) {
	if _, err := l.options(); err != nil {
		return o, err
	}
	for _, f := range []struct {
		to         **big.Rat
		name, text string
	}{{&o.Gamma, "gamma", l.gamma}, {&o.Sigma, "sigma", l.sigma}, {&o.Threshold, "threshold", l.threshold}, {&o.ThresholdSigma, "sigma-threshold", l.thresholdSigma}} {
		if f.text == "" {
			continue
		}
		if *f.to, err = numeric.ParseRat(f.text); err != nil {
			return o, diagnostic.New("D112", diagnostic.Span{}, "--%s: want a decimal", f.name)
		}
	}
	return o, nil
}

// sources refuses flags that do not say where votes come from.
func (l *labelling) sources() error {
	switch {
	case l.queries < 0:
		return diagnostic.New("D112", diagnostic.Span{}, "--queries: want a whole number above 0")
	case l.votes != "" && (l.images != "" || l.labels != "" || l.public != "" || l.keep != ""):
		return diagnostic.New("D115", diagnostic.Span{}, "--votes come from teachers that were trained elsewhere: no --images, --labels, --public or --private-votes")
	case l.votes != "":
		return nil
	case l.images == "" || l.labels == "" || l.public == "":
		return missing("who votes on what", "--votes FILE, or --images, --labels and --public")
	case l.teachers < 1 || l.teachers > pate.MaxTeachers:
		return missing("how many teachers there are", "--teachers N")
	case l.epochs < 1:
		return diagnostic.New("D112", diagnostic.Span{}, "--epochs: want a whole number above 0")
	}
	return nil
}

// ask returns the votes: those given, or those of teachers that it trains.
func (l *labelling) ask(ctx context.Context, t *terminal) (*analysis.Votes, error) {
	if l.votes != "" {
		return readVotes(l.votes, t.in)
	}
	private, shape, err := examples.IDX(examples.IDXOptions{Images: l.images, Labels: l.labels, Classes: l.classes, Unit: true})
	if err != nil {
		return nil, diagnostic.New("D183", diagnostic.Span{}, "%v", err)
	}
	public, _, err := examples.IDX(examples.IDXOptions{Images: l.public, Shape: shape, Classes: l.classes, Unit: true})
	if err != nil {
		return nil, diagnostic.New("D183", diagnostic.Span{}, "%v", err)
	}
	learner, err := l.learner(shape)
	if err != nil {
		return nil, err
	}
	step, done := t.progress(ctx, "training teachers", l.teachers)
	e, err := pate.Train(ctx, private, pate.EnsembleOptions{Teachers: l.teachers, Learner: learner, Progress: step})
	done()
	if err != nil {
		return nil, err
	}
	v, err := e.Votes(ctx, public)
	if err != nil || l.keep == "" {
		return v, err
	}
	f, err := os.OpenFile(l.keep, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, unwritable(l.keep, err)
	}
	if err := errors.Join(v.Write(f), f.Close()); err != nil {
		return nil, unwritable(l.keep, err)
	}
	return v, nil
}

func unwritable(name string, err error) error {
	return diagnostic.New("D109", diagnostic.Span{}, "%s cannot be written: %v", name, err).Because("nothing was charged")
}

// learner is the teachers' network.
func (l *labelling) learner(shape []int) (*pate.Network, error) {
	spec := pate.ImageNetwork(shape[0], shape[1], l.classes)
	if l.network != "" {
		f, err := os.Open(l.network)
		if err != nil {
			return nil, unreadable(l.network, err)
		}
		defer f.Close()
		spec = network.Spec{}
		d := json.NewDecoder(io.LimitReader(f, 1<<20))
		d.DisallowUnknownFields()
		if err := d.Decode(&spec); err != nil {
			return nil, diagnostic.New("D183", diagnostic.Span{}, "%s is no network: %v", l.network, err)
		}
	}
	net, err := network.New(spec)
	if err == nil && (net.Width() != shape[0]*shape[1] || net.OutputSize() != l.classes) {
		err = fmt.Errorf("it maps %d numbers to %d scores, not images of %d×%d to %d classes", net.Width(), net.OutputSize(), shape[0], shape[1], l.classes)
	}
	if err != nil {
		return nil, diagnostic.New("D183", diagnostic.Span{}, "the teachers' network cannot be made: %v", err)
	}
	return &pate.Network{Spec: spec, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.004}, Epochs: l.epochs, Batch: 16,
		Shift: 1, Height: shape[0], Width: shape[1], Seed: 1}, nil
}
