package ledger

import (
	"bytes"
	"context"
	"encoding/json"
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
// let M be all noisy values that were charged, of which answers are made, and coins; the filter bounds what M reveals. Which
// answer serves is decided from requests, rules, versions and events alone. Those are chosen by
// people who have seen M, and nothing else of the data, so that what is told is a function of M and
// of coins that do not depend on the data. A function of M reveals what M does. In particular the
// answer is given as it was released, under the salt and the bounds that it has: nothing is drawn
// or bounded again.
//
// An answer also serves a request of which it says all, though that asks something else: less of the same values, or sums of them.
// Who asks finds such answers by what they are computed of (Asked), and says of each whether it is enough (Request.From). It is
// a function of M as well, and what holds for versions, domains and rights holds there.
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

// answerFrom finds a reservation of a domain on the current version, which has an answer.
const answerFrom = `SELECT ` + columns + ` FROM records r WHERE r.seq = ? AND r.domain = ? AND r.kind = 'reserve'
	AND r.seq > (SELECT coalesce(max(v.seq), 9223372036854775807) FROM records v WHERE v.domain = '' AND v.kind = 'version')
	AND EXISTS (SELECT 1 FROM records c WHERE c.kind = 'commit' AND c.ref = r.seq)`

// A paid answer is a candidate: what was charged for it, and by what events. It is made if it is one of Request.From.
type paid struct {
	reservation int64
	charge      filter.Total
	events      []privacy.Event
	made        bool
}

// precise are the answers that are no less precise than a request in what they cost, the newest
// first. It decides nothing about rights.
func (l *Ledger) precise(ctx context.Context, q records, r Request, charge filter.Total) (all []paid, err error) {
	if r.Fresh || r.IdempotencyKey != "" { // what a key was answered must be what it is answered again, and of this nothing is recorded
		return nil, nil
	}
	if r.Question != nil && r.Serves != nil {
		if all, err = l.same(ctx, q, r, charge); err != nil {
			return nil, err
		}
	}
	if r.Makes == nil {
		return all, nil
	}
	for _, from := range r.From {
		found, err := l.read(ctx, q, answerFrom, from, r.Domain)
		if err != nil {
			return nil, err
		}
		for _, of := range found {
			e, err := of.entry()
			if err != nil {
				return nil, err
			}
			if e.Charge != nil && e.Request == nil && e.Question != nil { // what was paid for under a key serves its own analyst alone
				all = append(all, paid{reservation: of.seq, charge: *e.precision(), made: true})
			}
		}
	}
	return all, nil
}

// same are the answers of the same question.
func (l *Ledger) same(ctx context.Context, q records, r Request, charge filter.Total) (all []paid, err error) {
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
		charged := e.precision()
		if charged == nil || !charge.Within(*charged) {
			continue
		}
		events, err := e.released()
		if err != nil {
			return nil, err
		}
		all = append(all, paid{reservation: of.seq, charge: *charged, events: events})
	}
	return all, nil
}

