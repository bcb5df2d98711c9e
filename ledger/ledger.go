// Package ledger keeps the budgets of unit domains durably: what was charged
// before an answer was computed stays charged, whatever crashes.
//
// It guarantees, for one file used by any number of goroutines and processes of
// one machine: Reserve returns after the charge is on stable storage, and never
// lets a domain's total exceed its budget; a charge is never given back; records
// are a hash chain that shows edits, and an anchor kept elsewhere shows that an
// older copy was put in place. It does not guarantee anything against somebody
// who can write both the ledger and its anchor, nor on a network file system, nor
// where the disk says that it has written what it has not.
//
// Cost: a batch of reservations is one SQLite transaction with one fsync of the
// write-ahead log; a batch with commits, which let answers out, also has one of
// the anchor.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/privacy"
)

// A DomainBudget is one unit domain as its owner declares it. It is entered once
// and for good: a domain whose budget shall differ is a domain of another name.
type DomainBudget struct {
	ID             string             `json:"id"`
	Neighbours     privacy.Neighbours `json:"neighbours"`
	Measure        filter.Measure     `json:"measure"`
	Epsilon        privacy.Epsilon    `json:"epsilon"`
	Delta          privacy.Delta      `json:"delta"`
	SelectionDelta privacy.Delta      `json:"selection_delta"` // of delta, for events with a delta of their own; not with pure and approx
	// Guards are the sources that a catalog declares in the domain. Unlike the budget
	// they may change, by Confirm. nil of a domain that no catalog declares.
	Guards []Guarded `json:"guards,omitempty"`
}

func (d DomainBudget) filter() (filter.Filter, error) {
	if d.ID == "" || !utf8.ValidString(d.ID) {
		return nil, errors.New("a domain needs an id, in UTF-8")
	}
	if d.Neighbours > privacy.ReplaceOne {
		return nil, fmt.Errorf("domain %q: unknown neighbouring relation", d.ID)
	}
	f, err := filter.New(filter.Budget{Measure: d.Measure, Epsilon: d.Epsilon, Delta: d.Delta,
		SelectionDelta: d.SelectionDelta, Neighbours: d.Neighbours})
	if err != nil {
		return nil, fmt.Errorf("domain %q: %w", d.ID, err)
	}
	return f, nil
}

func (d DomainBudget) equal(e DomainBudget) bool {
	return d.ID == e.ID && d.Neighbours == e.Neighbours && d.Measure == e.Measure &&
		d.Epsilon.Equal(e.Epsilon) && d.Delta.Equal(e.Delta) && d.SelectionDelta.Equal(e.SelectionDelta)
}

func (d DomainBudget) String() string {
	s := fmt.Sprintf("%v %s epsilon %v", d.Neighbours, d.Measure, d.Epsilon)
	if d.Delta.Sign() > 0 {
		s += fmt.Sprintf(" delta %v", d.Delta)
	}
	if d.SelectionDelta.Sign() > 0 {
		s += fmt.Sprintf(" selection_delta %v", d.SelectionDelta)
	}
	return s
}

// Options of Create, Open and Anchor.
type Options struct {
	// Domains are those of the catalog. Create enters them; Open refuses a ledger
	// that lacks one or holds another budget for it. Open with none checks none.
	Domains []DomainBudget
	// Anchor is the path of a file outside the reach of whoever backs up and
	// restores the ledger, on another disk say. A ledger created with an anchor is
	// never opened without. Empty: none, and an older copy is not noticed.
	Anchor string
	// Key is the chain's; nil for a chain that anybody can compute. A ledger created
	// with a key is never opened without, nor with another.
	Key *Key
	// User is the operating system's, who stands in every record; nil if not known.
	User *User
	// Now is the time of what Create and Anchor record.
	Now time.Time
	// Replicated refuses to charge a ledger in a database whose server asks for no synchronous
	// replica, and accepts a replica that took over: it has every charge that was answered.
	// Without it the owner's word is needed after each such change (see Anchor).
	Replicated bool
}

// A Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	store   store
	path    string      // absolute, of a file
	db      *sql.DB     // for reading
	reads   *statements // on db
	anchor  *anchor     // nil if none
	genesis digest      // the hash of the first record: the ledger's identity
	format  int         // as the first record says
	chain   chain
	user    *User
	leaving bool // it is being moved: that it is closed hinders nobody

	domains  map[string]domain // those there were at Open
	balances sync.Map          // *balanced, by domain
	analysts analysts
	decoded  atomic.Int64 // records, for histories

	confirmed atomic.Int64 // the last record that this process knows to be on stable storage

	standing *standing // the writer's; nil until it is needed
	warmed   atomic.Bool
	warming  sync.Mutex

	queue  chan *job
	quit   chan struct{}
	closed sync.Once
	done   chan struct{} // closed when the writer has ended
}

type domain struct {
	DomainBudget
	filter filter.Filter
}

