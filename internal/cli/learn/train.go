// Package learn has the commands of learning: train, predict, evaluate, model, label and
// pate.
package learn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
)

// Train is discreet train.
func Train() *command.Command {
	c := &command.Command{
		UsageLine: "train --table TABLE --target COLUMN --model MODEL --target-epsilon E [flags]",
		For:       command.Owner,
		Short:     "learn a model from private data; spends budget",
		Long: `The model, and all that is ever done with it, has the guarantee that is printed: of the
unit that the table's catalog names, with as many of its examples as --max-per-unit
says. The whole run is charged to the table's domain before it begins; if that does
not suffice nothing is trained.

Networks (logistic, linear, mlp, cnn, scatter) are trained by noisy gradient descent (DP-SGD)
unless --method says otherwise. The others, and the other methods, are:

` + learners() + `
Records become numbers by what the catalog declares: a domain is a feature a value,
bounds are clamped to and scaled. Nothing is fitted on private data. A column without
either is left out, or, where it is named, refused. Where it matters how many units there
are, they are counted with noise, at 1/50 of the cost, unless -n says that it is public.
A table that the catalog declares public may be looked at: what is not declared of it is
taken from it, and training costs nothing.

From files in no catalog: --csv with columns declared by flags or --encoding, or
--train-images and --train-labels. Their guarantee is the same; whether a ledger pays
is for --domain to say.

The loss, the share of clipped gradients and the warnings that are shown on the way are
exact, and for the owner of the data alone. docs/learn.md begins at the beginning.

Exit codes are those of discreet query.`,
		Examples: [2]string{
			"discreet train --table adult --target income --model logistic --target-epsilon 1",
			"discreet train --table adult --target income --model tree --target-epsilon 1 --out income.model",
		},
	}
	v := training{command: c, initial: 1}
	v.Workplace.Define(&c.Flags)
	v.Examples.Define(&c.Flags, "train-images", "train-labels")
	v.DefineUnit(&c.Flags)
	v.recipe.define(&c.Flags)
	v.defineModel(&c.Flags)
	c.Flags.StringVar(&v.payer, "domain", "", "of a file: charge the ledger's domain `DOMAIN`")
	v.Statement.DefineAnalyst(&c.Flags)
	c.Flags.BoolVar(&v.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = v.json
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := v.settle(c); err != nil {
			return err
		}
		defer v.Close()
		return v.run(ctx, t)
	}
	return c
}

// A training is one run of the command.
type training struct {
	workplace.Workplace
	input.Examples
	input.Declarations
	recipe
	workplace.Statement
	command *command.Command

	holdout float64
	classes int

	model   string
	method  string
	learner *learner.Learner // nil: DP-SGD
	spec    string           // a file
	hidden  []int
	initial uint64

	out, checkpoint, resume, plot string
	payer                         string // a domain
	json                          bool
}

func (v *training) defineModel(fs *flag.FlagSet) {
	v.Declarations.Define(fs)
	fs.Func("holdout", "keep a share `H` of the units out, for evaluate --held-out (default 0)", func(text string) (err error) {
		if v.holdout, err = strconv.ParseFloat(text, 64); err != nil || !(v.holdout >= 0 && v.holdout < 1) {
			return errors.New("want a number from 0 to below 1")
		}
		return nil
	})
	fs.Func("classes", "of images: the labels are 0 to `K`-1 (default 10)", func(text string) (err error) {
		if v.classes, err = strconv.Atoi(text); err != nil || v.classes < 2 || v.classes > 256 {
			return errors.New("want a whole number from 2 to 256")
		}
		return nil
	})
	fs.Func("model", "`"+strings.Join(modelNames(), "|")+"`", func(text string) error { return command.OneOf(&v.model, text, modelNames()) })
	fs.Func("method", "how: `"+strings.Join(methodNames(), "|")+"` (default dp-sgd, of networks)", func(text string) error { return command.OneOf(&v.method, text, methodNames()) })
	fs.StringVar(&v.spec, "spec", "", "in place of --model: a network that a JSON `FILE` describes (docs/learn.md)")
	fs.Func("hidden", "of an mlp: layers of `N,M,...` (default 64)", func(text string) error {
		v.hidden = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > 1<<16 {
				return errors.New("want whole numbers, as 64,32")
			}
			v.hidden = append(v.hidden, n)
		}
		return nil
	})
	fs.Func("initial", "the `N` of the weights that training begins with, which protect nobody (default 1)", func(text string) (err error) {
		if v.initial, err = strconv.ParseUint(text, 10, 64); err != nil {
			return errors.New("want a whole number from 0")
		}
		return nil
	})
	fs.StringVar(&v.out, "out", "discreet.model", "write the model to `FILE` (default discreet.model)")
	fs.StringVar(&v.checkpoint, "checkpoint", "", "keep what it takes to go on after a crash in `FILE`")
	fs.StringVar(&v.resume, "resume", "", "go on with the run of a checkpoint's `FILE`, with the same flags")
	fs.StringVar(&v.plot, "plot", "", "draw loss, clipped share and epsilon into `FILE`.svg, or in the terminal with -, for the owner alone")
}

