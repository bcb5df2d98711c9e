package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A statement over the limit of one of its holders is asked of the owner, who grants it or
// denies it. What is granted is bound: to the analyst, the domain, the repetition's digest
// (canonical plan, parameters, options), the catalog's digest and the charge. It serves one
// reservation, which names it; that is decided in the reservation's own transaction.

// A Status is how far an approval has come.
type Status string

// An approval is pending until an owner decides, who may decide otherwise until it is used.
const (
	Pending Status = "pending"
	Granted Status = "granted"
	Denied  Status = "denied"
	Used    Status = "used"
)

// An approval is one in a standing.
type approval struct {
	id      int64
	analyst string
	status  Status
}

// decide gives an approval its next status, which record seq says.
func (s *standing) decide(id int64, next Status, seq int64) error {
	a := s.approvals[id]
	if a == nil || a.status == Used || next == Used && a.status != Granted {
		return fmt.Errorf("%w: record %d decides on no open approval", ErrTampered, seq)
	}
	if a.status == Pending {
		s.pending[a.analyst]--
	}
	a.status = next
	return nil
}

// bound is what an approval is found by: all that it binds.
func bound(r Request, charge filter.Total) ([]byte, error) {
	if r.Repetition == nil || r.Catalog == nil || r.Analyst == "" {
		return nil, errors.New("an approval binds an analyst, a repetition's digest and a catalog's")
	}
	text, err := json.Marshal(charge)
	if err != nil {
		return nil, fmt.Errorf("encode charge: %w", err)
	}
	return digestOf([]byte("ask"), []byte(r.Analyst), []byte(r.Domain), r.Repetition, r.Catalog, text), nil
}

// approved returns the granted approval of a request whose charge is over a limit.
func (s *standing) approved(r Request, charge filter.Total) (int64, bool) {
	key, err := bound(r, charge)
	if err != nil {
		return 0, false
	}
	a := s.asked[string(key)]
	if a == nil || a.status != Granted {
		return 0, false
	}
	return a.id, true
}

// An Approval is a statement that was asked of the owner.
type Approval struct {
	ID      int64 // its record
	Status  Status
	Analyst string
	Domain  string
	Measure filter.Measure
	// Statement is as the analyst wrote it; Canonical is what it means, as it will be run.
	Statement, Canonical string
	Parameters           json.RawMessage
	Certificate          json.RawMessage
	Events               []privacy.Event
	Charge               filter.Amounts
	Asked                time.Time
	// By whom it was decided last, why and when.
	By, Why string
	Decided time.Time
}

// ErrTooMany: the analyst has as many pending approvals as may be.
var ErrTooMany = errors.New("too many statements of this analyst wait for an owner")

// ErrUsed: the approval has served its statement.
var ErrUsed = errors.New("the approval was used")

// ErrUnknownApproval: the ledger has no such approval.
var ErrUnknownApproval = errors.New("the ledger has no such approval")

// Ask asks the owner for a statement that Reserve refused with ErrLimit. canonical is what
// the owner is shown of it. It returns the approval that there is of the same request, if
// it was not used: a repeated question is one. An analyst has at most so many pending.
// Nothing is charged.
func (l *Ledger) Ask(ctx context.Context, r Request, canonical string, most int) (_ Approval, err error) {
	defer wrap(&err, "ask for approval")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return Approval{}, err
	}
	p, err := r.prepare(d.filter, false)
	if err != nil {
		return Approval{}, err
	}
	key, err := bound(r, p.charge)
	if err != nil {
		return Approval{}, err
	}
	if !utf8.ValidString(canonical) {
		return Approval{}, errors.New("the statement is not UTF-8")
	}
	if err := l.warm(ctx); err != nil {
		return Approval{}, err
	}
	var id int64
	err = l.do(ctx, true, func(ctx context.Context, b *batch) error {
		s, err := b.current(ctx)
		if err != nil {
			return err
		}
		if a := s.asked[string(key)]; a != nil && a.status != Used {
			id = a.id
			return nil
		}
		if s.pending[r.Analyst] >= most {
			return fmt.Errorf("%w: %d", ErrTooMany, most)
		}
		rec := &record{kind: kindAsk, key: key}
		err = b.append(ctx, rec, entry{Time: r.Now, Analyst: r.Analyst, Domain: r.Domain, Statement: r.Statement, Canonical: canonical, Parameters: r.Parameters,
			Certificate: r.Certificate, Events: p.events, Delta: r.Delta, Charge: &p.charge, Repetition: r.Repetition, Catalog: r.Catalog})
		id = rec.seq
		return err
	})
	if err != nil {
		return Approval{}, err
	}
	all, err := l.approvals(ctx, only(id)) // not used: that was looked at
	if err != nil || len(all) == 0 {
		return Approval{}, errors.Join(err, ctx.Err())
	}
	return all[0], nil
}

