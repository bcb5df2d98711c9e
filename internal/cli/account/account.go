// Package account is the command account: what plans of releases reveal at most, by every
// accountant, before anything is released. It reads no data, no catalog and no ledger.
package account

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// Command is discreet account.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "account [calibrate|runs|odometer|compare|curve] 'PLAN' [flags]",
		Values:    map[string][]string{"accountant": texts(accountant.Names()), "filter": texts(bounds.Filters())},
		For:       command.Anyone,
		Short:     "bound what a plan of releases reveals, before anything is released",
		Long: `A plan says what will be released, as in '14063 * poisson(256/60000, gaussian(1.1))'.
Without a verb it prints every accountant's bound of the plan, the best first:
epsilon with --delta, delta with --epsilon.

calibrate finds the unknown of a plan, written ?, so that the plan keeps to
--epsilon and --delta; the answer is on the safe side.

runs says how often a filter admits an event before its budget is spent. A filter
holds when each event is chosen by looking at the answers before; the bounds of a
plan hold only for what was fixed in advance.

odometer says what was revealed after each of a plan's events, without a budget: with
probability 1 - --delta each column holds at every stop at once.

compare puts the best bounds of several plans side by side.

curve draws a plan in the terminal, or into an SVG file with --plot:
--over delta, epsilon, trade-off or power (of an attack), order (Rényi divergences),
count (of the event), or runs (against epsilon).

It reads no data, no catalog and no ledger. A plan may name a file of yours with a Rényi
curve or a pair of laws: rdp("curve.csv"), pair("pair.csv").`,
		Examples: [2]string{
			"discreet account '14063 * poisson(256/60000, gaussian(1.1))' --delta 1e-5",
			"discreet account calibrate '14063 * poisson(256/60000, gaussian(?))' --epsilon 1 --delta 1e-5",
		},
		Words: []string{"calibrate", "runs", "odometer", "compare", "curve"},
	}
	var a accounting
	a.command = c
	a.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		run := a.bounds
		if len(args) > 0 {
			switch args[0] {
			case "calibrate":
				run, args = a.calibrate, args[1:]
			case "runs":
				run, args = a.runs, args[1:]
			case "odometer":
				run, args = a.odometer, args[1:]
			case "compare":
				run, args = a.compare, args[1:]
			case "curve":
				run, args = a.curve, args[1:]
			default:
				if near := diagnostic.Nearest(args[0], c.Words); near != "" && !strings.Contains(args[0], "(") {
					return diagnostic.New("D113", diagnostic.Span{}, "discreet account cannot %s", args[0]).Try("did you mean discreet account %s?", near)
				}
			}
		}
		if len(args) == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "no plan").Try("discreet %s", c.UsageLine)
		}
		done := t.Watch(ctx, a.doing)
		defer done()
		if text := os.Getenv("DISCREET_ACCOUNT_TIMEOUT"); text != "" && a.timeout == 0 {
			if err := a.wait(text); err != nil {
				return command.BadValue("$DISCREET_ACCOUNT_TIMEOUT", text, err)
			}
		}
		limited, cancel := context.WithTimeout(ctx, cmp.Or(a.timeout, defaultTimeout))
		defer cancel()
		// Work that does not look at its context is abandoned: nothing is lost by that.
		ended := make(chan error, 1)
		go func() { ended <- run(limited, t, args) }()
		var err error
		select {
		case err = <-ended:
		case <-ctx.Done():
			return ctx.Err()
		case <-after(limited, time.Second):
			err = context.DeadlineExceeded
		}
		if limited.Err() != nil && ctx.Err() == nil && err != nil {
			return a.late()
		}
		return err
	}
	return c
}

// defaultTimeout is how long account works when --timeout does not say.
const defaultTimeout = 5 * time.Second

// after closes a moment after ctx has ended, so that the work that was stopped can report first.
func after(ctx context.Context, wait time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		<-ctx.Done()
		<-time.After(wait)
		close(done)
	}()
	return done
}

// late refuses what could not be computed in time.
func (a *accounting) late() error {
	return diagnostic.New("D122", diagnostic.Span{}, "the time ran out: %v", cmp.Or(a.timeout, defaultTimeout)).
		Because("the computation takes longer than this").
		Try("--timeout 1m waits longer; fewer points, or --accountant rdp, take less time")
}

// wait reads --timeout.
func (a *accounting) wait(text string) (err error) {
	if a.timeout, err = time.ParseDuration(text); err != nil || a.timeout <= 0 {
		return errors.New("want a time such as 30s")
	}
	return nil
}

// An accounting is what the flags of account say.
type accounting struct {
	command        *command.Command
	timeout        time.Duration // 0 is the default
	epsilon, delta *big.Rat      // nil if not given
	options        accountant.Options
	only           []accountant.Name // the accountants to ask; nil is all
	json           bool

	filter filter.Measure

	at      *big.Rat // nil if not given
	records int64

	over       string
	plot       string
	from, to   float64
	misprinted bool
	directions bool

	points, reached atomic.Int64 // of a sweep
}

