package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// One goroutine writes. It takes the jobs that have queued up meanwhile into one
// transaction, so that they share its fsync.

// maxBatch bounds a transaction, and so the wait of other processes.
const maxBatch = 256

// A job runs in the writer's transaction.
type job struct {
	run      func(context.Context, *batch) error
	anchored bool              // its effect, or what it has read, must be on the anchor before it is done
	next     []pgsql.Statement // what it asks first
	done     chan error
}

// A batch is one transaction.
type batch struct {
	l      *Ledger
	conn   *sql.Conn
	sql    *statements       // on conn
	head   record            // the last record: seq and hash
	states map[string]*state // of the domains met, after what this batch has appended
	open   map[int64]pending // what this batch has reserved or answered; nil if nobody remembers
	known  *memory           // of the records before this batch; nil if nothing is
	// version is the store's number of what others have written.
	version int64
	next    []pgsql.Statement // what is asked in it first
	wrote   bool
	shown   int64 // the newest commit whose answer a job has read
	failed  error // of the storage: the batch must not commit
}

// writer is the writing goroutine's own state.
type writer struct {
	l    *Ledger
	conn *sql.Conn
	sql  *statements // on conn
	seen record      // the last head that was committed or read: seq and hash
	memory
	dead error // after a failure that leaves unknown what is on the disk
	// doubt: a commit failed, and what it wrote may be there without being durable
	doubt bool
}

func (l *Ledger) start(ctx context.Context) error {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return storage(err)
	}
	w := &writer{l: l, conn: conn, sql: &statements{on: conn}}
	if err := w.inspect(ctx); err != nil {
		conn.Close()
		return err
	}
	go w.loop()
	return nil
}

// newBatch returns a transaction of a connection of its own.
func newBatch(l *Ledger, conn *sql.Conn) *batch {
	return &batch{l: l, conn: conn, sql: &statements{on: conn, once: true}, states: map[string]*state{}}
}

// batch returns the writer's next transaction.
func (w *writer) batch() *batch {
	return &batch{l: w.l, conn: w.conn, sql: w.sql, states: map[string]*state{}, open: map[int64]pending{}, known: &w.memory}
}

// inspect checks the head and the anchor without writing.
func (w *writer) inspect(ctx context.Context) error {
	// The anchor before the head: it may only be behind.
	at, err := w.l.anchor.read()
	if err != nil {
		return err
	}
	b := w.batch()
	if err := b.begin(ctx, false, record{}, at); err != nil {
		return err
	}
	w.seen = b.head
	return b.rollback(ctx)
}

// do runs f in the writer's next transaction and returns when that is durable.
// If ctx ends first, f may run all the same. next are statements that it will run, to be asked with the
// beginning of the transaction.
func (l *Ledger) do(ctx context.Context, anchored bool, f func(context.Context, *batch) error, next ...pgsql.Statement) error {
	if err := ctx.Err(); err != nil { // a select would take the queue as readily
		return err
	}
	j := &job{f, anchored, next, make(chan error, 1)}
	select {
	case <-l.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case l.queue <- j:
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		select {
		case err := <-j.done:
			return err
		default:
			return ErrClosed
		}
	}
}

func (w *writer) loop() {
	defer close(w.l.done)
	defer func() { w.conn.Close() }()
	defer func() { w.sql.close() }() //nolint:errcheck // nothing is under way, and nobody is left to tell
	for {
		select {
		case <-w.l.quit:
			return
		case j := <-w.l.queue:
			jobs := []*job{j}
			runtime.Gosched() // let those that the last batch has just woken queue up
			for more := true; more && len(jobs) < maxBatch; {
				select {
				case j := <-w.l.queue:
					jobs = append(jobs, j)
				default:
					more = false
				}
			}
			for i, err := range w.run(context.Background(), jobs) {
				jobs[i].done <- err
			}
		}
	}
}

