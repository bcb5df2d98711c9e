package learn

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// Label is discreet label.
func Label() *command.Command {
	c := &command.Command{
		UsageLine: "label --table TABLE --target COLUMN | --csv FILE ... | --images FILE --labels FILE | --ensemble FILE | --votes FILE [flags]",
		For:       command.Owner,
		Short:     "label public examples by a private ensemble of teachers; spends budget",
		Long: `Teachers are trained on disjoint parts of private records or images, which a keyed hash
of each unit chooses, so that one unit changes one teacher; they vote on the public
examples of --public. Or their votes are given. Of each vote a noisy winner is released,
or, by the confident aggregator, whether they agree and then the winner. It is charged to
the table's domain or to --domain, at a cost that holds for any votes.

A domain of measure pure, zcdp, rdp or gdp is charged query by query, before each label
leaves; when the budget is exhausted, what was released stays. One that adds up epsilon
and delta is charged once, with --delta, for a plan: so many tests and at most so many
answers, as --answers or --target-epsilon say or as many as fit. Then all labels are
drawn, and leave together. What is reserved and not used stays paid.

Records become numbers as for discreet train: by the domains and bounds that the catalog,
--columns or --encoding declare. --save-ensemble keeps the teachers in a file for
--ensemble, which asks them again, and is charged again. That file, and the exact votes
of --private-votes, are PRIVATE: no guarantee covers a teacher.

Labels are CSV with the header row,label: a row is the number of a public example, from
0; a label is the class's declared name, or of images and votes its number. What was not
answered has none. discreet pate analyze says what labels cost at these votes, which is
private.`,
		Examples: [2]string{
			"discreet label --table adult --target income --teachers 250 --public public.csv --aggregator gnmax --sigma 40 --save-ensemble adult.ensemble > labels.csv",
			"discreet label --ensemble adult.ensemble --public more.csv --aggregator confident --sigma 40 --threshold 200 --sigma-threshold 150",
		},
	}
	l := &labelling{command: c, classes: 10, epochs: 30}
	l.define(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = l.json
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := l.settle(); err != nil {
			return err
		}
		defer l.Close()
		return l.run(ctx, t)
	}
	return c
}

// A labelling is what the flags of label say.
type labelling struct {
	voting
	workplace.Workplace
	workplace.Statement
	input.Declarations
	command *command.Command

	from             input.Examples // private examples
	votes, ensemble  string         // or the file of the votes, or of the teachers
	public           string
	classes          int
	teachers, epochs int64
	perUnit, queries int64 // 0: all
	network          string
	save, keep       string
	answers          int64 // reserved; 0: as many as fit
	target           privacy.Epsilon
	domain           string
	delta            privacy.Delta
	json             bool
}

