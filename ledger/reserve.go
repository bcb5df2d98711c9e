package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Request is what Reserve charges for and records.
type Request struct {
	Domain  string
	Analyst string // who asks; not who pays: the budget is the domain's
	// Statement and Parameters are what is asked. With IdempotencyKey they say what
	// the key stands for.
	Statement   string
	Parameters  json.RawMessage
	Certificate json.RawMessage
	// Events are what the answer will reveal; the charge is computed from them.
	Events []privacy.Event
	// Delta is the δ at which a filter converts Gaussian events; see
	// filter.Filter. It is charged only where it is used.
	Delta privacy.Delta
	// Guard is the digest of what the asker's catalog declares of the domain (see
	// DomainBudget.Guard). Where it is not what the ledger guards, the request is refused.
	// nil asks nothing.
	Guard []byte
	// IdempotencyKey, if not empty, makes a repetition of the same request by the
	// same analyst return the stored answer. An answer that was never committed
	// stays spent, and the repetition charges anew.
	IdempotencyKey string
	// RefuseUnfinished refuses such a repetition, with ErrUnfinished, where the answer was
	// never committed.
	RefuseUnfinished bool
	// Repetition, if not nil, is a digest of all that decides what the answer would say: the
	// canonical plan, the parameters, the options. The same analyst gets the answer that was
	// committed for it on data of the current version, and is charged nothing.
	Repetition []byte
	// Question, if not nil, is a digest of all that decides what the answer would say, but not how
	// precise it is nor what it costs. Its answer may serve others, and others' may serve it, once the
	// owner has declared a version of the data: see reuse.go.
	Question []byte
	// Serves reports whether an answer to the Question, released by these events, is in each value as
	// precise as what is asked. nil: none is.
	Serves func(events []privacy.Event, answer []byte) bool
	// Relations are digests of what the Question's values are computed of. Asked lists the request by them.
	Relations [][]byte
	// From are reservations that Asked has listed, the best first, from whose answers alone the Question could be
	// answered, as precisely as is asked; and Makes reports of one, and its answer, whether it can.
	From  []int64
	Makes func(reservation int64, answer []byte) bool
	// Sharpens says of events that have released an answer to the Question what would have to be released beside it, so that the average
	// is as precise as what is asked; nil where nothing is. Averages reports whether the answer has what that needs. Keeps names what it takes
	// to bound the same rows again: answers of one name can be averaged, and none without. See sharpen.go.
	Keeps    string
	Sharpens func(events []privacy.Event) []privacy.Event
	Averages func(answer []byte) bool
	// Free charges nothing: where no answer serves, the request is refused with ErrNotStored.
	Free bool
	// Fresh charges a repetition, too, whose answer is then the newest, and what an answer would serve.
	Fresh bool
	// Holders are those who spend: the analyst's account, say, and its groups. Beside the
	// domain's budget the charge must fit what each may spend by its quota, and be within
	// its limit or approved. It counts against the quotas of all of them, from then on or
	// given later.
	Holders []string
	// Catalog is a digest of the catalog that the statement was understood by; an approval
	// binds it.
	Catalog []byte
	// Rules, if not 0, is the last record at which the caller has looked at rules (see
	// Ledger.Rules). Where one was recorded since, the request is refused with
	// ErrRulesChanged.
	Rules int64
	Now   time.Time
}

// A Reservation is a durable charge.
type Reservation struct {
	ID        int64 // the number of its record
	Domain    string
	Charge    filter.Amounts // zero if Answer is set
	Remaining filter.Amounts // after the charge
	// Answer is the stored answer of an earlier request with the same idempotency
	// key, of a repetition, or of the same Question. If it is not nil, nothing was charged, and there is
	// nothing to commit.
	Answer []byte
	// Served says that Answer is of the same Question, perhaps another's and more precise, and Made that it is one of
	// Request.From.
	Served, Made bool
	// Sharpens is not nil where the charge is for what is released beside a stored answer alone.
	Sharpens *Sharpened
}

