package owner

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

// Ledger is discreet ledger.
func Ledger() *command.Command {
	c := &command.Command{
		UsageLine: "ledger create|verify|acknowledge|confirm|accept|add|version|anchor|key|export|backup|move [flags] [DOMAIN]",
		For:       command.Owner,
		Short:     "make the ledger, check it, go on after a failure (owner)",
		Long: `create makes the ledger with the budgets of the catalog's domains. It never
replaces one: a budget is given out once. With --anchor the head of the ledger is
witnessed in a second file, which belongs on another disk or machine: a ledger
that was restored from a copy is behind it, and refused. It reads the files first: a
column of which no value is of the declared type would be NULL for every statement, and
is refused unless --unread says that it is as it should be.

verify computes the chain of all records again and compares it with the anchor.

acknowledge DOMAIN lets a domain be queried again whose answer could not be
computed. Look at the log beside the ledger first: a failure can depend on the
data, and whoever can cause failures learns from them.

confirm DOMAIN makes the ledger guard what the catalog declares in the domain now. The
ledger has on record under which names and units its data were declared: a source or a
unit that changed is refused everywhere until its owner confirms it here, and the
confirmation stays in the history. A ledger that was made before ledgers kept this
wants one for each domain.

accept DIGEST lets a server serve the catalog as it is now, though it lets more be
learnt than the one before. A reload or a start that was refused names the digest and what
is looser. It holds for that text, and for one change.

version [NAME] says that the data changed, and --note why. Until then the answer of a
repetition (of the same analyst, the same plan, parameters and options) is returned again
over the wire, and nothing is charged; from then on it is charged anew, by running servers
too. Nothing else starts a version: decide by a calendar or by what is known publicly, not by
looking at the data. version --show says which version holds.

add DOMAIN enters a domain that the catalog has since got. anchor gives the ledger
its first anchor, or a new one in place of one that was lost: do it only if you are
sure that this ledger is no older copy.

export prints every record for auditors, as lines of JSON or as a table (--format csv),
with the hash that the chain has after it. --journal prints a server's journal instead:
sign-ins, what was explained and what was refused.

backup FILE copies the ledger, the accounts beside it and a server's journal, while a server
runs, to FILE, FILE.accounts and FILE.journal, and verifies the copy. It is for the day
when the disk is lost: whatever was spent after it, it has forgotten. The anchor has not.

key makes a key in the file that --ledger-key names. A ledger that is created with it,
and from then on opened only with it, has a chain that nobody can compute anew who
does not have the key. Keep it where the anchor is.

move brings the ledger from its file into the PostgreSQL database that the catalog names
([ledger] url), for several servers, with the accounts; move FILE brings it back. The chain
stays the same, which is verified, and the old place is closed for good. On each server
that charges a ledger in a database, anchor makes the file that remembers its newest
state (FILE.head beside the catalog); where the database was restored or a replica has taken over,
anchor is the owner's word that nothing is missing.`,
		Examples:  [2]string{"discreet ledger create --anchor /mnt/witness/discreet.anchor", "discreet ledger acknowledge patient"},
		Words:     []string{"create", "verify", "acknowledge", "confirm", "accept", "add", "version", "anchor", "key", "export", "backup", "move"},
		Arguments: []string{"", "DOMAIN"},
	}
	var w workplace.Workplace
	w.Define(&c.Flags)
	note := c.Flags.String("note", "", "with acknowledge, confirm, accept and version: a `TEXT` for the history")
	show := c.Flags.Bool("show", false, "with version: say which version of the data holds, and begin none")
	unread := c.Flags.Bool("unread", false, "with create: columns of which no value can be read are as they should be")
	format := "jsonl"
	c.Flags.Func("format", "with export: `jsonl|csv`", func(text string) error { return command.OneOf(&format, text, []string{"jsonl", "csv"}) })
	ofJournal := c.Flags.Bool("journal", false, "with export: a server's journal instead of the ledger")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
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
		domain, name := "", ""
		if takes := slices.Contains([]string{"acknowledge", "confirm", "add"}, verb); takes && len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name one domain").Try("discreet ledger %s DOMAIN", verb)
		} else if takes {
			domain = args[0]
		} else if verb == "accept" && len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name the digest of the catalog").Try("the server's log has it, where it refused to reload; sha256sum discreet.toml")
		} else if verb == "backup" && len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name the file to copy the ledger to").Try("discreet ledger backup FILE")
		} else if (verb == "version" || verb == "accept" || verb == "backup" || verb == "move") && len(args) == 1 {
			name = args[0]
		} else if err := command.None(c, args); err != nil {
			return err
		}
		if *show && (verb != "version" || name != "" || *note != "") {
			return diagnostic.New("D115", diagnostic.Span{}, "--show goes with version alone").
				Because("it says which version of the data holds, and begins none").Try("discreet ledger version --show")
		}
		defer w.Close()
		o := ownership{&w, t, domain, name, *note, *unread, format, *ofJournal, *show}
		said, err := map[string]func(context.Context) (string, error){
			"create": o.create, "verify": o.verify, "acknowledge": o.acknowledge, "confirm": o.confirm, "accept": o.accept, "add": o.add, "version": o.version, "export": o.export, "backup": o.backup, "move": o.move, "anchor": o.anchor, "key": o.key,
		}[verb](ctx)
		if err != nil {
			return err
		}
		if verb == "export" {
			return nil
		}
		if *wantJSON {
			return t.WriteJSON(map[string]string{"ledger": w.Named(), "anchor": w.AnchorPath, "done": said})
		}
		t.Say("%s", said)
		return nil
	}
	return c
}