// serving returns the commit and the answer of the first that serves and may be told, and which it is.
func (l *Ledger) serving(ctx context.Context, q querier, r Request, all []paid, may func(filter.Total) bool) (*record, []byte, paid, error) {
	for _, p := range all {
		if !may(p.charge) {
			continue
		}
		commit, answer, err := l.chain.stored(q.QueryRowContext(ctx, "SELECT "+columns+", coalesce(r.answer, '') FROM records r WHERE r.kind = 'commit' AND r.ref = ?", p.reservation))
		if err != nil {
			return nil, nil, p, err
		}
		if commit != nil && (p.made && r.Makes(p.reservation, answer) || !p.made && r.Serves(p.events, answer)) {
			return commit, answer, p, nil
		}
	}
	return nil, nil, paid{}, nil
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
func (b *batch) served(ctx context.Context, r Request, d domain, guard []byte, p prepared) (answer []byte, of paid, err error) {
	if r.Guard != nil && !bytes.Equal(r.Guard, guard) {
		return nil, of, nil
	}
	all, err := b.l.precise(ctx, b.sql, r, p.charge)
	if err != nil || len(all) == 0 {
		return nil, of, b.note(err)
	}
	s, err := b.abide(ctx, r)
	if err != nil { // a request that is behind the rules is refused where it would be without an answer
		return nil, of, b.failed
	}
	commit, answer, of, err := b.l.serving(ctx, b.sql, r, all, func(charged filter.Total) bool { return s.tells(r, d, p.charge, charged) })
	if commit == nil || err != nil {
		return nil, of, b.note(err)
	}
	b.shown = max(b.shown, commit.seq)
	return answer, of, nil
}

// A Found answer is one that Reserve would tell, of Request.From where it is Made.
type Found struct {
	Reservation int64
	Made        bool
	Sharpens    *Sharpened // not nil where Reserve would charge what is released beside it alone
	Charge      filter.Amounts
}

// Free returns the answer of the books that Reserve would tell for a request, as they and the rules are now, and
// charge nothing, or that it would sharpen; nil where there is none. It tells of no answer that the request's holders may not be told, nor of one that an
// idempotency key has.
func (l *Ledger) Free(ctx context.Context, r Request) (found *Found, err error) {
	defer wrap(&err, "look for answer")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return nil, err
	}
	p, err := r.prepare(d.filter, r.Free)
	if err != nil {
		return nil, err
	}
	if r.Repetition != nil && !r.Fresh {
		commit, _, err := l.chain.stored(l.reads.QueryRowContext(ctx, repeatedAnswer, repetition(r.Analyst, r.Domain, r.Repetition)))
		if err != nil {
			return nil, err
		}
		if commit != nil {
			return &Found{Reservation: commit.ref}, nil
		}
	}
	all, err := l.precise(ctx, l.reads, r, p.charge)
	if err != nil || len(all) == 0 && r.Sharpens == nil {
		return nil, err
	}
	if len(all) == 0 { // most questions are new, and need no transaction
		same, err := l.read(ctx, l.reads, answersOf, question(r.Domain, r.Question), maxServing)
		if err != nil || len(same) == 0 {
			return nil, err
		}
	}
	if err := l.warm(ctx); err != nil {
		return nil, err
	}
	err = l.do(ctx, false, func(ctx context.Context, b *batch) error {
		_, s, err := b.domain(ctx, r.Domain)
		if err != nil {
			return err
		}
		answer, of, err := b.served(ctx, r, d, s.Guard, p)
		if found = nil; answer != nil {
			found = &Found{Reservation: of.reservation, Made: of.made}
		}
		if answer != nil || err != nil || r.Free || !bytes.Equal(r.Guard, s.Guard) && r.Guard != nil {
			return err
		}
		sharper, err := b.sharpened(ctx, r, d, p)
		if sharper != nil {
			found = &Found{Reservation: sharper.Reservation, Sharpens: &sharper.Sharpened, Charge: d.filter.Amounts(sharper.charge)}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Asked is a request that was charged, whose answer may say what others ask.
type Asked struct {
	Reservation int64
	Statement   string
	Parameters  json.RawMessage
	Events      []privacy.Event
	Question    []byte
	Relations   [][]byte
}

const (
	// lastVersion finds the record that began the current version, 0 where none was declared.
	lastVersion = `SELECT coalesce(max(v.seq), 0) FROM records v WHERE v.domain = '' AND v.kind = 'version'`
	// listed finds the newest reservations of a domain after a record.
	listed = `SELECT ` + columns + ` FROM records r WHERE r.domain = ? AND r.kind = 'reserve' AND r.seq > ? ORDER BY r.seq DESC LIMIT ?`
)

// Asked lists the requests with Relations that were charged to a domain on the current version of the data, after a record, the newest
// first, but of so many reservations at most; last is the newest of all these, or after. Some may have no answer yet. version is the record that began the version; without one
// nothing is listed. It is for whoever plans a request, and decides nothing: Reserve does.
func (l *Ledger) Asked(ctx context.Context, domain string, after int64, most int) (all []Asked, last, version int64, err error) {
	defer wrap(&err, "list requests")
	if err := l.reads.QueryRowContext(ctx, lastVersion).Scan(&version); err != nil {
		return nil, after, 0, storage(err)
	}
	if version == 0 {
		return nil, after, 0, nil
	}
	found, err := l.read(ctx, l.reads, listed, domain, max(after, version), most)
	if err != nil {
		return nil, after, 0, err
	}
	last = after
	for _, r := range found {
		last = max(last, r.seq)
		l.decoded.Add(1)
		e, err := r.entry()
		if err != nil {
			return nil, after, 0, err
		}
		if e.Request != nil || e.Question == nil || len(e.Relations) == 0 || e.Precision != nil { // nothing else is made of an average
			continue
		}
		events, err := e.events()
		if err != nil {
			return nil, after, 0, err
		}
		all = append(all, Asked{r.seq, e.Statement, e.Parameters, events, e.Question, e.Relations})
	}
	return all, last, version, nil
}