func (l *labelling) define(fs *flag.FlagSet) {
	l.Workplace.Define(fs)
	fs.StringVar(&l.from.Table, "table", "", "the private examples are the records of the catalog's `TABLE`")
	fs.StringVar(&l.from.CSV, "csv", "", "the private examples are the records of a CSV `FILE`, which need be in no catalog")
	l.from.DefineUnit(fs)
	l.Declarations.Define(fs)
	fs.Func("max-per-unit", "a unit's teacher sees at most `K` of its records (default all)", wholeUpTo(&l.perUnit, 1<<20))
	fs.StringVar(&l.from.Images, "images", "", "the `FILE` of private images, in the IDX format, gzipped or not")
	fs.StringVar(&l.from.Labels, "labels", "", "the `FILE` of their labels")
	fs.Func("classes", "of images: the labels are 0 to `K`-1 (default 10)", func(text string) (err error) {
		if l.classes, err = strconv.Atoi(text); err != nil || l.classes < 2 || l.classes > 256 {
			return errors.New("want a whole number from 2 to 256")
		}
		return nil
	})
	fs.StringVar(&l.votes, "votes", "", "the `FILE` of votes of teachers that were trained elsewhere (- for standard input)")
	fs.StringVar(&l.ensemble, "ensemble", "", "ask the teachers of a `FILE` that --save-ensemble wrote")
	fs.StringVar(&l.public, "public", "", "the `FILE` of public examples, which are labelled: CSV with the columns of the records, or IDX images")
	fs.Func("teachers", "train `N` teachers", wholeUpTo(&l.teachers, pate.MaxTeachers))
	fs.StringVar(&l.network, "network", "", "the `FILE` of the teachers' network, as JSON (default linear, of images a small convolutional one)")
	fs.Func("epochs", "`N` passes of a teacher over its part (default 30)", wholeUpTo(&l.epochs, 1e6))
	fs.StringVar(&l.save, "save-ensemble", "", "keep the teachers in `FILE`, for --ensemble; they are PRIVATE. Without --public nothing is asked")
	fs.StringVar(&l.keep, "private-votes", "", "write the exact votes to `FILE`, for the owner's pate analyze; they are PRIVATE")
	l.voting.define(fs)
	fs.Func("queries", "ask about the first `N` examples only", wholeUpTo(&l.queries, privacy.MaxCount))
	fs.StringVar(&l.domain, "domain", "", "of files: charge the ledger's domain `DOMAIN`")
	fs.Func("delta", "of domains that add up epsilon and delta: the `D` of the whole plan, which is charged once", workplace.Amount(&l.delta, privacy.ParseDelta))
	fs.Func("answers", "of a plan: reserve `K` answers, and as many tests as fit (default as many as fit)", wholeUpTo(&l.answers, 1<<30))
	fs.Func("target-epsilon", "of a plan: it costs `E` at most (default what the domain has left)", workplace.Amount(&l.target, privacy.ParseEpsilon))
	fs.BoolVar(&l.json, "json", false, "print JSON")
	l.DefineAnalyst(fs)
}

// sources are the flags that say where votes come from.
func (l *labelling) sources() map[string]string {
	return map[string]string{"table": l.from.Table, "csv": l.from.CSV, "images": l.from.Images, "votes": l.votes, "ensemble": l.ensemble}
}

// source is the one of them that was given; settle makes sure that there is one.
func (l *labelling) source() string {
	for name, value := range l.sources() {
		if value != "" {
			return name
		}
	}
	return ""
}

// trains reports whether teachers are to be trained.
func (l *labelling) trains() bool { return l.votes == "" && l.ensemble == "" }

// asks reports whether anything is to be labelled.
func (l *labelling) asks() bool { return l.votes != "" || l.public != "" }

// effective are, for each flag, the sources of votes with which it has an effect; a flag that
// is not listed has one with all.
var effective = map[string]string{
	"labels": "images", "classes": "images", "encoding": "csv", "unit": "csv",
	"target": "table csv", "columns": "table csv", "bins": "table csv", "max-per-unit": "table csv",
	"teachers": "table csv images", "network": "table csv images", "epochs": "table csv images", "save-ensemble": "table csv images",
	"public": "table csv images ensemble", "private-votes": "table csv images ensemble",
	"domain": "csv images votes",
}

