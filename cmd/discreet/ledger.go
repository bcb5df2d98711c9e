package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

func ledgerCommand() *Command {
	c := &Command{
		UsageLine: "ledger create|verify|acknowledge|confirm|add|anchor|key [flags] [DOMAIN]",
		For:       owner,
		Short:     "make the ledger, check it, go on after a failure (owner)",
		Long: `create makes the ledger with the budgets of the catalog's domains. It never
replaces one: a budget is given out once. With --anchor the head of the ledger is
witnessed in a second file, which belongs on another disk or machine: a ledger
that was restored from a copy is behind it, and refused.

verify computes the chain of all records again and compares it with the anchor.

acknowledge DOMAIN lets a domain be queried again whose answer could not be
computed. Look at the log beside the ledger first: a failure can depend on the
data, and whoever can cause failures learns from them.

confirm DOMAIN makes the ledger guard what the catalog declares in the domain now. The
ledger has on record under which names and units its data were declared: a source or a
unit that changed is refused everywhere until its owner confirms it here, and the
confirmation stays in the history. A ledger that was made before ledgers kept this
wants one for each domain.

add DOMAIN enters a domain that the catalog has since got. anchor gives the ledger
its first anchor, or a new one in place of one that was lost: do it only if you are
sure that this ledger is no older copy.

key makes a key in the file that --ledger-key names. A ledger that is created with it,
and from then on opened only with it, has a chain that nobody can compute anew who
does not have the key. Keep it where the anchor is.`,
		Examples: [2]string{"discreet ledger create --anchor /mnt/witness/discreet.anchor", "discreet ledger acknowledge patient"},
		Words:    []string{"create", "verify", "acknowledge", "confirm", "add", "anchor", "key"},
	}
	var w workplace
	w.define(&c.Flags)
	note := c.Flags.String("note", "", "with acknowledge and confirm: a `TEXT` for the history")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if len(args) == 0 {
			return diagnostic.New("D113", diagnostic.Span{}, "say what to do with the ledger").Try("discreet %s", c.UsageLine)
		}
		verb, args := args[0], args[1:]
		if !slices.Contains(c.Words, verb) {
			d := diagnostic.New("D113", diagnostic.Span{}, "discreet ledger cannot %s", verb).Try("discreet %s", c.UsageLine)
			if near := diagnostic.Nearest(verb, c.Words); near != "" {
				d.Try("did you mean discreet ledger %s?", near)
			}
			return d
		}
		domain := ""
		if takes := slices.Contains([]string{"acknowledge", "confirm", "add"}, verb); takes && len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name one domain").Try("discreet ledger %s DOMAIN", verb)
		} else if takes {
			domain = args[0]
		} else if err := none(c, args); err != nil {
			return err
		}
		defer w.close()
		o := ownership{&w, domain, *note}
		said, err := map[string]func(context.Context) (string, error){
			"create": o.create, "verify": o.verify, "acknowledge": o.acknowledge, "confirm": o.confirm, "add": o.add, "anchor": o.anchor, "key": o.key,
		}[verb](ctx)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.writeJSON(map[string]string{"ledger": w.ledgerPath, "anchor": w.anchorPath, "done": said})
		}
		t.say("%s", said)
		return nil
	}
	return c
}

// An ownership is what the owner does to the ledger. Each act returns what to say.
type ownership struct {
	*workplace
	domain, note string
}

func (o *ownership) create(ctx context.Context) (string, error) {
	if err := o.load(); err != nil {
		return "", err
	}
	if err := o.createLedger(ctx); err != nil {
		return "", err
	}
	said := "created " + o.ledgerPath
	if o.anchorPath == "" {
		said += "; without an anchor an older copy put in its place is not noticed (discreet help ledger)"
	}
	return said, nil
}

func (o *ownership) verify(ctx context.Context) (string, error) {
	o.resolve()
	if err := o.openLedger(ctx); err != nil {
		return "", err
	}
	if err := o.ledger.Verify(ctx); err != nil {
		return "", err
	}
	records, err := o.ledger.History(ctx)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s is whole: %d records", o.ledgerPath, len(records))
	if o.anchorPath != "" {
		said += ", not behind its anchor"
	}
	return said, nil
}

func (o *ownership) acknowledge(ctx context.Context) (string, error) {
	o.resolve()
	if err := o.openLedger(ctx); err != nil {
		return "", err
	}
	balance, err := o.ledger.Balance(ctx, o.domain)
	if err != nil {
		return "", err
	}
	if !balance.Suspended {
		return fmt.Sprintf("domain %s is not suspended", o.domain), nil
	}
	if err := o.ledger.Acknowledge(ctx, o.domain, o.note, time.Now()); err != nil {
		return "", err
	}
	return fmt.Sprintf("domain %s can be queried again", o.domain), nil
}

// declared is the domain as the catalog declares it. The ledger is open afterwards.
func (o *ownership) declared(ctx context.Context) (d ledger.DomainBudget, err error) {
	if err := o.load(); err != nil {
		return d, err
	}
	budgets := discreet.Budgets(o.catalog)
	at := slices.IndexFunc(budgets, func(b ledger.DomainBudget) bool { return b.ID == o.domain })
	if at < 0 {
		return d, diagnostic.New("D113", diagnostic.Span{}, "the catalog has no domain %q", o.domain)
	}
	return budgets[at], o.openLedger(ctx)
}

func (o *ownership) add(ctx context.Context) (string, error) {
	d, err := o.declared(ctx)
	if err != nil {
		return "", err
	}
	if err := o.ledger.AddDomain(ctx, d, time.Now()); err != nil {
		return "", err
	}
	return fmt.Sprintf("added domain %s to %s", o.domain, o.ledgerPath), nil
}

func (o *ownership) confirm(ctx context.Context) (string, error) {
	d, err := o.declared(ctx)
	if err != nil {
		return "", err
	}
	changed, err := o.ledger.Confirm(ctx, d, o.note, time.Now())
	switch {
	case err != nil:
		return "", err
	case changed == "":
		return fmt.Sprintf("domain %s guards what the catalog declares", o.domain), nil
	}
	return fmt.Sprintf("confirmed domain %s: %s", o.domain, changed), nil
}

func (o *ownership) key(context.Context) (string, error) {
	if o.keyPath == "" {
		return "", diagnostic.New("D113", diagnostic.Span{}, "name the key's file with --ledger-key FILE")
	}
	if err := ledger.CreateKey(o.keyPath); err != nil {
		return "", err
	}
	return fmt.Sprintf("made the key %s; discreet ledger create --ledger-key %s makes a ledger with it", o.keyPath, o.keyPath), nil
}

func (o *ownership) anchor(ctx context.Context) (string, error) {
	o.resolve()
	if o.anchorPath == "" {
		return "", diagnostic.New("D113", diagnostic.Span{}, "name the anchor's file with --anchor FILE")
	}
	options, err := o.ledgerOptions()
	if err != nil {
		return "", err
	}
	if err := ledger.Anchor(ctx, o.ledgerPath, options); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is anchored in %s", o.ledgerPath, o.anchorPath), nil
}
