// Package federated is the command federated: runs over nodes that keep their data, for who
// asks them and for who owns a node. Packages below collect/federated have what it does.
package federated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// Command is discreet federated.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "federated certify|train|query|status|requests|approve|deny [flags] [ARGUMENT]",
		For:       command.Owner,
		Short:     "learn and count over nodes that keep their data (owner)",
		Long: `A coordinator leads runs over nodes, each of which has data, a ledger and an owner of its
own. Who asks stands in the folder of a member of the cluster (--member CLUSTER/analyst);
who owns a node in the node's (--member CLUSTER/node-1). discreet cluster up --profile
federated makes a federation on this machine.`,
		Examples: [2]string{"discreet federated train plan.json --id winter --reason 'beds for the winter' --member discreet-cluster/analyst", "discreet federated approve winter --member discreet-cluster/node-1"},
		Verbs:    []*command.Command{certify(), train(), query(), status(), requests(), approve(), deny()},
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

// one is the only argument.
func one(c *command.Command, args []string) (string, error) {
	if len(args) != 1 {
		return "", diagnostic.New("D113", diagnostic.Span{}, "the arguments do not fit").Try("discreet %s", c.Line())
	}
	return args[0], nil
}

// station opens a member's folder.
func station(at, who string) (*cluster.Station, error) {
	if at == "" {
		return nil, command.Missing("whose folder this is", "--member CLUSTER/"+who)
	}
	s, err := cluster.Open(at, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, diagnostic.New("D230", diagnostic.Span{}, "%s is no folder of a federation's member: %v", at, err).Try("discreet cluster up --profile federated makes a federation")
	}
	return s, nil
}

// refused gives a member's refusal the form of all refusals.
func refused(err error) error {
	var p *cluster.Problem
	if errors.As(err, &p) {
		return diagnostic.New("D230", diagnostic.Span{}, "the federation refuses: %s", p.Type).Because("%s", p.Detail).Try("discreet federated status and requests show what is known")
	}
	return err
}

// call asks the coordinator.
func call(ctx context.Context, s *cluster.Station, method, path string, body, to any) error {
	if s.Peers["coordinator"] == "" {
		return diagnostic.New("D230", diagnostic.Span{}, "%s asks no coordinator", s.Name()).Try("--member CLUSTER/analyst")
	}
	return refused(coordinator.Call(ctx, s, "coordinator", method, path, body, to))
}

// readPlan reads a plan's file; an epsilon chooses its noise.
func readPlan(path, epsilon string) (*federated.Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, workplace.Unreadable(path, err)
	}
	p := federated.Plan{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	bad := func(err error) error {
		return diagnostic.New("D230", diagnostic.Span{}, "%s: %v", path, err).Try("docs/collect/federated.md has a plan to begin with")
	}
	if err := d.Decode(&p); err != nil {
		return nil, bad(err)
	}
	if epsilon != "" {
		e, err := privacy.ParseEpsilon(epsilon)
		if err == nil {
			p, err = p.Calibrate(e, privacy.AddRemove)
		}
		if err != nil {
			return nil, bad(err)
		}
	}
	if err := p.Validate(); err != nil {
		return nil, bad(err)
	}
	return &p, nil
}

func certify() *command.Command {
	c := &command.Command{
		UsageLine: "certify PLAN.json [--epsilon E] [flags]",
		Short:     "what a plan would reveal, and who has to be trusted, before anybody is asked",
		Long:      `--epsilon chooses the noise that a guarantee takes.`,
		Examples:  [2]string{"discreet federated certify plan.json", "discreet federated certify plan.json --epsilon 2 --json"},
		Files:     true,
	}
	epsilon, wantJSON := c.Flags.String("epsilon", "", "choose the noise for an epsilon of `E`"), c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		path, err := one(c, args)
		if err != nil {
			return err
		}
		p, err := readPlan(path, *epsilon)
		if err != nil {
			return err
		}
		k, err := p.Certify(privacy.AddRemove)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(map[string]any{"plan": p, "certificate": k})
		}
		show(t, p, &k)
		return nil
	}
	return c
}

