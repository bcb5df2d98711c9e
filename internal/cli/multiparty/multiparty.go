// Package multiparty has the commands of those who answer together: discreet multiparty, with
// a verb for each kind of member.
package multiparty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	discreet "github.com/discreet-dp/discreet"
	collect "github.com/discreet-dp/discreet/collect/multiparty"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/people"
)

// Command is discreet multiparty.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "multiparty key|holder|party|contribute|collect [flags]",
		For:       command.Owner,
		Short:     "holders of data who answer together, with noise from parties (owner)",
		Long: `Holders aggregate a statement at their own engines, charge their own ledgers, and split what
they have into shares for parties. Each party adds up its shares and adds the whole noise.
Only the noisy total exists anywhere, and all parties but one may collude. Whoever asks
uses discreet query --federation FILE.

People who contribute themselves split their numbers among aggregators, who check them
together and see none: contribute and collect, in a cluster of the profile prio.

Every member of a federation has a file, which names the others and pins their keys.`,
		Examples: [2]string{"discreet multiparty key berlin", "discreet multiparty party --federation federation.toml --name p1"},
		Verbs:    []*command.Command{key(), holder(), party(), contribute(), collected()},
	}
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

func key() *command.Command {
	c := &command.Command{
		UsageLine: "key [flags] NAME",
		Short:     "draw a member's key, and print what others know it by",
		Long: `The private key goes to NAME.pem, readable by its owner alone. The line that is printed goes
into the federation's file of every member.`,
		Examples: [2]string{"discreet multiparty key berlin", "discreet multiparty key anna --out anna.pem"},
	}
	out := c.Flags.String("out", "", "write the private key to `FILE` (default NAME.pem)")
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "key wants one name").Try("discreet multiparty key NAME")
		}
		text, err := collect.NewIdentity(args[0], time.Now())
		if err != nil {
			return diagnostic.New("D113", diagnostic.Span{}, "%v", err)
		}
		path := *out
		if path == "" {
			path = args[0] + ".pem"
		}
		f, err := custody.New(path)
		if err != nil {
			return diagnostic.New("D114", diagnostic.Span{}, "%s cannot be made: %v", path, err)
		}
		_, err = f.Write(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		id, err := collect.ReadIdentity(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Out, "key = %q\n", id.Key)
		return nil
	}
	return c
}

// A member is what the flags of a role name.
type member struct {
	federation, name, identity, state, listen, ready string
}

func (m *member) define(c *command.Command, role string) {
	c.Flags.StringVar(&m.federation, "federation", "federation.toml", "read who takes part from `FILE` (default federation.toml)")
	c.Flags.StringVar(&m.name, "name", "", "be the "+role+" of this `NAME`")
	c.Flags.StringVar(&m.identity, "identity", "", "the `FILE` with the private key (default NAME.pem)")
	c.Flags.StringVar(&m.state, "state", "", "keep tasks and shares in `FILE` (default NAME.state)")
	c.Flags.StringVar(&m.listen, "listen", "", "listen at `ADDRESS` (default the one in the federation's file)")
	c.Flags.StringVar(&m.ready, "ready-file", "", "write where it listens to `FILE` when it answers")
}

// open reads the federation and the identity.
func (m *member) open(address func(*collect.Federation, string) (collect.Member, bool)) (*collect.Federation, *collect.Identity, error) {
	f, err := collect.ReadFederation(m.federation)
	if err != nil {
		return nil, nil, err
	}
	if m.name == "" {
		return nil, nil, diagnostic.New("D113", diagnostic.Span{}, "no name").Try("say which member this is: --name NAME")
	}
	if m.identity == "" {
		m.identity = filepath.Join(filepath.Dir(m.federation), m.name+".pem")
	}
	if m.state == "" {
		m.state = m.name + ".state"
	}
	self, ok := address(f, m.name)
	if !ok {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "the federation %s has no such member %q", m.federation, m.name)
	}
	if m.listen == "" {
		m.listen = self.Address
	}
	id, err := collect.ReadIdentity(m.identity)
	if err != nil {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "%v", err).Try("discreet multiparty key %s makes one", m.name)
	}
	if m.ready != "" { // one that a crash left names an address that others may have by now
		if err := os.Remove(m.ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("remove the last ready file: %w", err)
		}
	}
	return f, id, nil
}