// settle refuses a command line that says too little or too much: a flag without an effect
// was meant to have one.
func (l *labelling) settle() error {
	var given []string
	for name, value := range l.sources() {
		if value != "" {
			given = append(given, "--"+name)
		}
	}
	slices.Sort(given)
	switch len(given) {
	case 0:
		return command.Missing("the source of the teachers", "--table, --csv or --images to train teachers, --ensemble to ask those of before, or --votes")
	case 1:
	default:
		return diagnostic.New("D115", diagnostic.Span{}, "%s exclude each other", strings.Join(given, " and ")).Because("votes come from one place")
	}
	source := l.source()
	for _, g := range l.command.Given {
		with, restricted := effective[g.Name]
		switch {
		case restricted && !slices.Contains(strings.Fields(with), source):
			d := diagnostic.New("D115", diagnostic.Span{}, "--%s has no effect with --%s", g.Name, source)
			if g.Name == "domain" {
				return d.Because("the source of the records determines who pays")
			}
			return d.Try("it is of --%s", strings.ReplaceAll(with, " ", ", --"))
		case g.Name == "bins" && l.Encoding != "":
			return diagnostic.New("D115", diagnostic.Span{}, "--bins has no effect with --encoding").Because("the encoding says how numbers are cut")
		case !l.asks() && slices.Contains([]string{"aggregator", "gamma", "sigma", "threshold", "sigma-threshold", "queries", "delta", "answers", "target-epsilon", "private-votes"}, g.Name):
			return diagnostic.New("D115", diagnostic.Span{}, "--%s has no effect without --public", g.Name).Because("nothing is asked")
		}
	}
	if l.trains() {
		if err := l.settleTraining(); err != nil {
			return err
		}
	}
	switch {
	case !l.asks() && l.save == "":
		return command.Missing("the file of public examples to label", "--public FILE; or --save-ensemble FILE, to train teachers and ask them later")
	case strings.Contains(effective["domain"], source) && l.domain == "":
		return diagnostic.New("D140", diagnostic.Span{}, "no domain pays for these labels").
			Because("labels are charged to a domain of a ledger, before they leave").
			Try("name the domain with --domain and the ledger with --ledger; its owner makes one with discreet ledger create")
	case !l.asks():
		return nil
	}
	_, err := l.options()
	return err
}

// settleTraining refuses flags with which teachers cannot be trained.
func (l *labelling) settleTraining() error {
	if l.from.Images != "" {
		if l.from.Labels == "" {
			return command.Missing("the file of the images' labels", "--labels FILE")
		}
	} else if err := l.Declarations.Check(&l.from, l.command); err != nil {
		return err
	}
	if l.teachers == 0 {
		return command.Missing("the number of teachers", "--teachers N")
	}
	return nil
}

func (l *labelling) run(ctx context.Context, t *terminal.Terminal) error {
	v, err := l.electorate(ctx, t)
	if err != nil {
		return err
	}
	b, err := l.budget(ctx, v.data.Domain)
	if err != nil {
		return err
	}
	var a *pate.Aggregator
	var p *pate.Plan // nil unless the domain is charged once for all queries
	if l.asks() {
		if a, p, err = l.aggregate(ctx, v, b); err != nil {
			return err
		}
	}
	if l.trains() {
		if err := l.train(ctx, t, v); err != nil {
			return err
		}
	}
	v.tellIdle(t)
	if !l.asks() {
		return l.kept(t, v)
	}
	if err := l.ask(ctx, t, v); err != nil {
		return err
	}
	return l.release(ctx, t, a, p, v, b)
}

// budget is who pays.
func (l *labelling) budget(ctx context.Context, domain string) (*durable.Budget, error) {
	l.Resolve()
	if err := l.OpenGuarding(ctx); err != nil {
		return nil, err
	}
	return durable.New(ctx, l.Ledger, durable.Options{Domain: domain, Analyst: cmp.Or(l.Analyst, workplace.DefaultAnalyst()), Now: time.Now})
}

