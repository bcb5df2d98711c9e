package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	budgets "github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func evaluateCommand() *Command {
	c := &Command{
		UsageLine: "evaluate --model-file MODEL --table TABLE|--csv FILE|--images FILE [flags]",
		For:       owner,
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
	v.workplace.define(&c.Flags)
	v.exampleFlags.define(&c.Flags, "images", "labels")
	v.defineUnit(&c.Flags)
	c.Flags.BoolVar(&v.heldOut, "held-out", false, "take the records that training left out")
	c.Flags.StringVar(&v.model, "model-file", "", "the model's `FILE`")
	c.Flags.Func("epsilon", "spend `E` on noisy counts, on private data", amount(&v.epsilon, privacy.ParseEpsilon))
	c.Flags.Func("max-per-unit", "a unit counts with at most `K` of its examples (default as in training)", wholeUpTo(&v.perUnit, 1<<20))
	c.Flags.StringVar(&v.payer, "domain", "", "of a file: charge the ledger's domain `DOMAIN`")
	v.statement.defineAnalyst(&c.Flags)
	v.statement.defineConfidence(&c.Flags, "`C` of the intervals, between 0 and 1 (default 0.95)")
	c.Flags.BoolVar(&v.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		t.json = v.json
		if err := none(c, args); err != nil {
			return err
		}
		if err := v.one(c); err != nil {
			return err
		}
		defer v.close()
		return v.run(ctx, t)
	}
	return c
}

// An evaluating is one run of the command.
type evaluating struct {
	workplace
	exampleFlags
	statement
	command *Command
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
	*measures
	*noisyMeasures
}

// noisyMeasures follow from noisy counts alone.
type noisyMeasures struct {
	// Counts are the noisy ones: rows of what is so, columns of what was predicted; of
	// many classes, how often right and wrong; of a number, how many errors lie in each
	// twentieth of its range.
	Counts     [][]int64           `json:"noisy_counts"`
	Within     int64               `json:"within"` // all of them are off by at most so much, with the confidence
	Accuracy   *float64            `json:"noisy_accuracy,omitempty"`
	MAE        *float64            `json:"noisy_mae,omitempty"`
	Interval   *[2]float64         `json:"interval,omitempty"`
	Confidence float64             `json:"confidence"`
	PerUnit    int64               `json:"max_per_unit"`
	Relation   privacy.Neighbours  `json:"relation"`
	Events     []string            `json:"events"`
	Cost       *filter.Amounts     `json:"cost,omitempty"` // nil: no ledger was charged
	Remaining  *discreet.Remaining `json:"remaining,omitempty"`
}

func (v *evaluating) run(ctx context.Context, t *terminal) error {
	m, err := loadModel(v.model)
	if err != nil {
		return err
	}
	v.asTable = true
	if err := v.open(&v.workplace); err != nil {
		return err
	}
	v.tell(t)
	if err := m.fits(ctx, &v.exampleFlags); err != nil {
		return err
	}
	e := &evaluation{Model: v.model, Data: v.source(), Private: !v.public, Classes: m.data.Classes}
	if v.public {
		if v.epsilon.Sign() > 0 {
			return diagnostic.New("D115", diagnostic.Span{}, "public data takes no --epsilon").Because("there is nobody to protect")
		}
		set, outputs, err := v.outputs(ctx, t, m, math.MaxInt32)
		if err != nil {
			return err
		}
		exact := m.scorer().measure(set, outputs)
		e.measures = &exact
		return e.print(t)
	}
	if v.epsilon.Sign() == 0 {
		return diagnostic.New("D070", diagnostic.Span{}, "nothing says what the evaluation may cost").
			Because("figures about private records are released with noise, and charged").
			Try("--epsilon 0.1; of a file that shows nobody's data: --public-data")
	}
	if e.noisyMeasures, err = v.private(ctx, t, m); err != nil {
		return err
	}
	return e.print(t)
}