// Create makes a new ledger with its domains and opens it. It refuses with
// ErrExists if there is a file at path, or an anchor: a ledger was there, and a
// new one would forget what it had spent.
func Create(ctx context.Context, path string, o Options) (_ *Ledger, err error) {
	defer wrap(&err, "create ledger %s", Named(path))
	if o.Now.IsZero() {
		return nil, errors.New("no time given")
	}
	if o.Anchor != "" {
		if _, err := os.Lstat(o.Anchor); err == nil {
			return nil, fmt.Errorf("anchor %s: %w: it belongs to a ledger whose spending must not be forgotten", o.Anchor, ErrExists)
		}
	}
	l, err := connect(path, o)
	if err != nil {
		return nil, err
	}
	if err := l.store.claim(); err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	if err := errors.Join(l.initialize(ctx, o), storage(l.db.Close())); err != nil {
		l.store.abandon()
		return nil, err
	}
	return Open(ctx, path, o)
}

// initialize writes the first records.
func (l *Ledger) initialize(ctx context.Context, o Options) error {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return storage(err)
	}
	defer conn.Close()
	b := newBatch(l, conn)
	if err := l.store.create(ctx, b.sql); err != nil {
		return err
	}
	if err := b.append(ctx, &record{kind: kindCreate}, entry{Time: o.Now, Format: format, KeyID: l.chain.keyID()}); err != nil {
		return err
	}
	l.genesis = b.head.hash
	for _, d := range o.Domains {
		if err := b.addDomain(ctx, d, o.Now); err != nil {
			return err
		}
	}
	if o.Anchor != "" {
		if err := b.append(ctx, &record{kind: kindAnchor}, entry{Time: o.Now}); err != nil {
			return err
		}
	}
	if _, err := l.store.commit(ctx, b.sql, b.head); err != nil {
		return err
	}
	if err := l.store.settle(); err != nil {
		return err
	}
	if o.Anchor != "" {
		return l.anchorAt(o.Anchor).create(b.head)
	}
	return nil
}

// Open opens the ledger at path. It never creates one: a missing file is
// ErrMissing. It checks the head of the hash chain, every domain, and the anchor;
// Verify checks all the rest.
func Open(ctx context.Context, path string, o Options) (*Ledger, error) {
	return opened(ctx, path, o, false)
}

