// Package people has the commands about who may ask: discreet user and discreet approval.
//
// It guarantees that a password or a token is printed once, on standard output, by the
// command that makes it.
package people

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
)

// User is discreet user.
func User() *command.Command {
	return family(&command.Command{
		UsageLine: "user add|list|disable|enable|rotate|expire|token|revoke|group|quota|limit|default|tables|hours [flags] [NAME]",
		For:       command.Owner,
		Short:     "accounts of a server: who may ask, what, when and how much (owner)",
		Long: `Accounts live with the ledger: what they may do stands in its chain of records, and what
their passwords and tokens are checked by in a file beside it. These commands work while
a server runs, and hold from its next statement on.

Every rule restricts: those of an account and of all its groups hold together.`,
		Examples: [2]string{"discreet user add anna --role analyst", "discreet user quota anna --rho 0.02"},
		Verbs:    []*command.Command{add(), list(), disable(), enable(), rotate(), expire(), token(), revoke(), group(), quota(), limit(), defaults(), tables(), hours()},
	})
}

// family makes a command of its verbs.
func family(c *command.Command) *command.Command {
	for _, v := range c.Verbs {
		v.Of = c.Name()
		c.Words = append(c.Words, v.Name())
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

// A desk is where an owner keeps accounts: what a verb's flags name, opened.
type desk struct {
	workplace.Workplace
	*people.Accounts
	t    *terminal.Terminal
	json bool
	by   string
}

// verb gives a command the flags of all verbs, and what it does at an open desk. names are
// those of its arguments' values: see Completions.
func verb(c *command.Command, names string, run func(ctx context.Context, d *desk, args []string) error) *command.Command {
	d := &desk{}
	c.Arguments = strings.Fields(names)
	d.Define(&c.Flags)
	c.Flags.BoolVar(&d.json, "json", false, "print JSON")
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := arity(c, names, args); err != nil {
			return err
		}
		d.Resolve()
		defer d.Close()
		if err := d.OpenLedger(ctx); err != nil {
			return err
		}
		d.t, d.by = t, workplace.DefaultAnalyst()
		d.Accounts, err = people.Open(ctx, d.Workplace.Accounts())
		if err != nil {
			return refused(err)
		}
		defer func() { err = errors.Join(err, d.Accounts.Close()) }()
		return refused(run(ctx, d, args))
	}
	return c
}

// Close closes the ledger; the accounts are closed before it.
func (d *desk) Close() { d.Workplace.Close() }

// arity refuses other arguments than those that are named: "HOLDER TABLE..." takes one and
// any number.
func arity(c *command.Command, names string, args []string) error {
	want := strings.Fields(names)
	least, many := len(want), strings.HasSuffix(names, "...")
	if many {
		least--
	}
	if len(args) >= least && (many || len(args) == least) {
		return nil
	}
	return diagnostic.New("D113", diagnostic.Span{}, "the arguments do not fit").Try("discreet %s", c.Line())
}

// refused gives what is refused about accounts the form of all refusals.
func refused(err error) error {
	for _, sentinel := range []error{people.ErrName, people.ErrUnknown, people.ErrExists, ledger.ErrUnknownApproval, ledger.ErrUsed, ledger.ErrMeasure} {
		if errors.Is(err, sentinel) {
			return diagnostic.New("D113", diagnostic.Span{}, "%v", err)
		}
	}
	return err
}

// said ends a verb that has done something.
func (d *desk) said(format string, args ...any) error {
	if d.json {
		return d.t.WriteJSON(map[string]string{"done": fmt.Sprintf(format, args...)})
	}
	d.t.Say(format, args...)
	return nil
}

// A secret is what is printed once.
type secret struct {
	Name     string `json:"name"`
	Password string `json:"password,omitempty"`
	Token    string `json:"token,omitempty"`
}

func (d *desk) show(s secret, format string, args ...any) error {
	if d.json {
		return d.t.WriteJSON(s)
	}
	d.t.Say(format, args...)
	for _, text := range []string{s.Password, s.Token} {
		if text != "" {
			fmt.Fprintln(d.t.Out, text)
		}
	}
	return nil
}

// password is the one on standard input, without one newline at its end, or a new one.
func (d *desk) password(fromInput bool) (password string, made bool, err error) {
	if !fromInput {
		password, err = people.NewPassword()
		return password, true, err
	}
	text, err := io.ReadAll(io.LimitReader(d.t.In, 1<<16))
	if err != nil {
		return "", false, fmt.Errorf("read password: %w", err)
	}
	password = strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if password == "" {
		return "", false, diagnostic.New("D113", diagnostic.Span{}, "standard input has no password")
	}
	return password, false, nil
}

const inputUsage = "take the password from standard input, without one newline"

func add() *command.Command {
	c := &command.Command{
		UsageLine: "add NAME --role owner|analyst [--password-stdin] [--token] [flags]",
		Short:     "make an account",
		Long: `Without --password-stdin or --token it makes a password of 128 random bits. A password
or a token that it makes goes to standard output, once. An owner decides about accounts,
rules and approvals and sees what all have asked; an analyst asks.`,
		Examples: [2]string{"discreet user add anna --role analyst", "discreet user add nightly --role analyst --token"},
	}
	var role people.Role
	c.Flags.Func("role", "what the account may do: `owner|analyst`", func(text string) error {
		if role = people.Role(text); role != people.Owner && role != people.Analyst {
			return errors.New("is owner or analyst")
		}
		return nil
	})
	fromInput := c.Flags.Bool("password-stdin", false, inputUsage)
	wantToken := c.Flags.Bool("token", false, "make a token, and no password unless one is given")
	ends := defineUntil(&c.Flags, "expires", "when the token ends: a `DATE` (default in 90 days)")
	return verb(c, "NAME", func(ctx context.Context, d *desk, args []string) (err error) {
		if role == "" {
			return command.Missing("the role of the account", "--role owner or --role analyst")
		}
		s := secret{Name: args[0]}
		password := ""
		if *fromInput || !*wantToken {
			made := false
			if password, made, err = d.password(*fromInput); err != nil {
				return err
			}
			if made {
				s.Password = password
			}
		}
		if err := d.Add(ctx, d.by, args[0], role, password); err != nil {
			return err
		}
		if *wantToken {
			if s.Token, err = d.AddToken(ctx, d.by, args[0], "first", ends.or(90)); err != nil {
				return err
			}
		}
		what := "its password was given"
		switch {
		case s.Password != "":
			what = "its password is shown once"
		case s.Token != "":
			what = "its token is shown once, and ends on " + ends.or(90).Format(time.DateOnly)
		}
		return d.show(s, "added %s, an %s; %s", args[0], role, what)
	})
}

// until is a flag with a time: a date is the beginning of its day, in UTC.
type until struct{ at time.Time }

func defineUntil(fs *flag.FlagSet, name, usage string) *until {
	u := &until{}
	fs.Func(name, usage, func(text string) (err error) {
		if u.at, err = time.Parse(time.DateOnly, text); err != nil {
			u.at, err = time.Parse(time.RFC3339, text)
		}
		if err != nil {
			return errors.New("is no date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z")
		}
		return nil
	})
	return u
}

// or is the time, or so many days from now.
func (u *until) or(days int) time.Time {
	if u.at.IsZero() {
		u.at = time.Now().AddDate(0, 0, days)
	}
	return u.at
}

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

// simple is a verb about one account that takes nothing else.
func simple(name, short, long, done string, act func(*people.Accounts, context.Context, string, string) error) *command.Command {
	return verb(&command.Command{
		UsageLine: name + " NAME [flags]",
		Short:     short,
		Long:      long,
		Examples:  [2]string{"discreet user " + name + " anna", "discreet user " + name + " anna --ledger clinic/discreet.ledger"},
	}, "ACCOUNT", func(ctx context.Context, d *desk, args []string) error {
		if err := act(d.Accounts, ctx, d.by, args[0]); err != nil {
			return err
		}
		return d.said(done, args[0])
	})
}

func disable() *command.Command {
	return simple("disable", "let nobody sign in to an account", `Its sessions end with their next statement. What it spent stays spent.`, "%s is disabled", (*people.Accounts).Disable)
}

func enable() *command.Command {
	return simple("enable", "undo disable", `Sessions that have ended do not begin again.`, "%s can sign in again", (*people.Accounts).Enable)
}

func rotate() *command.Command {
	c := &command.Command{
		UsageLine: "rotate NAME [--password-stdin] [flags]",
		Short:     "give an account another password",
		Long:      `The account's sessions end. A password that is made goes to standard output, once.`,
		Examples:  [2]string{"discreet user rotate anna", "discreet user rotate anna --password-stdin < new"},
	}
	fromInput := c.Flags.Bool("password-stdin", false, inputUsage)
	return verb(c, "ACCOUNT", func(ctx context.Context, d *desk, args []string) error {
		password, made, err := d.password(*fromInput)
		if err != nil {
			return err
		}
		if err := d.Rotate(ctx, d.by, args[0], password); err != nil {
			return err
		}
		if !made {
			return d.said("%s has another password", args[0])
		}
		return d.show(secret{Name: args[0], Password: password}, "%s has another password, which is shown once", args[0])
	})
}

func expire() *command.Command {
	c := &command.Command{
		UsageLine: "expire NAME --at DATE | --never [flags]",
		Short:     "say when an account ends",
		Long:      `From then on nobody can sign in to it, and its sessions end.`,
		Examples:  [2]string{"discreet user expire anna --at 2027-01-31", "discreet user expire anna --never"},
	}
	at := defineUntil(&c.Flags, "at", "a `DATE`, or a time such as 2027-01-31T18:00:00Z")
	never := c.Flags.Bool("never", false, "the account does not end")
	return verb(c, "ACCOUNT", func(ctx context.Context, d *desk, args []string) error {
		if at.at.IsZero() != *never {
			return command.Missing("the time at which the account ends", "--at DATE or --never")
		}
		if err := d.Expire(ctx, d.by, args[0], at.at); err != nil {
			return err
		}
		if *never {
			return d.said("%s does not expire", args[0])
		}
		return d.said("%s expires at %s", args[0], at.at.UTC().Format(time.RFC3339))
	})
}

func token() *command.Command {
	c := &command.Command{
		UsageLine: "token NAME --label TEXT [--expires DATE] [flags]",
		Short:     "make a token for programs",
		Long:      `It goes to standard output, once. HTTP and agents send it instead of a password.`,
		Examples:  [2]string{"discreet user token anna --label notebook", "discreet user token anna --label report --expires 2027-01-31"},
	}
	label := c.Flags.String("label", "", "what it is for: a `TEXT`")
	ends := defineUntil(&c.Flags, "expires", "when it ends: a `DATE` (default in 90 days)")
	return verb(c, "ACCOUNT", func(ctx context.Context, d *desk, args []string) error {
		if *label == "" {
			return command.Missing("the label of the token", "--label TEXT")
		}
		text, err := d.AddToken(ctx, d.by, args[0], *label, ends.or(90))
		if err != nil {
			return err
		}
		return d.show(secret{Name: args[0], Token: text}, "the token of %s is shown once, and ends on %s", args[0], ends.or(90).Format(time.DateOnly))
	})
}

func revoke() *command.Command {
	return verb(&command.Command{
		UsageLine: "revoke NAME TOKEN [flags]",
		Short:     "end a token",
		Long:      `TOKEN is its id, the sixteen characters behind discreet_; discreet user list --json has them.`,
		Examples:  [2]string{"discreet user revoke anna 0f3c2a6b9d8e7415", "discreet user revoke anna 0f3c2a6b9d8e7415 --json"},
	}, "ACCOUNT TOKEN", func(ctx context.Context, d *desk, args []string) error {
		if err := d.RevokeToken(ctx, d.by, args[0], args[1]); err != nil {
			return diagnostic.New("D113", diagnostic.Span{}, "%v", err)
		}
		return d.said("token %s of %s has ended", args[1], args[0])
	})
}

func group() *command.Command {
	c := &command.Command{
		UsageLine: "group NAME GROUP [--remove] [flags]",
		Short:     "make an account a member of a group",
		Long:      `What a member spends counts against the group's quotas, from then on.`,
		Examples:  [2]string{"discreet user group anna nurses", "discreet user group anna nurses --remove"},
	}
	remove := c.Flags.Bool("remove", false, "no longer a member")
	return verb(c, "ACCOUNT GROUP", func(ctx context.Context, d *desk, args []string) error {
		if err := d.Join(ctx, d.by, args[0], args[1], !*remove); err != nil {
			return err
		}
		if *remove {
			return d.said("%s is no longer in group %s", args[0], args[1])
		}
		return d.said("%s is in group %s", args[0], args[1])
	})
}

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
