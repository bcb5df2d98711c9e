package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Suspend records a failure in computing the answer of a reservation, or 0 for
// none, and suspends its domain until Acknowledge.
func (l *Ledger) Suspend(ctx context.Context, domain string, reservation int64, event string, now time.Time) (err error) {
	defer wrap(&err, "suspend")
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		if reservation != 0 {
			if _, err := b.reserved(ctx, domain, reservation); err != nil {
				return err
			}
		}
		return b.change(ctx, &record{kind: kindSuspend, domain: domain, ref: reservation},
			entry{Time: now, Note: event}, func(s *state) { s.Suspended = true })
	})
}

// Acknowledge records that the owner has seen why a domain was suspended, and
// lets it be charged again. Nothing is given back.
func (l *Ledger) Acknowledge(ctx context.Context, domain, note string, now time.Time) (err error) {
	defer wrap(&err, "acknowledge")
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		return b.change(ctx, &record{kind: kindAcknowledge, domain: domain},
			entry{Time: now, Note: note}, func(s *state) { s.Suspended = false })
	})
}

// Access records that exact values of a domain are about to be seen, by whom and what
// for. It charges nothing, because nothing is released: what is seen is for the owner,
// and no budget pays for it if it gets further. Only after Access has returned nil, the
// record being on stable storage and on the anchor, may anybody look.
func (l *Ledger) Access(ctx context.Context, domain, by, what string, now time.Time) (err error) {
	defer wrap(&err, "record access")
	switch {
	case by == "" || what == "" || now.IsZero():
		return errors.New("needs by whom, what for and the time")
	case !utf8.ValidString(by) || !utf8.ValidString(what):
		return errors.New("is not UTF-8")
	}
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		return b.change(ctx, &record{kind: kindAccess, domain: domain},
			entry{Time: now, Analyst: by, Statement: what}, func(*state) {})
	})
}

// change appends a record that changes the state of its domain.
func (b *batch) change(ctx context.Context, r *record, e entry, f func(*state)) error {
	_, s, err := b.domain(ctx, r.domain)
	if err != nil {
		return err
	}
	next := *s
	f(&next)
	e.State = &next
	if err := b.append(ctx, r, e); err != nil {
		return err
	}
	b.states[r.domain] = &next
	return nil
}

// reserved returns a reservation of the domain, and refuses what is none.
func (b *batch) reserved(ctx context.Context, domain string, id int64) (*entry, error) {
	r, err := b.l.chain.scan(b.sql.QueryRowContext(ctx, reservationOf, id, domain))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("domain %q has no reservation %d", domain, id)
	} else if err != nil {
		return nil, b.note(err)
	}
	e, err := r.entry()
	return e, b.note(err)
}