func opened(ctx context.Context, path string, o Options, leaving bool) (_ *Ledger, err error) {
	defer wrap(&err, "open ledger %s", Named(path))
	l, err := open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	l.leaving = leaving
	defer func() {
		if err != nil {
			l.disconnect() //nolint:errcheck // the failure before it is the news
		}
	}()
	var anchored bool
	if err := l.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM records WHERE kind = 'anchor')").Scan(&anchored); err != nil {
		return nil, storage(err)
	}
	switch {
	case anchored && o.Anchor == "":
		return nil, fmt.Errorf("anchor: %w: this ledger has one, name its path", ErrMissing)
	case !anchored && o.Anchor != "":
		return nil, fmt.Errorf("anchor: %w: this ledger has none yet; its owner gives it one, when sure that it is the newest", ErrMissing)
	case anchored:
		l.anchor = l.anchorAt(o.Anchor)
		if _, err := l.anchor.read(); err != nil {
			return nil, err
		}
	}
	if err := l.Check(ctx, o.Domains); err != nil {
		return nil, err
	}
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Anchor gives a ledger a new anchor: its first, or one in place of an anchor
// that was lost. The owner vouches that the ledger is the newest. It verifies the
// ledger whole, records the act, and refuses an anchor that exists. Of a ledger in a database,
// each server has an anchor of its own; one that exists is kept, and the owner vouches that a
// database that was restored, or whose replica took over, has every record that there was.
func Anchor(ctx context.Context, path string, o Options) (err error) {
	defer wrap(&err, "anchor ledger %s", Named(path))
	if o.Anchor == "" || o.Now.IsZero() {
		return errors.New("needs a path for the anchor and the time")
	}
	_, err = os.Lstat(o.Anchor)
	there := err == nil
	if there && !IsURL(path) {
		return fmt.Errorf("anchor %s: %w", o.Anchor, ErrExists)
	}
	l, err := open(ctx, path, o)
	if err != nil {
		return err
	}
	if d, ok := l.store.(*database); ok {
		d.vouched = true
	}
	if there { // of a server that goes on after the database has moved
		l.anchor = l.anchorAt(o.Anchor)
	}
	if err := l.Verify(ctx); err != nil {
		l.disconnect() //nolint:errcheck // the failure before it is the news
		return err
	}
	if err := l.start(ctx); err != nil {
		l.disconnect() //nolint:errcheck // the failure before it is the news
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var head record
	err = l.do(ctx, there, func(ctx context.Context, b *batch) error {
		defer func() { head = b.head }()
		return b.append(ctx, &record{kind: kindAnchor}, entry{Time: o.Now})
	})
	if err != nil || there {
		return err
	}
	return l.anchorAt(o.Anchor).create(head)
}

// open connects to an existing ledger and reads its identity and domains.
func open(ctx context.Context, path string, o Options) (_ *Ledger, err error) {
	l, err := connect(path, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.disconnect() //nolint:errcheck // the failure before it is the news
		}
	}()
	if err := l.store.found(); err != nil {
		return nil, err
	}
	if err := l.store.check(ctx, l.db); err != nil {
		return nil, err
	}
	if err := l.checkKey(ctx); err != nil {
		return nil, err
	}
	first, err := l.chain.scan(l.db.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.seq = 1"))
	if err != nil {
		return nil, fmt.Errorf("%w: no first record (%v)", ErrTampered, err)
	}
	e, err := first.entry()
	if err != nil {
		return nil, err
	}
	if first.kind != kindCreate || e.Format < 1 || e.Format > format {
		return nil, fmt.Errorf("format %d is not known to this version, which writes %d", e.Format, format)
	}
	l.genesis, l.format = first.hash, e.Format
	return l, l.loadDomains(ctx)
}

// checkKey compares the key with what the first record says, before any hash is
// compared: a wrong key is no edit.
func (l *Ledger) checkKey(ctx context.Context) error {
	r := &record{seq: 1}
	err := l.db.QueryRowContext(ctx, "SELECT body FROM records WHERE seq = 1").Scan(&r.body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the scan of the first record says so
	} else if err != nil {
		return storage(err)
	}
	e, err := r.entry()
	if err != nil {
		return err
	}
	return l.chain.fits(e)
}

func (l *Ledger) anchorAt(path string) *anchor {
	return &anchor{path, l.genesis, l.chain, l.store != nil && l.store.confirms()}
}

// connect returns a ledger that was not looked at yet. The path is a file's, or the URL of a
// database.
func connect(path string, o Options) (*Ledger, error) {
	l := &Ledger{chain: chain{o.Key}, user: o.User, domains: map[string]domain{},
		queue: make(chan *job, maxBatch), quit: make(chan struct{}), done: make(chan struct{})}
	if IsURL(path) {
		d, err := newDatabase(path, o.Replicated)
		if err != nil {
			return nil, err
		}
		l.store = d
	} else {
		f, err := newFile(path, o.Anchor)
		if err != nil {
			return nil, err
		}
		l.store, l.path = f, f.path
	}
	var err error
	if l.db, err = l.store.connect(); err != nil {
		return nil, err
	}
	l.reads = &statements{on: l.db}
	return l, nil
}

// Named is what the ledger at a path, or behind a URL, is called in messages. It tells no
// password.
func Named(path string) string {
	if !IsURL(path) {
		return path
	}
	name, err := pgsql.Name(path)
	if err != nil {
		return "(no database)"
	}
	return name
}

// Close waits for what is under way and closes the ledger.
func (l *Ledger) Close() error {
	l.closed.Do(func() { close(l.quit) })
	<-l.done
	return l.disconnect()
}

func (l *Ledger) disconnect() error { return errors.Join(l.reads.close(), storage(l.db.Close())) }

// AddDomain enters a further domain. It refuses one that the ledger has.
func (l *Ledger) AddDomain(ctx context.Context, d DomainBudget, now time.Time) (err error) {
	defer wrap(&err, "add domain")
	if now.IsZero() {
		return errors.New("no time given")
	}
	return l.do(ctx, true, func(ctx context.Context, b *batch) error { return b.addDomain(ctx, d, now) })
}

func (b *batch) addDomain(ctx context.Context, d DomainBudget, now time.Time) error {
	if _, err := d.filter(); err != nil {
		return err
	}
	if _, _, err := b.domain(ctx, d.ID); err == nil {
		return fmt.Errorf("domain %q: %w", d.ID, ErrExists)
	} else if !errors.Is(err, ErrUnknownDomain) {
		return err
	}
	if err := b.onlyDomain(ctx, d); err != nil {
		return err
	}
	s := &state{Guard: d.Guard()}
	if d.Guards != nil {
		d.Guards = ordered(d.Guards)
	}
	if err := b.append(ctx, &record{kind: kindDomain, domain: d.ID}, entry{Time: now, Budget: &d, State: s}); err != nil {
		return err
	}
	b.states[d.ID] = s
	return nil
}

// Check refuses with ErrUnknownDomain, ErrBudgetDiffers or ErrGuardDiffers when the
// ledger lacks one of the catalog's domains, holds another budget for it, or guards
// other data than it declares. It names what differs.
func (l *Ledger) Check(ctx context.Context, domains []DomainBudget) error {
	for _, want := range domains {
		have, err := l.domain(ctx, l.db, want.ID)
		if err != nil {
			return err
		}
		if !have.equal(want) {
			return fmt.Errorf("domain %q: %w: the catalog says %v, the ledger %v; a budget is for good", want.ID, ErrBudgetDiffers, want, have.DomainBudget)
		}
		if want.Guards == nil {
			continue
		}
		s, err := l.chain.lastState(ctx, l.db, want.ID)
		if err != nil {
			return err
		}
		if err := l.guardError(ctx, l.db, want, s); err != nil {
			return err
		}
	}
	return nil
}

func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}