// settle refuses a command line that says too little, or too much.
func (v *training) settle(c *command.Command) error {
	if err := v.One(c); err != nil {
		return err
	}
	if err := v.choose(); err != nil {
		return err
	}
	if v.Images == "" {
		if err := v.Declarations.Check(&v.Examples, c); err != nil {
			return err
		}
	}
	exclude := func(a, b string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "%s and %s exclude each other", a, b)
	}
	switch {
	case v.Images != "" && v.Labels == "" && !v.Untargeted:
		return diagnostic.New("D113", diagnostic.Span{}, "images need --train-labels")
	case v.Images != "" && (v.Columns != nil || v.Goal != "" || v.Encoding != "" || v.holdout > 0):
		return diagnostic.New("D115", diagnostic.Span{}, "--columns, --target, --encoding and --holdout are for records, not for images")
	case v.Images == "" && v.classes > 0:
		return diagnostic.New("D115", diagnostic.Span{}, "--classes is for images").Because("for records, the classes are the target's domain")
	case v.model == input.Scattered && v.Images == "":
		return diagnostic.New("D163", diagnostic.Span{}, "a %s model: it needs images", input.Scattered).Try("--train-images FILE; of records --model logistic")
	case v.Untargeted && v.Goal != "":
		return diagnostic.New("D115", diagnostic.Span{}, "a %s model has no --target", v.model).Because("it describes the columns, and predicts none of them")
	case v.Table != "" && v.payer != "":
		return diagnostic.New("D115", diagnostic.Span{}, "--domain is for files").Because("the domain of a table pays for it")
	case v.Public && v.payer != "":
		return exclude("--public-data", "--domain")
	case v.checkpoint != "" && v.resume != "":
		return exclude("--checkpoint", "--resume")
	case v.resume != "" && v.Table == "" && v.payer == "":
		return diagnostic.New("D113", diagnostic.Span{}, "--resume needs the --domain that paid")
	}
	return v.recipe.check()
}

// A job is a run of which only the number of units is still open.
type job struct {
	task   task
	data   input.ModelData
	spec   network.Spec
	set    *example.Set // public data: read before the run; private: once it is paid for
	budget budget.Budget
	public bool // the data need no protection, and nobody pays
	unpaid bool // no ledger pays: the budget ends with the run
	count  *mechanism.Histogram
}

func (v *training) run(ctx context.Context, t *terminal.Terminal) error {
	v.Screen = t
	if err := v.Open(&v.Workplace); err != nil {
		return err
	}
	if err := v.writable(); err != nil {
		return err
	}
	j := &job{public: v.Public}
	if err := v.describe(ctx, t, j); err != nil {
		return err
	}
	if err := v.priced(v.Public); err != nil {
		return err
	}
	if err := v.network(j); err != nil {
		return err
	}
	if v.Table != "" {
		if _, _, err := v.Recorder(ctx); err != nil { // a missing source must not cost anything
			return err
		}
	}
	if v.learner != nil {
		return v.learn(ctx, t, j)
	}
	o := learn.Options{Network: j.spec, Statement: command.Said(v.command), Seed: v.initial}
	if err := v.pay(ctx, t, j, &o); err != nil {
		return err
	}
	return v.train(ctx, t, j, o)
}

// network builds the network once, to find out whether it can be built.
func (v *training) network(j *job) (err error) {
	if v.learner != nil {
		if err := suits(v.learner, j.task); err != nil || v.learner.Method != dpFTRL {
			return err
		}
	}
	if v.spec != "" {
		j.spec, err = specOf(v.spec, j.task)
	} else {
		j.spec, err = networkOf(v.model, v.hidden, j.task)
	}
	if err == nil {
		_, err = build(j.spec, j.task)
	}
	return err
}