// show prints a certificate.
func show(t *terminal.Terminal, p *federated.Plan, k *federated.Certificate) {
	if k.Guarantee == nil {
		fmt.Fprintln(t.Out, "nothing is promised")
	} else {
		fmt.Fprintf(t.Out, "epsilon %.4f at delta %v for a %s, by %s\n", k.Guarantee.Epsilon, k.Guarantee.Delta, k.Unit, k.Method)
		fmt.Fprintf(t.Out, "in at most %d of %d rounds, clip %v, noise %v by the %s\n", k.Participations, p.Rounds, p.Privacy.Clip, p.Privacy.Noise, adds(p))
	}
	for _, who := range k.Trusted {
		t.Print("  trusted: "+who, 4)
	}
	for _, note := range k.Notes {
		t.Print("  note: "+note, 4)
	}
}

// adds says who adds the noise.
func adds(p *federated.Plan) string {
	switch p.NoiseBy() {
	case federated.AtAggregators:
		if p.Aggregation == federated.Shares {
			return "aggregators, each a share"
		}
		return "aggregators, each all of it"
	case federated.AtNodes:
		return "node"
	}
	return "coordinator"
}

// asking are the flags of who asks.
type asking struct {
	member, id, reason string
	wait               time.Duration
	json               bool
}

func (a *asking) define(c *command.Command) {
	c.Flags.StringVar(&a.member, "member", "", "the folder of who asks is `DIR`")
	c.Flags.StringVar(&a.id, "id", "", "the asker's `NAME` for it: asked again, it is the same")
	c.Flags.StringVar(&a.reason, "reason", "", "what the nodes' owners are told: `TEXT`")
	c.Flags.DurationVar(&a.wait, "wait", time.Minute, "wait so `LONG` for its end; it goes on without")
	c.Flags.BoolVar(&a.json, "json", false, "print JSON")
}

// propose asks the coordinator, and waits.
func (a *asking) propose(ctx context.Context, t *terminal.Terminal, p coordinator.Proposal) (*cluster.Station, coordinator.Progress, error) {
	var g coordinator.Progress
	switch {
	case a.id == "":
		return nil, g, command.Missing("its name", "--id NAME")
	case a.reason == "":
		return nil, g, command.Missing("why", "--reason TEXT")
	}
	s, err := station(a.member, "analyst")
	if err != nil {
		return nil, g, err
	}
	p.ID, p.Reason = a.id, a.reason
	if err := call(ctx, s, "POST", "/runs", p, &g); err != nil {
		return nil, g, err
	}
	done := t.Busy(ctx, "waiting for the nodes")
	defer done()
	until := time.Now().Add(a.wait)
	for (g.Phase == coordinator.Waiting || g.Phase == coordinator.Running) && time.Now().Before(until) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, g, ctx.Err()
		}
		if err := call(ctx, s, "GET", "/runs/"+a.id, nil, &g); err != nil {
			return nil, g, err
		}
	}
	return s, g, nil
}

func train() *command.Command {
	c := &command.Command{
		UsageLine: "train PLAN.json --id NAME --reason TEXT --member DIR [--epsilon E] [--out FILE] [flags]",
		Short:     "propose a run, wait for it, and write its model",
		Long: `The nodes' owners are asked first. A run that waits for them goes on without this command:
the same command again shows how far it is, and writes the model when it is there, which
discreet evaluate and predict read.`,
		Examples: [2]string{"discreet federated train plan.json --epsilon 2 --id winter --reason 'beds for the winter' --member discreet-cluster/analyst --out winter.model", "discreet federated train plan.json --id winter --reason 'beds' --member discreet-cluster/analyst --wait 1s --json"},
		Files:    true,
	}
	var a asking
	a.define(c)
	epsilon := c.Flags.String("epsilon", "", "choose the noise for an epsilon of `E`")
	out := c.Flags.String("out", "", "write the model to `FILE`")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		path, err := one(c, args)
		if err != nil {
			return err
		}
		p, err := readPlan(path, *epsilon)
		if err != nil {
			return err
		}
		s, g, err := a.propose(ctx, t, coordinator.Proposal{Plan: p})
		if err != nil {
			return err
		}
		if *out != "" && g.Phase == coordinator.Finished {
			var model []byte
			if err := call(ctx, s, "GET", "/runs/"+a.id+"/model", nil, &model); err != nil {
				return err
			}
			f, err := custody.Public(*out) // a model is released
			if err != nil {
				return err
			}
			_, err = f.Write(model)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
		if a.json {
			return t.WriteJSON(g)
		}
		report(t, g)
		if g.Certificate != nil && g.Phase == coordinator.Finished {
			show(t, p, g.Certificate)
		}
		return nil
	}
	return c
}

