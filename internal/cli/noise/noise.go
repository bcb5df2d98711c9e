// Package noise is the command noise: single mechanisms on values of one's own, charged to
// a ledger before anything is drawn.
package noise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Command is discreet noise.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "noise MECHANISM [flags]",
		For:       command.Owner,
		Short:     "one release from a script, charged to a ledger's domain",
		Long: `A script that has private numbers of its own releases one thing about them: a
number with noise, a choice, an answer. What it may cost is said with --epsilon or
--rho, whose data it is with --domain; the ledger is charged before anything is
drawn. The released value goes to standard output, how far off it may be, what it
cost and what is left to standard error.

The sensitivity is the script's own claim: how far the values can be apart for two
data sets that are neighbours under the domain's relation, which the output names.
Discreet cannot check it. Private values never enter the ledger or an error.

The mechanisms, and which when:`,
		Examples: [2]string{
			"discreet noise laplace --domain patient --sensitivity 1 --epsilon 0.5 --value 42",
			"discreet noise gaussian --domain patient --sensitivity 2.5 --rho 0.01 --json -f means.txt",
		},
		Verbs: []*command.Command{
			laplaceNoise(), gaussianNoise(), geometricNoise(), discreteGaussianNoise(),
			exponentialNoise(), permuteAndFlipNoise(), noisyMaxNoise(), topKNoise(),
			aboveThresholdNoise(), sparseVectorNoise(), randomizedResponseNoise(),
			quantileNoise(), histogramNoise(), stabilityHistogramNoise(),
			smoothMedianNoise(), proposeTestReleaseNoise(), sampleAndAggregateNoise(), mwemNoise(),
		},
	}
	for _, v := range c.Verbs {
		v.Of = c.Name()
		v.Private = true
		c.Words = append(c.Words, v.Name())
	}
	c.Verbs = append(c.Verbs, noiseHelp(c))
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

// noiseHelp is discreet noise help, for those who look for help there.
func noiseHelp(of *command.Command) *command.Command {
	c := &command.Command{
		UsageLine: "help [MECHANISM]",
		Of:        of.Name(),
		Short:     "this list, or a mechanism's page",
		Long:      `The same as discreet help noise.`,
		Examples:  [2]string{"discreet noise help", "discreet noise help laplace"},
		Words:     command.Names(of.Verbs),
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		about := of
		if len(args) > 0 {
			var err error
			if about, err = command.Find([]*command.Command{of}, append([]string{of.Name()}, args...)); err != nil {
				return err
			}
		}
		about.WriteHelp(t.Out)
		return nil
	}
	return c
}

// A noising is what the flags of one release say.
type noising struct {
	workplace.Workplace
	workplace.Statement
	command *command.Command
	values  *privateValues
	domain  string
	json    bool
	// parameters make, together with the flags, a request with an idempotency key the same
	// request. Nothing private is among them: the key names a release, and whoever gives it
	// again gets that release, whatever the values are now. To compare values the ledger
	// would have to know them.
	parameters map[string]any
}

// define adds the flags of every mechanism that is asked once.
func (n *noising) define(c *command.Command, v *privateValues) {
	n.defineCommon(c)
	n.values = v
	v.define(&c.Flags)
	c.Flags.StringVar(&n.IdempotencyKey, "key", "", "a `KEY` of one release: given again it returns the stored answer, whatever the values are now, and pays once")
}

// defineCommon adds the flags that every mechanism has.
func (n *noising) defineCommon(c *command.Command) {
	n.command = c
	fs := &c.Flags
	n.DefineLedger(fs, "the ledger's `FILE` (default discreet.ledger)")
	fs.StringVar(&n.domain, "domain", "", "charge the ledger's domain `DOMAIN`")
	n.DefineAnalyst(fs)
	fs.BoolVar(&n.json, "json", false, "print JSON")
}

// read reads the private values.
func (n *noising) read(ctx context.Context, t *terminal.Terminal, args []string) error {
	t.JSON = n.json
	return n.values.read(ctx, t.In, args)
}

// some refuses an empty list of values if their number is public, because the answer
// shows it.
func (n *noising) some() error {
	if n.values.count == 0 {
		return diagnostic.New("D113", diagnostic.Span{}, "no private value").Try("an empty list has nothing to release")
	}
	n.parameters = map[string]any{"values": n.values.count}
	return nil
}

// A population is a domain of the ledger, and the confidence of intervals.
type population struct {
	ledger.DomainBudget
	beta *big.Rat // one minus the confidence
}

// monotone refuses a promise that does not hold under replace-one: when the old unit
// leaves, scores move one way; when the new one comes, the other.
func (p population) monotone(promised bool) error {
	if promised && p.Neighbours == privacy.ReplaceOne {
		return diagnostic.New("D142", diagnostic.Span{}, "--monotone in domain %q, whose relation is replace-one", p.ID).
			Because("a unit that takes another's place moves some numbers up and others down")
	}
	return nil
}

// A draw is a release that is prepared but for its noise.
type draw struct {
	answer noised // all that is known without the private values
	event  privacy.Event
	delta  privacy.Delta // at which an approx domain converts Gaussian noise
	// release draws the noise, and completes the answer with what may be known.
	release func(bits noise.Bits, to *noised) error
}

