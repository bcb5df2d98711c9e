package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// A repetition is a request that was answered before: of the same analyst, in the same
// domain, with the same Request.Repetition, on data of the same version. Its stored answer
// reveals nothing new, so it is returned and nothing is charged. It needs no theorem but
// that of post-processing: the answer is a function of an answer that was paid for.
//
// The commit of a reservation has the digest of all that but the version in its key, so
// that a repetition is found by one look into an index. The version is a place in the
// chain: an answer is of this version if it was reserved after the version's record.

// repetition is what a repetition is found by.
func repetition(analyst, domain string, of []byte) []byte {
	if of == nil {
		return nil
	}
	return digestOf([]byte("repetition"), []byte(analyst), []byte(domain), of)
}

// repeatedAnswer finds the newest answer of a repetition.
const repeatedAnswer = "SELECT " + columns + `, coalesce(r.answer, '') FROM records r
	WHERE r.key = ? AND r.kind = 'commit' AND r.ref > (SELECT coalesce(max(v.seq), 0) FROM records v WHERE v.domain = '' AND v.kind = 'version')
	ORDER BY r.seq DESC LIMIT 1`

// stored reads the answer that a query for a commit finds; the record is nil if there is
// none.
func (c chain) stored(row *sql.Row) (commit *record, answer []byte, err error) {
	commit, err = c.scan(row, &answer)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	e, err := commit.entry()
	if err != nil {
		return nil, nil, err
	}
	if string(digestOf(answer)) != string(e.Answer) {
		return nil, nil, fmt.Errorf("%w: the answer of record %d was changed", ErrTampered, commit.seq)
	}
	if answer == nil {
		answer = []byte{}
	}
	return commit, answer, nil
}

// Repeated returns the newest answer that was committed for a repetition (see Request) on
// data of the current version, or nil. It reads alone and waits for no writer. It returns
// no answer that the anchor has not seen; Reserve returns that one, and moves the anchor.
func (l *Ledger) Repeated(ctx context.Context, analyst, domain string, of []byte) (_ []byte, err error) {
	defer wrap(&err, "read repetition")
	if of == nil {
		return nil, nil
	}
	if err := l.store.moved(); err != nil {
		return nil, err
	}
	commit, answer, err := l.chain.stored(l.reads.QueryRowContext(ctx, repeatedAnswer, repetition(analyst, domain, of)))
	if commit == nil || err != nil {
		return nil, err
	}
	if seen, err := l.seen(commit.seq); !seen || err != nil {
		return nil, err
	}
	return answer, nil
}

// A Version is a state of the data, by the owner's word. Nothing else starts one: the
// ledger cannot see whether data changed.
type Version struct {
	Record int64 // its place in the chain; 0 of the data that the ledger began with
	Name   string
	Why    string // the owner's reason; may be empty
	Time   time.Time
}

// Version returns the current version of the data.
func (l *Ledger) Version(ctx context.Context) (v Version, err error) {
	defer wrap(&err, "read version")
	r, err := l.chain.scan(l.reads.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.domain = '' AND r.kind = 'version' ORDER BY r.seq DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return v, nil
	} else if err != nil {
		return v, err
	}
	e, err := r.entry()
	if err != nil {
		return v, err
	}
	return Version{r.seq, e.Note, e.Why, e.Time}, nil
}

// NewVersion records the owner's word that the data changed, and why. Every repetition is charged
// anew from here on, in every process that has the ledger open: each looks for the newest version
// in the transaction that charges.
func (l *Ledger) NewVersion(ctx context.Context, name, why string, now time.Time) (v Version, err error) {
	defer wrap(&err, "begin version")
	switch {
	case now.IsZero():
		return v, errors.New("no time given")
	case !utf8.ValidString(name) || !utf8.ValidString(why):
		return v, errors.New("the name or the reason is not UTF-8")
	}
	err = l.do(ctx, true, func(ctx context.Context, b *batch) error {
		r := &record{kind: kindVersion}
		err := b.append(ctx, r, entry{Time: now, Note: name, Why: why})
		v = Version{r.seq, name, why, now.UTC()}
		return err
	})
	return v, err
}

// A Use of an idempotency key is a reservation: its record, what was asked, and the answer, nil if there is none yet.
type Use struct {
	Record    int64
	Statement string
	Answer    []byte
}

// Answered returns an analyst's use of an idempotency key; its zero value if nobody has used the key. Like Repeated it
// reads alone, and returns no answer that the anchor has not seen.
func (l *Ledger) Answered(ctx context.Context, analyst, key string) (u Use, err error) {
	defer wrap(&err, "read answer")
	if err := l.store.moved(); err != nil {
		return u, err
	}
	first, err := l.chain.scan(l.reads.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.key = ? AND r.kind = 'reserve' ORDER BY r.seq LIMIT 1", scope(analyst, key)))
	if errors.Is(err, sql.ErrNoRows) {
		return u, nil
	} else if err != nil {
		return u, err
	}
	e, err := first.entry()
	if err != nil {
		return u, err
	}
	u.Record, u.Statement = first.seq, e.Statement
	commit, answer, err := l.chain.stored(l.reads.QueryRowContext(ctx, committedFor, scope(analyst, key)))
	if commit == nil || err != nil {
		return u, err
	}
	if seen, err := l.seen(commit.seq); !seen || err != nil {
		return u, err
	}
	u.Record, u.Answer = commit.ref, answer
	return u, nil
}

// committedFor finds the first answer of an idempotency key.
const committedFor = "SELECT " + columns + `, coalesce(r.answer, '') FROM records k JOIN records r ON r.ref = k.seq AND r.kind = 'commit'
	WHERE k.key = ? ORDER BY r.seq LIMIT 1`

// seen reports whether a record is on stable storage, and the anchor knows of it.
func (l *Ledger) seen(record int64) (bool, error) {
	if l.anchor == nil {
		return l.durable(record), nil
	}
	at, err := l.anchor.read()
	return err == nil && at.seq >= record, err
}
