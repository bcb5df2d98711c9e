package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

func budgetCommand() *Command {
	c := &Command{
		UsageLine: "budget [flags]",
		For:       analyst,
		Short:     "show what was spent, by whom, on what, and what is left",
		Long: `It prints each domain's budget, what is left of it, and the last statements that
spent it. A statement without an answer was interrupted or failed: its charge stays.
JSON has everything, with the events and certificates.`,
		Examples: [2]string{"discreet budget", "discreet budget --json --ledger clinic/discreet.ledger"},
	}
	var w workplace
	w.define(&c.Flags)
	last := c.Flags.Int("last", 20, "show the last `N` statements (default 20)")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := none(c, args); err != nil {
			return err
		}
		w.resolve()
		defer w.close()
		if err := w.openLedger(ctx); err != nil {
			return err
		}
		b, err := readBudget(ctx, w.ledger)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.writeJSON(b)
		}
		t.writeBudget(b, *last)
		return nil
	}
	return c
}

// A budget is all that a ledger tells.
type budget struct {
	Domains []domainBudget `json:"domains"`
	History []event        `json:"history"`
}

type domainBudget struct {
	Domain     string             `json:"domain"`
	Neighbours string             `json:"neighbours"`
	Measure    string             `json:"measure"`
	Epsilon    privacy.Epsilon    `json:"epsilon"`
	Delta      privacy.Delta      `json:"delta"`
	Order      json.Number        `json:"order,omitempty"` // of rdp
	Limit      discreet.Remaining `json:"limit"`           // the budget in the measure's own terms
	Spent      discreet.Remaining `json:"spent"`
	Remaining  discreet.Remaining `json:"remaining"`
	Implies    filter.Amounts     `json:"implies"`    // what remains, as (epsilon, delta), and as rho if the measure has one
	Unanswered int64              `json:"unanswered"` // charges without an answer
	Suspended  bool               `json:"suspended"`
}

// An event is one record of the ledger.
type event struct {
	Record      int64               `json:"record"`
	Kind        string              `json:"kind"` // create, anchor, domain, reserve, suspend, acknowledge, access
	Time        time.Time           `json:"time"`
	Domain      string              `json:"domain,omitempty"`
	Analyst     string              `json:"analyst,omitempty"`
	Statement   string              `json:"statement,omitempty"`
	Parameters  json.RawMessage     `json:"parameters,omitempty"`
	Certificate json.RawMessage     `json:"certificate,omitempty"`
	Events      []privacy.Event     `json:"events,omitempty"`
	Charge      *discreet.Remaining `json:"charge,omitempty"`
	Answered    bool                `json:"answered"`
	Note        string              `json:"note,omitempty"`
	User        *ledger.User        `json:"user,omitempty"` // of the operating system
}