// run makes one release: everything that can be refused is refused first, then
// the charge becomes durable, then the noise is drawn, then the answer becomes
// durable, and only then it is printed.
func (n *noising) run(ctx context.Context, t *terminal.Terminal, prepare func(population) (*draw, error)) error {
	defer n.Close()
	a, err := n.open(ctx, prepare)
	if err != nil {
		return err
	}
	if n.json {
		return t.WriteJSON(a)
	}
	for _, line := range a.lines() {
		fmt.Fprintln(t.Out, line)
	}
	for _, line := range a.talk() {
		t.Say("%s", t.Paint(terminal.Dim, line))
	}
	return nil
}

func (n *noising) open(ctx context.Context, prepare func(population) (*draw, error)) (*noised, error) {
	p, err := n.population(ctx)
	if err != nil {
		return nil, err
	}
	d, err := prepare(p)
	if err != nil {
		return nil, failure.ParameterRefusal(err)
	}
	return n.release(ctx, p, d, noise.System())
}

// population opens the ledger and finds the domain.
func (n *noising) population(ctx context.Context) (p population, err error) {
	if n.domain == "" {
		return p, diagnostic.New("D140", diagnostic.Span{}, "no domain pays for this release").
			Because("every release is charged to a domain of a ledger, before it is drawn").
			Try("name the domain with --domain and the ledger with --ledger; its owner makes one with discreet ledger create")
	}
	n.Resolve()
	if err := n.OpenLedger(ctx); err != nil {
		return p, err
	}
	b, err := n.Ledger.Balance(ctx, n.domain)
	if err != nil {
		return p, err
	}
	if n.Spend.Rho.Sign() > 0 && b.Measure != filter.ZCDP && b.Measure != filter.RDP {
		hint := "give epsilon, or epsilon and delta"
		if b.Measure == filter.Pure {
			hint = "give epsilon"
		}
		return p, diagnostic.New("D071", diagnostic.Span{}, "a cost in rho").
			Because("domain %q accounts in measure %q", b.ID, b.Measure).Try("%s", hint)
	}
	return population{b.DomainBudget, n.beta()}, nil
}

func (n *noising) confidence() float64 { return cmp.Or(n.Confidence, 0.95) }

// beta is one minus the confidence, exactly.
func (n *noising) beta() *big.Rat {
	return new(big.Rat).Sub(big.NewRat(1, 1), terminal.Shortest(n.confidence()))
}

// release charges, draws and commits.
func (n *noising) release(ctx context.Context, p population, d *draw, bits noise.Bits) (*noised, error) {
	r, err := n.reserve(ctx, p, d)
	if err != nil {
		return nil, err
	}
	if r.Answer != nil {
		stored := &noised{}
		if err := json.Unmarshal(r.Answer, stored); err != nil {
			return nil, fmt.Errorf("read stored answer: %w", err)
		}
		stored.Notes = append(stored.Notes, "this is the stored answer of the idempotency key; nothing was charged again")
		return stored, nil
	}
	a := d.answer
	if err := d.release(bits, &a); err != nil {
		return nil, failure.Undrawn()
	}
	text, err := json.Marshal(&a)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return &a, n.Ledger.Commit(ctx, r, text)
}

// reserve charges the domain and completes the known part of the answer.
func (n *noising) reserve(ctx context.Context, p population, d *draw) (*ledger.Reservation, error) {
	if err := p.admits(d); err != nil {
		return nil, err
	}
	event, err := json.Marshal(d.event)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	parameters, err := json.Marshal(n.parameters)
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	a := &d.answer
	a.Confidence = n.confidence()
	if n.command.Flags.Lookup("confidence") == nil {
		a.Confidence = 0 // the answer has no error bound
	}
	a.Domain, a.Relation, a.Event, a.Statement = p.ID, p.Neighbours, event, n.said()
	r, err := n.Ledger.Reserve(ctx, ledger.Request{Domain: p.ID, Analyst: cmp.Or(n.Analyst, workplace.DefaultAnalyst()),
		Statement: a.Statement, Parameters: parameters, Events: []privacy.Event{d.event}, Delta: d.delta,
		IdempotencyKey: n.IdempotencyKey, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	a.Cost = noiseCost{r.Charge, []json.RawMessage{event}}
	a.Remaining = terminal.InMeasure(p.Measure, r.Remaining)
	return r, nil
}

// admits refuses a release for which the domain's filter has no charge, as the ledger would.
func (p population) admits(d *draw) error {
	f, err := filter.New(filter.Budget{Measure: p.Measure, Epsilon: p.Epsilon, Delta: p.Delta,
		SelectionDelta: p.SelectionDelta, Neighbours: p.Neighbours})
	if err != nil {
		return fmt.Errorf("domain %q: %w", p.ID, err)
	}
	_, err = f.Charge([]privacy.Event{d.event}, d.delta)
	var relation *privacy.RelationError
	switch {
	case errors.As(err, &relation):
		return diagnostic.New("D121", diagnostic.Span{}, "%v", err).Because("domain %q has the relation %v", p.ID, p.Neighbours)
	case err != nil:
		return diagnostic.New("D124", diagnostic.Span{}, "%s", diagnostic.Cause(err)).Because("domain %q accounts in measure %q", p.ID, p.Measure)
	}
	return nil
}

// said is the command line as the ledger keeps it.
func (n *noising) said() string { return command.Said(n.command) }
