package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// A ledger moves from a file into a database, or back, with its whole chain. The order of the
// steps decides that there are never two ledgers that can be charged:
//
//  1. the source gets its last record, which names the destination. From then on it is closed for
//     good: whoever opens it, or has it open, is refused, and told where it went;
//  2. the destination gets all records, the last one included, and a further one, with which it
//     can be charged, in one transaction.
//
// A crash between the two leaves a closed source; the same move again goes on from there.

// ErrMoved: the records of this ledger are elsewhere, and go on there.
var ErrMoved = errors.New("the ledger has moved")

// A Moved is what a move has proved: of source and destination alike, how many records there
// are up to the last one of the source, and the hash of the chain there.
type Moved struct {
	Records int64
	Hash    []byte
}

// Move moves a ledger, with its key. It verifies both whole, and returns an error unless the
// destination has the very chain of the source. The destination must be a place where no ledger
// is, or where this very move has brought this one.
func Move(ctx context.Context, from string, of Options, to string, o Options) (m Moved, err error) {
	defer wrap(&err, "move ledger %s to %s", Named(from), Named(to))
	if of.Now.IsZero() || o.Now.IsZero() {
		return m, errors.New("no time given")
	}
	source, err := opened(ctx, from, of, true)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if source.anchor != nil && o.Anchor == "" {
		return m, fmt.Errorf("anchor: %w: the ledger has one, and would have none", ErrMissing)
	}
	if err := source.Verify(ctx); err != nil {
		return m, err
	}
	last, err := source.chain.scan(source.db.QueryRowContext(ctx, "SELECT "+columns+" FROM records r ORDER BY r.seq DESC LIMIT 1"))
	if err != nil {
		return m, err
	}
	if last.kind != kindMoved {
		if err := vacant(ctx, to, o); err != nil {
			return m, err
		}
		last = &record{kind: kindMoved}
		err := source.do(ctx, true, func(ctx context.Context, b *batch) error {
			return b.append(ctx, last, entry{Time: of.Now, Note: Named(to)})
		})
		if err != nil {
			return m, err
		}
	} else if e, err := last.entry(); err != nil {
		return m, err
	} else if e.Note != Named(to) {
		return m, fmt.Errorf("%w to %s", ErrMoved, e.Note)
	}
	if err := source.carry(ctx, to, o); err != nil && !errors.Is(err, ErrExists) {
		return m, err
	}
	if o.Anchor != "" {
		if _, err := os.Lstat(o.Anchor); err != nil { // a crash was faster
			if err := Anchor(ctx, to, o); err != nil {
				return m, err
			}
		}
	}
	dest, err := Open(ctx, to, o)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, dest.Close()) }()
	if err := dest.Verify(ctx); err != nil {
		return m, err
	}
	same, err := dest.chain.scan(dest.db.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.seq = ?", last.seq))
	if errors.Is(err, sql.ErrNoRows) {
		return m, fmt.Errorf("%w: the destination is another ledger", ErrExists)
	} else if err != nil {
		return m, err
	}
	if same.hash != last.hash || dest.genesis != source.genesis {
		return m, fmt.Errorf("%w: the destination has another chain", ErrTampered)
	}
	return Moved{last.seq, last.hash[:]}, nil
}

// vacant refuses a destination where something is, while nothing has happened yet.
func vacant(ctx context.Context, to string, o Options) error {
	if o.Anchor != "" {
		if _, err := os.Lstat(o.Anchor); err == nil {
			return fmt.Errorf("anchor %s: %w", o.Anchor, ErrExists)
		}
	}
	l, err := connect(to, o)
	if err != nil {
		return err
	}
	defer l.db.Close()
	return l.store.vacant(ctx, l.db)
}

// carry makes the destination with all records of a ledger that is closed.
func (l *Ledger) carry(ctx context.Context, to string, o Options) (err error) {
	dest, err := connect(to, o)
	if err != nil {
		return err
	}
	if err := dest.store.claim(); err != nil {
		return errors.Join(err, dest.db.Close())
	}
	if err := errors.Join(l.copyTo(ctx, dest, o), storage(dest.db.Close())); err != nil {
		dest.store.abandon()
		return err
	}
	return nil
}

func (l *Ledger) copyTo(ctx context.Context, dest *Ledger, o Options) error {
	conn, err := dest.db.Conn(ctx)
	if err != nil {
		return storage(err)
	}
	defer conn.Close()
	b := newBatch(dest, conn)
	if err := dest.store.create(ctx, b.sql); err != nil {
		return err
	}
	for after, n := int64(0), answersTogether; n == answersTogether; {
		page, err := l.wholeRecords(ctx, after)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := b.insert(ctx, r); err != nil {
				return err
			}
			after = r.seq
		}
		n = len(page)
	}
	dest.genesis = l.genesis
	if err := b.append(ctx, &record{kind: kindArrived}, entry{Time: o.Now, Note: l.store.String()}); err != nil {
		return err
	}
	if o.Anchor != "" {
		if err := b.append(ctx, &record{kind: kindAnchor}, entry{Time: o.Now}); err != nil {
			return err
		}
	}
	if _, err := dest.store.commit(ctx, b.sql, b.head); err != nil {
		return err
	}
	if err := dest.store.settle(); err != nil {
		return err
	}
	if o.Anchor != "" {
		return dest.anchorAt(o.Anchor).create(b.head)
	}
	return nil
}

// wholeRecords reads a page of the records after one, with their answers.
func (l *Ledger) wholeRecords(ctx context.Context, after int64) (page []*record, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT "+columns+", r.answer FROM records r WHERE r.seq > ? ORDER BY r.seq LIMIT ?", after, answersTogether)
	if err != nil {
		return nil, storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		var answer []byte
		r, err := l.chain.scan(rows, &answer)
		if err != nil {
			return nil, err
		}
		r.answer = answer
		page = append(page, r)
	}
	return page, storage(rows.Err())
}
