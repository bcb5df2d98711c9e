package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

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