// run runs jobs in one transaction and returns the outcome of each.
func (w *writer) run(ctx context.Context, jobs []*job) []error {
	outcomes := make([]error, len(jobs))
	fail := func(err error) []error {
		for i := range outcomes {
			if outcomes[i] == nil {
				outcomes[i] = err
			}
		}
		return outcomes
	}
	if w.dead != nil {
		return fail(w.dead)
	}
	ctx, done := w.l.store.bound(ctx)
	defer done()
	at, err := w.l.anchor.read()
	if err != nil {
		return fail(err)
	}
	// What the first job asks is told before anything is written; the others read for themselves.
	b, err := w.begin(ctx, at, jobs[0].next)
	if err != nil {
		return fail(err)
	}
	anchored, confirm := false, false
	for i, j := range jobs {
		b.shown = 0
		outcomes[i] = j.run(ctx, b)
		j.anchored = j.anchored || w.l.anchor != nil && b.shown > at.seq
		confirm = confirm || !w.l.durable(b.shown)
		anchored = anchored || j.anchored && outcomes[i] == nil
		if b.failed != nil {
			clear(outcomes)
			b.rollback(ctx) //nolint:errcheck // the failure before it is the news
			return fail(b.failed)
		}
	}
	if !b.wrote && !confirm {
		if err := b.rollback(ctx); err != nil {
			return fail(err)
		}
	} else if usable, err := w.l.store.commit(ctx, w.sql, b.head); err != nil {
		if !usable {
			w.dead = err
		}
		w.doubt = true
		b.rollback(ctx) //nolint:errcheck // the failure before it is the news
		clear(outcomes)
		return fail(err)
	}
	w.seen = b.head
	w.remember(b)
	if b.wrote || confirm {
		w.l.confirmed.Store(b.head.seq)
	}
	if anchored && w.l.anchor != nil {
		if err := w.anchor(ctx); err != nil {
			for i, j := range jobs {
				if j.anchored {
					outcomes[i] = err
				}
			}
		}
	}
	return outcomes
}

// begin starts a transaction that writes. It takes a new connection where the one that it had is
// lost, and first confirms what an earlier commit may have left: until a commit is confirmed
// again, nobody is charged.
func (w *writer) begin(ctx context.Context, at record, next []pgsql.Statement) (*batch, error) {
	for again := true; ; again = false {
		if err := w.renew(ctx); err != nil {
			return nil, err
		}
		b := w.batch()
		b.next = next
		err := b.begin(ctx, true, w.seen, at)
		if err != nil && again && !w.l.store.alive(w.conn) { // it was lost while nobody used it
			continue
		} else if err != nil {
			return nil, err
		}
		w.seen = b.head
		if !w.doubt {
			return b, nil
		}
		if _, err := w.l.store.commit(ctx, w.sql, b.head); err != nil {
			b.rollback(ctx) //nolint:errcheck // the failure before it is the news
			return nil, fmt.Errorf("%w; nothing was charged", err)
		}
		w.doubt = false
		w.l.confirmed.Store(b.head.seq)
	}
}

// renew takes a new connection where the one that there is cannot be used further.
func (w *writer) renew(ctx context.Context) error {
	if w.l.store.alive(w.conn) {
		return nil
	}
	w.sql.close() //nolint:errcheck // it is lost
	w.conn.Close()
	conn, err := w.l.db.Conn(ctx)
	if err != nil {
		return storage(err)
	}
	w.conn, w.sql = conn, &statements{on: conn}
	return nil
}

// durable reports whether a record that was read is known to be on stable storage.
func (l *Ledger) durable(seq int64) bool { return !l.store.confirms() || seq <= l.confirmed.Load() }

// anchor writes the head to the anchor. It holds the ledger's write lock, so that
// of several processes none writes an older head over a newer one; what it reads
// under the lock is on stable storage, because SQLite shows a commit to others
// only after the sync.
func (w *writer) anchor(ctx context.Context) error {
	if w.l.store.confirms() { // others may have appended what is not confirmed yet
		return w.l.anchor.write(w.seen)
	}
	b := w.batch()
	at, err := w.l.anchor.read()
	if err != nil {
		return err
	}
	if err := b.begin(ctx, true, w.seen, at); err != nil {
		return err
	}
	w.seen = b.head
	w.remember(b)
	err = w.l.anchor.write(b.head)
	if rollback := b.rollback(ctx); err == nil {
		err = rollback
	}
	return err
}

