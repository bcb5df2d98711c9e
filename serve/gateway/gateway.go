// Package gateway answers the statements of signed-in accounts, from all doors alike: PostgreSQL's
// protocol, HTTP, agents and pages.
//
// It guarantees that nothing is charged unless an amount was named for it; that a statement which
// was answered before is not charged again unless the asker wants that; that of equal statements at
// the same time one is charged and the others wait for its answer; that a table which an account
// may not see does not exist for it; and that a bounded number of statements runs at once, in turn
// by account.
//
// It does not check who somebody is: the doors sign people in. It knows no protocol. Its answers
// have the guarantees of the root package.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/people/journal"
	"github.com/discreet-dp/discreet/serve/traces"
)

// A Config is what a Gateway is made of. The caller opens the parts and closes them
// after the Gateway's last use; engines are closed by the Gateway.
type Config struct {
	Catalog *catalog.Catalog
	Engine  engine.Engine
	Ledger  *ledger.Ledger
	People  *people.Accounts
	// Now is the clock.
	Now func() time.Time
	// OwnerLog receives what the owner may know and analysts may not. Discarded if nil.
	OwnerLog *slog.Logger
	// Concurrency is how many statements run at once; the number of processors if 0.
	Concurrency int
	// Queue is how many more may wait; 1,000 if 0.
	Queue int
	// Rates bound how often is asked.
	Rates Rates
	// Time bounds a statement, waiting included; 0: nothing does.
	Time time.Duration
	// Thinking bounds what Reckon is given to do, and its waiting; five seconds if 0.
	Thinking time.Duration
	// Journal keeps what is explained and refused; nil: nothing is kept.
	Journal *journal.Journal
	// Traces are told how long the parts of statements take; nil: nobody is.
	Traces *traces.Traces
	// Observe is told of every statement when it has been answered, or has failed.
	Observe func(Observation)
	// Step is the duration of which answers from private data take a whole multiple, counted
	// from when their statement came; 0: they leave at once.
	Step time.Duration
}

// A Gateway answers for all doors. It is safe for concurrent use.
type Gateway struct {
	config    Config
	shelf     shelf
	running   *admission
	looking   *admission // of what costs nothing but the processor's time
	reckoning *admission
	asked     *meter // statements and explanations
	told      *meter // descriptions, of which drivers ask one for each statement
	flights   flights
}

// New returns a Gateway over a catalog, whose ledger must hold it.
func New(ctx context.Context, c Config) (*Gateway, error) {
	if c.Catalog == nil || c.Engine == nil || c.Ledger == nil || c.Now == nil {
		return nil, errors.New("open gateway: it needs a catalog, an engine, a ledger and a clock")
	}
	if c.OwnerLog == nil {
		c.OwnerLog = slog.New(slog.DiscardHandler)
	}
	if c.Concurrency <= 0 {
		c.Concurrency = runtime.GOMAXPROCS(0)
	}
	if c.Queue <= 0 {
		c.Queue = 1000
	}
	if c.Thinking <= 0 {
		c.Thinking = thinking
	}
	g := &Gateway{config: c, running: newAdmission(c.Concurrency, c.Queue),
		looking: newAdmission(max(2, runtime.GOMAXPROCS(0)), c.Queue), reckoning: newAdmission(reckoners, reckoningQueue), asked: newMeter(c.Rates), told: newMeter(c.Rates)}
	first, err := g.open(ctx, c.Catalog, c.Engine)
	if err != nil {
		return nil, err
	}
	g.shelf.now = first
	return g, nil
}

// An Asker is who asks, and through which door.
type Asker struct {
	Account people.Account
	Door    string // "postgres", "http", "mcp", "web"
	Address string // of the client
	// Looked says that the account's rules were looked at for this very statement. A statement
	// that is charged is held against later rules all the same: see ledger.Request.Rules.
	Looked bool
}

// Options are what a request or a session names; the zero value names nothing.
type Options struct {
	// Spend is what the statement may cost. Without one, only what costs nothing is
	// answered, such as what a stored answer has released: the catalog's default is for the shell.
	Spend   discreet.Spend
	Weights []*big.Rat
	// Accuracy is the error that an answer may have, instead of a Spend: its cost follows.
	Accuracy discreet.Accuracy
	// Confidence of the intervals, above 0 and below 1; the catalog's if 0.
	Confidence float64
	// Fresh charges anew for a statement that was answered before.
	Fresh bool
	// Free charges nothing, whatever amount is named: what is stored answers, as precise as it is, or nothing does.
	Free bool
	// IdempotencyKey makes a retry of the same statement return its answer.
	IdempotencyKey string
	Parameters     []discreet.Parameter
	// Admit, if it is not nil, is told of each plan which columns the answer will have, before anything is charged. Where it
	// returns an error, nothing is, and Query returns an error that is ErrColumns and this one.
	Admit func([]discreet.Column) error
	// Finish lets a statement that is about to be charged go on to its end, though its asker
	// has gone by then. What costs nothing ends with its asker.
	Finish bool
	// Ends says, with Finish, whether a cause of the end of the asker's context is a wish to cancel, which ends the
	// statement all the same; nil: none is.
	Ends func(cause error) bool
}

