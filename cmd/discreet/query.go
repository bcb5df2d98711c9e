package main

import (
	"cmp"
	"context"

	discreet "github.com/discreet-dp/discreet"
)

func queryCommand() *Command {
	c := &Command{
		UsageLine: "query [flags] 'SELECT ...' | -f FILE | -",
		For:       analyst,
		Short:     "answer a statement; spends budget",
		Long: `The answer goes to standard output; beside each noisy value stands the interval
that holds the value without noise, with the confidence asked for. What it cost
and what is left go to standard error. Say the cost with --epsilon, --epsilon and
--delta, or --rho, as the domain's measure allows. The charge is on disk before
private data is touched, and stays whatever happens then; discreet explain says
what a statement costs and is worth, for free.

Exit codes: 0 answered, 1 refused, 2 usage, 3 the budget does not suffice, 4 the
engine or the system failed.`,
		Examples: [2]string{
			"discreet query --rho 0.01 'SELECT department, count(*) FROM visits GROUP BY department'",
			"discreet query --epsilon 0.5 --format csv -f question.sql > answer.csv",
		},
	}
	var w workplace
	var s statement
	w.define(&c.Flags)
	s.define(&c.Flags)
	s.defineAsker(&c.Flags)
	var f format
	f.define(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		form, err := f.chosen()
		if err != nil {
			return err
		}
		t.json = form == "json"
		text, err := s.text(ctx, c, t.in, args)
		if err != nil {
			return err
		}
		s.Analyst = cmp.Or(s.Analyst, defaultAnalyst())
		if err := w.load(); err != nil {
			return err
		}
		defer w.close()
		done := t.busy(ctx, "answering")
		a, err := w.answer(ctx, text, &s.QueryOptions)
		done()
		if err != nil {
			return err
		}
		return t.writeAnswer(form, a)
	}
	return c
}

// writeAnswer prints an answer in one of the formats.
func (t *terminal) writeAnswer(form string, a *discreet.Answer) error {
	switch form {
	case "json":
		return t.writeJSON(a)
	case "csv":
		writeCSV(t.out, a)
	default:
		answerGrid(a).write(t.out)
	}
	t.sayAnswer(a)
	return nil
}

// sayAnswer prints what a reader must know beside the values.
func (t *terminal) sayAnswer(a *discreet.Answer) {
	t.say("%s", t.paint(dim, "cost: "+costText(a.Cost)))
	if a.Remaining.Measure != "" {
		t.say("%s", t.paint(dim, "left: "+remainingText(a.Remaining)))
	}
	for _, k := range keptWords(a.Kept) {
		t.say("%s", t.paint(dim, keptMark+" "+k))
	}
	for _, c := range a.Columns {
		if c.Noisy && c.Why != "" {
			t.say("%s", t.paint(dim, "note: "+printable(c.Name)+" has no interval: "+c.Why))
		}
	}
	for _, n := range a.Notes {
		t.say("%s", t.paint(dim, "note: "+printable(n)))
	}
}
