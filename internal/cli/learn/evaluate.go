package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/score"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Evaluate is discreet evaluate.
func Evaluate() *command.Command {
	c := &command.Command{
		UsageLine: "evaluate --model-file MODEL --table TABLE|--csv FILE|--images FILE [flags]",
		For:       command.Owner,
		Short:     "how good a model is; on private data with noise, charged",
		Long: `On a public table, and on files with --public-data, it prints exact figures, free:
accuracy, loss, the area under the ROC curve, and the confusion of classes.

On private data each figure would show records, so that noisy counts are released:
how often which class was predicted for which, or of more than four classes how
often the prediction was right; of a number how large the errors are, in parts of its
range. They cost --epsilon, which the table's domain pays, or that of --domain. The
accuracy follows from them, with an interval.

What a model says of the records that it was trained on flatters it: --held-out
takes those that training left out with --holdout.`,
		Examples: [2]string{
			"discreet evaluate --model-file income.model --csv adult-test.csv --public-data",
			"discreet evaluate --model-file income.model --table adult --held-out --epsilon 0.1 --json",
		},
	}
	v := evaluating{command: c}
	v.Workplace.Define(&c.Flags)
	v.Examples.Define(&c.Flags, "images", "labels")
	v.DefineUnit(&c.Flags)
	c.Flags.BoolVar(&v.HeldOut, "held-out", false, "take the records that training left out")
	c.Flags.StringVar(&v.model, "model-file", "", "the model's `FILE`")
	c.Flags.Func("epsilon", "spend `E` on noisy counts, on private data", workplace.Amount(&v.epsilon, privacy.ParseEpsilon))
	c.Flags.Func("max-per-unit", "a unit counts with at most `K` of its examples (default as in training)", wholeUpTo(&v.perUnit, 1<<20))
	c.Flags.StringVar(&v.payer, "domain", "", "of a file: charge the ledger's domain `DOMAIN`")
	v.Statement.DefineAnalyst(&c.Flags)
	v.Statement.DefineConfidence(&c.Flags, "`C` of the intervals, between 0 and 1 (default 0.95)")
	c.Flags.BoolVar(&v.json, "json", false, "print JSON")
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = v.json
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := v.One(c); err != nil {
			return err
		}
		defer v.Close()
		return v.run(ctx, t)
	}
	return c
}

// An evaluating is one run of the command.
type evaluating struct {
	workplace.Workplace
	input.Examples
	workplace.Statement
	command *command.Command
	model   string
	epsilon privacy.Epsilon
	perUnit int64
	payer   string // a domain
	json    bool
}

// An evaluation is what it prints.
type evaluation struct {
	Model   string   `json:"model"`
	Data    string   `json:"data"`
	Private bool     `json:"private"`
	Classes []string `json:"classes,omitempty"`
	*score.Measures
	*NoisyMeasures
}

func (v *evaluating) run(ctx context.Context, t *terminal.Terminal) error {
	m, err := input.LoadModel(v.model)
	if err != nil {
		return err
	}
	v.AsTable, v.Screen = true, t
	if err := v.Open(&v.Workplace); err != nil {
		return err
	}
	v.Tell(t)
	if err := m.Fits(ctx, &v.Examples); err != nil {
		return err
	}
	e := &evaluation{Model: v.model, Data: v.Source(), Private: !v.Public, Classes: m.Data.Classes}
	if v.Public {
		if v.epsilon.Sign() > 0 {
			return diagnostic.New("D115", diagnostic.Span{}, "public data takes no --epsilon").Because("there is nobody to protect")
		}
		set, outputs, err := v.outputs(ctx, t, m, math.MaxInt32)
		if err != nil {
			return err
		}
		exact := m.Scorer().Measure(set, outputs)
		e.Measures = &exact
		return e.print(t)
	}
	if v.epsilon.Sign() == 0 {
		return diagnostic.New("D070", diagnostic.Span{}, "the cost of the evaluation is missing").
			Because("figures about private records are released with noise, and charged").
			Try("--epsilon 0.1; for a file with nobody's private data: --public-data")
	}
	if e.NoisyMeasures, err = v.private(ctx, t, m); err != nil {
		return err
	}
	return e.print(t)
}

// outputs reads the examples and asks the model.
func (v *evaluating) outputs(ctx context.Context, t *terminal.Terminal, m *input.Model, perUnit int) (*example.Set, []float32, error) {
	set, err := m.Read(ctx, &v.Workplace, &v.Examples, perUnit)
	if err != nil {
		return nil, nil, err
	}
	outputs, err := m.Outputs(ctx, t, set)
	return set, outputs, err
}