// outputs reads the examples and asks the model.
func (v *evaluating) outputs(ctx context.Context, t *terminal, m *model, perUnit int) (*example.Set, []float32, error) {
	set, err := m.read(ctx, &v.workplace, &v.exampleFlags, perUnit)
	if err != nil {
		return nil, nil, err
	}
	outputs, err := m.outputs(ctx, t, set)
	return set, outputs, err
}

// private releases noisy counts.
func (v *evaluating) private(ctx context.Context, t *terminal, m *model) (*noisyMeasures, error) {
	b, err := v.budget(ctx, &v.workplace, v.payer, v.Analyst)
	if err != nil {
		return nil, err
	}
	k := int64(1)
	if !v.own() {
		k = cmp.Or(v.perUnit, int64(m.data.Selection.PerUnit), 1)
	}
	relation := privacy.AddRemove
	if b != nil {
		relation = b.Neighbours()
	}
	s := m.scorer()
	// All k examples of a unit may fall into one cell. Laplace noise hides any change
	// of L1 norm k, however it is spread over the cells.
	h, err := mechanism.NewHistogram(mechanism.HistogramOptions{Bins: s.cells(), MaxBins: 1, MaxRows: k, Neighbours: relation, Epsilon: v.epsilon})
	if err != nil {
		return nil, parameterRefusal(err)
	}
	out := &noisyMeasures{Confidence: cmp.Or(v.Confidence, 0.95), PerUnit: k, Relation: relation, Events: []string{h.Event().String()}}
	beta := shortest(out.Confidence)
	off, err := h.Bound(beta.Sub(big.NewRat(1, 1), beta))
	if err != nil {
		return nil, parameterRefusal(err)
	}
	if off.BitLen() > 53 {
		return nil, diagnostic.New("D142", diagnostic.Span{}, "--epsilon %v: counts would be off by more than any count is", v.epsilon).Try("--epsilon 0.1")
	}
	out.Within = off.Int64()
	if v.table != "" {
		if _, _, err := v.recorder(ctx); err != nil { // what is not there must not cost
			return nil, err
		}
	}
	count := func() ([]int64, error) {
		set, outputs, err := v.outputs(ctx, t, m, int(k))
		if err != nil {
			return nil, err
		}
		counts, err := h.Count(noise.System(), s.rows(set, outputs))
		if err != nil {
			return nil, undrawn()
		}
		return counts, nil
	}
	release := budgets.Release{Statement: said(v.command), Events: []privacy.Event{h.Event()}}
	var counts []int64
	if b == nil {
		t.say("%s", unpaid)
		counts, err = count()
	} else {
		counts, err = budgets.Spend(ctx, b, release, count)
	}
	if err != nil {
		return nil, err
	}
	s.conclude(out, counts)
	if b != nil {
		err = out.charged(ctx, b, release)
	}
	return out, err
}

// charged says what was paid and what is left.
func (m *noisyMeasures) charged(ctx context.Context, b budgets.Budget, r budgets.Release) error {
	f := b.Filter()
	total, err := f.Charge(r.Events, r.Delta)
	if err != nil {
		return err
	}
	left, err := b.Left(ctx)
	if err != nil {
		return err
	}
	cost, remaining := f.Amounts(total), inMeasure(f.Measure(), left)
	m.Cost, m.Remaining = &cost, &remaining
	return nil
}

// unpaid is said where no ledger stands behind private data.
const unpaid = "NO LEDGER WAS CHARGED: the file is in no catalog, and whoever owns it must add up what is released of it; " +
	"--domain DOMAIN charges a ledger, --public-data says that there is nobody to protect"

// errorParts are the parts of a number's range that errors are counted in.
const errorParts = 20

// matrix reports whether the counts of predictions for each class are released: of
// more classes the noise of so many cells would hide what is right.
func (s scorer) matrix() bool { return s.classes > 0 && s.classes <= 4 }

// cells is how many counts are released.
func (s scorer) cells() int {
	switch {
	case s.classes == 0:
		return errorParts
	case s.matrix():
		return s.classes * s.classes
	}
	return 2
}

