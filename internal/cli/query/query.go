// Package query has the commands that ask: query, explain, map, budget, and the demo.
package query

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/display"
)

// Command is discreet query.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "query [flags] 'SELECT ...' | -f FILE | -",
		For:       command.Analyst,
		Short:     "answer a statement; spends budget",
		Long: `The answer goes to standard output; beside each noisy value stands the interval
that holds the value without noise, with the confidence asked for. What it cost
and what is left go to standard error. Say the cost with --epsilon, --epsilon and
--delta, or --rho, as the domain's measure allows, or the error with --accuracy: then
the least is spent that reaches it. The charge is on disk before
private data is touched, and stays whatever happens then; discreet explain says
what a statement costs and is worth, for free. With --plot it is drawn too: a row or a
place for each group, a whisker for each interval. Once the owner has declared a version
of the data (discreet ledger version), what was answered before is answered again for
nothing, to everybody, unless --fresh pays for a new answer; and so is what such an answer
has released, in sums over its groups or otherwise, where that is as precise. With --free nothing is charged, however
precise what is stored is. With --federation holders of data
answer together, and none sees what another has.

Exit codes: 0 answered, 1 refused, 2 usage, 3 the budget does not suffice, 4 the
engine or the system failed.`,
		Examples: [2]string{
			"discreet query --rho 0.01 'SELECT department, count(*) FROM visits GROUP BY department'",
			"discreet query --epsilon 0.5 --format csv --plot answer.svg -f question.sql > answer.csv",
		},
	}
	var w workplace.Workplace
	var s workplace.Statement
	w.Define(&c.Flags)
	s.Define(&c.Flags)
	s.DefineAsker(&c.Flags)
	var f printing
	f.define(&c.Flags)
	var fed federated
	fed.define(&c.Flags)
	c.Flags.BoolVar(&s.Fresh, "fresh", false, "pay for a new answer, also where a stored one serves")
	c.Flags.BoolVar(&s.Free, "free", false, "charge nothing: what is stored answers, as precise as it is, or nothing does")
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := f.settle(t); err != nil {
			return err
		}
		text, err := s.Text(ctx, c, t.In, args)
		if err != nil {
			return err
		}
		if fed.file != "" && s.Fresh {
			return diagnostic.New("D115", diagnostic.Span{}, "--federation and --fresh exclude each other").Because("holders of data give each answer once, for a charge")
		}
		if fed.file != "" && s.Free {
			return diagnostic.New("D115", diagnostic.Span{}, "--federation and --free exclude each other").Because("holders of data give each answer once, for a charge")
		}
		if fed.file != "" {
			return fed.ask(ctx, c, t, &f, text, &s.QueryOptions)
		}
		s.Analyst, s.Reuse = cmp.Or(s.Analyst, workplace.DefaultAnalyst()), true
		if err := w.Load(); err != nil {
			return err
		}
		defer w.Close()
		if name, is := describes(text); is {
			if f.plot != "" {
				return display.Drawable(nil)
			}
			return showTables(t, w.Catalog, name, t.JSON)
		}
		done := t.Busy(ctx, "answering")
		a, err := w.Answer(ctx, text, &s.QueryOptions, f.admit)
		done()
		if err != nil {
			return err
		}
		return f.write(t, a)
	}
	return c
}

// A printing is how an answer is shown.
type printing struct {
	workplace.Format
	form string
	plot string
}

func (f *printing) define(fs *flag.FlagSet) {
	f.Format.Define(fs)
	fs.StringVar(&f.plot, "plot", "", "draw the answer by group, with its intervals, into `FILE`.svg too, or in the terminal with -; it costs nothing more")
}

// settle refuses flags that do not go together, and a drawing that could not be written.
func (f *printing) settle(t *terminal.Terminal) (err error) {
	if f.form, err = f.Chosen(); err != nil {
		return err
	}
	if t.JSON = f.form == "json"; f.plot == terminal.Here && f.form != "table" {
		return diagnostic.New("D115", diagnostic.Span{}, "--plot - and --format %s exclude each other", f.form).
			Because("a drawing would stand among the data").Try("--plot FILE.svg draws into a file")
	}
	return terminal.CheckPlot(f.plot, true)
}

// admit refuses an answer that cannot be drawn, if it is to be.
func (f *printing) admit(columns []discreet.Column) error {
	if f.plot == "" {
		return nil
	}
	return display.Drawable(columns)
}

// write prints an answer and draws it. It is paid for: the numbers come first, whatever
// becomes of the drawing.
func (f *printing) write(t *terminal.Terminal, a *discreet.Answer) error {
	if err := f.print(t, a); err != nil || f.plot == "" {
		return err
	}
	if f.plot == terminal.Here {
		fmt.Fprintln(t.Out)
	}
	return t.Draw(display.Draw(a), f.plot, true)
}

func (f *printing) print(t *terminal.Terminal, a *discreet.Answer) error {
	switch f.form {
	case "json":
		return t.WriteJSON(a)
	case "csv":
		display.WriteCSV(t.Out, a)
	default:
		terminal.AnswerGrid(a).Write(t.Out)
	}
	sayAnswer(t, a)
	return nil
}

// sayAnswer prints what a reader must know beside the values.
func sayAnswer(t *terminal.Terminal, a *discreet.Answer) {
	cost := "cost: " + costText(a.Cost)
	if a.Pilot != nil {
		cost += ", and " + costText(*a.Pilot) + " for a pilot"
	}
	t.Say("%s", t.Paint(terminal.Dim, cost))
	if a.Remaining.Measure != "" {
		t.Say("%s", t.Paint(terminal.Dim, "left: "+terminal.RemainingText(a.Remaining)))
	}
	for _, k := range display.KeptWords(a.Kept) {
		t.Say("%s", t.Paint(terminal.Dim, display.KeptMark+" "+k))
	}
	for _, c := range a.Columns {
		if c.Noisy && c.Why != "" {
			t.Say("%s", t.Paint(terminal.Dim, "note: "+terminal.Printable(c.Name)+" has no interval: "+c.Why))
		}
	}
	for _, n := range a.Notes {
		t.Say("%s", t.Paint(terminal.Dim, "note: "+terminal.Printable(n)))
	}
}
