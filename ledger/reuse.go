package ledger

import (
	"bytes"
	"context"
	"errors"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A question is what a statement asks, whoever asks it and whatever it may cost. Once the owner
// has declared a version of the data (NewVersion), an answer serves every later request that
//
//   - asks the same Request.Question in the same domain: the same bounds, keys and expressions;
//   - on the same version: the answer was reserved after the version's record;
//   - asks for no more precision: its charge is at most the answer's, in each part, and
//     Request.Serves says of the answer's events that no noise is wider than what is asked;
//   - and may be told it: the limit of each of its holders is what the answer's own charge is
//     held against, as if the asker paid for it now, or an owner has granted just that.
//
// Nothing is charged then. The theorem is post-processing (Dwork and Roth 2014, Proposition 2.1):
// let M be all answers that were charged, and their coins; the filter bounds what M reveals. Which
// answer serves is decided from requests, rules, versions and events alone. Those are chosen by
// people who have seen M, and nothing else of the data, so that what is told is a function of M and
// of coins that do not depend on the data. A function of M reveals what M does. In particular the
// answer is given as it was released, under the salt and the bounds that it has: nothing is drawn
// or bounded again.
//
// Whoever may not be told it gets what there would be without it, by the same steps in the same
// order: a charge, or the same refusal.

// maxServing bounds how many answers of one question are looked at, the newest first. An
// answer beyond is not found, and charged anew.
const maxServing = 100

// answersOf finds the reservations whose answers could serve, which have one. Without a version nothing
// is after it.
const answersOf = `SELECT ` + columns + ` FROM records r WHERE r.seq IN (SELECT n.seq FROM records n WHERE n.key = ? AND n.kind = 'reserve'
	AND n.seq > (SELECT coalesce(max(v.seq), 9223372036854775807) FROM records v WHERE v.domain = '' AND v.kind = 'version')
	AND EXISTS (SELECT 1 FROM records c WHERE c.kind = 'commit' AND c.ref = n.seq)
	ORDER BY n.seq DESC LIMIT ?) ORDER BY r.seq DESC`

// question is what answers of a question are found by: the key of reservations that have no
// idempotency key. What was paid for under one serves its own analyst alone.
func question(domain string, of []byte) []byte {
	if of == nil {
		return nil
	}
	return digestOf([]byte("question"), []byte(domain), of)
}

// A paid answer is a candidate: what was charged for it, and by what events.
type paid struct {
	reservation int64
	charge      filter.Total
	events      []privacy.Event
}

// precise are the answers that are no less precise than a request in what they cost, the newest
// first. It decides nothing about rights.
func (l *Ledger) precise(ctx context.Context, q records, r Request, charge filter.Total) (all []paid, err error) {
	if r.Question == nil || r.Serves == nil || r.Fresh {
		return nil, nil
	}
	found, err := l.read(ctx, q, answersOf, question(r.Domain, r.Question), maxServing)
	if err != nil {
		return nil, err
	}
	for _, of := range found {
		l.decoded.Add(1)
		e, err := of.entry()
		if err != nil {
			return nil, err
		}
		if e.Charge == nil || !charge.Within(*e.Charge) {
			continue
		}
		events, err := e.events()
		if err != nil {
			return nil, err
		}
		all = append(all, paid{of.seq, *e.Charge, events})
	}
	return all, nil
}

// serving returns the commit and the answer of the first that serves and may be told.
func (l *Ledger) serving(ctx context.Context, q querier, r Request, all []paid, may func(filter.Total) bool) (*record, []byte, error) {
	for _, p := range all {
		if !may(p.charge) {
			continue
		}
		commit, answer, err := l.chain.stored(q.QueryRowContext(ctx, "SELECT "+columns+", coalesce(r.answer, '') FROM records r WHERE r.kind = 'commit' AND r.ref = ?", p.reservation))
		if err != nil {
			return nil, nil, err
		}
		if commit != nil && r.Serves(p.events, answer) {
			return commit, answer, nil
		}
	}
	return nil, nil, nil
}

// tells reports whether a request may be told an answer that was charged so much. Without a
// standing nobody has rules.
func (s *standing) tells(r Request, d domain, asked, charged filter.Total) bool {
	if s == nil {
		return true
	}
	err := s.within(r.Holders, d, charged)
	if err == nil {
		return true
	}
	_, granted := s.approved(r, asked)
	return granted && asked.Equal(charged) && errors.Is(err, ErrLimit)
}

// served returns an answer that serves a request, or nil, and its reservation.
func (b *batch) served(ctx context.Context, r Request, d domain, guard []byte, p prepared) (answer []byte, id int64, err error) {
	if r.Guard != nil && !bytes.Equal(r.Guard, guard) {
		return nil, 0, nil
	}
	all, err := b.l.precise(ctx, b.sql, r, p.charge)
	if err != nil || len(all) == 0 {
		return nil, 0, b.note(err)
	}
	s, err := b.abide(ctx, r)
	if err != nil { // a request that is behind the rules is refused where it would be without an answer
		return nil, 0, b.failed
	}
	commit, answer, err := b.l.serving(ctx, b.sql, r, all, func(charged filter.Total) bool { return s.tells(r, d, p.charge, charged) })
	if commit == nil || err != nil {
		return nil, 0, b.note(err)
	}
	b.shown = max(b.shown, commit.seq)
	return answer, commit.ref, nil
}

// Free reports whether Reserve would answer a request from the books, as they and the rules are now, and
// charge nothing. It tells of no answer that the request's holders may not be told. An
// idempotency key is not looked at.
func (l *Ledger) Free(ctx context.Context, r Request) (free bool, err error) {
	defer wrap(&err, "look for answer")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return false, err
	}
	r.IdempotencyKey = ""
	p, err := r.prepare(d.filter, false)
	if err != nil {
		return false, err
	}
	if r.Repetition != nil && !r.Fresh {
		commit, _, err := l.chain.stored(l.reads.QueryRowContext(ctx, repeatedAnswer, repetition(r.Analyst, r.Domain, r.Repetition)))
		if commit != nil || err != nil {
			return err == nil, err
		}
	}
	all, err := l.precise(ctx, l.reads, r, p.charge)
	if err != nil || len(all) == 0 {
		return false, err
	}
	if err := l.warm(ctx); err != nil {
		return false, err
	}
	err = l.do(ctx, false, func(ctx context.Context, b *batch) error {
		_, s, err := b.domain(ctx, r.Domain)
		if err != nil {
			return err
		}
		answer, _, err := b.served(ctx, r, d, s.Guard, p)
		free = answer != nil
		return err
	})
	return free, err
}
