package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Balance is what a domain has and has spent.
type Balance struct {
	DomainBudget
	// Limit is the budget in the terms of its measure: for zcdp, the rho that
	// epsilon and delta allow, and the delta of selection; and so on.
	Limit, Spent, Remaining filter.Amounts
	Order                   *big.Rat // of rdp; nil with other measures
	Uncommitted             int64    // reservations without an answer: spent all the same
	Suspended               bool

	filter filter.Filter
	left   filter.Total
}

// Implies returns what Remaining amounts to in the measures that it is valid in: as
// (epsilon, delta), and as rho where the measure implies zCDP.
func (b Balance) Implies() (filter.Amounts, error) { return b.filter.Implies(b.left) }

// Balance returns a domain's balance, after all that is durable now.
func (l *Ledger) Balance(ctx context.Context, id string) (_ Balance, err error) {
	defer wrap(&err, "read balance")
	d, err := l.domain(ctx, l.db, id)
	if err != nil {
		return Balance{}, err
	}
	last, err := l.chain.last(ctx, l.reads, id)
	if err != nil {
		return Balance{}, err
	}
	if known, ok := l.balances.Load(id); ok && known.(*balanced).at == last.hash {
		return known.(*balanced).Balance, nil
	}
	s, err := last.state()
	if err != nil {
		return Balance{}, err
	}
	f := d.filter
	left := s.Spent.Left(f.Budget())
	order, _ := filter.Order(f)
	b := Balance{DomainBudget: d.DomainBudget, Order: order, Limit: f.Amounts(f.Budget()), Spent: f.Amounts(s.Spent),
		Remaining: f.Amounts(left), Uncommitted: s.Uncommitted, Suspended: s.Suspended, filter: f, left: left}
	l.balances.Store(id, &balanced{b, last.hash})
	return b, nil
}

// balanced is a domain's balance after a record: read from it once, as it is asked for with
// every statement. The record's hash is that of the chain up to it.
type balanced struct {
	Balance
	at digest
}

// Domains returns the domains in the order in which they were entered.
func (l *Ledger) Domains(ctx context.Context) (_ []DomainBudget, err error) {
	defer wrap(&err, "read domains")
	var out []DomainBudget
	err = l.each(ctx, l.db, "WHERE r.kind = 'domain'", func(r *record, e *entry) error {
		d, err := r.asDomain()
		out = append(out, d.DomainBudget)
		return err
	})
	return out, err
}

// An Entry is one record, for the owner to read.
type Entry struct {
	Seq         int64
	Kind        string // create, anchor, moved, arrived, domain, guard, reserve, commit, suspend, acknowledge, access, version, rule, ask, grant, deny
	Time        time.Time
	Domain      string
	User        *User // of the operating system, that wrote the record; nil if it is not known
	Analyst     string
	Statement   string
	Parameters  json.RawMessage
	Certificate json.RawMessage
	Events      []privacy.Event
	Delta       privacy.Delta
	Charge      filter.Amounts
	Spent       filter.Amounts // by the domain, after this record
	Reservation int64          // that a commit or a suspension is about
	Sharpens    int64          // of a reservation: the one whose answer its answer is averaged with; 0: none
	Precision   *Precision     // of a reservation that sharpens: what its answer serves as
	Committed   bool           // of a reservation: its answer is stored
	Note        string
	Why         string    // of a version: the owner's reason
	Guards      []Guarded // of a domain or a guard: what is guarded from here on
	Holders     []string  // of a reservation: whose quotas it counts against
	Rule        *Rule     // of a rule
	Approval    int64     // of a reservation, a grant or a denial: the approval's record
	Canonical   string    // of an ask: what the owner is shown
	Hash        []byte    // of the chain, after this record
}

// A Precision is that of an average: of an answer that is charged so much, released by such events.
type Precision struct {
	Charge filter.Amounts  `json:"charge"`
	Events []privacy.Event `json:"events"`
}

