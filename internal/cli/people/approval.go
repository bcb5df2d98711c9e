package people

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// Approval is discreet approval.
func Approval() *command.Command {
	return family(&command.Command{
		UsageLine: "approval list|grant|deny [flags] [ID]",
		For:       command.Owner,
		Short:     "statements of a server that wait for an owner (owner)",
		Long: `A statement that costs more than its asker's limit waits. What is granted is that
statement of that asker, at that cost and under that catalog, once: it is answered when
the asker sends it again. Decide by what is shown, which comes of no data; a decision
that looks at data tells of them.`,
		Examples: [2]string{"discreet approval list", "discreet approval deny 41 --why 'ask by month, not by day'"},
		Verbs:    []*command.Command{approvals(), grant(), deny()},
	})
}

// waiting is an approval in JSON.
type waiting struct {
	ID          int64           `json:"id"`
	Status      ledger.Status   `json:"status"`
	Analyst     string          `json:"analyst"`
	Domain      string          `json:"domain"`
	Asked       time.Time       `json:"asked"`
	Canonical   string          `json:"canonical"`
	Statement   string          `json:"statement"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Certificate json.RawMessage `json:"certificate,omitempty"`
	Cost        any             `json:"cost"`
	Remaining   any             `json:"remaining"`
	Spent       any             `json:"spent"` // by the analyst
	Quota       any             `json:"quota,omitempty"`
	By          string          `json:"by,omitempty"`
	Why         string          `json:"why,omitempty"`
	Decided     time.Time       `json:"decided,omitzero"`
}

func waitingOf(a people.Approval) waiting {
	in := func(x filter.Amounts) any { return terminal.InMeasure(a.Measure, x) }
	w := waiting{ID: a.ID, Status: a.Status, Analyst: a.Analyst, Domain: a.Domain, Asked: a.Asked, Canonical: a.Canonical, Statement: a.Statement, Parameters: a.Parameters,
		Certificate: a.Certificate, Cost: in(a.Charge), Remaining: in(a.Remaining), Spent: in(a.Holding.Spent), By: a.By, Why: a.Why, Decided: a.Decided}
	if a.Holding.Quota != nil {
		w.Quota = in(*a.Holding.Quota)
	}
	return w
}

func approvals() *command.Command {
	c := &command.Command{
		UsageLine: "list [--all] [flags]",
		Short:     "show what waits, what it would cost and what remains",
		Long:      `JSON has the certificates and parameters as well.`,
		Examples:  [2]string{"discreet approval list", "discreet approval list --all --json"},
	}
	every := c.Flags.Bool("all", false, "also what was decided")
	return verb(c, "", func(ctx context.Context, d *desk, _ []string) error {
		all, err := d.Approvals(ctx, *every)
		if err != nil {
			return err
		}
		if d.json {
			out := []waiting{}
			for _, a := range all {
				out = append(out, waitingOf(a))
			}
			return d.t.WriteJSON(map[string]any{"approvals": out})
		}
		if len(all) == 0 {
			d.t.Say("nothing waits")
			return nil
		}
		for i, a := range all {
			if i > 0 {
				fmt.Fprintln(d.t.Out)
			}
			left := terminal.RemainingText(terminal.InMeasure(a.Measure, a.Remaining))
			fmt.Fprintf(d.t.Out, "%d  %s  %s asks, %s\n", a.ID, a.Status, a.Analyst, a.Asked.UTC().Format(time.RFC3339))
			fmt.Fprintf(d.t.Out, "    costs %s of domain %s, of which %s is left\n", terminal.ChargeText(a.Charge), a.Domain, left)
			if a.Holding.Quota != nil {
				fmt.Fprintf(d.t.Out, "    %s has %s of a quota left\n", a.Analyst, terminal.RemainingText(terminal.InMeasure(a.Measure, a.Holding.Left)))
			}
			for line := range strings.SplitSeq(strings.TrimSpace(a.Canonical), "\n") {
				fmt.Fprintf(d.t.Out, "    %s\n", line)
			}
			if a.By != "" {
				fmt.Fprintf(d.t.Out, "    %s by %s %s\n", a.Status, people.Shown(a.By), a.Why)
			}
		}
		return nil
	})
}

// decision is a verb that decides.
func decision(c *command.Command, act func(ctx context.Context, d *desk, id int64) error, done string) *command.Command {
	return verb(c, "APPROVAL", func(ctx context.Context, d *desk, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return diagnostic.New("D113", diagnostic.Span{}, "%q is no approval", args[0]).Try("discreet approval list shows their numbers")
		}
		if err := act(ctx, d, id); err != nil {
			return err
		}
		return d.said(done, id)
	})
}

func grant() *command.Command {
	return decision(&command.Command{
		UsageLine: "grant ID [flags]",
		Short:     "let a statement be answered once",
		Long:      `It is charged and answered when its asker sends it again, if the budget suffices then.`,
		Examples:  [2]string{"discreet approval grant 41", "discreet approval grant 41 --json"},
	}, func(ctx context.Context, d *desk, id int64) error { return d.Grant(ctx, d.by, id) }, "granted %d: it is answered once, when it is sent again")
}

func deny() *command.Command {
	c := &command.Command{
		UsageLine: "deny ID --why TEXT [flags]",
		Short:     "refuse a statement",
		Long:      `Its asker is told why. It may be granted later.`,
		Examples:  [2]string{"discreet approval deny 41 --why 'ask by month, not by day'", "discreet approval deny 41 --why 'see the report of April' --json"},
	}
	why := c.Flags.String("why", "", "the reason, a `TEXT` that the asker is told")
	return decision(c, func(ctx context.Context, d *desk, id int64) error {
		if *why == "" {
			return command.Missing("the reason", "--why TEXT")
		}
		return d.Deny(ctx, d.by, id, *why)
	}, "denied %d")
}
