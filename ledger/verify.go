package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
)

// Verify reads the whole ledger and checks that every record has its hash and its
// number, that charges are what their events cost, that states follow from each
// other and stay within budgets, that what sharpens an answer could be averaged with it and
// is as precise as it says, that answers are those committed, and that the
// anchor is on the chain.
//
// It takes the word of the program that asked for what no record shows: that events are what a statement
// reveals, that digests are of the question and the relations that it asks of, that Keeps names what kept the rows, and that an answer was made of what its events
// released, an average of the two that it names. Nor does it ask why one answer was sharpened and not another, which would have cost another amount.
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
	v := &verifier{l: l, states: map[string]state{}, domains: map[string]domain{}, open: map[int64]reserved{}, kept: map[int64]*keptAnswer{}, standing: newStanding()}
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
	open     map[int64]reserved    // reservations without an answer
	version  int64                 // the record that began the current version; 0 where none was declared
	kept     map[int64]*keptAnswer // reservations on that version
	standing *standing
}

// reserved is what a commit must say of its reservation.
type reserved struct {
	domain     string
	repetition []byte
	average    bool
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
		if r.kind == kindVersion {
			v.version = r.seq
			clear(v.kept)
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
		if err := v.sharpens(r, e, d, events); err != nil {
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
		v.open[r.seq] = reserved{r.domain, e.repetition(r.domain), e.Sharpens != 0}
	case kindCommit:
		if of, ok := v.open[r.ref]; !ok || of.domain != r.domain {
			return wrong("it commits no reservation")
		} else if !bytes.Equal(r.key, of.repetition) {
			return wrong("it answers another request than its reservation's")
		} else if of.average && v.version > r.ref {
			return wrong("it averages rows of two versions")
		}
		if k := v.kept[r.ref]; k != nil {
			k.answered = true
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