// History returns all records, the oldest first.
func (l *Ledger) History(ctx context.Context) (_ []Entry, err error) {
	defer wrap(&err, "read history")
	var out []Entry
	at := map[int64]int{} // where the reservations are
	err = l.each(ctx, l.db, "", func(r *record, e *entry) error {
		h, err := l.told(ctx, r, e)
		if err != nil {
			return err
		}
		switch i, known := at[r.ref]; {
		case r.kind == kindReserve:
			at[r.seq] = len(out)
		case r.kind == kindCommit && known:
			out[i].Committed, h.Time = true, out[i].Time
		}
		out = append(out, h)
		return nil
	})
	return out, err
}

// told is a record, for the owner to read. It does not know whether it has a commit.
func (l *Ledger) told(ctx context.Context, r *record, e *entry) (h Entry, err error) {
	h = Entry{Seq: r.seq, Kind: r.kind, Time: e.Time, Domain: r.domain, User: e.User, Analyst: e.Analyst, Statement: e.Statement,
		Parameters: e.Parameters, Certificate: e.Certificate, Delta: e.Delta, Reservation: r.ref, Sharpens: e.Sharpens, Note: e.Note, Why: e.Why,
		Holders: e.Holders, Rule: e.Rule, Canonical: e.Canonical, Hash: r.hash[:]}
	if r.domain != "" && e.State != nil {
		d, err := l.domain(ctx, l.db, r.domain)
		if err != nil {
			return h, err
		}
		h.Spent = d.filter.Amounts(e.State.Spent)
		if e.Charge != nil {
			h.Charge = d.filter.Amounts(*e.Charge)
		}
		if p := e.Precision; p != nil {
			h.Precision = &Precision{Charge: d.filter.Amounts(p.Charge)}
			if h.Precision.Events, err = e.released(); err != nil {
				return h, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
			}
		}
	}
	switch r.kind {
	case kindReserve, kindGrant, kindDeny:
		h.Reservation, h.Approval = 0, r.ref
	case kindAsk:
		d, err := l.domain(ctx, l.db, e.Domain)
		if err != nil {
			return h, err
		}
		h.Domain = e.Domain
		if e.Charge != nil {
			h.Charge = d.filter.Amounts(*e.Charge)
		}
	}
	if e.Budget != nil {
		h.Guards = e.Budget.Guards
	}
	if h.Events, err = e.events(); err != nil {
		return h, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
	}
	return h, nil
}

func (e *entry) events() ([]privacy.Event, error) {
	return decoded(e.Events)
}

func decoded(events []json.RawMessage) ([]privacy.Event, error) {
	var out []privacy.Event
	for _, data := range events {
		event, err := plan.UnmarshalEvent(data)
		if err != nil {
			return nil, err
		}
		out = append(out, event)
	}
	return out, nil
}

// records is what all records can be read from.
type records interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// together is how many records one statement reads. A statement ends before anybody looks at what
// it has read: a database gives each a time, which must be enough for a ledger of any length on a
// machine with any other work.
const together = 256

// answersTogether is the same of records with their answers, which may be long.
const answersTogether = 16

// each calls f with every record that a condition picks, in order.
//
// It reads them in pages, each of which may see a later state than the one before. Together they
// are one state all the same, that of the last page: records are appended one after the other, none
// is changed, and no page begins before a record that another has passed.
func (l *Ledger) each(ctx context.Context, q records, where string, f func(*record, *entry) error, args ...any) error {
	if where == "" {
		where = "WHERE TRUE"
	}
	text := "SELECT " + columns + " FROM records r " + where + " AND r.seq > ? ORDER BY r.seq LIMIT ?"
	for last := int64(0); ; {
		page, err := l.read(ctx, q, text, append(slices.Clip(args), last, together)...)
		if err != nil {
			return err
		}
		for _, r := range page {
			l.decoded.Add(1)
			e, err := r.entry()
			if err != nil {
				return err
			}
			if err := f(r, e); err != nil {
				return err
			}
			last = r.seq
		}
		if len(page) < together {
			return nil
		}
	}
}

// read reads the records of one statement, and checks their hashes.
func (l *Ledger) read(ctx context.Context, q records, text string, args ...any) (page []*record, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := l.chain.scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, storage(rows.Err())
}