// An ownership is what the owner does to the ledger. Each act returns what to print.
type ownership struct {
	*workplace.Workplace
	terminal *terminal.Terminal
	domain   string
	name     string // of a version, a digest, or a file
	note     string
	unread   bool // the owner knows that some columns cannot be read
	format   string
	journal  bool
	show     bool // which version holds
}

func (o *ownership) create(ctx context.Context) (string, error) {
	if err := o.Load(); err != nil {
		return "", err
	}
	if err := o.readable(ctx); err != nil {
		return "", err
	}
	if err := o.CreateLedger(ctx); err != nil {
		return "", err
	}
	said := "created " + o.Named()
	if o.AnchorPath == "" {
		said += "; without an anchor an older copy put in its place is not noticed (discreet help ledger)"
	}
	return said, nil
}

// readable refuses a ledger over columns of which nothing can be read: statements would be
// charged for NULLs, and the ledger never forgets a charge. It also refuses one over
// damaged columns, which would suspend the domain.
func (o *ownership) readable(ctx context.Context) error {
	if o.unread {
		return nil
	}
	owner, err := o.OpenOwner(ctx)
	if err != nil {
		if errors.Is(err, workplace.ErrNoEngine) {
			return nil // no statement can be asked either
		}
		return err
	}
	watch, done := watched(ctx, o.terminal, "trying columns")
	unread, shut, err := check.FindUnread(ctx, o.Catalog, owner, watch)
	done()
	for _, s := range shut { // stands in the way of no other
		o.terminal.Say("note: table %s was not tried: %s: %s", terminal.Printable(s.Table.Name), terminal.Printable(s.Table.Source.Text), terminal.Printable(s.Why))
	}
	if err != nil || len(unread) == 0 {
		return err
	}
	var list, damaged []string
	for _, u := range unread {
		if u.Damage != "" {
			damaged = append(damaged, u.String())
		}
		list = append(list, u.String())
	}
	if damaged != nil {
		return diagnostic.New("D097", diagnostic.Span{}, "the file is damaged in %s", strings.Join(damaged, "; ")).
			Because("every statement that reads such a column would fail, be charged and suspend the domain").
			Try("write the file anew, or leave the column out of the catalog; if nobody is to ask for it: discreet ledger create --unread")
	}
	return diagnostic.New("D097", diagnostic.Span{}, "no value can be read of %s", strings.Join(list, "; ")).
		Because("every statement would see NULL there, and be charged").
		Try("declare how the file is written, in [tables.%s.csv], or the column's type; if that is as it should be: discreet ledger create --unread", unread[0].Table)
}

func (o *ownership) verify(ctx context.Context) (string, error) {
	o.Resolve()
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	if err := o.Ledger.Verify(ctx); err != nil {
		return "", err
	}
	records, err := o.Ledger.History(ctx)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s is undamaged: %s", o.Named(), diagnostic.Count(len(records), "record"))
	if o.AnchorPath != "" {
		said += ", not behind its anchor"
	}
	return said, nil
}

func (o *ownership) acknowledge(ctx context.Context) (string, error) {
	o.Resolve()
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	balance, err := o.Ledger.Balance(ctx, o.domain)
	if err != nil {
		return "", err
	}
	if !balance.Suspended {
		return fmt.Sprintf("domain %s is not suspended", o.domain), nil
	}
	if err := o.Ledger.Acknowledge(ctx, o.domain, o.note, time.Now()); err != nil {
		return "", err
	}
	return fmt.Sprintf("domain %s can be queried again", o.domain), nil
}