// rows are the cells that the examples fall into; -1 for those without a label.
func (s scorer) rows(set *example.Set, outputs []float32) (rows []int) {
	n := s.scores()
	for i := range set.Len() {
		row, out := -1, outputs[i*n:(i+1)*n]
		switch {
		case s.classes == 0:
			if y := float64(set.Targets[i]); !math.IsNaN(y) {
				row = min(int(s.miss(out, y)*errorParts), errorParts-1)
			}
		case set.Label(i) < 0:
		case s.matrix():
			row = int(set.Label(i))*s.classes + class(s.probabilities(out))
		case class(s.probabilities(out)) == int(set.Label(i)):
			row = 0
		default:
			row = 1
		}
		if row >= 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// miss is how far a predicted number is off, in terms of its range.
func (s scorer) miss(out []float32, scaled float64) float64 {
	t := s.encoding.Target
	return math.Abs(s.number(out)-s.encoding.TargetOf(scaled)) / (t.Upper - t.Lower)
}

// conclude derives what the counts imply: post-processing.
func (s scorer) conclude(m *noisyMeasures, counts []int64) {
	off := float64(m.Within)
	at := func(x float64) float64 { return math.Max(x, 0) }
	if s.classes == 0 {
		m.Counts = [][]int64{counts}
		var sum, n float64
		for i, c := range counts {
			n += at(float64(c))
			sum += at(float64(c)) * (float64(i) + 0.5) / errorParts
		}
		if n > 0 {
			mae := sum / n * (s.encoding.Target.Upper - s.encoding.Target.Lower)
			m.MAE = &mae
		}
		return
	}
	var right, wrong, rights, wrongs float64 // counts, and how many cells they are of
	width := 2
	if s.matrix() {
		width = s.classes
	}
	for i, c := range counts {
		if i%width == 0 {
			m.Counts = append(m.Counts, nil)
		}
		m.Counts[i/width] = append(m.Counts[i/width], c)
		if i%width == i/width {
			right, rights = right+float64(c), rights+1
		} else {
			wrong, wrongs = wrong+float64(c), wrongs+1
		}
	}
	share := func(right, wrong float64) float64 { return at(right) / (at(right) + at(wrong)) }
	if accuracy := share(right, wrong); !math.IsNaN(accuracy) {
		low, high := share(right-rights*off, wrong+wrongs*off), share(right+rights*off, wrong-wrongs*off)
		m.Accuracy, m.Interval = &accuracy, &[2]float64{low, high}
	}
}

func (e *evaluation) print(t *terminal) error {
	if t.json {
		return t.writeJSON(e)
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t.out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if m := e.measures; m != nil {
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
	m := e.noisyMeasures
	if m.Accuracy != nil {
		line("accuracy", "%.2f %%, with %g%% confidence between %.2f and %.2f %%", 100**m.Accuracy, 100*m.Confidence, 100*m.Interval[0], 100*m.Interval[1])
	}
	if m.MAE != nil {
		line("MAE", "%.3g", *m.MAE)
	}
	if len(m.Counts) > 1 && len(m.Counts) == len(e.Classes) {
		e.matrix(t, m.Counts)
	}
	t.say("%s", t.paint(dim, fmt.Sprintf("from noisy counts, each off by at most %d with %g%% confidence all together; %s", m.Within, 100*m.Confidence, strings.Join(m.Events, " + "))))
	if m.Cost != nil {
		t.say("%s", t.paint(dim, "cost "+chargeText(*m.Cost)+"; left "+amountsText(*m.Remaining, down)))
	}
	return nil
}

// matrix prints which class was predicted for which.
func (e *evaluation) matrix(t *terminal, counts [][]int64) {
	g := grid{{title: "is \\ predicted"}}
	name := func(i int) string {
		if i < len(e.Classes) {
			return printable(e.Classes[i])
		}
		return fmt.Sprint(i)
	}
	for i := range counts {
		g[0].cells = append(g[0].cells, name(i))
		g = append(g, gridColumn{title: name(i), right: true})
	}
	for _, row := range counts {
		for j, c := range row {
			g[j+1].cells = append(g[j+1].cells, fmt.Sprint(c))
		}
	}
	fmt.Fprintln(t.out)
	g.write(t.out)
}
