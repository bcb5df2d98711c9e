// Package audit is the command audit: attacks on answers, on models and on declared
// sensitivities, and what they prove.
package audit

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Command is discreet audit.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "audit sensitivity|difference|average|threshold|reconstruct|model [flags] ['SELECT ...']",
		For:       command.Owner,
		Short:     "attack answers, and say what the attack's success proves",
		Long: `sensitivity removes one unit at a time and says how far the answer moved: a lower
bound of the sensitivity. The others play an attack against exact answers, against
noise that is bounded, and against Discreet's noise under a budget: difference (two
counts that one unit tells apart), average (one count, again and again), threshold (a
count of which only a bit is shown, by bisection), reconstruct (counts of random
subsets, solved for everybody at once); model is about trained models, with flags of
its own. Beside its success stand what the theorem
leaves an attack at --epsilon, and the epsilon that its success proves.

They are played on data that are drawn for it. With a statement for sensitivity, or
--table and --where for the others, it is the owner's data: exact and private, for the
owner alone, and recorded in the ledger's history before anything is read.

An audit gives lower bounds. An attack that fails proves nothing.`,
		Examples: [2]string{
			"discreet audit reconstruct --epsilon 1,100",
			"discreet audit sensitivity 'SELECT avg(cost) FROM visits'",
		},
		Words: []string{"sensitivity", "difference", "average", "threshold", "reconstruct"},
		Verbs: []*command.Command{auditModelCommand()},
	}
	a := auditing{bits: noise.System()}
	a.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if len(args) == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "say what to audit with").Try("discreet %s", c.UsageLine)
		}
		a.verb, args = args[0], args[1:]
		if !slices.Contains(c.Words, a.verb) {
			d := diagnostic.New("D113", diagnostic.Span{}, "discreet audit cannot %s", a.verb).Try("discreet %s", c.UsageLine)
			if near := diagnostic.Nearest(a.verb, c.Words); near != "" {
				d.Try("did you mean discreet audit %s?", near)
			}
			return d
		}
		if len(args) > 1 || a.verb != "sensitivity" && len(args) > 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "discreet audit %s takes no argument %q", a.verb, args[len(args)-1]).
				Try("audit sensitivity takes one statement, in quotes")
		}
		if err := a.settle(c, a.table != "" || len(args) == 1); err != nil {
			return err
		}
		defer a.Close()
		switch {
		case a.verb != "sensitivity":
			return a.play(ctx, t)
		case len(args) == 1:
			return a.statement(ctx, t, args[0])
		}
		return a.textbook(ctx, t)
	}
	return c
}

// An auditing is what the flags of audit say.
type auditing struct {
	workplace.Workplace
	verb string
	bits noise.Bits

	epsilons   []privacy.Epsilon // that a run may spend in all
	units      int
	runs       int
	queries    int
	within     float64 // of bounded noise; negative if not given
	confidence float64
	robust     bool
	norm       audit.Norm

	table, where string // the owner's data; "" for drawn bits
	analyst      string
	plot         string
	json         bool
}

// The norms of --norm.
var norms = map[string]audit.Norm{"l1": audit.L1, "l2": audit.L2, "linf": audit.LInf}

func (a *auditing) define(fs *flag.FlagSet) {
	a.Workplace.Define(fs)
	a.within = -1
	fs.Func("epsilon", "what Discreet may spend in a run: `E,...` (default 0.1,1,10)", func(text string) error {
		a.epsilons = nil
		for part := range strings.SplitSeq(text, ",") {
			var e privacy.Epsilon
			if err := workplace.Amount(&e, privacy.ParseEpsilon)(strings.TrimSpace(part)); err != nil {
				return err
			}
			a.epsilons = append(a.epsilons, e)
		}
		return nil
	})
	fs.Func("units", "`N` units (default 128 for reconstruct, else 100; of the owner's data, at most, chosen by a hash: 1000)", command.Whole(&a.units))
	fs.Func("runs", "play `N` times (default 10 for reconstruct, else 1000)", command.Whole(&a.runs))
	fs.Func("queries", "ask `N` times (default 100 for average, four times the units for reconstruct)", command.Whole(&a.queries))
	fs.Func("within", "the bounded noise is within ±`A` (default a quarter of the root of the units for reconstruct, 2 for average, else 0.2)", command.Positive(&a.within))
	fs.Func("confidence", "of the epsilon that is proved, between 0 and 1 (default 0.95): `C`", func(text string) error {
		c, err := strconv.ParseFloat(text, 64)
		if err != nil || !(c > 0 && c < 1) {
			return errors.New("want a number between 0 and 1, such as 0.95")
		}
		a.confidence = c
		return nil
	})
	fs.BoolVar(&a.robust, "robust", false, "with reconstruct: least absolute residuals, which survive some answers that are far off")
	fs.Func("norm", "with sensitivity: `l1|l2|linf` of a statement with several numbers (default l1)", func(text string) error {
		n, ok := norms[strings.ToLower(text)]
		if !ok {
			return errors.New("want l1, l2 or linf")
		}
		a.norm = n
		return nil
	})
	fs.StringVar(&a.table, "table", "", "attack the owner's data: the private `TABLE`")
	fs.StringVar(&a.where, "where", "", "with --table: the secret is whether a row of the unit meets the `CONDITION`")
	fs.Func("analyst", "the `NAME` for the ledger's history (default the system's user)", func(name string) error {
		if !utf8.ValidString(name) {
			return errors.New("is not UTF-8")
		}
		a.analyst = name
		return nil
	})
	fs.StringVar(&a.plot, "plot", "", "draw success against epsilon into `FILE`.svg, or in the terminal with -")
	fs.BoolVar(&a.json, "json", false, "print JSON")
}