// describe says what an example is.
func (v *training) describe(ctx context.Context, t *terminal.Terminal, j *job) (err error) {
	d := &j.data
	d.Source, d.Model = v.Source(), cmp.Or(v.model, "network")
	// The key depends on the command line alone, so that a resumed run reads the same
	// examples. What a unit keeps depends on its own records and on the key.
	d.Selection = example.Selection{PerUnit: 1, Key: sha256.Sum256([]byte(command.Said(v.command))), Holdout: v.holdout}
	if v.Images != "" {
		shape, err := example.IDXShape(ctx, v.Images)
		if err != nil {
			return v.Unread(err)
		}
		if v.Labels != "" { // a missing source must not cost anything
			if err := example.IDXLabels(ctx, v.Images, v.Labels); err != nil {
				return v.Unread(err)
			}
		}
		d.Shape = []int{shape[0], shape[1], 1}
		if !v.Untargeted {
			for i := range cmp.Or(v.classes, 10) {
				d.Classes = append(d.Classes, strconv.Itoa(i))
			}
		}
		if v.model == input.Scattered {
			d.Scattering = input.UsualScattering()
			if err := d.Scattering.Check(d.Shape); err != nil {
				return diagnostic.New("D163", diagnostic.Span{}, "a %s model: %v", v.model, err).Try("images of 8 by 8 at least; or --model mlp")
			}
		}
		j.task = task{d.Input(), len(d.Classes)}
		return nil
	}
	if v.learner != nil && !v.learner.Lines && !v.gave("bins") {
		v.Bins = 0
	}
	if d.Encoding, err = v.Declarations.Of(ctx, t, &v.Workplace, &v.Examples); err != nil {
		return err
	}
	d.Classes = d.Encoding.ClassNames()
	j.task = task{[]int{d.Encoding.Width()}, len(d.Classes)}
	switch {
	case v.Own() && v.perUnit > 1:
		return diagnostic.New("D164", diagnostic.Span{}, "--max-per-unit %d, where each record is a unit", v.perUnit)
	case v.Own():
		return nil
	case v.perUnit == 0:
		v.perUnit = 8
		if d := v.Declared; d != nil && d.MaxGroups > 0 && d.MaxRows > 0 {
			v.perUnit = int(min(8, d.MaxGroups*d.MaxRows))
		}
	}
	d.Selection.PerUnit = v.perUnit
	return nil
}

// load reads the examples.
func (v *training) load(ctx context.Context, j *job) (err error) {
	switch {
	case j.set != nil:
	case v.Images != "":
		j.set, err = j.data.Images(ctx, &v.Examples, cmp.Or(len(j.data.Classes), 1))
	default:
		j.set, err = v.Read(ctx, &v.Workplace, j.data.Encoding, j.data.Selection)
	}
	return err
}

// train makes the run, and the model's file.
func (v *training) train(ctx context.Context, t *terminal.Terminal, j *job, o learn.Options) error {
	o.Data, o.Budget, o.Checkpoint = j.set, j.budget, v.checkpoint
	show := newShow(t, v)
	o.Progress = show.step
	var r *learn.Run
	var err error
	if v.resume != "" {
		o.Network = network.Spec{} // the network is the checkpoint's
		r, err = learn.Resume(ctx, v.resume, o)
	} else {
		if o.Checkpoint != "" {
			o.Every = max(1, o.Plan.Steps/checkpoints)
		}
		r, err = learn.Start(ctx, o)
	}
	if err != nil {
		return v.refused(ctx, err)
	}
	show.begin(r, j.unpaid || j.public)
	done := t.Watch(ctx, show.line)
	err = r.Train(ctx)
	done()
	if err != nil {
		if kept := cmp.Or(v.checkpoint, v.resume); kept != "" && ctx.Err() != nil {
			t.Say("the same command with --resume %s goes on, at no further charge", kept)
		}
		return v.refused(ctx, err)
	}
	show.end()
	if v.plot != "" {
		if err := show.draw(v.plot); err != nil {
			return err
		}
	}
	encoding, err := json.Marshal(j.data)
	if err != nil {
		return fmt.Errorf("encode model: %w", err)
	}
	m, err := r.Model(ctx, learn.ModelOptions{Names: []string{v.Source()}, Unit: v.UnitName(), Encoding: encoding, Date: time.Now()})
	if err != nil {
		return err
	}
	m.Certificate.Data.Public, m.Certificate.Ledger.Budget = j.public, j.paidBy()
	if err := learn.WriteModel(v.out, m); err != nil {
		return diagnostic.New("D109", diagnostic.Span{}, "%v", err).Because("the charge stays").
			Try("train with --checkpoint, and a model that could not be written is written by --resume")
	}
	p := r.Plan()
	return v.report(ctx, t, j, r.Charged(), &descent{p.Steps, p.Batch, p.Clip.Norm, p.Noise.Multiplier, p.Optimizer.Rate}, m)
}

// checkpoints is the number of states of a run that are kept beside the first.
const checkpoints = 20

// refused says why a run did not begin, or stopped early. Nothing of it depends on the data.
func (v *training) refused(ctx context.Context, err error) error {
	var exhausted *ledger.ExhaustedError
	switch {
	case ctx.Err() != nil, errors.As(err, &exhausted), failure.RefusesLedger(err):
		return err
	case errors.Is(err, learn.ErrKind), errors.Is(err, learn.ErrNewer), errors.Is(err, learn.ErrTruncated), errors.Is(err, learn.ErrCorrupted):
		return diagnostic.New("D165", diagnostic.Span{}, "%v", err)
	case errors.Is(err, learn.ErrLimit):
		return diagnostic.New("D164", diagnostic.Span{}, "%v", err).
			Because("fast noise is drawn in floating point, which is a little off the law that is accounted for").Try("--sampler exact")
	}
	return diagnostic.New("D164", diagnostic.Span{}, "%v", err)
}