// doing says what the command is at: of a sweep at which point of how many.
func (a *accounting) doing() string {
	if all := a.points.Load(); all > 0 {
		return "accounting " + terminal.Steps(a.reached.Load(), all)
	}
	return "accounting"
}

func (a *accounting) define(fs *flag.FlagSet) {
	fs.Func("epsilon", "at `E`, or within it", target(&a.epsilon, bounds.ParseEpsilon))
	fs.Func("delta", "at `D`, or within it", target(&a.delta, bounds.ParseDelta))
	fs.Func("relation", "neighbours are `add-remove|replace-one|replace-special` (default add-remove)", func(text string) (err error) {
		a.options.Neighbours, err = privacy.ParseNeighbours(text)
		return err
	})
	fs.Func("accountant", "ask these alone: `NAME,...`", func(text string) error {
		a.only = nil
		for _, name := range strings.Split(text, ",") {
			if err := command.OneOf(&a.options.Accountant, name, accountant.Names()); err != nil {
				return err
			}
			a.only = append(a.only, a.options.Accountant)
		}
		if len(a.only) > 1 {
			a.options.Accountant = ""
		}
		return nil
	})
	fs.Func("orders", "Rényi orders of moments and rdp: a `LIST` such as 1.5,2..64", func(text string) (err error) {
		a.options.Orders, err = parseOrders(text)
		return err
	})
	fs.Func("filter", "with runs: `NAME` of the filter (default: all)", func(text string) error {
		return command.OneOf(&a.filter, text, bounds.Filters())
	})
	fs.Func("at", "with odometer: be tightest where the sum of squares is `S` (default: where the plan ends)", func(text string) (err error) {
		if a.at, err = numeric.ParseRat(text); err == nil && a.at.Sign() <= 0 {
			err = errors.New("want a positive number")
		}
		return err
	})
	fs.Func("records", "with odometer: show the one of Rogers et al. for a database of `N` records too", func(text string) (err error) {
		if a.records, err = strconv.ParseInt(text, 10, 64); err != nil || a.records < 2 {
			return errors.New("want a whole number from 2")
		}
		return nil
	})
	fs.Func("over", "with curve: `delta|epsilon|trade-off|power|order|count|runs` (default delta)", func(text string) error {
		return command.OneOf(&a.over, text, Curves)
	})
	fs.Func("from", "with curve: begin at `X`", command.Positive(&a.from))
	fs.Func("to", "with curve: end at `X`", command.Positive(&a.to))
	fs.StringVar(&a.plot, "plot", "", "with curve: draw into `FILE`.svg instead of the terminal")
	fs.BoolVar(&a.misprinted, "misprinted", false, "with curve --over count: draw a misprinted composition formula too, to be seen as wrong")
	fs.BoolVar(&a.directions, "directions", false, "with curve: draw adding and removing a unit apart, where an accountant tells them")
	fs.Func("group", "`N` units change together (default 1)", func(text string) (err error) {
		if a.options.Group, err = strconv.Atoi(text); err != nil || a.options.Group < 1 {
			return errors.New("want a whole number from 1")
		}
		return nil
	})
	fs.Func("timeout", "answer within `D`, by the accountants that have finished (default $DISCREET_ACCOUNT_TIMEOUT, or 5s)", a.wait)
	fs.BoolVar(&a.json, "json", false, "print JSON")
}

var (
	Curves = []string{"delta", "epsilon", "trade-off", "power", "order", "count", "runs"}
)