// applies names the verbs in which a flag means something; other flags do in all verbs.
var applies = map[string][]string{
	"epsilon":    {"difference", "average", "threshold", "reconstruct"},
	"runs":       {"difference", "average", "threshold", "reconstruct"},
	"within":     {"difference", "average", "threshold", "reconstruct"},
	"table":      {"difference", "average", "threshold", "reconstruct"},
	"where":      {"difference", "average", "threshold", "reconstruct"},
	"plot":       {"difference", "average", "threshold", "reconstruct"},
	"confidence": {"difference", "average", "threshold", "reconstruct"},
	"queries":    {"average", "reconstruct"},
	"robust":     {"reconstruct"},
	"norm":       {"sensitivity"},
}

// settle refuses flags that do not go together, and fills in the defaults.
func (a *auditing) settle(c *command.Command, private bool) error {
	var misplaced error
	given := map[string]bool{}
	c.Flags.Visit(func(f *flag.Flag) {
		given[f.Name] = true
		if verbs, ok := applies[f.Name]; ok && !slices.Contains(verbs, a.verb) && misplaced == nil {
			misplaced = diagnostic.New("D115", diagnostic.Span{}, "--%s has no effect on audit %s", f.Name, a.verb).
				Try("it is for %s", strings.Join(verbs, ", "))
		}
	})
	switch {
	case misplaced != nil:
		return misplaced
	case given["plot"] && (given["json"] || given["epsilon"]):
		return diagnostic.New("D115", diagnostic.Span{}, "--plot excludes --json and --epsilon").
			Because("a drawing is over a range of epsilon").Try("--json prints the numbers")
	case (a.table == "") != (a.where == ""):
		return diagnostic.New("D113", diagnostic.Span{}, "--table and --where go together").
			Try("--table visits --where 'cost > 100' attacks whether a patient had such a visit")
	}
	if given["plot"] {
		if err := terminal.CheckPlot(a.plot, true); err != nil {
			return err
		}
	}
	units, runs, queries, within := 100, 1000, 100, 0.2
	switch a.verb {
	case "sensitivity":
		units = 20
	case "average":
		within = 2
	case "threshold":
		queries = 0 // the number of units decides
	case "difference":
		queries = 2
	case "reconstruct":
		units, runs = 128, 10
	}
	if private && a.verb != "reconstruct" {
		units = 1000
	}
	a.units, a.runs = cmp.Or(a.units, units), cmp.Or(a.runs, runs)
	if a.verb == "reconstruct" {
		queries, within = 4*a.units, math.Sqrt(float64(a.units))/4
	}
	a.queries = cmp.Or(a.queries, queries)
	a.confidence = cmp.Or(a.confidence, 0.95)
	if a.within < 0 {
		a.within = within
	}
	if a.epsilons == nil {
		for _, text := range []string{"0.1", "1", "10"} {
			e, err := privacy.ParseEpsilon(text)
			if err != nil {
				return fmt.Errorf("read the default epsilon: %w", err)
			}
			a.epsilons = append(a.epsilons, e)
		}
	}
	return nil
}

// The sentences that stand beside every figure.
const (
	auditNote    = "note: these are lower bounds: an attack that fails proves nothing"
	auditPrivate = "This output was made from exact values. It is not private: it is for the owner alone and must not be published."
)

// unplayable gives an audit's error the one form.
func unplayable(err error) error {
	if errors.Is(err, audit.ErrParameter) {
		return diagnostic.New("D132", diagnostic.Span{}, "%s", diagnostic.Cause(err))
	}
	return err
}