func (o *Options) query(who people.Account) *discreet.QueryOptions {
	return &discreet.QueryOptions{Spend: o.Spend, NoDefault: true, Weights: o.Weights, Accuracy: o.Accuracy, Confidence: o.Confidence,
		Parameters: o.Parameters, Analyst: who.Name, IdempotencyKey: o.IdempotencyKey, RefuseUnfinished: true, Repeat: true, Reuse: true, Fresh: o.Fresh, Free: o.Free}
}

// current looks at the account's rules as they are now.
func (g *Gateway) current(ctx context.Context, who Asker) (people.Account, error) {
	now, err := who.Account, error(nil)
	if !who.Looked {
		if now, err = now.Current(ctx); err != nil {
			return now, err
		}
	}
	if !now.Within(g.config.Now()) {
		return now, ErrHours
	}
	return now, nil
}

// attempts bounds how often a statement meets rules that have just changed.
const attempts = 3

// Query answers a statement.
func (g *Gateway) Query(ctx context.Context, who Asker, sql string, o Options) (a *discreet.Answer, err error) {
	defer func() { g.refused(who, err) }()
	at := pace{now: g.config.Now, came: g.config.Now(), step: g.config.Step}
	bound, done := at.bound(ctx, g.config.Time)
	defer done()
	if g.config.Observe != nil {
		defer func() {
			g.config.Observe(Observation{who.Door, a != nil && a.Reused, err, g.config.Now().Sub(at.came)})
		}()
	}
	trace := g.config.Traces.Begin("statement")
	defer func() {
		trace.Say("door", who.Door)
		trace.Say("outcome", Observation{Reused: a != nil && a.Reused, Err: err}.Outcome())
		trace.End()
	}()
	if err = g.asked.ask(who.Account.Name, at.came); err != nil {
		return nil, err
	}
	for range attempts {
		if a, err = g.query(bound, at, trace, who, sql, o); !errors.Is(err, ledger.ErrRulesChanged) {
			break
		}
		who.Looked = false
	}
	if err != nil && errors.Is(context.Cause(bound), ErrTime) {
		a, err = nil, ErrTime
	}
	return a, worded(err, who.Door)
}

func (g *Gateway) query(ctx *bounded, at pace, trace *traces.Span, who Asker, sql string, o Options) (*discreet.Answer, error) {
	account, err := g.current(ctx, who)
	if err != nil {
		return nil, err
	}
	o.Spend = o.spend(account)
	part := trace.Part("queue")
	free, err := g.running.enter(ctx, account.Name)
	part.End()
	if err != nil {
		return nil, err
	}
	defer free()
	seen := account.Seen()
	if seen == 0 {
		if seen, err = g.looked(ctx); err != nil {
			return nil, err
		}
	}
	by, done := g.shelf.take()
	defer done()
	part = trace.Part("plan") // parse, certificate, design
	s, err := g.admitted(ctx, by, account, sql, o)
	part.End()
	if err != nil {
		return nil, err
	}
	payer := discreet.Payer{Holders: account.Holders(), Rules: seen, Catalog: by.catalog.Digest}
	if s.Domain() == "" {
		return s.Answer(ctx, payer)
	}
	if g.config.People != nil {
		payer.Suspend = func(ctx context.Context, reservation int64) error {
			return g.config.People.Suspend(ctx, account.Name, reservation)
		}
	}
	// First the statement, then the key: in one order, nobody waits in a circle.
	waits := []flight{{account: account.Name, fingerprint: s.Fingerprint()}}
	if o.IdempotencyKey != "" {
		waits = append(waits, flight{account: account.Name, key: o.IdempotencyKey})
	}
	for _, f := range waits {
		done, err := g.flights.take(ctx, f)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	if o.Finish {
		if err := ctx.keep(o.Ends); err != nil {
			return nil, err
		}
	}
	payer.Measured = func() { // who waits next does not wait for a step as well
		free()
		part := trace.Part("leave")
		at.wait()
		part.End()
	}
	payer.Part = func(name string) func() { return trace.Part(name).End }
	answer, err := s.Answer(ctx, payer)
	if errors.Is(err, ledger.ErrLimit) && g.config.People != nil {
		return nil, g.pending(ctx, s, payer)
	}
	return answer, err
}

// admitted is a statement whose columns its asker takes.
func (g *Gateway) admitted(ctx context.Context, by *served, who people.Account, sql string, o Options) (*discreet.Statement, error) {
	s, kept, err := g.prepare(ctx, by, who, sql, o, false)
	if err != nil || o.Admit == nil {
		return s, err
	}
	if err = o.Admit(s.Columns()); err != nil && kept { // a public table may list other values since, which who described it has seen
		if s, _, err = g.prepare(ctx, by, who, sql, o, true); err != nil {
			return nil, err
		}
		err = o.Admit(s.Columns())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrColumns, err)
	}
	return s, nil
}