// serve answers until it is interrupted.
func (m *member) serve(ctx context.Context, f *collect.Federation, id *collect.Identity, h http.Handler, log *slog.Logger) error {
	return collect.Serve(ctx, m.listen, id, f, h, log, func(address string) error {
		log.Info("listening", "member", m.name, "address", address)
		if m.ready == "" {
			return nil
		}
		text, err := json.Marshal(map[string]string{"address": address})
		if err != nil {
			return err
		}
		if err := custody.Write(m.ready+".new", text); err != nil {
			return fmt.Errorf("write ready file: %w", err)
		}
		return os.Rename(m.ready+".new", m.ready)
	})
}

func party() *command.Command {
	c := &command.Command{
		UsageLine: "party [flags]",
		Short:     "add up shares of holders, and add noise",
		Long: `A party sees shares, which are uniform, and sums of them. It should be run by somebody who
colludes with no other party: the guarantee needs one such party, and no more.`,
		Examples: [2]string{"discreet multiparty party --name p1", "discreet multiparty party --federation hospitals.toml --name p1 --state /var/lib/p1.state"},
	}
	var m member
	m.define(c, "party")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := command.None(c, args); err != nil {
			return err
		}
		f, id, err := m.open(func(f *collect.Federation, name string) (collect.Member, bool) { return f.Find("party", name) })
		if err != nil {
			return err
		}
		log := slog.New(slog.NewJSONHandler(t.Err, nil))
		p, err := collect.OpenParty(ctx, collect.PartyOptions{Name: m.name, Federation: f, Identity: id, State: m.state, Now: time.Now, Log: log})
		if err != nil {
			return diagnostic.New("D242", diagnostic.Span{}, "%v", err)
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		return m.serve(ctx, f, id, p.Handler(), log)
	}
	return c
}

func holder() *command.Command {
	c := &command.Command{
		UsageLine: "holder [flags]",
		Short:     "answer for a catalog's data, together with other holders",
		Long: `A holder answers askers of the federation by the catalog, and charges the ledger for each
statement before a share leaves. Where the ledger has accounts (discreet user add), an
asker needs one of its name, whose quotas, hours, tables and limits hold: what is over a
limit waits for discreet approval grant.`,
		Examples: [2]string{"discreet multiparty holder --name berlin", "discreet multiparty holder --name berlin --catalog clinic/discreet.toml --federation hospitals.toml"},
	}
	var m member
	var w workplace.Workplace
	w.Define(&c.Flags)
	m.define(c, "holder")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := command.None(c, args); err != nil {
			return err
		}
		f, id, err := m.open(func(f *collect.Federation, name string) (collect.Member, bool) { return f.Find("holder", name) })
		if err != nil {
			return err
		}
		defer w.Close()
		log := slog.New(slog.NewJSONHandler(t.Err, nil))
		h, err := open(ctx, &w, collect.HolderOptions{Name: m.name, Federation: f, Identity: id, State: m.state, Log: log})
		if err != nil {
			return err
		}
		return m.serve(ctx, f, id, h.Handler(), log)
	}
	return c
}

// open opens a holder over the catalog and the ledger of a workplace, which closes it.
func open(ctx context.Context, w *workplace.Workplace, o collect.HolderOptions) (*collect.Holder, error) {
	if err := w.Load(); err != nil {
		return nil, err
	}
	if err := w.OpenGuarding(ctx); err != nil {
		return nil, err
	}
	o.Catalog, o.Now, o.Patience = w.Catalog.Digest, time.Now, 10*time.Second
	var err error
	if o.People, err = accounts(ctx, w); err != nil {
		return nil, err
	}
	engine, err := w.OpenEngine(ctx, runtime.GOMAXPROCS(0), 64<<20)
	if err != nil {
		return nil, err
	}
	w.Keep(engine)
	if o.Database, err = discreet.Open(ctx, discreet.Config{Catalog: w.Catalog, Engine: engine, Ledger: w.Ledger, OwnerLog: w.Log(), Declared: true}); err != nil {
		return nil, err
	}
	h, err := collect.OpenHolder(ctx, o)
	if err != nil {
		return nil, diagnostic.New("D242", diagnostic.Span{}, "%v", err)
	}
	w.Keep(h)
	return h, nil
}

// accounts opens the ledger's accounts. There may be none yet.
func accounts(ctx context.Context, w *workplace.Workplace) (*people.Accounts, error) {
	all, err := people.Open(ctx, w.Accounts())
	if err != nil {
		return nil, err
	}
	w.Keep(all)
	return all, nil
}
