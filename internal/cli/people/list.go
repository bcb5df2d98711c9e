package people

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// list shows what accounts and groups there are, and by which rules each may ask.
func list() *command.Command {
	return verb(&command.Command{
		UsageLine: "list [flags]",
		Short:     "show accounts and groups with their rules",
		Long:      `JSON has every rule; the table names them.`,
		Examples:  [2]string{"discreet user list", "discreet user list --json"},
	}, "", func(ctx context.Context, d *desk, _ []string) error {
		all, err := d.List(ctx)
		if err != nil {
			return err
		}
		if d.json {
			if all == nil {
				all = []people.Listed{}
			}
			return d.t.WriteJSON(map[string]any{"accounts": all})
		}
		g := terminal.Grid{{Title: "name"}, {Title: "role"}, {Title: "state"}, {Title: "groups"}, {Title: "rules"}}
		for _, l := range all {
			for i, text := range []string{l.Name, cmp.Or(string(l.Role), "group"), state(l, time.Now()), strings.Join(l.Groups, ", "), rules(l)} {
				g[i].Cells = append(g[i].Cells, text)
			}
		}
		g.Write(d.t.Out)
		return nil
	})
}

func state(l people.Listed, now time.Time) string {
	switch {
	case l.Role == "":
		return ""
	case l.Disabled:
		return "disabled"
	case !l.Expires.IsZero() && !now.Before(l.Expires):
		return "expired"
	}
	var parts []string
	if l.Password {
		parts = append(parts, "password")
	}
	valid := 0
	for _, t := range l.Tokens {
		if now.Before(t.Expires) {
			valid++
		}
	}
	if valid == 1 {
		parts = append(parts, "1 token")
	} else if valid > 1 {
		parts = append(parts, fmt.Sprintf("%d tokens", valid))
	}
	if !l.Expires.IsZero() {
		parts = append(parts, "until "+l.Expires.Format(time.DateOnly))
	}
	return cmp.Or(strings.Join(parts, ", "), "cannot sign in")
}

// rules are an account's own, in words.
func rules(l people.Listed) string {
	var parts []string
	amounts := func(what string, of map[string]ledger.Allowance) {
		for domain, a := range of {
			parts = append(parts, fmt.Sprintf("%s of %s %s", what, domain, allowance(a)))
		}
	}
	amounts("quota", l.Quotas)
	amounts("limit", l.Limits)
	if l.Default != nil {
		parts = append(parts, "default "+allowance(*l.Default))
	}
	if l.Tables != nil {
		parts = append(parts, "tables "+cmp.Or(strings.Join(l.Tables, ", "), "none"))
	}
	if l.Hours != nil {
		parts = append(parts, "hours "+l.Hours.String())
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func allowance(a ledger.Allowance) string { return terminal.PartsText(a.Positive(), terminal.Down) }
