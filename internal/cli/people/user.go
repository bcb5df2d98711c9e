// Package people has the commands about who may ask: discreet user and discreet approval.
//
// It guarantees that a password or a token is printed once, on standard output, by the
// command that makes it.
package people

import (
	"context"
	"errors"
	"flag"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/people"
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