func (o *ownership) version(ctx context.Context) (string, error) {
	o.Resolve()
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	if o.show {
		return o.shownVersion(ctx)
	}
	v, err := o.Ledger.NewVersion(ctx, o.name, o.note, time.Now())
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("a version of the data begins with record %d", v.Record)
	if v.Name != "" {
		said = fmt.Sprintf("version %q of the data begins with record %d", v.Name, v.Record)
	}
	return said + ": repetitions are charged anew", nil
}

// shownVersion says which version of the data holds.
func (o *ownership) shownVersion(ctx context.Context) (string, error) {
	v, err := o.Ledger.Version(ctx)
	switch {
	case err != nil:
		return "", err
	case v.Record == 0:
		return "no version of the data was declared: they are those that the ledger began with", nil
	}
	said := "a version"
	if v.Name != "" {
		said = fmt.Sprintf("version %q", v.Name)
	}
	said += fmt.Sprintf(" of the data holds since record %d, %s", v.Record, v.Time.UTC().Format(time.DateTime))
	if v.Why != "" {
		said += ": " + terminal.Printable(v.Why)
	}
	return said, nil
}

// declared is the domain as the catalog declares it. The ledger is open afterwards.
func (o *ownership) declared(ctx context.Context) (d ledger.DomainBudget, err error) {
	if err := o.Load(); err != nil {
		return d, err
	}
	budgets := discreet.Budgets(o.Catalog)
	at := slices.IndexFunc(budgets, func(b ledger.DomainBudget) bool { return b.ID == o.domain })
	if at < 0 {
		return d, diagnostic.New("D113", diagnostic.Span{}, "the catalog has no domain %q", o.domain)
	}
	return budgets[at], o.OpenLedger(ctx)
}

func (o *ownership) add(ctx context.Context) (string, error) {
	d, err := o.declared(ctx)
	if err != nil {
		return "", err
	}
	if err := o.Ledger.AddDomain(ctx, d, time.Now()); err != nil {
		return "", err
	}
	return fmt.Sprintf("added domain %s to %s", o.domain, o.Named()), nil
}

func (o *ownership) confirm(ctx context.Context) (string, error) {
	d, err := o.declared(ctx)
	if err != nil {
		return "", err
	}
	changed, err := o.Ledger.Confirm(ctx, d, o.note, time.Now())
	switch {
	case err != nil:
		return "", err
	case changed == "":
		return fmt.Sprintf("domain %s guards what the catalog declares", o.domain), nil
	}
	return fmt.Sprintf("confirmed domain %s: %s", o.domain, changed), nil
}

// accept records the owner's word for one text of the catalog: the one that is there, if it
// has the digest that the owner has named.
func (o *ownership) accept(ctx context.Context) (string, error) {
	if err := o.Load(); err != nil {
		return "", err
	}
	if digest := hex.EncodeToString(o.Catalog.Digest); !strings.EqualFold(o.name, digest) {
		return "", diagnostic.New("D219", diagnostic.Span{}, "the catalog does not have the digest that is to be accepted").
			Because("%s has %s", o.CatalogPath, digest).Try("look at the catalog, reload the server, and accept the digest that its log names")
	}
	if err := o.OpenGuarding(ctx); err != nil {
		return "", err
	}
	err := o.Ledger.SayCatalog(ctx, command.WhoCalls().User.String(), time.Now(),
		ledger.CatalogWord{Catalog: o.Ledger.CatalogName(o.CatalogPath), Digest: o.Catalog.Digest, Accepted: true, Note: o.note})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("accepted %s of digest %s: a server that reads it again serves it", o.CatalogPath, o.name), nil
}

func (o *ownership) key(context.Context) (string, error) {
	if o.KeyPath == "" {
		return "", diagnostic.New("D113", diagnostic.Span{}, "name the key's file with --ledger-key FILE")
	}
	if err := ledger.CreateKey(o.KeyPath); err != nil {
		return "", err
	}
	return fmt.Sprintf("made the key %s; discreet ledger create --ledger-key %s makes a ledger with it", o.KeyPath, o.KeyPath), nil
}

func (o *ownership) anchor(ctx context.Context) (string, error) {
	o.Resolve()
	options, err := o.LedgerOptions()
	if err != nil {
		return "", err
	}
	place, err := o.Books(&options)
	if err != nil {
		return "", err
	}
	if options.Anchor == "" {
		return "", diagnostic.New("D113", diagnostic.Span{}, "name the anchor's file with --anchor FILE")
	}
	if err := ledger.Anchor(ctx, place, options); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is anchored in %s", ledger.Named(place), o.AnchorPath), nil
}
