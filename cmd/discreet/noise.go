package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func noiseCommand() *Command {
	c := &Command{
		UsageLine: "noise MECHANISM [flags]",
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
		Verbs: []*Command{
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
	c.Run = func(_ context.Context, t *terminal, _ []string) error {
		c.writeHelp(t.err)
		return errUsageShown
	}
	return c
}

// noiseHelp is discreet noise help, for those who look there.
func noiseHelp(of *Command) *Command {
	c := &Command{
		UsageLine: "help [MECHANISM]",
		Of:        of.Name(),
		Short:     "this list, or a mechanism's page",
		Long:      `The same as discreet help noise.`,
		Examples:  [2]string{"discreet noise help", "discreet noise help laplace"},
	}
	c.Run = func(_ context.Context, t *terminal, args []string) error {
		about, rest, err := of.verb(args)
		if err != nil {
			return err
		}
		if err := none(c, rest); err != nil {
			return err
		}
		about.writeHelp(t.out)
		return nil
	}
	return c
}

// A noising is what the flags of one release say.
type noising struct {
	workplace
	statement
	command *Command
	values  *privateValues
	domain  string
	json    bool
	// parameters make, beside the flags, a request with an idempotency key the
	// same request. Nothing private is among them: the key names a release, and
	// whoever gives it again gets that release, whatever the values are now. To
	// compare values the ledger would have to know them.
	parameters map[string]any
}

// define adds the flags that every mechanism has which is asked once.
func (n *noising) define(c *Command, v *privateValues) {
	n.defineCommon(c)
	n.values = v
	v.define(&c.Flags)
	c.Flags.StringVar(&n.IdempotencyKey, "key", "", "a `KEY` of one release: given again it returns the stored answer, whatever the values are now, and pays once")
}

// defineCommon adds the flags that every mechanism has.
func (n *noising) defineCommon(c *Command) {
	n.command = c
	fs := &c.Flags
	n.defineLedger(fs, "the ledger's `FILE` (default discreet.ledger)")
	fs.StringVar(&n.domain, "domain", "", "charge the ledger's domain `DOMAIN`")
	n.defineAnalyst(fs)
	fs.BoolVar(&n.json, "json", false, "print JSON")
}

// definePure adds the flags of what a mechanism costs that has an epsilon.
func (n *noising) definePure(fs *flag.FlagSet) {
	fs.Func("epsilon", "spend `E`", amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("rho", "spend at most `R` of zero-concentrated differential privacy, in place of --epsilon", amount(&n.Spend.Rho, privacy.ParseRho))
}

// epsilon is what a mechanism may cost that is charged as ε-DP.
//
// An ε-DP release is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4), so ρ pays
// for ε = √(2ρ), rounded down.
func (n *noising) epsilon() (privacy.Epsilon, error) { return n.epsilonOf(2) }

// epsilonOf is what a mechanism may cost that is ε-DP and ε²/f-zCDP.
func (n *noising) epsilonOf(f int64) (privacy.Epsilon, error) {
	switch rho := n.Spend.Rho; {
	case n.Spend.Epsilon.Sign() > 0 && rho.Sign() > 0:
		return privacy.Epsilon{}, twoCosts()
	case rho.Sign() > 0:
		square := rho.MulRat(big.NewRat(f, 1)).Rat()
		root, exact := numeric.ExactSqrt(square)
		if !exact {
			root = numeric.FloorDigits(numeric.Of(square).Sqrt().Lo(), 20)
		}
		e, err := privacy.NewEpsilon(root)
		if err != nil {
			return e, diagnostic.New("D142", diagnostic.Span{}, "rho %v: %v", rho, err)
		}
		return e, nil
	case n.Spend.Epsilon.Sign() == 0:
		return privacy.Epsilon{}, noCost("--epsilon E")
	}
	return n.Spend.Epsilon, nil
}

func twoCosts() error {
	return diagnostic.New("D115", diagnostic.Span{}, "--epsilon and --rho exclude each other").
		Because("a release has one cost, in one measure")
}

func noCost(flags string) error {
	return diagnostic.New("D070", diagnostic.Span{}, "nothing says what the release may cost").Try("give %s, or --rho R", flags)
}

// defineGaussian adds the flags of what Gaussian noise costs.
func (n *noising) defineGaussian(fs *flag.FlagSet, epsilon string) {
	fs.Func("epsilon", epsilon, amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("delta", "spend `D`, with --epsilon", amount(&n.Spend.Delta, privacy.ParseDelta))
	fs.Func("rho", "spend `R` of zero-concentrated differential privacy", amount(&n.Spend.Rho, privacy.ParseRho))
}

// gaussianRho is what Gaussian noise may cost: what was asked for, or what implies the
// epsilon and delta that were, on the safe side (accountant.GaussianRho).
func (n *noising) gaussianRho() (privacy.Rho, error) {
	s := n.Spend
	switch {
	case s.Rho.Sign() > 0 && s.Epsilon.Sign() > 0:
		return s.Rho, twoCosts()
	case s.Rho.Sign() > 0 && s.Delta.Sign() > 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "--rho takes no --delta here").
			Because("Gaussian noise costs rho and nothing else")
	case s.Rho.Sign() > 0:
		return s.Rho, nil
	case s.Epsilon.Sign() == 0 && s.Delta.Sign() == 0:
		return s.Rho, noCost("--epsilon E and --delta D")
	case s.Epsilon.Sign() == 0 || s.Delta.Sign() == 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "Gaussian noise has no epsilon without a delta").
			Try("--epsilon E --delta D, or --rho R; Laplace and geometric noise take an epsilon alone")
	}
	rho, err := accountant.GaussianRho(s.Epsilon, s.Delta)
	if err != nil {
		return rho, diagnostic.New("D142", diagnostic.Span{}, "epsilon %v at delta %v: %v", s.Epsilon, s.Delta, err)
	}
	return rho, nil
}

// read reads the private values.
func (n *noising) read(ctx context.Context, t *terminal, args []string) error {
	t.json = n.json
	return n.values.read(ctx, t.in, args)
}

// some refuses an empty list of values, where their number is public: the answer
// shows it.
func (n *noising) some() error {
	if n.values.count == 0 {
		return diagnostic.New("D113", diagnostic.Span{}, "no private value").Try("an empty list has nothing to release")
	}
	n.parameters = map[string]any{"values": n.values.count}
	return nil
}

// missing refuses a command line without what a mechanism must know.
func missing(what, flag string) error {
	return diagnostic.New("D113", diagnostic.Span{}, "nothing says %s", what).Try("give %s", flag)
}

// A population is a domain of the ledger, and what intervals are asked for.
type population struct {
	ledger.DomainBudget
	beta *big.Rat // one minus the confidence
}

// monotone refuses a promise that does not hold where a unit is replaced: what
// the old one leaves moves one way, what the new one brings the other.
func (p population) monotone(promised bool) error {
	if promised && p.Neighbours == privacy.ReplaceOne {
		return diagnostic.New("D142", diagnostic.Span{}, "--monotone in domain %q, whose relation is replace-one", p.ID).
			Because("a unit that takes another's place moves some numbers up and others down")
	}
	return nil
}

// A draw is a release that is fully prepared: only the noise is missing.
type draw struct {
	answer noised // all that is known without the private values
	event  privacy.Event
	delta  privacy.Delta // at which an approx domain converts Gaussian noise
	// release draws, and adds to the answer what may be known.
	release func(bits noise.Bits, to *noised) error
}

// run makes one release: everything that can be refused is refused first, then
// the charge becomes durable, then the noise is drawn, then the answer becomes
// durable, and only then it is printed.
func (n *noising) run(ctx context.Context, t *terminal, prepare func(population) (*draw, error)) error {
	defer n.close()
	a, err := n.open(ctx, prepare)
	if err != nil {
		return err
	}
	if n.json {
		return t.writeJSON(a)
	}
	for _, line := range a.lines() {
		fmt.Fprintln(t.out, line)
	}
	for _, line := range a.talk() {
		t.say("%s", t.paint(dim, line))
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
		return nil, parameterRefusal(err)
	}
	return n.release(ctx, p, d, noise.System())
}

// population opens the ledger and finds the domain.
func (n *noising) population(ctx context.Context) (p population, err error) {
	if n.domain == "" {
		return p, diagnostic.New("D140", diagnostic.Span{}, "nobody pays for this release").
			Because("every release is charged to a domain of a ledger, before it is drawn").
			Try("name the domain with --domain and the ledger with --ledger; its owner makes one with discreet ledger create")
	}
	n.resolve()
	if err := n.openLedger(ctx); err != nil {
		return p, err
	}
	b, err := n.ledger.Balance(ctx, n.domain)
	if err != nil {
		return p, err
	}
	if n.Spend.Rho.Sign() > 0 && b.Measure != filter.ZCDP && b.Measure != filter.RDP {
		return p, diagnostic.New("D071", diagnostic.Span{}, "a cost in rho").
			Because("domain %q accounts in measure %q", b.ID, b.Measure).Try("give epsilon, or epsilon and delta")
	}
	return population{b.DomainBudget, n.beta()}, nil
}

func (n *noising) confidence() float64 { return cmp.Or(n.Confidence, 0.95) }

// beta is one minus the confidence, exactly.
func (n *noising) beta() *big.Rat {
	return new(big.Rat).Sub(big.NewRat(1, 1), shortest(n.confidence()))
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
		return nil, undrawn()
	}
	text, err := json.Marshal(&a)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return &a, n.ledger.Commit(ctx, r, text)
}

// undrawn is what is said of a failure after the charge, whose error may depend
// on the values.
func undrawn() error {
	return diagnostic.New("D109", diagnostic.Span{}, "the release could not be drawn").Because("the charge stays")
}

// reserve charges the domain and completes what is known of the answer.
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
		a.Confidence = 0 // in nothing: no error is told
	}
	a.Domain, a.Relation, a.Event, a.Statement = p.ID, p.Neighbours, event, n.said()
	r, err := n.ledger.Reserve(ctx, ledger.Request{Domain: p.ID, Analyst: cmp.Or(n.Analyst, defaultAnalyst()),
		Statement: a.Statement, Parameters: parameters, Events: []privacy.Event{d.event}, Delta: d.delta,
		IdempotencyKey: n.IdempotencyKey, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	a.Cost = noiseCost{r.Charge, []json.RawMessage{event}}
	a.Remaining = inMeasure(p.Measure, r.Remaining)
	return r, nil
}

// unsaid are flags that are private, or no part of what is released.
var unsaid = []string{"value", "f", "ledger", "anchor", "domain", "analyst", "key", "json"}

// said is the command line for the ledger: without the private values, in one
// order, so that the same release is the same request.
func (n *noising) said() string {
	words := []string{"discreet", n.command.Title()}
	flags := slices.DeleteFunc(slices.Clone(n.command.given), func(g given) bool { return slices.Contains(unsaid, g.name) })
	slices.SortStableFunc(flags, func(a, b given) int { return cmp.Compare(a.name, b.name) })
	for _, g := range flags {
		words = append(words, "--"+g.name)
		if b, ok := n.command.Flags.Lookup(g.name).Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			continue
		}
		if strings.ContainsAny(g.value, " \t\n'\"\\$|&;<>()*?[]#~`") || g.value == "" {
			g.value = quote(g.value)
		}
		words = append(words, g.value)
	}
	return strings.Join(words, " ")
}

// parameterRefusal gives a mechanism's refusal the one form.
func parameterRefusal(err error) error {
	if errors.Is(err, mechanism.ErrParameter) {
		return diagnostic.New("D142", diagnostic.Span{}, "%v", err)
	}
	return err
}

// admits refuses what the domain's filter has no charge for, as the ledger would.
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
		return diagnostic.New("D124", diagnostic.Span{}, "%v", err).Because("domain %q accounts in measure %q", p.ID, p.Measure)
	}
	return nil
}