// Reserve charges a domain for a request. When it returns a reservation, the
// charge is on stable storage and is never given back.
//
// It refuses, and charges nothing, with ErrExhausted (an ExhaustedError),
// ErrSuspended, ErrUnknownDomain, ErrGuardDiffers, ErrIdempotencyKey, ErrUnfinished, ErrNotStored, ErrQuota
// (a QuotaError), ErrLimit (a LimitError), ErrRulesChanged, or an error that wraps
// filter.ErrUnsupported or a privacy.RelationError. After any other error, and after
// ctx has ended, the charge may have been made.
func (l *Ledger) Reserve(ctx context.Context, r Request) (_ *Reservation, err error) {
	defer wrap(&err, "reserve")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return nil, err
	}
	p, err := r.prepare(d.filter, r.Free)
	if err != nil {
		return nil, err
	}
	if len(r.Holders) > 0 || r.Rules != 0 {
		if err := l.warm(ctx); err != nil {
			return nil, err
		}
	}
	var out *Reservation
	err = l.do(ctx, false, func(ctx context.Context, b *batch) (err error) {
		out, err = b.reserve(ctx, r, p)
		return err
	}, r.asks()...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// asks is what the books are asked first for a request.
func (r Request) asks() []pgsql.Statement {
	all := []pgsql.Statement{{Text: lastOfDomain, Args: []any{r.Domain}}}
	if r.Repetition != nil && !r.Fresh && r.IdempotencyKey == "" {
		all = append(all, pgsql.Statement{Text: repeatedAnswer, Args: []any{repetition(r.Analyst, r.Domain, r.Repetition)}})
	}
	if r.Question != nil && r.Serves != nil && !r.Fresh && r.IdempotencyKey == "" {
		all = append(all, pgsql.Statement{Text: answersOf, Args: []any{question(r.Domain, r.Question), maxServing}})
	}
	return all
}

// prepared is the part of a request that needs no transaction: a charge depends
// on the events alone, and a conversion takes a millisecond that others need not
// wait for.
type prepared struct {
	charge  filter.Total
	events  []json.RawMessage
	scope   []byte // nil without an idempotency key
	request []byte
}

func (r Request) prepare(f filter.Filter, free bool) (p prepared, err error) {
	switch {
	case r.Now.IsZero():
		return p, errors.New("no time given")
	case !utf8.ValidString(r.Analyst) || !utf8.ValidString(r.Statement):
		return p, errors.New("analyst or statement is not UTF-8")
	case slices.ContainsFunc(r.Holders, func(h string) bool { return h == "" || !utf8.ValidString(h) }):
		return p, errors.New("a holder has no name, or one that is not UTF-8")
	}
	for i, h := range r.Holders {
		if slices.Contains(r.Holders[:i], h) {
			return p, fmt.Errorf("holder %q is named twice", h)
		}
	}
	for _, raw := range []json.RawMessage{r.Parameters, r.Certificate} {
		if raw != nil && !json.Valid(raw) {
			return p, errors.New("parameters or certificate are not JSON")
		}
	}
	if err := p.price(r.Events, r.Delta, f, free); err != nil {
		return p, err
	}
	if r.IdempotencyKey != "" {
		p.scope = scope(r.Analyst, r.IdempotencyKey)
		p.request = digestOf([]byte(r.Domain), []byte(r.Statement), r.Parameters)
	}
	return p, nil
}

// price computes what events are charged, and how they are recorded.
func (p *prepared) price(events []privacy.Event, delta privacy.Delta, f filter.Filter, free bool) (err error) {
	p.events = nil
	recorded := make([]privacy.Event, len(events))
	for i, e := range events {
		if e, err = privacy.New(e); err != nil {
			return err
		}
		// The bytes are what Verify will compute the charge from again, so they must
		// read back as the event; and it is computed from them here.
		data, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		recorded[i], err = plan.UnmarshalEvent(data)
		if err != nil || recorded[i].String() != e.String() {
			return fmt.Errorf("event %v cannot be recorded exactly: %v", e, err)
		}
		p.events = append(p.events, data)
	}
	if !free {
		p.charge, err = f.Charge(recorded, delta)
	}
	return err
}

func (b *batch) reserve(ctx context.Context, r Request, p prepared) (*Reservation, error) {
	d, s, err := b.domain(ctx, r.Domain)
	if err != nil {
		return nil, err
	}
	left := func(spent filter.Total) filter.Amounts { return d.filter.Amounts(spent.Left(d.filter.Budget())) }
	answer, id, err := b.earlier(ctx, r, p)
	if err != nil {
		return nil, err
	}
	if answer != nil {
		return &Reservation{ID: id, Domain: r.Domain, Remaining: left(s.Spent), Answer: answer}, nil
	}
	answer, of, err := b.served(ctx, r, d, s.Guard, p)
	if err != nil {
		return nil, err
	}
	if answer != nil {
		return &Reservation{ID: of.reservation, Domain: r.Domain, Remaining: left(s.Spent), Answer: answer, Served: !of.made, Made: of.made}, nil
	}
	if r.Free {
		return nil, ErrNotStored
	}
	if s.Suspended {
		return nil, fmt.Errorf("domain %q: %w", r.Domain, ErrSuspended)
	}
	if r.Guard != nil && !bytes.Equal(r.Guard, s.Guard) {
		return nil, fmt.Errorf("domain %q: %w, since it was looked at", r.Domain, ErrGuardDiffers)
	}
	sharper, err := b.sharpened(ctx, r, d, p)
	if err != nil {
		return nil, err
	}
	asked := p
	if sharper != nil {
		p = sharper.prepared
	}
	next := &state{Spent: s.Spent.Add(p.charge), Uncommitted: s.Uncommitted + 1, Guard: s.Guard}
	if !next.Spent.Within(d.filter.Budget()) {
		return nil, &ExhaustedError{Domain: r.Domain, Measure: d.Measure, Asked: d.filter.Amounts(p.charge), Left: left(s.Spent)}
	}
	approval, err := b.permit(ctx, r, d, p.charge)
	if err != nil {
		return nil, err
	}
	rec := &record{kind: kindReserve, domain: r.Domain, key: p.scope, ref: approval}
	if rec.key == nil {
		rec.key = question(r.Domain, r.Question)
	}
	e := entry{Time: r.Now, Analyst: r.Analyst, Statement: r.Statement, Parameters: r.Parameters,
		Certificate: r.Certificate, Events: p.events, Delta: r.Delta, Charge: &p.charge, Request: p.request, Repetition: r.Repetition, Question: r.Question, Relations: r.Relations, Keeps: r.Keeps,
		Holders: r.Holders, Catalog: r.Catalog, State: next}
	out := &Reservation{Domain: r.Domain, Charge: d.filter.Amounts(p.charge), Remaining: left(next.Spent)}
	if sharper != nil {
		e.Sharpens, e.Precision, out.Sharpens = sharper.Reservation, &precision{asked.charge, asked.events}, &sharper.Sharpened
	}
	if err := b.append(ctx, rec, e); err != nil {
		return nil, err
	}
	b.states[r.Domain] = next
	if b.open != nil {
		b.open[rec.seq] = pending{domain: r.Domain, repetition: repetition(r.Analyst, r.Domain, r.Repetition)}
	}
	out.ID = rec.seq
	return out, nil
}

// permit holds a charge against the rules of its holders. It returns the approval that it
// uses, or 0.
func (b *batch) permit(ctx context.Context, r Request, d domain, charge filter.Total) (approval int64, err error) {
	s, err := b.abide(ctx, r)
	if s == nil || err != nil {
		return 0, err
	}
	if err := s.admit(r.Holders, d, charge); err != nil {
		return 0, b.note(err)
	}
	over := s.within(r.Holders, d, charge)
	if over == nil {
		return 0, nil
	}
	if approval, ok := s.approved(r, charge); ok && errors.Is(over, ErrLimit) {
		return approval, nil
	}
	return 0, b.note(over)
}

// abide returns the rules by which a request is held, or nil where nobody looked at any. It
// refuses a request that is behind them.
func (b *batch) abide(ctx context.Context, r Request) (*standing, error) {
	if len(r.Holders) == 0 && r.Rules == 0 {
		return nil, nil
	}
	s, err := b.current(ctx)
	if err != nil {
		return nil, err
	}
	if r.Rules != 0 && s.lastRule > r.Rules {
		return nil, ErrRulesChanged
	}
	if b.l.store.confirms() {
		if r.Rules > s.lastRule { // it was seen before it was confirmed, and is not there
			return nil, fmt.Errorf("%w: it had a rule at record %d", ErrRolledBack, r.Rules)
		}
		if r.Catalog != nil && s.served != nil && !bytes.Equal(r.Catalog, s.served) {
			return nil, ErrOtherCatalog
		}
	}
	return s, nil
}

// earlier returns the answer that was stored for the same request, or nil, and its
// reservation.
func (b *batch) earlier(ctx context.Context, r Request, p prepared) (answer []byte, id int64, err error) {
	if p.scope != nil {
		if answer, id, err = b.replay(ctx, p, r.RefuseUnfinished); answer != nil || err != nil {
			return answer, id, err
		}
	}
	if r.Repetition == nil || r.Fresh {
		return nil, 0, nil
	}
	return b.show(ctx, repeatedAnswer, repetition(r.Analyst, r.Domain, r.Repetition))
}

// replay returns the answer that was first committed for an idempotency key, or
// nil.
func (b *batch) replay(ctx context.Context, p prepared, unfinished bool) (answer []byte, id int64, err error) {
	first, err := b.l.chain.scan(b.sql.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.key = ? ORDER BY r.seq LIMIT 1", p.scope))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, b.note(err)
	}
	e, err := first.entry()
	if err != nil {
		return nil, 0, b.note(err)
	}
	if string(e.Request) != string(p.request) {
		return nil, 0, ErrIdempotencyKey
	}
	answer, id, err = b.show(ctx, committedFor, p.scope)
	if answer == nil && err == nil && unfinished {
		err = ErrUnfinished
	}
	return answer, id, err
}

// show returns the answer of the commit that a query finds, and its reservation. It leaves
// only after the anchor has seen it, which the process that committed it may not have
// lived to see.
func (b *batch) show(ctx context.Context, query string, key []byte) (answer []byte, id int64, err error) {
	commit, answer, err := b.l.chain.stored(b.sql.QueryRowContext(ctx, query, key))
	if commit == nil || err != nil {
		return nil, 0, b.note(err)
	}
	b.shown = max(b.shown, commit.seq)
	return answer, commit.ref, nil
}

// repetition is the key of the commit of a reservation.
func (e *entry) repetition(domain string) []byte {
	return repetition(e.Analyst, domain, e.Repetition)
}