// private releases noisy counts.
func (v *evaluating) private(ctx context.Context, t *terminal.Terminal, m *input.Model) (*NoisyMeasures, error) {
	b, err := v.Budget(ctx, &v.Workplace, v.payer, v.Analyst)
	if err != nil {
		return nil, err
	}
	k := int64(1)
	if !v.Own() {
		k = cmp.Or(v.perUnit, int64(m.Data.Selection.PerUnit), 1)
	}
	relation := privacy.AddRemove
	if b != nil {
		relation = b.Neighbours()
	}
	s := m.Scorer()
	// All k examples of a unit may fall into one cell. Laplace noise hides any change
	// of L1 norm k, however it is spread over the cells.
	h, err := mechanism.NewHistogram(mechanism.HistogramOptions{Bins: s.Cells(), MaxBins: 1, MaxRows: k, Neighbours: relation, Epsilon: v.epsilon})
	if err != nil {
		return nil, failure.ParameterRefusal(err)
	}
	out := &NoisyMeasures{Confidence: cmp.Or(v.Confidence, 0.95), PerUnit: k, Relation: relation, Events: []string{h.Event().String()}}
	beta := terminal.Shortest(out.Confidence)
	off, err := h.Bound(beta.Sub(big.NewRat(1, 1), beta))
	if err != nil {
		return nil, failure.ParameterRefusal(err)
	}
	if off.BitLen() > 53 {
		return nil, diagnostic.New("D142", diagnostic.Span{}, "--epsilon %v: the noise would be larger than any count", v.epsilon).Try("--epsilon 0.1")
	}
	out.Within = off.Int64()
	if v.Table != "" {
		if _, _, err := v.Recorder(ctx); err != nil { // a missing source must not cost anything
			return nil, err
		}
	}
	count := func() ([]int64, error) {
		set, outputs, err := v.outputs(ctx, t, m, int(k))
		if err != nil {
			return nil, err
		}
		counts, err := h.Count(noise.System(), s.Rows(set, outputs))
		if err != nil {
			return nil, failure.Undrawn()
		}
		return counts, nil
	}
	release := budget.Release{Statement: command.Said(v.command), Events: []privacy.Event{h.Event()}}
	var counts []int64
	if b == nil {
		t.Say("%s", unpaid)
		counts, err = count()
	} else {
		counts, err = budget.Spend(ctx, b, release, count)
	}
	if err != nil {
		return nil, err
	}
	s.Conclude(&out.Noisy, counts)
	if b != nil {
		err = charged(ctx, out, b, release)
	}
	return out, err
}

// NoisyMeasures are the released measures, the guarantee of their release, and its cost.
type NoisyMeasures struct {
	score.Noisy
	Confidence float64             `json:"confidence"`
	PerUnit    int64               `json:"max_per_unit"`
	Relation   privacy.Neighbours  `json:"relation"`
	Events     []string            `json:"events"`
	Cost       *filter.Amounts     `json:"cost,omitempty"` // nil: no ledger pays
	Remaining  *discreet.Remaining `json:"remaining,omitempty"`
}

// charged says what was paid and what is left.
func charged(ctx context.Context, m *NoisyMeasures, b budget.Budget, r budget.Release) error {
	f := b.Filter()
	total, err := f.Charge(r.Events, r.Delta)
	if err != nil {
		return err
	}
	left, err := b.Left(ctx)
	if err != nil {
		return err
	}
	cost, remaining := f.Amounts(total), terminal.InMeasure(f.Measure(), left)
	m.Cost, m.Remaining = &cost, &remaining
	return nil
}

// unpaid is said where private data have no ledger behind them.
const unpaid = "NO LEDGER WAS CHARGED: the file is in no catalog, and whoever owns it must add up what is released of it; " +
	"--domain DOMAIN charges a ledger, --public-data says that there is nobody to protect"

func (e *evaluation) print(t *terminal.Terminal) error {
	if t.JSON {
		return t.WriteJSON(e)
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t.Out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if m := e.Measures; m != nil {
		line("examples", "%d", m.Examples)
		if m.Unlabeled > 0 {
			line("unlabeled", "%d", m.Unlabeled)
		}
		if m.Accuracy != nil {
			line("accuracy", "%.2f %%", 100**m.Accuracy)
		}
		if m.AUC != nil {
			line("AUC", "%.4f", *m.AUC)
		}
		if m.RMSE != nil {
			line("RMSE", "%.6g", *m.RMSE)
			line("MAE", "%.6g", *m.MAE)
		}
		if m.Accuracy != nil {
			line("loss", "%.4f", m.Loss)
			e.matrix(t, m.Confusion)
		}
		return nil
	}
	m := e.NoisyMeasures
	if m.Accuracy != nil {
		line("accuracy", "%.2f %%, with %g%% confidence between %.2f and %.2f %%", 100**m.Accuracy, 100*m.Confidence, 100*m.Interval[0], 100*m.Interval[1])
	}
	if m.MAE != nil {
		line("MAE", "%.3g", *m.MAE)
	}
	if len(m.Counts) > 1 && len(m.Counts) == len(e.Classes) {
		e.matrix(t, m.Counts)
	}
	t.Say("%s", t.Paint(terminal.Dim, fmt.Sprintf("from noisy counts, each off by at most %d with %g%% confidence all together; %s", m.Within, 100*m.Confidence, strings.Join(m.Events, " + "))))
	if m.Cost != nil {
		t.Say("%s", t.Paint(terminal.Dim, "cost "+terminal.ChargeText(*m.Cost)+"; left "+terminal.AmountsText(*m.Remaining, terminal.Down)))
	}
	return nil
}

// matrix prints which class was predicted for which.
func (e *evaluation) matrix(t *terminal.Terminal, counts [][]int64) {
	g := terminal.Grid{{Title: "is \\ predicted"}}
	name := func(i int) string {
		if i < len(e.Classes) {
			return terminal.Printable(e.Classes[i])
		}
		return fmt.Sprint(i)
	}
	for i := range counts {
		g[0].Cells = append(g[0].Cells, name(i))
		g = append(g, terminal.Column{Title: name(i), Right: true})
	}
	for _, row := range counts {
		for j, c := range row {
			g[j+1].Cells = append(g[j+1].Cells, fmt.Sprint(c))
		}
	}
	fmt.Fprintln(t.Out)
	g.Write(t.Out)
}