// pending asks an owner for a statement that is over a limit.
func (g *Gateway) pending(ctx context.Context, s *discreet.Statement, payer discreet.Payer) error {
	approval, err := g.config.People.Ask(ctx, s.Request(payer), s.Canonical())
	if err != nil {
		return err
	}
	p := &Pending{Approval: strconv.FormatInt(approval.ID, 10)}
	if approval.Status == ledger.Denied {
		p.Denied, p.Why = true, people.Shown(approval.Why)
	}
	return p
}

// spend is what a statement may cost: what it names, or the account's own default; of the cost
// of an accuracy the delta alone.
func (o *Options) spend(who people.Account) discreet.Spend {
	named := o.Spend
	if named.Epsilon.Sign() != 0 || named.Delta.Sign() != 0 || named.Rho.Sign() != 0 {
		return named
	}
	d := who.Spend()
	if !o.Accuracy.IsZero() {
		return discreet.Spend{Delta: d.Delta}
	}
	return discreet.Spend{Epsilon: d.Epsilon, Delta: d.Delta, Rho: d.Rho}
}

// Explain says what a statement would cost and how accurate its answer would be. It
// costs nothing.
func (g *Gateway) Explain(ctx context.Context, who Asker, sql string, o Options) (*discreet.Explanation, error) {
	account, err := g.current(ctx, who)
	if err != nil {
		return nil, err
	}
	if err := g.asked.ask(account.Name, g.config.Now()); err != nil {
		return nil, err
	}
	leave, err := g.looking.enter(ctx, account.Name)
	if err != nil {
		return nil, worded(err, who.Door)
	}
	defer leave()
	o.Spend = o.spend(account)
	g.note(who, "explained", sql)
	by, done := g.shelf.take()
	defer done()
	e, err := by.database(account).ExplainTo(ctx, sql, o.query(account), discreet.Payer{Holders: account.Holders(), Catalog: by.catalog.Digest})
	return e, worded(err, who.Door)
}

// Look waits until a question that costs the processor's time alone may be answered, in turn by
// account: questions about the catalog, which a door answers by itself. Explain and Describe wait in the
// same way, so that no account takes the processors from the others by what is free. Who may look calls leave.
func (g *Gateway) Look(ctx context.Context, who Asker) (leave func(), err error) {
	leave, err = g.looking.enter(ctx, who.Account.Name)
	return leave, worded(err, who.Door)
}

// Describe says what columns a statement will return, asked with the same options, and the types of its parameters.
func (g *Gateway) Describe(ctx context.Context, who Asker, sql string, types []discreet.ParameterType, o Options) (*discreet.Description, error) {
	account, err := g.current(ctx, who)
	if err != nil {
		return nil, err
	}
	if err := g.told.ask(account.Name, g.config.Now()); err != nil {
		return nil, err
	}
	leave, err := g.looking.enter(ctx, account.Name)
	if err != nil {
		return nil, worded(err, who.Door)
	}
	defer leave()
	by, done := g.shelf.take()
	defer done()
	o.Spend = o.spend(account)
	d, err := by.database(account).Describe(ctx, sql, types, o.query(account))
	return d, worded(err, who.Door)
}

// Catalog is what is declared, as far as it exists for the asker now. It must not be
// changed. For a session that has ended nothing exists.
func (g *Gateway) Catalog(who Asker) *catalog.Catalog {
	account, err := who.Account.Current(context.Background())
	return g.shelf.look().catalog.Only(func(name string) bool { return err == nil && account.Allows(name) })
}

// Budget returns the balance of every domain of which a table exists for the asker.
func (g *Gateway) Budget(ctx context.Context, who Asker) ([]ledger.Balance, error) {
	account, err := who.Account.Current(ctx)
	if err != nil {
		return nil, err
	}
	var all []ledger.Balance
	c := g.shelf.look().catalog
	for _, d := range c.Domains {
		if account.Role != people.Owner && !slices.ContainsFunc(c.Tables, func(t *catalog.Table) bool { return t.Domain == d && account.Allows(t.Name) }) {
			continue
		}
		b, err := g.config.Ledger.Balance(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// MaxHistory is how many records History returns at most.
const MaxHistory = 1000

// History returns what was asked, the newest first, as far as it is selected: of an analyst
// his or her own statements, of an owner everything that the ledger has on record.
func (g *Gateway) History(ctx context.Context, who Asker, s ledger.Selection) ([]ledger.Entry, error) {
	account, err := who.Account.Current(ctx)
	if err != nil {
		return nil, err
	}
	leave, err := g.running.enter(ctx, account.Name) // it may be long
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.Limit <= 0 || s.Limit > MaxHistory {
		s.Limit = MaxHistory
	}
	if account.Role != people.Owner {
		s.Analyst, s.Kinds = account.Name, []string{"reserve"}
	}
	return g.config.Ledger.Page(ctx, s)
}