func readBudget(ctx context.Context, l *ledger.Ledger) (*budget, error) {
	domains, err := l.Domains(ctx)
	if err != nil {
		return nil, err
	}
	b := &budget{Domains: []domainBudget{}, History: []event{}}
	measures := map[string]filter.Measure{}
	for _, d := range domains {
		balance, err := l.Balance(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		implies, err := balance.Implies()
		if err != nil {
			return nil, err
		}
		measures[d.ID] = d.Measure
		var order json.Number
		if balance.Order != nil {
			order = json.Number(numeric.FormatRat(balance.Order))
		}
		b.Domains = append(b.Domains, domainBudget{d.ID, d.Neighbours.String(), d.Measure, d.Epsilon, d.Delta, order,
			inMeasure(d.Measure, balance.Limit), inMeasure(d.Measure, balance.Spent), inMeasure(d.Measure, balance.Remaining),
			implies, balance.Uncommitted, balance.Suspended})
	}
	history, err := l.History(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range history {
		if h.Kind == "commit" { // its reservation says that it is answered
			continue
		}
		e := event{Record: h.Seq, Kind: h.Kind, Time: h.Time, Domain: h.Domain, Analyst: h.Analyst, User: h.User, Statement: h.Statement,
			Parameters: h.Parameters, Certificate: h.Certificate, Events: h.Events, Answered: h.Committed, Note: h.Note}
		if h.Kind == "reserve" {
			charge := inMeasure(measures[h.Domain], h.Charge)
			e.Charge = &charge
		}
		b.History = append(b.History, e)
	}
	return b, nil
}

func inMeasure(m filter.Measure, a filter.Amounts) discreet.Remaining {
	return discreet.Remaining{Measure: m, Amounts: a}
}

// writeBudget prints a budget for people, with the last statements.
func (t *terminal) writeBudget(b *budget, last int) {
	for i, d := range b.Domains {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		whole := "epsilon " + d.Epsilon.String()
		if d.Delta.Sign() > 0 {
			whole += fmt.Sprintf(" at delta %v", d.Delta)
		}
		measure := d.Measure
		if d.Order != "" {
			measure += " at order " + d.Order.String()
		}
		fmt.Fprintf(t.out, "domain %s: %s, in measure %s, %s\n", d.Domain, whole, measure, d.Neighbours)
		fmt.Fprintf(t.out, "  budget  %s\n", amountsText(d.Limit, down))
		fmt.Fprintf(t.out, "  spent   %s\n", amountsText(d.Spent, up))
		fmt.Fprintf(t.out, "  left    %s  %s\n", amountsText(d.Remaining, down), gauge(share(d)))
		if d.Measure != filter.Approx && d.Implies.Epsilon.Sign() > 0 {
			fmt.Fprintf(t.out, "          that is %s\n", impliedText(d))
		}
		if d.Unanswered > 0 {
			fmt.Fprintf(t.out, "  %d charged without an answer\n", d.Unanswered)
		}
		if d.Suspended {
			fmt.Fprintf(t.out, "  suspended until its owner runs discreet ledger acknowledge %s\n", d.Domain)
		}
	}
	var spent, seen []event
	for _, e := range b.History {
		switch e.Kind {
		case "reserve":
			spent = append(spent, e)
		case "access":
			seen = append(seen, e)
		}
	}
	t.writeSpent(spent, last)
	t.writeSeen(seen, last)
}

// writeSpent prints the last statements.
func (t *terminal) writeSpent(spent []event, last int) {
	if len(spent) == 0 {
		return
	}
	older := max(0, len(spent)-max(0, last))
	fmt.Fprintln(t.out)
	if older > 0 {
		fmt.Fprintf(t.out, "(%d earlier)\n", older)
	}
	g := grid{{title: "when"}, {title: "analyst"}, {title: "user"}, {title: "domain"}, {title: "cost"}, {title: "statement"}}
	for _, e := range spent[older:] {
		statement := shorten(e.Statement, 60)
		if !e.Answered {
			statement += "  (no answer)"
		}
		for j, cell := range []string{e.Time.Local().Format(time.DateTime), printable(e.Analyst), printable(e.User.String()), e.Domain, chargeText(e.Charge.Amounts), statement} {
			g[j].cells = append(g[j].cells, cell)
		}
	}
	g.write(t.out)
}

// writeSeen prints the last times that somebody saw exact values.
func (t *terminal) writeSeen(seen []event, last int) {
	if len(seen) == 0 {
		return
	}
	older := max(0, len(seen)-max(0, last))
	fmt.Fprint(t.out, "\nexact values were seen, which no budget pays for:\n")
	if older > 0 {
		fmt.Fprintf(t.out, "(%d earlier)\n", older)
	}
	g := grid{{title: "when"}, {title: "by"}, {title: "user"}, {title: "domain"}, {title: "what for"}}
	for _, e := range seen[older:] {
		for j, cell := range []string{e.Time.Local().Format(time.DateTime), printable(e.Analyst), printable(e.User.String()), e.Domain, shorten(e.Statement, 80)} {
			g[j].cells = append(g[j].cells, cell)
		}
	}
	g.write(t.out)
}

// impliedText says what is left of a budget in the other measures.
func impliedText(d domainBudget) string {
	parts := []filter.Part{{Name: "epsilon", Amount: d.Implies.Epsilon}, {Name: "delta", Amount: d.Implies.Delta}}
	if d.Measure == filter.Pure {
		parts = nil
	}
	if d.Measure != filter.ZCDP && d.Implies.Rho.Sign() > 0 {
		parts = append(parts, filter.Part{Name: "rho", Amount: d.Implies.Rho})
	}
	return partsText(parts, up)
}

// share returns how much of its budget a domain has left.
func share(d domainBudget) float64 {
	limit := d.Limit.In(d.Measure)[0].Amount
	if limit.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).Quo(d.Remaining.In(d.Measure)[0].Amount.Rat(), limit.Rat()).Float64()
	return share
}

// shorten puts a statement on one line of at most n characters.
func shorten(statement string, n int) string {
	line := []rune(printable(strings.Join(strings.Fields(statement), " ")))
	if len(line) > n {
		return string(line[:n-3]) + "..."
	}
	return string(line)
}
