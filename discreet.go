// Package discreet answers SQL about private data, under a budget that cannot
// be overspent.
//
// A data owner declares in a catalog which tables are private, whose rows are
// whose (the privacy unit), and how much may be learnt in all. [Database.Query]
// answers a statement with calibrated noise, its uncertainty, its cost and
// what remains; [Database.Explain] says beforehand, for free, what a statement would
// cost and how accurate its answer would be.
//
// It guarantees: whatever analysts observe through a Database (values, the presence
// and order of rows, types, errors, budget movements) is differentially private
// in the measure of each unit domain, within that domain's budget, for adaptive
// statements, several analysts and processes, and crashes at any instruction.
//
// It does not guarantee anything about how long answers take; about failures for want
// of resources (one constant error, recorded for the owner); or against analysts who
// can read the files or the ledger themselves. docs/promise.md states it in full.
package discreet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Config is what a Database is made of. The caller opens the parts and closes
// them after the Database's last use.
type Config struct {
	Catalog *catalog.Catalog
	Engine  engine.Engine  // needed by Query, not by Explain
	Ledger  *ledger.Ledger // needed by Query, not by Explain

	// Declared bounds statements by what is declared alone, whatever bounds were found: of a federation,
	// where holders that add up what they have must bound it alike.
	Declared bool

	// Now is the clock of the ledger's records; time.Now if nil.
	Now func() time.Time
	// OwnerLog receives what the owner may know and analysts may not: causes of
	// engine failures, which can quote data. Discarded if nil.
	OwnerLog *slog.Logger
}

// A Database answers statements about one catalog. It is safe for concurrent use.
type Database struct {
	config Config
	guards map[string][]byte // what the catalog declares of each domain, as a digest

	visible func(name string) bool // whether a table or view exists for who asks; nil: all do
	found   *finds
	shelf   *shelf
}

