package people

import (
	"context"
	"flag"
	"fmt"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
)

// amounts are flags that say how much.
type amounts struct {
	filter.Amounts
	none bool
}

func (a *amounts) define(fs *flag.FlagSet, none string) {
	define(fs, "epsilon", &a.Epsilon, privacy.ParseEpsilon)
	define(fs, "delta", &a.Delta, privacy.ParseDelta)
	define(fs, "rho", &a.Rho, privacy.ParseRho)
	for name, of := range map[string]*privacy.Loss{"renyi": &a.Renyi, "mu-squared": &a.MuSquared, "epsilon-squared": &a.EpsilonSquared} {
		define(fs, name, of, parseLoss)
	}
	fs.BoolVar(&a.none, "none", false, none)
}

func parseLoss(text string) (l privacy.Loss, err error) {
	err = l.UnmarshalText([]byte(text))
	return l, err
}

func define[A any](fs *flag.FlagSet, name string, to *A, parse func(string) (A, error)) {
	fs.Func(name, "an `AMOUNT`, in the domain's measure", func(text string) (err error) {
		*to, err = parse(text)
		return err
	})
}

// allowance is what the flags say, or nil for none.
func (a *amounts) allowance() (*ledger.Allowance, error) {
	if given := len(a.Positive()) > 0; given == a.none {
		return nil, command.Missing("the amount", "--rho R or --epsilon E, or --none")
	}
	if a.none {
		return nil, nil
	}
	return &ledger.Allowance{Amounts: a.Amounts}, nil
}

// bounding is a verb that bounds what an account or a group spends of a domain.
func bounding(c *command.Command, what string, act func(a *people.Accounts, ctx context.Context, by, of, domain string, most *ledger.Allowance) error) *command.Command {
	var a amounts
	a.define(&c.Flags, "there is none")
	domain := c.Flags.String("domain", "", "of which `DOMAIN` (default the only one)")
	return verb(c, "HOLDER", func(ctx context.Context, d *desk, args []string) error {
		of := *domain
		if of == "" {
			domains, err := d.Ledger.Domains(ctx)
			if err != nil {
				return err
			}
			if len(domains) != 1 {
				return command.Missing("the domain", "--domain DOMAIN")
			}
			of = domains[0].ID
		}
		if len(a.Positive()) == 0 && !a.none {
			return d.holding(ctx, args[0], of)
		}
		most, err := a.allowance()
		if err != nil {
			return err
		}
		if err := act(d.Accounts, ctx, d.by, args[0], of, most); err != nil {
			return err
		}
		if most == nil {
			return d.said("%s has no %s of domain %s", args[0], what, of)
		}
		return d.said("%s has a %s of %s of domain %s", args[0], what, allowance(*most), of)
	})
}

// holding shows what an account or a group has spent of a domain, and may.
func (d *desk) holding(ctx context.Context, name, domain string) error {
	subject, err := people.Subject(name)
	if err != nil {
		return err
	}
	h, err := d.Ledger.Holding(ctx, subject, domain)
	if err != nil {
		return err
	}
	in := func(a *filter.Amounts) *discreet.Remaining {
		if a == nil {
			return nil
		}
		r := terminal.InMeasure(h.Measure, *a)
		return &r
	}
	if d.json {
		return d.t.WriteJSON(map[string]any{"name": name, "domain": domain, "spent": in(&h.Spent), "quota": in(h.Quota), "limit": in(h.Limit)})
	}
	line := fmt.Sprintf("%s has spent %s of domain %s", name, terminal.AmountsText(*in(&h.Spent), terminal.Up), domain)
	if h.Quota != nil {
		line += ", and has " + terminal.RemainingText(*in(&h.Left)) + " of a quota left"
	}
	if h.Limit != nil {
		line += "; a statement may cost " + terminal.RemainingText(*in(h.Limit))
	}
	fmt.Fprintln(d.t.Out, line)
	return nil
}

func quota() *command.Command {
	return bounding(&command.Command{
		UsageLine: "quota NAME|group:GROUP [--rho R | --epsilon E [--delta D] | --none] [--domain DOMAIN] [flags]",
		Short:     "what an account or a group may spend of a domain in all",
		Long: `A quota is in the domain's measure and comes on top of the domain's budget: a charge must
fit both. What was spent before counts. Without --delta the domain's holds. Without any
amount it shows what was spent and what is left.`,
		Examples: [2]string{"discreet user quota anna --rho 0.02", "discreet user quota group:nurses --rho 0.05 --domain patient"},
	}, "quota", (*people.Accounts).Quota)
}

