package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
)

func explainCommand() *Command {
	c := &Command{
		UsageLine: "explain [flags] 'SELECT ...' | -f FILE | -",
		For:       analyst,
		Short:     "say what a statement would cost and be worth; free",
		Long: `It prints what is protected and why, the cost, the noise, the expected error, and
the SQL that the engine would run. It is made from the catalog alone: it touches
no private data, spends nothing, and needs no ledger. Where there is a ledger it
says what is left.`,
		Examples: [2]string{
			"discreet explain --rho 0.01 'SELECT department, count(*) FROM visits GROUP BY department'",
			"discreet explain --epsilon 0.5 --delta 1e-9 --json -f question.sql",
		},
	}
	var w workplace
	var s statement
	w.define(&c.Flags)
	s.define(&c.Flags)
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		text, err := s.text(ctx, c, t.in, args)
		if err != nil {
			return err
		}
		if err := w.load(); err != nil {
			return err
		}
		defer w.close()
		if err := w.openLedgerToRead(ctx); err != nil {
			t.say("note: what is left is not known: %v", err)
		}
		db, err := w.database(ctx)
		if err != nil {
			return err
		}
		e, err := db.Explain(ctx, text, &s.QueryOptions)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.writeJSON(e)
		}
		writeExplanation(t.out, e)
		return nil
	}
	return c
}

// writeExplanation prints an explanation as a page.
func writeExplanation(w io.Writer, e *discreet.Explanation) {
	section := func(title string, lines []string) {
		for i, line := range lines {
			if i > 0 {
				title = ""
			}
			fmt.Fprintf(w, "%-10s %s\n", title, strings.TrimLeft(indent(line, 11), " "))
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
	cost := []string{costText(e.Cost)}
	if e.Remaining != nil {
		cost = append(cost, remainingText(*e.Remaining)+" is left")
	}
	section("cost", cost)
	var lines []string
	for _, m := range e.Mechanisms {
		name := m.Column
		if m.Part != "" {
			name += " (" + m.Part + ")"
		}
		lines = append(lines, fmt.Sprintf("%s: %s of scale %.4g, sensitivity %.4g", printable(name), strings.ReplaceAll(m.Mechanism, "_", " "), m.Scale, m.Sensitivity))
	}
	section("noise", lines)
	lines = nil
	for _, x := range e.ExpectedError {
		line := fmt.Sprintf("%s: at most %.4g off with %s confidence", printable(x.Column), x.Error, percent(e.Confidence))
		if x.AssumedCount > 0 {
			line += fmt.Sprintf(", in a group of %d values; less in larger ones", x.AssumedCount)
		}
		lines = append(lines, line)
	}
	section("error", lines)
	section("kept by", keptWords(e.Kept))
	section("notes", e.Notes)
	section("engine SQL", e.EngineSQL)
	if e.PostSQL != "" {
		section("then", []string{e.PostSQL})
	}
}

// keptWords explain the marks of values that noisy numbers chose to show.
func keptWords(kept []string) []string {
	if len(kept) == 0 {
		return nil
	}
	return []string{strings.Join(kept, ", ") + ": chosen by noisy values, so shown values lean to the side that was kept"}
}

// costText says what a statement is charged.
func costText(c discreet.Cost) string {
	return chargeText(c.Amounts)
}

// chargeText names the amounts of a charge that are not zero.
func chargeText(c filter.Amounts) string {
	if parts := c.Positive(); len(parts) > 0 {
		return partsText(parts, up)
	}
	return "nothing"
}

// remainingText says what is left of a budget, in its measure.
func remainingText(r discreet.Remaining) string { return amountsText(r, down) }

// amountsText names all amounts of a measure.
func amountsText(r discreet.Remaining, round func(*big.Rat, int) *big.Rat) string {
	return partsText(r.In(r.Measure), round)
}

func partsText(parts []filter.Part, round func(*big.Rat, int) *big.Rat) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Name + " " + rounded(p.Amount, round)
	}
	return strings.Join(texts, ", ")
}