// report prints how far a run is.
func report(t *terminal.Terminal, g coordinator.Progress) {
	fmt.Fprintf(t.Out, "%s: %s", g.ID, g.Phase)
	if len(g.Rounds) > 0 {
		fmt.Fprintf(t.Out, ", %d rounds", len(g.Rounds))
	}
	fmt.Fprintln(t.Out)
	if g.Why != "" {
		t.Print("  "+g.Why, 4)
	}
	var names []string
	for name := range g.Nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		line := fmt.Sprintf("%s: %s", name, g.Nodes[name])
		if why := g.Reasons[name]; why != "" {
			line += ", " + why
		}
		t.Print("  "+line, 4)
		if a := g.Answers[name]; a != nil {
			t.Print(fmt.Sprintf("    %s: %v", a.Statement, a.Values), 6)
		}
	}
	if g.Total != nil {
		fmt.Fprintf(t.Out, "together: %v\n", g.Total)
	}
}

func query() *command.Command {
	c := &command.Command{
		UsageLine: "query --of KIND --data NAME --epsilon E --id NAME --reason TEXT --member DIR [flags]",
		Short:     "ask each node a question about its data, and add up what adds up",
		Long:      `Each node answers under its own budget, with its own noise, and trusts nobody.`,
		Examples:  [2]string{"discreet federated query --of count --data patients --epsilon 0.5 --id how-many --reason beds --member discreet-cluster/analyst", "discreet federated query --of mean --column age --lower 0 --upper 100 --data patients --epsilon 0.5 --id how-old --reason beds --member discreet-cluster/analyst --json"},
	}
	var a asking
	var q node.Query
	a.define(c)
	c.Flags.StringVar(&q.Of, "of", "", "what is asked for: `count|sum|mean|median`")
	c.Flags.StringVar(&q.Data, "data", "", "of the data `NAME`")
	c.Flags.StringVar(&q.Column, "column", "", "of the column `NAME`")
	c.Flags.Float64Var(&q.Lower, "lower", 0, "values are clamped to at least `X`")
	c.Flags.Float64Var(&q.Upper, "upper", 0, "values are clamped to at most `X`")
	epsilon := c.Flags.String("epsilon", "", "of each node's budget, `E`")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		var err error
		if q.Epsilon, err = privacy.ParseEpsilon(*epsilon); err != nil {
			return command.Missing("the cost", "--epsilon E")
		}
		_, g, err := a.propose(ctx, t, coordinator.Proposal{Query: &q})
		if err != nil {
			return err
		}
		if a.json {
			return t.WriteJSON(g)
		}
		report(t, g)
		return nil
	}
	return c
}

func status() *command.Command {
	c := &command.Command{
		UsageLine: "status NAME --member DIR [--begin] [flags]",
		Short:     "how far a run is",
		Long:      `--begin begins it with the nodes that have approved, if they are enough.`,
		Examples:  [2]string{"discreet federated status winter --member discreet-cluster/analyst", "discreet federated status winter --member discreet-cluster/analyst --begin --json"},
	}
	at, begin, wantJSON := c.Flags.String("member", "", "the folder of who asks is `DIR`"), c.Flags.Bool("begin", false, "begin without nodes that wait"), c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		id, err := one(c, args)
		if err != nil {
			return err
		}
		s, err := station(*at, "analyst")
		if err != nil {
			return err
		}
		var g coordinator.Progress
		if *begin {
			err = call(ctx, s, "POST", "/runs/"+id+"/begin", struct{}{}, &g)
		} else {
			err = call(ctx, s, "GET", "/runs/"+id, nil, &g)
		}
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(g)
		}
		report(t, g)
		return nil
	}
	return c
}

