package query

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// federated is what the flags of a federation's query say.
type federated struct {
	file, identity string
	holders        []string
	patience       time.Duration
}

func (f *federated) define(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "federation", "", "ask the holders of data that `FILE` names, together, instead of a catalog's, or the folder of a cluster's asker; see docs/collect/multiparty.md")
	fs.StringVar(&f.identity, "identity", "", "the `FILE` with the asker's private key (default the one that the federation's file names)")
	fs.Func("holders", "ask these holders of the federation alone: `A,B,...`", func(text string) error {
		f.holders = strings.Split(text, ",")
		return nil
	})
	fs.DurationVar(&f.patience, "patience", time.Minute, "ask members of a federation that do not answer again, for this `TIME`")
}

// elsewhere are the flags that say what holders' catalogs and ledgers say.
var elsewhere = []string{"catalog", "ledger", "anchor", "ledger-key", "key", "analyst"}

func (f *federated) ask(ctx context.Context, c *command.Command, t *terminal.Terminal, out *printing, text string, o *discreet.QueryOptions) error {
	by, statement, err := f.begin(c, text, o)
	if err != nil {
		return err
	}
	done := t.Busy(ctx, "asking holders and parties")
	a, err := multiparty.Ask(ctx, by, statement)
	done()
	if err != nil {
		return err
	}
	if out.form == "json" {
		return t.WriteJSON(a)
	}
	if err := out.write(t, a.Answer); err != nil {
		return err
	}
	sayTrust(t, a.Federation)
	return nil
}

// begin reads who asks whom what.
func (f *federated) begin(c *command.Command, text string, o *discreet.QueryOptions) (by multiparty.AskOptions, s multiparty.Statement, err error) {
	for _, g := range c.Given {
		if slices.Contains(elsewhere, g.Name) {
			return by, s, diagnostic.New("D115", diagnostic.Span{}, "--federation and --%s exclude each other", g.Name).
				Because("catalogs and ledgers are the holders', and who asks is known by the identity")
		}
	}
	if !o.Accuracy.IsZero() || o.AtMost.Epsilon.Sign()+o.AtMost.Rho.Sign() > 0 {
		return by, s, diagnostic.New("D115", diagnostic.Span{}, "--federation and --accuracy exclude each other").
			Because("the noise of a federation is that of all parties, and holders are charged by what is named").Try("name a cost; explain --federation says the error")
	}
	if o.Consistent {
		return by, s, diagnostic.New("D115", diagnostic.Span{}, "--federation and --consistent exclude each other").Because("a federation's totals are shown as they are")
	}
	if err := command.OwnersAlone(command.WhoCalls(), f.file, f.identity); err != nil {
		return by, s, err
	}
	federation, identity, err := f.read()
	if err != nil {
		return by, s, err
	}
	s, err = multiparty.NewStatement(text, o)
	return multiparty.AskOptions{Federation: federation, Identity: identity, Holders: f.holders, Now: time.Now, Patience: f.patience, Wait: wait}, s, err
}

// explain says what a statement would cost at the holders of a federation.
func (f *federated) explain(ctx context.Context, c *command.Command, t *terminal.Terminal, text string, o *discreet.QueryOptions, wantJSON bool) error {
	by, statement, err := f.begin(c, text, o)
	if err != nil {
		return err
	}
	done := t.Busy(ctx, "asking holders")
	e, err := multiparty.Explain(ctx, by, statement)
	done()
	if err != nil {
		return err
	}
	if wantJSON {
		return t.WriteJSON(e)
	}
	writeExplanation(t.Out, e.Explanation, t.Width(0), false)
	sayTrust(t, e.Federation)
	return nil
}

// read reads the federation and who asks: from a file, or from an asker's folder in a cluster.
func (f *federated) read() (*multiparty.Federation, *multiparty.Identity, error) {
	if info, err := os.Stat(f.file); err == nil && info.IsDir() {
		return f.atStation()
	}
	federation, err := multiparty.ReadFederation(f.file)
	if err != nil {
		return nil, nil, err
	}
	path := cmp.Or(f.identity, federation.Identity)
	if path == "" {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "nobody asks").Try(`write identity = "NAME.pem" into %s, or give --identity`, f.file)
	}
	identity, err := multiparty.ReadIdentity(path)
	if err != nil {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "%v", err).Try("discreet multiparty key NAME makes one")
	}
	return federation, identity, nil
}

// atStation reads the folder of a cluster's asker, whose key lies in it.
func (f *federated) atStation() (*multiparty.Federation, *multiparty.Identity, error) {
	refuse := func(err error) (*multiparty.Federation, *multiparty.Identity, error) {
		return nil, nil, diagnostic.New("D242", diagnostic.Span{}, "%s is not the folder of a cluster's asker: %v", f.file, err).
			Try("discreet cluster up --profile multiparty makes DIR/asker")
	}
	if f.identity != "" {
		return nil, nil, diagnostic.New("D115", diagnostic.Span{}, "--identity and a folder of a cluster exclude each other").Because("the asker's key is in the folder")
	}
	s, err := cluster.Open(f.file, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return refuse(err)
	}
	var cast multiparty.Cast
	if err := s.Decode(&cast); err != nil {
		return refuse(err)
	}
	if !slices.Contains(cast.Askers, s.Name()) {
		return refuse(fmt.Errorf("%s asks nothing", s.Name()))
	}
	federation, identity, err := multiparty.AtStation(s, cast)
	if err != nil {
		return refuse(err)
	}
	return federation, identity, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sayTrust prints who had to be trusted with what.
func sayTrust(t *terminal.Terminal, of multiparty.Trust) {
	say := func(format string, args ...any) { t.Say("%s", t.Paint(terminal.Dim, fmt.Sprintf(format, args...))) }
	for _, h := range of.Holders {
		say("holder %s: trusted with %s; left in %s: %s", h.Holder, h.With, h.Domain, terminal.RemainingText(h.Remaining))
	}
	for _, p := range of.Parties {
		say("party %s: trusted with this: %s", p.Name, p.With)
	}
	say("guarantee: %s", of.Unbounded)
	say("%s", of.Computational)
}
