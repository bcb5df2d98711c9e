package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
)

// Query answers a statement. Its cost is reserved durably before private data
// is touched and committed durably before the answer is returned; whatever
// happens in between, the charge stays.
//
// A refusal is a *Refusal and costs nothing, unless it says that something was charged (D221, D262, D263). ErrUnavailable stands for every
// failure that could depend on the data.
func (db *Database) Query(ctx context.Context, sql string, o *QueryOptions) (*Answer, error) {
	if err := db.asker(o); err != nil {
		return nil, err
	}
	s, err := db.plan(ctx, sql, o)
	if err != nil {
		return nil, err
	}
	if s.planned.pilot != nil {
		return s.answerByPilot(ctx)
	}
	return s.Answer(ctx, Payer{})
}

// A Payer says under whose rules a statement is charged. The zero value has none but the
// domain's budget.
type Payer struct {
	// Holders are those whose quotas and limits hold: see ledger.Request.
	Holders []string
	// Rules is the last record at which the rules were looked at; 0: they were not.
	Rules int64
	// Catalog is the digest of the catalog, which an approval binds.
	Catalog []byte
	// Measured is called, if it is not nil, when private data have been read, or could not be,
	// and before that shows anywhere: in the ledger, or to the asker. It may wait.
	Measured func()
	// Suspend makes durable that whoever asks is charged no more until the owner says so, where
	// the domain's catalog lets a failure suspend the account: see catalog.SuspendAccount. The
	// domain is suspended if it is nil, or fails.
	Suspend func(ctx context.Context, reservation int64) error
	// Part is called, if it is not nil, when a part of the way to an answer begins, and what it
	// returns when it ends: "reserve", "measure", "commit".
	Part func(name string) (end func())
}

func (p Payer) part(name string) (end func()) {
	if p.Part == nil {
		return func() {}
	}
	return p.Part(name)
}

// A Statement is one that can be answered: all that can be refused without the budget
// has been. It holds no right and no charge.
type Statement struct {
	db          *Database
	options     QueryOptions
	planned     *statement
	compiled    *compiled
	certificate json.RawMessage // for the ledger
	parameters  json.RawMessage
	fingerprint Fingerprint
	question    []byte      // nil where no other answer may serve
	relations   [][]byte    // likewise
	kept        *keptTables // of a pilot: see answerByPilot
	releases    []*release.Comparable

	versioned atomic.Bool  // the owner had declared a version of the data when stored answers were looked for
	unmade    sync.Map     // the *earlier of whose answers it cannot be made
	looked    atomic.Int64 // how many groups of stored releases were looked at for it

	read atomic.Pointer[readAnswer] // the stored answer that was read last
}

// readAnswer is a stored answer and what it says.
type readAnswer struct {
	stored []byte
	answer Answer
}