// aggregate makes the aggregator, and checks what the budget can pay before teachers are
// trained.
func (l *labelling) aggregate(ctx context.Context, v *electorate, b *durable.Budget) (*pate.Aggregator, *pate.Plan, error) {
	o, err := l.aggregator()
	if err != nil {
		return nil, nil, err
	}
	f := b.Filter()
	o.Budget, o.Delta = b, l.delta
	if o.Classes = len(v.data.Classes); v.votes != nil {
		o.Classes = v.votes.Classes
	}
	converts := f.Measure() == filter.Approx || f.Measure() == filter.Whitehouse
	switch {
	case converts && o.Sigma != nil && l.delta.Sign() == 0:
		return nil, nil, command.Missing("the delta at which domain "+b.Name()+" is charged for Gaussian noise", "--delta D")
	case !converts && l.delta.Sign() > 0:
		return nil, nil, diagnostic.New("D115", diagnostic.Span{}, "--delta has no effect").Because("domain %q, of measure %q, does not add up epsilon and delta", b.Name(), f.Measure())
	case l.delta.Sign() == 0 && (l.answers > 0 || l.target.Sign() > 0):
		d := diagnostic.New("D115", diagnostic.Span{}, "--answers and --target-epsilon are for a plan")
		if converts {
			return nil, nil, d.Because("Laplace noise is charged query by query unless a plan has a delta").Try("--delta D")
		}
		return nil, nil, d.Because("domain %q, of measure %q, is charged query by query", b.Name(), f.Measure()).Try("--queries N")
	}
	a, err := pate.NewAggregator(o)
	if err != nil {
		return nil, nil, pateRefusal(err)
	}
	if l.delta.Sign() > 0 {
		p, err := l.plan(ctx, a, v, b)
		return a, p, err
	}
	return a, nil, l.affordable(ctx, a, b)
}

// plan finds the plan for which the domain is charged once.
func (l *labelling) plan(ctx context.Context, a *pate.Aggregator, v *electorate, b *durable.Budget) (*pate.Plan, error) {
	n := l.asked(v)
	if n == 0 {
		return nil, diagnostic.New("D161", diagnostic.Span{}, "there are no examples to label").Because("nothing was charged")
	}
	p, err := a.Plan(ctx, pate.PlanOptions{Queries: n, Answers: int(min(l.answers, int64(n))), Epsilon: l.target})
	var exceeded *budget.ExceededError
	switch {
	case err == nil || ctx.Err() != nil:
		return p, err
	case errors.As(err, &exceeded) && l.target.Sign() > 0 && exceeded.Asked.Total(exceeded.Measure).Within(exceeded.Left.Total(exceeded.Measure)):
		return nil, diagnostic.New("D181", diagnostic.Span{}, "no plan of %d answers costs epsilon %v at most", max(1, l.answers), l.target).
			Because("it costs %s; nothing was charged", terminal.AmountsText(terminal.InMeasure(exceeded.Measure, exceeded.Asked), terminal.Up)).Try("a larger --target-epsilon, or fewer --answers")
	case errors.As(err, &exceeded):
		return nil, &ledger.ExhaustedError{Domain: b.Name(), Measure: exceeded.Measure, Asked: exceeded.Asked, Left: exceeded.Left}
	}
	return nil, unpriced(b, err)
}

// affordable refuses a budget that cannot pay for the first query.
func (l *labelling) affordable(ctx context.Context, a *pate.Aggregator, b *durable.Budget) error {
	f := b.Filter()
	test, answer := a.Events()
	first := []privacy.Event{answer}
	if test != nil {
		if _, err := f.Charge(first, l.delta); err != nil {
			return unpriced(b, err)
		}
		first = []privacy.Event{test}
	}
	asked, err := f.Charge(first, l.delta)
	if err != nil {
		return unpriced(b, err)
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

// unpriced says why a domain cannot be charged for a query.
func unpriced(b *durable.Budget, err error) error {
	if errors.Is(err, filter.ErrUnsupported) {
		return diagnostic.New("D124", diagnostic.Span{}, "%s", diagnostic.Cause(err)).Because("domain %q accounts in measure %q", b.Name(), b.Filter().Measure()).
			Try("lnmax has Laplace noise, which every measure has a charge for")
	}
	text := err.Error()
	text = text[strings.LastIndex(text, "\n")+1:] // the last of the ways that were tried
	return diagnostic.New("D181", diagnostic.Span{}, "one query costs more than any budget has: %s", text).
		Because("this little noise hides no vote; nothing was charged").Try("a --sigma of the order of a tenth of the teachers is usual")
}

// aggregator reads the aggregator's parameters as the decimals that were written.
func (l *labelling) aggregator() (o pate.Options, err error) {
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