// only picks the records of one approval.
func only(id int64) string { return fmt.Sprintf("AND %d IN (r.seq, r.ref)", id) }

// Decide records that an owner grants an approval, or denies it, and why. The last word
// counts until it is used. It refuses with ErrUnknownApproval or ErrUsed.
func (l *Ledger) Decide(ctx context.Context, id int64, grant bool, by, why string, now time.Time) (err error) {
	defer wrap(&err, "decide on approval %d", id)
	switch {
	case by == "" || now.IsZero():
		return errors.New("needs by whom and the time")
	case !utf8.ValidString(by) || !utf8.ValidString(why):
		return errors.New("is not UTF-8")
	}
	if err := l.warm(ctx); err != nil {
		return err
	}
	kind := kindDeny
	if grant {
		kind = kindGrant
	}
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		s, err := b.current(ctx)
		if err != nil {
			return err
		}
		switch a := s.approvals[id]; {
		case a == nil:
			return ErrUnknownApproval
		case a.status == Used:
			return ErrUsed
		}
		return b.append(ctx, &record{kind: kind, ref: id}, entry{Time: now, Analyst: by, Note: why})
	})
}

// Approvals returns all statements that were asked of the owner, the oldest first.
func (l *Ledger) Approvals(ctx context.Context) (_ []Approval, err error) {
	defer wrap(&err, "read approvals")
	all, err := l.approvals(ctx, "")
	if err != nil {
		return nil, err
	}
	return all, l.markUsed(ctx, all)
}

// Approval returns one of them.
func (l *Ledger) Approval(ctx context.Context, id int64) (_ Approval, err error) {
	defer wrap(&err, "read approval %d", id)
	all, err := l.approvals(ctx, only(id))
	if err != nil {
		return Approval{}, err
	}
	if len(all) == 0 {
		return Approval{}, ErrUnknownApproval
	}
	return all[0], l.markUsed(ctx, all)
}

// approvals returns those that a condition picks, as the owner has decided.
func (l *Ledger) approvals(ctx context.Context, where string) (all []Approval, err error) {
	err = l.each(ctx, l.db, "WHERE r.domain = '' AND r.kind IN ('ask', 'grant', 'deny') "+where, func(r *record, e *entry) error {
		switch r.kind {
		case kindGrant, kindDeny:
			i := slices.IndexFunc(all, func(a Approval) bool { return a.ID == r.ref })
			if i < 0 {
				return fmt.Errorf("%w: record %d decides on no approval", ErrTampered, r.seq)
			}
			a := &all[i]
			a.Status, a.By, a.Why, a.Decided = Granted, e.Analyst, e.Note, e.Time
			if r.kind == kindDeny {
				a.Status = Denied
			}
			return nil
		}
		d, err := l.domain(ctx, l.db, e.Domain)
		if err != nil {
			return err
		}
		events, err := e.events()
		if err != nil || e.Charge == nil {
			return fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
		}
		all = append(all, Approval{ID: r.seq, Status: Pending, Analyst: e.Analyst, Domain: e.Domain, Measure: d.Measure, Statement: e.Statement, Canonical: e.Canonical,
			Parameters: e.Parameters, Certificate: e.Certificate, Events: events, Charge: d.filter.Amounts(*e.Charge), Asked: e.Time})
		return nil
	})
	return all, err
}

// markUsed marks those that have served a reservation.
func (l *Ledger) markUsed(ctx context.Context, all []Approval) error {
	rows, err := l.db.QueryContext(ctx, "SELECT r.ref FROM records r WHERE r.kind = 'reserve' AND r.ref IS NOT NULL")
	if err != nil {
		return storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return storage(err)
		}
		for i := range all {
			if all[i].ID == id {
				all[i].Status = Used
			}
		}
	}
	return storage(rows.Err())
}