// Prepare plans a statement, up to the point where its charge would be reserved. It
// costs nothing and touches no private data. A refusal is a *Refusal. A statement whose accuracy
// needs a pilot is refused, since it is charged twice: Query answers it.
func (db *Database) Prepare(ctx context.Context, sql string, o *QueryOptions) (*Statement, error) {
	if err := db.asker(o); err != nil {
		return nil, err
	}
	s, err := db.plan(ctx, sql, o)
	if err == nil && s.planned.pilot != nil {
		err = refusal(in(s.planned.pilot.twice(), sql))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (db *Database) plan(ctx context.Context, sql string, o *QueryOptions) (*Statement, error) {
	if o == nil {
		o = &QueryOptions{}
	}
	planned, err := db.prepare(ctx, sql, o)
	if err != nil {
		return nil, refusal(err)
	}
	if db.config.Engine == nil {
		return nil, errors.New("query: the database has no engine")
	}
	if err := db.config.Catalog.Recheck(); err != nil {
		return nil, refusal(err)
	}
	return db.compiled(ctx, planned, o)
}

func (db *Database) compiled(ctx context.Context, planned *statement, o *QueryOptions) (_ *Statement, err error) {
	s := &Statement{db: db, options: *o, planned: planned}
	if s.compiled, err = db.compile(ctx, planned); err != nil {
		return nil, refusal(err)
	}
	if err := db.plannable(ctx, planned, s.compiled); err != nil {
		return nil, refusal(err)
	}
	return db.finish(s)
}

// finish says for the ledger what a statement is.
func (db *Database) finish(s *Statement) (_ *Statement, err error) {
	record := s.planned.record(s.compiled)
	if s.certificate, err = json.Marshal(record); err != nil {
		return nil, fmt.Errorf("encode certificate: %w", err)
	}
	if s.parameters, err = db.parameters(s.planned, &s.options); err != nil {
		return nil, err
	}
	if s.fingerprint, err = s.planned.fingerprint(record, s.compiled); err != nil {
		return nil, err
	}
	if d := s.planned.certificate.Domain; d != nil && s.options.Reuse {
		if s.question, err = s.planned.question(record, s.compiled, db.guards[d.ID]); len(s.planned.design.Events) > 0 {
			s.releases = s.planned.comparable(s.compiled)
			s.relations = relations(s.releases)
		}
	}
	return s, err
}

// Domain is the id of the unit domain that pays; empty where nothing is charged.
func (s *Statement) Domain() string {
	if len(s.planned.design.Events) == 0 {
		return ""
	}
	return s.planned.certificate.Domain.ID
}

// Cost is what the answer will be charged, as of a charge alone.
func (s *Statement) Cost() (Cost, error) {
	c, err := s.planned.cost()
	if err != nil {
		return Cost{}, refusal(err)
	}
	return c, nil
}

// Columns are those of the answer. A stored answer that serves has the same names and types; which of its values
// have intervals, it says itself.
func (s *Statement) Columns() []Column { return s.planned.columns() }

// Certificate is what the ledger will keep of the statement, as JSON.
func (s *Statement) Certificate() json.RawMessage { return s.certificate }

// Canonical is the statement as it was understood: its plan, in which names are resolved
// and parameters are constants.
func (s *Statement) Canonical() string { return plan.Format(s.planned.bound) }

// Size is about how many bytes it takes to keep the statement: of its text, its certificate several times over, what an engine is
// asked, and the values of public domains, which can be most of it.
func (s *Statement) Size() int {
	size := len(s.planned.text) + 16*len(s.certificate) + 16<<10
	for _, q := range slices.Concat(append(slices.Clone(s.compiled.trees), s.compiled.queries)...) {
		size += len(q.SQL)
	}
	for _, values := range slices.Concat(s.compiled.bounding...) {
		size += 16 * len(values)
	}
	for _, values := range s.planned.public {
		for _, v := range values {
			text, _ := v.(string)
			size += 48 + len(text)
		}
	}
	return size
}

// Fingerprint identifies what is asked.
func (s *Statement) Fingerprint() Fingerprint { return s.fingerprint }

// Request is what the ledger is asked to reserve.
func (s *Statement) Request(by Payer) ledger.Request {
	db, planned, o := s.db, s.planned, s.options
	domain := planned.certificate.Domain
	r := ledger.Request{
		Domain: domain.ID, Guard: db.guards[domain.ID], Analyst: o.Analyst, Statement: planned.text, Parameters: s.parameters,
		Certificate: s.certificate, Events: planned.design.Events, Delta: planned.design.Delta,
		IdempotencyKey: o.IdempotencyKey, RefuseUnfinished: o.RefuseUnfinished, Fresh: o.Fresh,
		Holders: by.Holders, Rules: by.Rules, Catalog: by.Catalog, Now: db.config.Now(),
	}
	if planned.free { // whatever was stored serves, and nothing is asked that could be charged
		r.Free = true
		return r
	}
	if o.Repeat {
		r.Repetition = s.fingerprint[:]
	}
	if s.question != nil {
		r.Question, r.Serves, r.Relations = s.question, s.serves, s.relations
	}
	return r
}

// Answer charges and answers the statement, as Query does.
func (s *Statement) Answer(ctx context.Context, by Payer) (*Answer, error) {
	db, planned, o := s.db, s.planned, s.options
	if len(planned.design.Events) == 0 { // public values alone: nothing to charge
		a, err := db.measure(ctx, planned, s.compiled)
		if errors.Is(err, engine.ErrTooLarge) {
			return nil, tooLarge(boundedBytes+"; nothing was charged",
				"ask for fewer rows or columns, or for a page at a time: ORDER BY a key with LIMIT, then WHERE it is beyond the last that you have")
		}
		if err != nil {
			return nil, db.unavailable(err)
		}
		a.Cost = planned.charged(filter.Amounts{})
		return a, db.left(ctx, planned, a)
	}
	if db.config.Ledger == nil {
		return nil, errors.New("query: the database has no ledger")
	}
	domain := planned.certificate.Domain
	request := s.Request(by)
	if request.Repetition != nil && !o.Fresh && o.IdempotencyKey == "" {
		stored, err := db.config.Ledger.Repeated(ctx, o.Analyst, domain.ID, request.Repetition)
		if err != nil {
			return nil, refusal(err)
		}
		if stored != nil {
			a, err := s.reuse(ctx, stored, "this is the stored answer of the same statement; nothing was charged again")
			if err != nil {
				return nil, err
			}
			return a, db.left(ctx, planned, a)
		}
	}
	if err := db.config.Catalog.Recheck(); err != nil { // it may have been prepared long ago
		return nil, refusal(err)
	}
	ways, err := s.makes(ctx)
	if err != nil {
		return nil, err
	}
	var stored []releasedTable
	s.offer(&request, ways, &stored)
	s.sharpen(&request)
	end := by.part("reserve")
	reservation, err := db.config.Ledger.Reserve(ctx, request)
	end()
	if errors.Is(err, ledger.ErrNotStored) {
		if planned.instead == nil {
			return nil, s.unpaid()
		}
		other, err := db.compiled(ctx, planned.otherWay(), &o)
		if err != nil {
			return nil, err
		}
		return other.Answer(ctx, by)
	}
	if err != nil {
		return nil, refusal(err)
	}
	if reservation.Made {
		a, err := s.answerMade(ctx, wayOf(ways, reservation.ID), stored)
		if err != nil {
			return nil, err
		}
		a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
		return a, nil
	}
	if stored := reservation.Answer; stored != nil {
		if reservation.Served {
			a, err := s.served(ctx, stored)
			if err != nil {
				return nil, err
			}
			a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
			return a, nil
		}
		why := "this is the stored answer of the idempotency key; nothing was charged again"
		if o.IdempotencyKey == "" {
			why = "this is the stored answer of the same statement; nothing was charged again"
		}
		a, err := s.reuse(ctx, stored, why)
		if err != nil {
			return nil, err
		}
		a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
		return a, nil
	}
	end = by.part("measure")
	var a *Answer
	kept, serves := s.kept, s.versioned.Load() && o.IdempotencyKey == "" // serves others
	if serves {
		kept = &keptTables{}
	}
	var tables []releasedTable
	if x := reservation.Sharpens; x != nil {
		planned, tables, err = s.sharpened(ctx, x)
		serves = false // its noise is not what the ledger's events say
	} else {
		tables, err = db.release(ctx, planned, s.compiled, kept)
	}
	if err == nil {
		a, err = db.answer(ctx, planned, s.compiled, tables)
	}
	end()
	if by.Measured != nil {
		by.Measured()
	}
	var committed any
	charged := planned.charged(reservation.Charge)
	if x := reservation.Sharpens; x != nil {
		charged.Events = x.Events
	}
	switch {
	case errors.Is(err, engine.ErrTooLarge):
		committed = s.withhold(tables, charged, reservation.Sharpens)
	case err != nil:
		db.suspend(planned, reservation, by, err)
		return nil, db.unavailable(err)
	default:
		a.Cost = charged
		if x := reservation.Sharpens; x != nil {
			a.Notes = append(a.Notes, averageNote(x))
		}
		a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
		answer := keptAnswer{answerJSON: a.json()}
		if serves {
			answer.Tables = kept.stored()
		}
		if serves && s.averages() {
			answer.Salts = kept.salts
		}
		committed = answer
	}
	encoded, err := json.Marshal(committed)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	end = by.part("commit")
	err = db.config.Ledger.Commit(ctx, reservation, encoded)
	end()
	if errors.Is(err, ledger.ErrVersion) {
		return nil, refusal(err)
	}
	if err != nil {
		return nil, fmt.Errorf("commit answer: %w", err)
	}
	if a == nil {
		if tables == nil {
			return nil, withheldStage()
		}
		return nil, withheldAnswer()
	}
	return a, nil
}

// reuse reads a stored answer, which was paid for before.
func (s *Statement) reuse(ctx context.Context, stored []byte, why string) (*Answer, error) {
	if isWithheld(stored) {
		return s.answerWithheld(ctx, stored, why)
	}
	read := s.read.Load()
	if read == nil || !bytes.Equal(read.stored, stored) {
		read = &readAnswer{stored: stored}
		if err := json.Unmarshal(stored, &read.answer); err != nil {
			return nil, err
		}
		s.read.Store(read)
	}
	if !slices.EqualFunc(read.answer.Columns, s.planned.columns(), func(a, b Column) bool { return a.Name == b.Name && a.Type == b.Type }) {
		return nil, refusal(ledger.ErrIdempotencyKey) // by a catalog that has changed; whoever asks was told of these columns
	}
	a := read.answer
	a.Rows, a.Intervals = cloned(a.Rows), cloned(a.Intervals) // whoever gets them may change them
	for _, row := range a.Intervals {
		for i, interval := range row {
			if interval != nil {
				row[i] = &Interval{interval.Lower, interval.Upper}
			}
		}
	}
	a.Reused, a.Statement, a.Notes = true, s.planned.text, append(slices.Clip(a.Notes), why)
	return &a, nil
}

func cloned[T any](rows [][]T) [][]T {
	out := slices.Clone(rows)
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	return out
}

// left says what remains of the domain's budget where nothing was charged.
func (db *Database) left(ctx context.Context, s *statement, a *Answer) error {
	d := s.certificate.Domain
	if d == nil || db.config.Ledger == nil {
		return nil
	}
	b, err := db.config.Ledger.Balance(ctx, d.ID)
	if err != nil {
		return fmt.Errorf("read balance: %w", err)
	}
	a.Remaining = remaining(filter.Measure(d.Measure), b.Remaining)
	return nil
}

// suspend records a failure for the owner and stops the domain, or the account
// where the catalog says so, unless the caller gave up: when to give up is the
// caller's choice, not the data's.
func (db *Database) suspend(s *statement, r *ledger.Reservation, by Payer, cause error) {
	if errors.Is(cause, context.Canceled) {
		return
	}
	// The caller's context may be over; the record must be made all the same.
	ctx := context.Background()
	if s.certificate.Domain.FailureSuspends == catalog.SuspendAccount && by.Suspend != nil {
		err := by.Suspend(ctx, r.ID)
		if err == nil {
			return
		}
		db.config.OwnerLog.Error("suspend account", "domain", s.certificate.Domain.ID, "error", err)
	}
	if err := db.config.Ledger.Suspend(ctx, s.certificate.Domain.ID, r.ID, "an answer could not be computed", db.config.Now()); err != nil {
		db.config.OwnerLog.Error("suspend domain", "domain", s.certificate.Domain.ID, "error", err)
	}
}

// unavailable hides a cause from the analyst and shows it to the owner.
func (db *Database) unavailable(cause error) error {
	var f *engine.Failure
	if errors.As(cause, &f) {
		cause = f.Cause()
	}
	db.config.OwnerLog.Error("answer not computed", "cause", cause)
	return ErrUnavailable
}