// Verify reads the whole ledger and checks that every record has its hash and its
// number, that charges are what their events cost, that states follow from each
// other and stay within budgets, that answers are those committed, and that the
// anchor is on the chain.
func (l *Ledger) Verify(ctx context.Context) (err error) {
	defer wrap(&err, "verify ledger")
	at, err := l.anchor.read() // before the records: it may only be behind
	if err != nil {
		return err
	}
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return storage(err)
	}
	defer conn.Close()
	b := newBatch(l, conn)
	if err := b.begin(ctx, false, record{}, at); err != nil {
		return err
	}
	defer b.rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	if err := l.store.whole(ctx, conn); err != nil {
		return err
	}
	v := &verifier{l: l, states: map[string]state{}, domains: map[string]domain{}, open: map[int64]reserved{}, standing: newStanding()}
	if err := l.each(ctx, conn, "", v.record); err != nil {
		return err
	}
	if v.last.seq != b.head.seq {
		return fmt.Errorf("%w: it ends at record %d, not %d", ErrTampered, v.last.seq, b.head.seq)
	}
	return v.answers(ctx, conn)
}

// A verifier computes again what the records say.
type verifier struct {
	l        *Ledger
	last     record
	before   string // the kind of it
	domains  map[string]domain
	states   map[string]state
	open     map[int64]reserved // reservations without an answer
	standing *standing
}

// reserved is what a commit must say of its reservation.
type reserved struct {
	domain     string
	repetition []byte
}

func (v *verifier) record(r *record, e *entry) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: record %d: %s", ErrTampered, r.seq, fmt.Sprintf(format, args...))
	}
	if r.seq != v.last.seq+1 {
		return wrong("record %d is missing", v.last.seq+1)
	}
	v.last = record{seq: r.seq, hash: r.hash}
	if (r.kind == kindCreate) != (r.seq == 1) {
		return wrong("%s does not belong here", r.kind)
	}
	if before := v.before; (r.kind == kindArrived) != (before == kindMoved) {
		return wrong("%s does not belong after %s", r.kind, before)
	}
	v.before = r.kind
	switch r.kind {
	case kindCreate, kindAnchor, kindMoved, kindArrived:
		return nil
	case kindVersion, kindRule, kindAsk, kindGrant, kindDeny:
		if r.domain != "" || e.State != nil {
			return wrong("%s does not belong here", r.kind)
		}
		if err := v.word(r, e); err != nil {
			return wrong("%v", err)
		}
		return v.standing.add(r, e)
	}
	d, known := v.domains[r.domain]
	if known == (r.kind == kindDomain) || e.State == nil {
		return wrong("%s does not belong here", r.kind)
	}
	want := v.states[r.domain]
	switch r.kind {
	case kindDomain:
		var err error
		if v.domains[r.domain], err = r.asDomain(); err != nil {
			return err
		}
		want.Guard = e.State.Guard
		if wrongGuard(e) {
			return wrong("its digest is not of what it guards")
		}
	case kindReserve:
		events, err := e.events()
		if err != nil {
			return wrong("%v", err)
		}
		var charge filter.Total
		if len(events) > 0 { // see Register
			if charge, err = d.filter.Charge(events, e.Delta); err != nil {
				return wrong("%v", err)
			}
		}
		if e.Charge == nil || !charge.Equal(*e.Charge) {
			return wrong("its events do not cost what it charges")
		}
		if e.Request == nil && !bytes.Equal(r.key, question(r.domain, e.Question)) {
			return wrong("it is found by another question than it asked")
		}
		if err := v.permitted(r, e, d, charge); err != nil {
			return wrong("%v", err)
		}
		if err := v.standing.add(r, e); err != nil {
			return err
		}
		want.Spent = want.Spent.Add(charge)
		want.Uncommitted++
		if want.Suspended || !want.Spent.Within(d.filter.Budget()) {
			return wrong("it was not to be admitted")
		}
		v.open[r.seq] = reserved{r.domain, e.repetition(r.domain)}
	case kindCommit:
		if of, ok := v.open[r.ref]; !ok || of.domain != r.domain {
			return wrong("it commits no reservation")
		} else if !bytes.Equal(r.key, of.repetition) {
			return wrong("it answers another request than its reservation's")
		}
		delete(v.open, r.ref)
		want.Uncommitted--
	case kindSuspend:
		want.Suspended = true
	case kindAcknowledge:
		want.Suspended = false
	case kindGuard:
		if e.Budget == nil || !e.Budget.equal(d.DomainBudget) || e.State.Guard == nil || wrongGuard(e) {
			return wrong("its digest is not of what it guards")
		}
		want.Guard = e.State.Guard
	case kindAccess:
		if e.Charge != nil || len(e.Events) > 0 {
			return wrong("an access charges nothing")
		}
	default:
		return wrong("unknown kind %q", r.kind)
	}
	if !e.State.Spent.Equal(want.Spent) || e.State.Uncommitted != want.Uncommitted || e.State.Suspended != want.Suspended || !bytes.Equal(e.State.Guard, want.Guard) {
		return wrong("its state does not follow from the one before")
	}
	v.states[r.domain] = want
	return nil
}