// owned opens the books of a node for its owner.
func owned(ctx context.Context, at string) (*node.Books, error) {
	s, err := station(at, "node-1")
	if err != nil {
		return nil, err
	}
	return coordinator.OwnBooks(ctx, s)
}

func requests() *command.Command {
	c := &command.Command{
		UsageLine: "requests --member DIR [flags]",
		Short:     "what a node was asked, what it would cost, and what remains",
		Long:      `What is shown comes of no data.`,
		Examples:  [2]string{"discreet federated requests --member discreet-cluster/node-1", "discreet federated requests --member discreet-cluster/node-1 --json"},
	}
	at, wantJSON := c.Flags.String("member", "", "the node's folder is `DIR`"), c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		b, err := owned(ctx, *at)
		if err != nil {
			return err
		}
		defer b.Close() //nolint:errcheck // it was read
		all, err := b.Requests(ctx)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(map[string]any{"requests": all})
		}
		if len(all) == 0 {
			t.Say("nothing was asked")
		}
		for _, s := range all {
			tell(t, s)
		}
		return nil
	}
	return c
}

// tell prints a request as its owner sees it.
func tell(t *terminal.Terminal, s node.Status) {
	fmt.Fprintf(t.Out, "%s: %s asks for %s: %s\n", s.ID, s.Asker, s.Data, s.State)
	t.Print("  reason: "+s.Reason, 4)
	t.Print("  what: "+s.What, 4)
	if s.Trusts != "" {
		t.Print("  trusted: "+s.Trusts, 4)
	}
	t.Print("  "+fmt.Sprintf("cost: epsilon %.4f at delta %v, %s", s.Epsilon, s.Delta, s.Charge), 4)
	t.Print("  left: "+terminal.RemainingText(terminal.InMeasure(s.Measure, s.Left)), 4)
	if s.By != "" {
		t.Print("  "+strings.TrimSpace("decided: by "+s.By+" "+s.Why), 4)
	}
	if len(s.Rounds) > 0 {
		t.Print("  "+fmt.Sprintf("released: %d of its rounds", len(s.Rounds)), 4)
	}
}

// decision is a verb by which an owner decides.
func decision(c *command.Command, grant bool) *command.Command {
	at, asker := c.Flags.String("member", "", "the node's folder is `DIR`"), c.Flags.String("asker", "coordinator", "who asked: `NAME`")
	by, why := c.Flags.String("by", "owner", "who decides: `NAME`"), c.Flags.String("why", "", "why, which the asker is told: `TEXT`")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		id, err := one(c, args)
		if err != nil {
			return err
		}
		if !grant && *why == "" {
			return command.Missing("why", "--why TEXT")
		}
		b, err := owned(ctx, *at)
		if err != nil {
			return err
		}
		defer b.Close() //nolint:errcheck // what was decided is on disk
		s, err := b.Decide(ctx, *asker, id, grant, *by, *why)
		if err != nil {
			return diagnostic.New("D230", diagnostic.Span{}, "%v", err).Try("discreet federated requests shows what was asked, and decided")
		}
		tell(t, s)
		return nil
	}
	return c
}

func approve() *command.Command {
	return decision(&command.Command{
		UsageLine: "approve NAME --member DIR [flags]",
		Short:     "let a node take part, for good",
		Long:      `The whole of it is charged before the first answer leaves, if the budget suffices then.`,
		Examples:  [2]string{"discreet federated approve winter --member discreet-cluster/node-1", "discreet federated approve winter --member discreet-cluster/node-1 --by ada --why 'for the study'"},
	}, true)
}

func deny() *command.Command {
	return decision(&command.Command{
		UsageLine: "deny NAME --why TEXT --member DIR [flags]",
		Short:     "keep a node out of it, for good",
		Long:      `The asker is told why.`,
		Examples:  [2]string{"discreet federated deny winter --member discreet-cluster/node-2 --why 'not without a study plan'", "discreet federated deny winter --member discreet-cluster/node-2 --by bob --why 'ask for less'"},
	}, false)
}