// target sets an epsilon or a delta that is asked about.
func target(to **big.Rat, parse func(string) (*big.Rat, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// parseOrders reads numbers and ranges of whole numbers.
func parseOrders(text string) ([]float64, error) { return command.OrdersAbove(text, 1) }

// event reads a plan without an unknown, and checks that it fits the relation.
func (a *accounting) event(text string) (privacy.Event, error) {
	p, err := a.plan(text)
	if err != nil {
		return nil, err
	}
	return bounds.Event(p, text, a.options.Neighbours)
}

func (a *accounting) plan(text string) (plan.Plan, error) { return bounds.ReadPlan(text, a.open) }

// open reads a file that a plan names, with the caller's own rights.
func (a *accounting) open(name string) ([]byte, error) {
	if command.WhoCalls().Other {
		return nil, a.command.NotWithTheseRights(name)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, workplace.Unreadable(terminal.Printable(name), errors.New("it is no regular file"))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, workplace.Unreadable(terminal.Printable(name), err)
	}
	return text, nil
}

// report asks all accountants about the one target that was given.
func (a *accounting) report(ctx context.Context, e privacy.Event) (*accountant.Report, error) {
	var r *accountant.Report
	var err error
	switch {
	case a.epsilon != nil && a.delta != nil:
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--epsilon and --delta exclude each other").
			Because("give one of them, and the other is computed").Try("discreet account calibrate takes both")
	case a.delta != nil:
		r, err = accountant.Epsilon(ctx, e, bounds.Below(a.delta), a.options)
	case a.epsilon != nil:
		r, err = accountant.Delta(ctx, e, bounds.Below(a.epsilon), a.options)
	default:
		return nil, diagnostic.New("D113", diagnostic.Span{}, "give a --delta, or an --epsilon").
			Try("--delta 1e-6 computes epsilon, --epsilon 1 computes delta")
	}
	return a.chosen(r, err)
}

// chosen leaves the accountants of the flag in a report.
func (a *accounting) chosen(r *accountant.Report, err error) (*accountant.Report, error) {
	if err != nil {
		return nil, bounds.Refused(err)
	}
	if len(a.only) > 1 {
		r.Bounds = slices.DeleteFunc(r.Bounds, func(b accountant.Bound) bool { return !slices.Contains(a.only, b.Accountant) })
		r.Refused = slices.DeleteFunc(r.Refused, func(f accountant.Refusal) bool { return !slices.Contains(a.only, f.Accountant) })
	}
	if len(r.Bounds) == 0 {
		return nil, diagnostic.New("D122", diagnostic.Span{}, "none of %s has a bound", strings.Join(texts(a.only), ", ")).
			Because("%s: %s", r.Refused[0].Accountant, r.Refused[0].Why)
	}
	return r, nil
}

// onePlan refuses a second plan.
func onePlan(args []string) error {
	if len(args) > 1 {
		return diagnostic.New("D113", diagnostic.Span{}, "give one plan: %q comes after it", args[1]).
			Try("put the plan in quotes; discreet account compare takes several")
	}
	return nil
}

// bounds is account without a verb.
func (a *accounting) bounds(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := onePlan(args); err != nil {
		return err
	}
	e, err := a.event(args[0])
	if err != nil {
		return err
	}
	r, err := a.report(ctx, e)
	if err != nil {
		return err
	}
	if a.json {
		return t.WriteJSON(bounds.NewReport(r, a.epsilon, a.delta))
	}
	t.Print(fmt.Sprintf("plan      %v", e), 10)
	fmt.Fprintf(t.Out, "relation  %v\n%s\n\n", r.Neighbours, a.targetText())
	a.boundsGrid(r).Write(t.Out)
	if missing := unfinished(r); len(missing) > 0 {
		fmt.Fprintf(t.Out, "\n%s\n", terminal.Wrap("missing: "+strings.Join(missing, ", ")+" did not finish; the bounds of the others hold. --timeout 1m waits longer, "+
			"if it was the time", t.Paragraph()))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(t.Out, "\n%s\n", terminal.Wrap("warning: "+w.Text, t.Paragraph()))
		if w.Instead != nil {
			t.Print(fmt.Sprintf("  instead: %v", w.Instead), 4)
		}
	}
	return nil
}

// unfinished names the accountants that were stopped.
func unfinished(r *accountant.Report) (names []string) {
	for _, f := range r.Refused {
		if f.Unfinished {
			names = append(names, string(f.Accountant))
		}
	}
	return names
}

// asked names what is asked for, and at what.
func (a *accounting) asked() (of, at string, value *big.Rat) {
	if a.delta != nil {
		return "epsilon", "delta", a.delta
	}
	return "delta", "epsilon", a.epsilon
}

func (a *accounting) targetText() string {
	_, at, value := a.asked()
	return fmt.Sprintf("%-8s  %s", at, bounds.Decimal(value))
}

func (a *accounting) boundsGrid(r *accountant.Report) terminal.Grid {
	of, _, _ := a.asked()
	g := terminal.Grid{{Title: "accountant"}, {Title: of + " at most", Right: true}, {Title: "at least", Right: true}, {Title: "direction"}, {Title: "note", Most: noteWidth}}
	row := func(cells ...string) {
		for j, cell := range cells {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	for _, b := range r.Bounds {
		v := bounds.Bracket(b)
		high := bounds.AtMost(v.High)
		if math.IsInf(v.High, 1) {
			high = "none"
			if v.Estimate > 0 && !math.IsInf(v.Estimate, 1) {
				high = "(about " + fmt.Sprintf("%.6g", v.Estimate) + ")"
			}
		}
		row(string(b.Accountant), high, bounds.AtLeast(v.Low), string(b.Direction), terminal.OneLine(b.Note))
	}
	for _, refusal := range r.Refused {
		row(string(refusal.Accountant), "-", "", "", terminal.OneLine(refusal.Why))
	}
	return g
}

// noteWidth keeps a line of a table readable; --wide and JSON have notes whole.
const noteWidth = 100