func limit() *command.Command {
	return bounding(&command.Command{
		UsageLine: "limit NAME|group:GROUP [--rho R | --epsilon E [--delta D] | --none] [--domain DOMAIN] [flags]",
		Short:     "what a statement may cost without an owner's approval",
		Long:      `A statement that costs more is pending until an owner decides: discreet approval.`,
		Examples:  [2]string{"discreet user limit anna --rho 0.005", "discreet user limit anna --none"},
	}, "limit", (*people.Accounts).Limit)
}

func defaults() *command.Command {
	c := &command.Command{
		UsageLine: "default NAME --rho R | --epsilon E [--delta D] | --none [flags]",
		Short:     "what a statement spends that names no amount",
		Long:      `Over the wire and HTTP nothing is charged unless an amount is named: by the statement's session or request, or by this.`,
		Examples:  [2]string{"discreet user default anna --rho 0.001", "discreet user default anna --none"},
	}
	var a amounts
	a.define(&c.Flags, "statements name their amounts")
	return verb(c, "ACCOUNT", func(ctx context.Context, d *desk, args []string) error {
		most, err := a.allowance()
		if err != nil {
			return err
		}
		if most == nil {
			most = &ledger.Allowance{}
		}
		if err := d.Spending(ctx, d.by, args[0], most.Amounts); err != nil {
			return err
		}
		if a.none {
			return d.said("statements of %s name their amounts", args[0])
		}
		return d.said("a statement of %s spends %s if it names nothing", args[0], allowance(*most))
	})
}

func tables() *command.Command {
	c := &command.Command{
		UsageLine: "tables NAME|group:GROUP TABLE... | --all | --none [flags]",
		Short:     "which tables exist for an account or a group",
		Long:      `A table or a view that is not allowed does not exist: not in lists, not in errors, not in hints.`,
		Examples:  [2]string{"discreet user tables anna visits departments", "discreet user tables anna --all"},
	}
	all := c.Flags.Bool("all", false, "all that there are")
	none := c.Flags.Bool("none", false, "none")
	return verb(c, "HOLDER TABLE...", func(ctx context.Context, d *desk, args []string) error {
		of, names := args[0], args[1:]
		if given := len(names) > 0; given == (*all || *none) || *all && *none {
			return command.Missing("the list of tables", "TABLE..., --all or --none")
		}
		if *all {
			names = nil
		} else if *none {
			names = []string{}
		}
		if err := d.Tables(ctx, d.by, of, names); err != nil {
			return err
		}
		switch {
		case *all:
			return d.said("all tables exist for %s", of)
		case *none:
			return d.said("no table exists for %s", of)
		}
		return d.said("for %s there are: %s", of, terminal.Printable(strings.Join(names, ", ")))
	})
}

func hours() *command.Command {
	c := &command.Command{
		UsageLine: "hours NAME|group:GROUP --zone ZONE --from TIME --to TIME [--days mon,tue] | --none [flags]",
		Short:     "when an account or a group may ask",
		Long:      `Times are those of clocks in the zone. Hours that end before they begin end on the next day.`,
		Examples:  [2]string{"discreet user hours anna --zone Europe/Berlin --from 08:00 --to 18:00 --days mon,tue,wed,thu,fri", "discreet user hours anna --none"},
	}
	c.Values = map[string][]string{"days": {"mon", "tue", "wed", "thu", "fri", "sat", "sun"}}
	var h people.Hours
	c.Flags.StringVar(&h.Zone, "zone", "", "a `ZONE` of the list of time zones, such as Europe/Berlin")
	c.Flags.StringVar(&h.From, "from", "", "a `TIME` of the day, such as 08:00")
	c.Flags.StringVar(&h.To, "to", "", "a `TIME` of the day")
	c.Flags.Func("days", "`DAY,...`: such as mon,fri (default all)", func(text string) error {
		h.Days = strings.Split(text, ",")
		return nil
	})
	none := c.Flags.Bool("none", false, "at any time")
	return verb(c, "HOLDER", func(ctx context.Context, d *desk, args []string) error {
		given := h.Zone != "" || h.From != "" || h.To != "" || h.Days != nil
		if given == *none {
			return command.Missing("the hours", "--zone ZONE --from TIME --to TIME, or --none")
		}
		if *none {
			if err := d.Hours(ctx, d.by, args[0], nil); err != nil {
				return err
			}
			return d.said("%s may ask at any time", args[0])
		}
		if err := d.Hours(ctx, d.by, args[0], &h); err != nil {
			return diagnostic.New("D113", diagnostic.Span{}, "%v", err)
		}
		return d.said("%s may ask %s", args[0], h.String())
	})
}
