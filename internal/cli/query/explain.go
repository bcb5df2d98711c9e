package query

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/display"
)

// Explain is discreet explain.
func Explain() *command.Command {
	c := &command.Command{
		UsageLine: "explain [flags] 'SELECT ...' | -f FILE | -",
		For:       command.Analyst,
		Short:     "say what a statement would cost and be worth; free",
		Long: `It prints what is protected and why, the cost, the noise and the expected error;
with --accuracy what an error costs; with --sql also what the engine would run. It is made from the catalog alone: it touches
no private data, spends nothing, and needs no ledger. Where there is a ledger it
says what is left. With --federation holders of data say so together, each of itself.`,
		Examples: [2]string{
			"discreet explain --rho 0.01 'SELECT department, count(*) FROM visits GROUP BY department'",
			"discreet explain --epsilon 0.5 --delta 1e-9 --json -f question.sql",
		},
	}
	var w workplace.Workplace
	var s workplace.Statement
	w.Define(&c.Flags)
	s.Define(&c.Flags)
	var f federated
	f.define(&c.Flags)
	c.Flags.BoolVar(&s.Free, "free", false, "as query --free: of what is stored")
	wantSQL := c.Flags.Bool("sql", false, "print the SQL that the engine would run, too")
	c.PrintsTables()
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		text, err := s.Text(ctx, c, t.In, args)
		if err != nil {
			return err
		}
		if f.file != "" {
			if *wantSQL {
				return diagnostic.New("D115", diagnostic.Span{}, "--federation and --sql exclude each other").Because("what a holder's engine runs is the holder's")
			}
			return f.explain(ctx, c, t, text, &s.QueryOptions, *wantJSON)
		}
		if err := w.Load(); err != nil {
			return err
		}
		defer w.Close()
		if name, is := describes(text); is {
			return showTables(t, w.Catalog, name, *wantJSON)
		}
		if err := w.OpenLedgerToRead(ctx); err != nil {
			t.Say("note: what is left is not known: %v", err)
		}
		db, err := w.Database(ctx)
		if err != nil {
			return err
		}
		s.Reuse = true
		e, err := db.Explain(ctx, text, &s.QueryOptions)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(e)
		}
		writeExplanation(t.Out, e, t.Width(0), *wantSQL)
		return nil
	}
	return c
}

// writeExplanation prints an explanation as a page, no wider than a width other than 0.
func writeExplanation(w io.Writer, e *discreet.Explanation, width int, engineSQL bool) {
	section := func(title string, lines []string) {
		for i, line := range lines {
			if i > 0 {
				title = ""
			}
			if width > 0 {
				line = terminal.Wrap(line, max(width-11, 20))
			}
			fmt.Fprintf(w, "%-10s %s\n", title, strings.TrimLeft(terminal.Indent(line, 11), " "))
		}
	}
	if e.Certificate.Domain == "" {
		section("protects", []string{"nobody: it reads public tables alone"})
	} else {
		section("protects", []string{fmt.Sprintf("every unit of domain %s, %s", e.Certificate.Domain, e.Certificate.Neighbours)})
	}
	for _, r := range e.Certificate.Releases {
		section("because", r.Words)
	}
	for i, stage := range e.Certificate.Stages {
		section(fmt.Sprintf("stage %d", i), []string{strings.TrimSpace(stage.Plan)})
	}
	cost := []string{costText(e.Cost)}
	if e.AtMost != nil {
		cost[0] += " for a pilot, and with the answer at most " + e.AtMost.String()
	}
	switch {
	case e.Reused && len(e.Cost.Events) == 0:
		cost[0] += ", as a stored answer serves"
	case e.Reused:
		cost[0] += "; nothing now, as a stored answer serves"
	}
	if e.Remaining != nil {
		cost = append(cost, terminal.RemainingText(*e.Remaining)+" is left")
	}
	section("cost", cost)
	var lines []string
	for _, m := range e.Mechanisms {
		name := m.Column
		if m.Part != "" {
			name += " (" + m.Part + ")"
		}
		lines = append(lines, fmt.Sprintf("%s: %s of scale %.4g, sensitivity %.4g", terminal.Printable(name), m.Noise(), m.Scale, m.Sensitivity))
	}
	section("noise", lines)
	lines = nil
	for _, x := range e.ExpectedError {
		line := fmt.Sprintf("%s: at most %.4g off with %s confidence", terminal.Printable(x.Column), x.Error, display.Percent(e.Confidence))
		if x.Of != "" {
			line = fmt.Sprintf("%s: computed of %s, which is at most %.4g off with %s confidence", terminal.Printable(x.Column), terminal.Printable(x.Of), x.Error, display.Percent(e.Confidence))
		}
		if x.Behind {
			line = fmt.Sprintf("%s: another value has at most %.4g rows more, with %s confidence", terminal.Printable(x.Column), x.Error, display.Percent(e.Confidence))
		}
		if x.AssumedCount > 0 {
			line += fmt.Sprintf(", in a group of %d values; less in larger ones", x.AssumedCount)
		}
		lines = append(lines, line)
	}
	section("error", lines)
	section("bounds", e.InsteadWords())
	section("kept by", display.KeptWords(e.Kept))
	section("notes", e.Notes)
	if !engineSQL {
		return
	}
	section("engine SQL", e.EngineSQL)
	for i, stage := range e.StageSQL {
		section(fmt.Sprintf("stage %d", i), []string{stage})
	}
	if e.PostSQL != "" {
		section("then", []string{e.PostSQL})
	}
}

// costText says what a statement is charged.
func costText(c discreet.Cost) string {
	return terminal.ChargeText(c.Amounts)
}