// word checks what an owner said, or was asked.
func (v *verifier) word(r *record, e *entry) error {
	switch r.kind {
	case kindRule:
		if e.Rule == nil || !bytes.Equal(r.key, e.Rule.key()) || e.Analyst == "" {
			return errors.New("it is no rule")
		}
		return e.Rule.check(func(id string) (domain, error) {
			if d, ok := v.domains[id]; ok {
				return d, nil
			}
			return domain{}, ErrUnknownDomain
		})
	case kindAsk:
		d, ok := v.domains[e.Domain]
		events, err := e.events()
		if !ok || err != nil || e.Charge == nil {
			return errors.New("it asks nothing")
		}
		charge, err := d.filter.Charge(events, e.Delta)
		if err != nil || !charge.Equal(*e.Charge) {
			return errors.New("its events do not cost what it says")
		}
		key, err := bound(Request{Analyst: e.Analyst, Domain: e.Domain, Repetition: e.Repetition, Catalog: e.Catalog}, charge)
		if err != nil || !bytes.Equal(key, r.key) {
			return errors.New("it binds something else than it says")
		}
	}
	return nil
}

// permitted checks a reservation against the rules as they were.
func (v *verifier) permitted(r *record, e *entry, d domain, charge filter.Total) error {
	if err := v.standing.admit(e.Holders, d, charge); err != nil {
		return err
	}
	over := v.standing.within(e.Holders, d, charge)
	if over == nil && r.ref == 0 {
		return nil
	}
	of := Request{Analyst: e.Analyst, Domain: r.domain, Repetition: e.Repetition, Catalog: e.Catalog}
	if id, ok := v.standing.approved(of, charge); over == nil || !ok || id != r.ref {
		return errors.New("it was not approved")
	}
	return nil
}

// wrongGuard reports whether a record's digest is not of what it says is guarded.
func wrongGuard(e *entry) bool {
	if e.State.Guard == nil {
		return e.Budget.Guards != nil
	}
	d := *e.Budget
	if d.Guards == nil { // a domain without sources
		d.Guards = []Guarded{}
	}
	return !bytes.Equal(d.Guard(), e.State.Guard)
}

// answers compares the stored answers with the digests in their records, which
// the chain covers.
func (v *verifier) answers(ctx context.Context, conn *sql.Conn) error {
	for last := int64(0); ; {
		page, err := answersAfter(ctx, conn, last)
		if err != nil {
			return err
		}
		for _, r := range page {
			e, err := r.entry()
			if err != nil {
				return err
			}
			if r.kind != kindCommit && len(r.answer) > 0 || r.kind == kindCommit && string(digestOf(r.answer)) != string(e.Answer) {
				return fmt.Errorf("%w: the answer of record %d was changed", ErrTampered, r.seq)
			}
			last = r.seq
		}
		if len(page) < answersTogether {
			return nil
		}
	}
}

// answersAfter reads a page of the records after one that have answers, or should.
func answersAfter(ctx context.Context, conn *sql.Conn, after int64) (page []*record, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT seq, kind, body, coalesce(answer, '') FROM records WHERE (kind = 'commit' OR answer IS NOT NULL) AND seq > ? ORDER BY seq LIMIT ?", after, answersTogether)
	if err != nil {
		return nil, storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		r := &record{}
		if err := rows.Scan(&r.seq, &r.kind, &r.body, &r.answer); err != nil {
			return nil, storage(err)
		}
		page = append(page, r)
	}
	return page, storage(rows.Err())
}
