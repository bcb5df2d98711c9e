package query

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/ledger"
)

// Budget is discreet budget.
func Budget() *command.Command {
	c := &command.Command{
		UsageLine: "budget [flags]",
		For:       command.Analyst,
		Short:     "show what was spent, by whom, on what, and what is left",
		Long: `It prints each domain's budget, what is left of it, and the last statements that
spent it. A statement without an answer was interrupted or failed: its charge stays.
JSON has everything, with the events and certificates.`,
		Examples: [2]string{"discreet budget", "discreet budget --json --ledger clinic/discreet.ledger"},
	}
	var w workplace.Workplace
	w.Define(&c.Flags)
	last := c.Flags.Int("last", 20, "show the last `N` statements (default 20)")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		w.Resolve()
		defer w.Close()
		if err := w.OpenLedger(ctx); err != nil {
			return err
		}
		b, err := readBudget(ctx, w.Ledger)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(b)
		}
		writeBudget(t, b, *last)
		return nil
	}
	return c
}

// A budget is all that a ledger tells.
type budget struct {
	Domains []books.Domain `json:"domains"`
	History []books.Entry  `json:"history"`
}

func readBudget(ctx context.Context, l *ledger.Ledger) (*budget, error) {
	domains, err := l.Domains(ctx)
	if err != nil {
		return nil, err
	}
	b := &budget{Domains: []books.Domain{}}
	measures := map[string]filter.Measure{}
	for _, d := range domains {
		balance, err := l.Balance(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		told, err := books.NewDomain(balance)
		if err != nil {
			return nil, err
		}
		measures[d.ID] = d.Measure
		b.Domains = append(b.Domains, told)
	}
	history, err := l.History(ctx)
	if err != nil {
		return nil, err
	}
	b.History = books.NewEntries(history, measures)
	return b, nil
}

// writeBudget prints a budget for people, with the last statements.
func writeBudget(t *terminal.Terminal, b *budget, last int) {
	for i, d := range b.Domains {
		if i > 0 {
			fmt.Fprintln(t.Out)
		}
		whole := "epsilon " + d.Epsilon.String()
		if d.Delta.Sign() > 0 {
			whole += fmt.Sprintf(" at delta %v", d.Delta)
		}
		measure := string(d.Measure)
		if d.Order != "" {
			measure += " at order " + d.Order.String()
		}
		t.Print(fmt.Sprintf("domain %s: %s, in measure %s, %s", d.Domain, whole, measure, d.Neighbours), 2)
		fmt.Fprintf(t.Out, "  budget  %s\n", terminal.AmountsText(d.Limit, terminal.Down))
		fmt.Fprintf(t.Out, "  spent   %s\n", terminal.AmountsText(d.Spent, terminal.Up))
		t.Print(fmt.Sprintf("  left    %s  %s", terminal.AmountsText(d.Remaining, terminal.Down), terminal.Gauge(share(d))), 10)
		if d.Measure != filter.Approx && d.Implies.Epsilon.Sign() > 0 {
			fmt.Fprintf(t.Out, "          that is %s\n", impliedText(d))
		}
		if d.Unanswered > 0 {
			fmt.Fprintf(t.Out, "  %d charged without an answer\n", d.Unanswered)
		}
		if d.Suspended {
			fmt.Fprintf(t.Out, "  suspended until its owner runs discreet ledger acknowledge %s\n", d.Domain)
		}
	}
	var spent, seen []books.Entry
	for _, e := range b.History {
		switch e.Kind {
		case "reserve":
			spent = append(spent, e)
		case "access":
			seen = append(seen, e)
		}
	}
	writeSpent(t, spent, last)
	writeSeen(t, seen, last)
}

// writeSpent prints the last statements.
func writeSpent(t *terminal.Terminal, spent []books.Entry, last int) {
	if len(spent) == 0 {
		return
	}
	older := max(0, len(spent)-max(0, last))
	fmt.Fprintln(t.Out)
	if older > 0 {
		fmt.Fprintf(t.Out, "(%d earlier)\n", older)
	}
	g := terminal.Grid{{Title: "when"}, {Title: "analyst"}, {Title: "user"}, {Title: "domain"}, {Title: "cost"}, {Title: "statement"}}
	for _, e := range spent[older:] {
		statement := terminal.OneLine(e.Statement)
		if !t.Wide() {
			statement = terminal.Shorten(e.Statement, 60)
		}
		if !e.Answered {
			statement += "  (no answer)"
		}
		for j, cell := range []string{e.Time.Local().Format(time.DateTime), terminal.Printable(e.Analyst), terminal.Printable(e.User.String()), e.Domain, terminal.ChargeText(e.Charge.Amounts), statement} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
}

// writeSeen prints the last times that somebody saw exact values.
func writeSeen(t *terminal.Terminal, seen []books.Entry, last int) {
	if len(seen) == 0 {
		return
	}
	older := max(0, len(seen)-max(0, last))
	fmt.Fprint(t.Out, "\nexact values were seen, which no budget pays for:\n")
	if older > 0 {
		fmt.Fprintf(t.Out, "(%d earlier)\n", older)
	}
	g := terminal.Grid{{Title: "when"}, {Title: "by"}, {Title: "user"}, {Title: "domain"}, {Title: "what for", Most: 80}}
	for _, e := range seen[older:] {
		for j, cell := range []string{e.Time.Local().Format(time.DateTime), terminal.Printable(e.Analyst), terminal.Printable(e.User.String()), e.Domain, terminal.OneLine(e.Statement)} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
}

// impliedText says what is left of a budget in the other measures.
func impliedText(d books.Domain) string {
	parts := []filter.Part{{Name: "epsilon", Amount: d.Implies.Epsilon}, {Name: "delta", Amount: d.Implies.Delta}}
	if d.Measure == filter.Pure {
		parts = nil
	}
	if d.Measure != filter.ZCDP && d.Implies.Rho.Sign() > 0 {
		parts = append(parts, filter.Part{Name: "rho", Amount: d.Implies.Rho})
	}
	return terminal.PartsText(parts, terminal.Up)
}

// share returns how much of its budget a domain has left.
func share(d books.Domain) float64 {
	limit := d.Limit.In(d.Measure)[0].Amount
	if limit.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).Quo(d.Remaining.In(d.Measure)[0].Amount.Rat(), limit.Rat()).Float64()
	return share
}