// Open checks that the ledger holds the catalog's domains with the catalog's budgets,
// and guards what the catalog declares, and returns a Database.
func Open(ctx context.Context, c Config) (*Database, error) {
	if c.Catalog == nil {
		return nil, errors.New("open database: no catalog")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.OwnerLog == nil {
		c.OwnerLog = slog.New(slog.DiscardHandler)
	}
	if err := derive.Check(c.Catalog); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if c.Ledger != nil {
		if err := CheckLedger(ctx, c.Ledger, c.Catalog); err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
	}
	db := &Database{config: c, guards: map[string][]byte{}}
	for _, d := range Budgets(c.Catalog) {
		db.guards[d.ID] = d.Guard()
	}
	db.found, db.shelf = &finds{}, &shelf{}
	if err := db.look(ctx); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, nil
}

// Only returns the same Database for somebody to whom only those tables and views exist
// that visible names. The others are unknown, as if they were not declared. A view that
// is visible may be made of tables that are not.
func (db *Database) Only(visible func(name string) bool) *Database {
	only := *db
	only.visible = visible
	return &only
}

// QueryOptions say how to answer a statement. The zero value takes everything
// from the catalog's defaults.
type QueryOptions struct {
	// Spend is the cost; the catalog's default if zero.
	Spend Spend
	// Weights share the cost over the statement's aggregates; evenly if nil.
	Weights []*big.Rat
	// Parameters are the values of $1, $2 ...
	Parameters []Parameter
	// Accuracy is the error that the answer may have, with its Confidence, instead of a Spend: the
	// least cost that reaches it is spent. Spend.Delta may be given with it.
	Accuracy Accuracy
	// AtMost bounds what an Accuracy costs. Where the cost depends on the data it is needed: by
	// default the catalog's default cost.
	AtMost Spend
	// Confidence of the intervals, above 0 and below 1; the catalog's default if 0.
	Confidence float64
	// Consistent shows values that data could have: counts, and sums of values that are not negative, are
	// at least 0, and so are the ends of their intervals; grouping sets that are bounded once add up. It costs nothing, and biases what was below 0.
	Consistent bool
	// Together makes the intervals of an answer so wide that all of them hold at once with
	// the confidence that each has otherwise. An Accuracy stays that of each value.
	Together bool
	// NoDefault leaves the catalog's default cost out: without a Spend nothing that costs
	// is answered.
	NoDefault bool
	// Analyst is recorded in the ledger.
	Analyst string
	// IdempotencyKey makes a retry of the same statement by the same analyst
	// return the stored answer instead of spending again. Empty: none.
	IdempotencyKey string
	// RefuseUnfinished refuses a key whose first request was charged and never answered,
	// instead of charging the retry.
	RefuseUnfinished bool
	// Repeat returns the stored answer of a statement that the analyst had answered before,
	// on data of the same version, and charges nothing. What is the same is the statement's
	// Fingerprint. Fresh charges all the same, and stores the newer answer.
	Repeat, Fresh bool
	// Reuse returns, once the owner has declared a version of the data, any stored answer to the same
	// question on it that is as precise as what is asked, whoever paid for it, and charges nothing.
	// The answer that is paid for then serves others too, also those whose statement it says all of. Fresh charges all the same.
	// Where no cost is named, nor by a default, a stored answer serves as precise as it is, and nothing is ever charged.
	Reuse bool
	// Free, with Reuse, leaves out every cost and accuracy that is named, here or in the statement, and the default: nothing is charged.
	Free bool
}

// ErrUnavailable is returned when an answer could not be computed for want of
// resources. The charge stays, the event is recorded for the owner, and the
// domain is suspended until the owner acknowledges it.
var ErrUnavailable = errors.New("the answer could not be computed; the charge stays and the owner has been told")

// A statement is a statement that has been certified and designed: all that is
// known before private data is touched.
type statement struct {
	text        string
	bound       plan.Node
	found       *stability.Found
	public      stability.Public // read when it was certified
	certificate *stability.Certificate
	post        *rewrite.Post
	design      *release.Design
	confidence  *big.Rat
	together    bool
	spend       Spend
	weights     []*big.Rat
	// ownSelection is release.Options.OwnSelection.
	ownSelection bool
	consistent   bool
	// free says that nothing may be charged: it is planned at a cost that nobody pays.
	free bool
	// remade says, by release, of what others a stored answer has released it is made; nil where it is not.
	remade []*release.Remade
	doubts []stability.Doubt // what cannot be meant; of public tables from compile on
	pilot  *pilotPlan        // of a statement that a pilot prices; spend is then the pilot's
	// instead is the same statement bounded the other way, where kept rows and bounds for each statement both can: see stability.Options.
	instead *statement
}

const (
	maxExpression = 10_000 // the size that an expression can grow to in an engine
	maxDepth      = 400    // relations over relations
	maxAggregates = 10     // aggregations over aggregations
)

// prepare goes the whole way of a statement up to the data. It reads public
// parameters alone.
func (db *Database) prepare(ctx context.Context, text string, o *QueryOptions) (*statement, error) {
	bound, clause, err := db.bind(text, o.Parameters)
	if err != nil {
		return nil, err
	}
	s, analyze, err := db.certified(ctx, text, bound, clause, o)
	if err != nil {
		return nil, err
	}
	if s, err = db.eitherWay(ctx, s, s.bound, analyze, o); err == nil && analyze.Counts && o.AtMost.lacks(s.spend) {
		err = tooDear(nil, fmt.Sprintf("it costs %s, and at most %s may be spent", s.spend, o.AtMost))
	}
	return s, in(err, text)
}

// certified certifies a statement that was bound, and returns how it did, for the other way.
func (db *Database) certified(ctx context.Context, text string, bound plan.Node, clause *sqlparse.Privacy, o *QueryOptions) (s *statement, analyze stability.Options, err error) {
	bound = stability.Emptied(bound)
	s = &statement{text: text, bound: bound, found: db.found.within(), weights: o.Weights, consistent: o.Consistent, together: o.Together}
	if s.spend, err = priced(clause, o.Spend); err != nil {
		return nil, analyze, in(err, text)
	}
	asked := !o.Free && (!o.Accuracy.IsZero() || !release.Spend(o.AtMost).IsZero())
	analyze = stability.Options{Found: s.found, Counts: asked} // the error of counts can be named, and not that of choices
	if s.certificate, s.public, err = db.certify(ctx, bound, analyze); err != nil {
		return nil, analyze, in(err, text)
	}
	if e := plan.TooLarge(bound, maxExpression); e != nil {
		return nil, analyze, in(diagnostic.New("D028", e.Place(), "the expression is too large").
			Because("after each column is replaced by the expression that computes it, it has more than %d parts", maxExpression).
			Try("name columns of nested subqueries less often"), text)
	}
	if n := plan.TooDeep(bound, maxDepth, maxAggregates); n != nil {
		return nil, analyze, in(diagnostic.New("D028", n.Place(), "the statement is nested too deeply").
			Because("it has more than %d nested aggregations, or more than %d relations", maxAggregates, maxDepth).
			Try("compute it in fewer steps; DISTINCT and UNION are aggregations too"), text)
	}
	s.confidence, err = db.confidence(o.Confidence)
	return s, analyze, err
}

// eitherWay gives a statement that was certified its noise, and where it could be bounded the other way, returns the one of both that is taken.
func (db *Database) eitherWay(ctx context.Context, s *statement, bound plan.Node, analyze stability.Options, o *QueryOptions) (*statement, error) {
	other, asked := *s, analyze.Counts
	err := db.designed(s, o, asked)
	if !s.certificate.EitherWay {
		return s, err
	}
	analyze.Bounded, analyze.Public = true, s.public
	var failure error
	if other.certificate, other.public, failure = db.certify(ctx, bound, analyze); failure == nil {
		failure = db.designed(&other, o, asked)
	}
	switch {
	case failure != nil: // as of an accuracy that costs too much
		return s, err
	case err != nil:
		return &other, nil
	case other.errsLess(s, asked):
		other.instead = s
		return &other, nil
	}
	s.instead = &other
	return s, nil
}

// errsLess reports whether a statement that is bounded one way errs less than bounded another, or reaches the error that was asked for at less cost.
func (s *statement) errsLess(than *statement, asked bool) bool {
	if !asked || s.pilot != nil {
		return s.design.ErrsLess(than.design)
	}
	return s.spend.Epsilon.Cmp(than.spend.Epsilon) < 0 || s.spend.Rho.Cmp(than.spend.Rho) < 0
}

// designed gives a statement that was certified what it costs, and its noise.
func (db *Database) designed(s *statement, o *QueryOptions, asked bool) (err error) {
	s.post = rewrite.Intervals(s.certificate, rewrite.Options{Together: s.together, Moved: s.consistent})
	s.ownSelection = s.addsUp()
	switch {
	case asked:
		if err := db.price(s, o); err != nil {
			return err
		}
	case o.Free:
		s.spend = Spend{}
	case release.Spend(s.spend).IsZero() && !o.NoDefault:
		s.spend = Spend(db.config.Catalog.Spend)
	}
	if d := s.certificate.Domain; d != nil && len(s.certificate.Releases) > 0 && !asked && release.Spend(s.spend).IsZero() {
		if s.free = o.Reuse && db.config.Ledger != nil; s.free {
			s.spend = nominal(d)
		} else if o.Free {
			return noneStored("there is no ledger, or its answers are not to be used")
		}
	}
	if s.design, err = release.NewDesign(s.certificate, release.Options{Spend: release.Spend(s.spend), Weights: s.weights, OwnSelection: s.ownSelection}); err != nil {
		return err
	}
	for _, r := range s.design.Releases {
		if r.Chosen {
			if _, err := r.Choice.Reach(s.beta()); err != nil { // which is told in many places
				return fmt.Errorf("bound choice: %w", err)
			}
		}
	}
	return nil
}

// addsUp reports whether counts that could decide which groups are shown are added up: where they do decide, the noise of
// what is shown is not 0 in the mean, and their sum has no narrow interval.
func (s *statement) addsUp() bool {
	return slices.ContainsFunc(s.post.Summed, func(of rewrite.Source) bool {
		r := s.certificate.Releases[of.Release]
		return r.Aggregates[of.Column-len(r.Keys)].Components[0] == r.Counter()
	})
}

// in gives a diagnostic the text that its span refers to.
func in(err error, text string) error {
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) && d.Text == "" {
		d.In("query", text)
	}
	return err
}

func (db *Database) confidence(c float64) (*big.Rat, error) {
	if c == 0 {
		c = db.config.Catalog.Confidence
	}
	if !(c > 0 && c < 1) {
		return nil, diagnostic.New("D075", diagnostic.Span{}, "confidence %v is not between 0 and 1", c).
			Try("give something like 0.95")
	}
	r, _ := new(big.Rat).SetString(sqltype.Format(c))
	return r, nil
}