// begin starts a transaction and checks that the ledger has not gone back: not
// behind what this process has seen, nor behind its anchor.
func (b *batch) begin(ctx context.Context, writing bool, seen, anchored record) error {
	if err := b.l.store.moved(); err != nil {
		return err
	}
	kept, err := b.l.store.begin(ctx, b.sql, writing, b.next)
	if err != nil {
		return err
	}
	err = b.checkHead(ctx, seen, anchored)
	if err == nil && kept.seq != 0 && (kept.seq != b.head.seq || kept.hash != b.head.hash) {
		err = fmt.Errorf("%w: it ends at record %d, and says record %d", ErrTampered, b.head.seq, kept.seq)
	}
	if err != nil {
		b.rollback(ctx) //nolint:errcheck // the failure before it is the news
	}
	return err
}

func (b *batch) checkHead(ctx context.Context, seen, anchored record) (err error) {
	if b.known != nil {
		if b.version, err = b.l.store.version(ctx, b.sql); err != nil {
			return err
		}
	}
	if b.known.at(b.version) {
		b.head = seen
	} else {
		b.known.forget()
		head, err := b.l.chain.scan(b.sql.QueryRowContext(ctx, lastRecord))
		if err != nil {
			return fmt.Errorf("read head: %w", err)
		}
		b.head = record{seq: head.seq, hash: head.hash}
		if head.kind == kindMoved && !b.l.leaving {
			e, err := head.entry()
			if err != nil {
				return err
			}
			return fmt.Errorf("%w to %s", ErrMoved, e.Note)
		}
	}
	for _, past := range []record{seen, anchored} {
		if past.seq == 0 || past.seq == b.head.seq && past.hash == b.head.hash {
			continue
		}
		var hash []byte
		err := b.sql.QueryRowContext(ctx, "SELECT hash FROM records WHERE seq = ?", past.seq).Scan(&hash)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("%w: it ends at record %d, but had %d; put the newest copy back, or give up its domains", ErrRolledBack, b.head.seq, past.seq)
		case err != nil:
			return storage(err)
		case string(hash) != string(past.hash[:]):
			return fmt.Errorf("%w: record %d is not the one that was there", ErrTampered, past.seq)
		}
	}
	return nil
}

func (b *batch) rollback(ctx context.Context) error {
	if b.wrote { // the standing has what is not there
		b.known.forget()
		b.l.standing = nil
		b.l.warmed.Store(false)
	}
	_, err := b.sql.ExecContext(ctx, "ROLLBACK")
	return storage(err)
}

// domain returns a domain and its state within the batch.
func (b *batch) domain(ctx context.Context, id string) (domain, *state, error) {
	d, err := b.l.domain(ctx, b.sql, id)
	if err != nil {
		return domain{}, nil, b.note(err)
	}
	if s, ok := b.states[id]; ok {
		return d, s, nil
	}
	if s := b.known.state(id); s != nil {
		b.states[id] = s
		return d, s, nil
	}
	s, err := b.l.chain.lastState(ctx, b.sql, id)
	if err != nil {
		return domain{}, nil, b.note(err)
	}
	if b.states != nil {
		b.states[id] = s
	}
	return d, s, nil
}

// append writes one record after the head.
func (b *batch) append(ctx context.Context, r *record, e entry) (err error) {
	e.Time, e.User = e.Time.UTC(), b.l.user
	if r.body, err = json.Marshal(e); err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	r.seq = b.head.seq + 1
	r.hash = b.l.chain.sum(r, b.head.hash)
	if err := b.insert(ctx, r); err != nil {
		return err
	}
	if s := b.l.standing; s != nil && s.seq == r.seq-1 {
		return b.note(s.add(r, &e))
	}
	return nil
}

// insert writes a record as it is, which is the head from then on.
func (b *batch) insert(ctx context.Context, r *record) error {
	ref := sql.NullInt64{Int64: r.ref, Valid: r.ref != 0}
	err := b.l.store.append(ctx, b.sql, "INSERT INTO records (seq, kind, domain, key, ref, body, answer, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		r.seq, r.kind, r.domain, r.key, ref, r.body, r.answer, r.hash[:])
	if err != nil {
		return b.note(err)
	}
	b.head, b.wrote = record{seq: r.seq, hash: r.hash}, true
	return nil
}

// note keeps an error after which the batch must not commit.
func (b *batch) note(err error) error {
	for _, fatal := range []error{ErrStorage, ErrTampered, ErrBusy, context.DeadlineExceeded} {
		if errors.Is(err, fatal) {
			b.failed = err
		}
	}
	return err
}
