// Package journal records the events at a server that the ledger does not record: who signed in and
// who failed to, what was explained and what was refused. It is for owners and auditors to read.
//
// It guarantees that noting an event neither waits nor fails; that what is on the disk is bounded,
// and so is how often it is written; that events which could not be kept are counted, and the count
// is recorded; that events of strangers displace no event of an account; and that each of the two
// chains of records shows edits.
//
// No decision may depend on it. It guarantees nothing about the last second before a crash, nor
// against those who can write the file. The chains have no key, because whoever runs the server
// would have it, and no anchor, because strangers could cause it to be written. Records that must
// not be rewritten are in the ledger. A record's hash that is kept elsewhere is a witness.
package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/store"
)

// Suffix is what the journal's file is called beside the ledger's.
const Suffix = ".journal"

// An Event is something that happened. What was charged is not one: the ledger has that.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`              // "sign-in", "sign-in failed", "explained", "refused", ...
	Account string    `json:"account,omitempty"` // whose, or the name that was tried
	Door    string    `json:"door,omitempty"`
	Address string    `json:"address,omitempty"`
	Detail  string    `json:"detail,omitempty"` // a statement, a refusal's code
	Count   int64     `json:"count,omitempty"`  // of "dropped": how many events were not kept

	// Stranger says that nobody had signed in.
	Stranger bool `json:"stranger,omitempty"`
}

// The two chains.
const (
	accounts = iota
	strangers
	chains
)

// Options of Open. Sizes are of accounts; strangers have a quarter of them.
type Options struct {
	Path  string // the ledger's and Suffix
	Now   func() time.Time
	Every time.Duration // between two writes; a second if 0
	Queue int           // events that wait to be written; 4,096 if 0
	Bytes int64         // of texts that are kept; 64 MiB if 0
	Text  int           // bytes of an event's longest text; 2,048 if 0
}

// A Journal is open for noting. It is safe for concurrent use.
type Journal struct {
	options Options
	db      *sql.DB

	mu      sync.Mutex
	waiting [chains][]Event
	dropped [chains]int64

	quit, done chan struct{}
	closing    sync.Once
}

const schema = `
CREATE TABLE IF NOT EXISTS records (chain INTEGER NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (chain, seq)) STRICT;
CREATE TABLE IF NOT EXISTS forgotten (chain INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
`

// Open opens the journal, and makes its file if there is none.
func Open(ctx context.Context, o Options) (_ *Journal, err error) {
	defer wrap(&err, "open journal %s", o.Path)
	if o.Path == "" || o.Now == nil {
		return nil, errors.New("needs a path and a clock")
	}
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Queue == 0 {
		o.Queue = 4096
	}
	if o.Bytes == 0 {
		o.Bytes = 64 << 20
	}
	if o.Text == 0 {
		o.Text = 2048
	}
	db, err := store.Open(o.Path)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	j := &Journal{options: o, db: db, quit: make(chan struct{}), done: make(chan struct{})}
	go j.loop()
	return j, nil
}

// Note notes an event, at the time of now if it says none. It does not wait; what finds no
// room is counted.
func (j *Journal) Note(e Event) {
	if e.Time.IsZero() {
		e.Time = j.options.Now()
	}
	e.Time = e.Time.UTC()
	for _, text := range []*string{&e.Kind, &e.Account, &e.Door, &e.Address, &e.Detail} {
		*text = cut(*text, j.options.Text)
	}
	chain := chainOf(e.Stranger)
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting[chain]) >= share(j.options.Queue, chain) {
		j.dropped[chain]++
		return
	}
	j.waiting[chain] = append(j.waiting[chain], e)
}

func chainOf(stranger bool) int {
	if stranger {
		return strangers
	}
	return accounts
}

func share[N int | int64](n N, chain int) N {
	if chain == strangers {
		n /= 4
	}
	return max(n, 1)
}

// cut shortens a text to whole characters.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Close writes what waits, and closes the file.
func (j *Journal) Close() error {
	j.closing.Do(func() { close(j.quit) })
	<-j.done
	return j.db.Close()
}

func (j *Journal) loop() {
	defer close(j.done)
	t := time.NewTicker(j.options.Every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			j.flush(context.Background())
		case <-j.quit:
			j.flush(context.Background())
			return
		}
	}
}

// flush writes what waits in one transaction. What cannot be written is counted.
func (j *Journal) flush(ctx context.Context) {
	j.mu.Lock()
	waiting, dropped := j.waiting, j.dropped
	j.waiting, j.dropped = [chains][]Event{}, [chains]int64{}
	j.mu.Unlock()
	if err := j.write(ctx, waiting, dropped); err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		for chain := range chains {
			j.dropped[chain] += dropped[chain] + int64(len(waiting[chain]))
		}
	}
}

func (j *Journal) write(ctx context.Context, waiting [chains][]Event, dropped [chains]int64) error {
	for chain, n := range dropped {
		if n > 0 {
			waiting[chain] = append(waiting[chain], Event{Time: j.options.Now().UTC(), Kind: "dropped", Count: n, Stranger: chain == strangers})
		}
	}
	if len(waiting[accounts])+len(waiting[strangers]) == 0 {
		return nil
	}
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for chain, events := range waiting {
		if err := j.append(ctx, tx, chain, events); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (j *Journal) append(ctx context.Context, tx *sql.Tx, chain int, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	seq, hash, err := head(ctx, tx, chain)
	if err != nil {
		return err
	}
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		seq++
		hash = sum(chain, seq, body, hash)
		if _, err := tx.ExecContext(ctx, "INSERT INTO records (chain, seq, body, hash) VALUES (?, ?, ?, ?)", chain, seq, body, hash); err != nil {
			return err
		}
	}
	// What is over the bound is forgotten, from the oldest, with a tenth of room.
	bound := share(j.options.Bytes, chain)
	var bytes int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(length(body)), 0) FROM records WHERE chain = ?", chain).Scan(&bytes); err != nil || bytes <= bound {
		return err
	}
	var last int64
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM (SELECT seq, sum(length(body)) OVER (ORDER BY seq DESC) AS kept FROM records WHERE chain = ?) WHERE kept > ?`,
		chain, bound-bound/10).Scan(&last)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO forgotten SELECT chain, seq, hash FROM records WHERE chain = ? AND seq = ?", chain, last); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM records WHERE chain = ? AND seq <= ?", chain, last)
	return err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// head returns the last record of a chain.
func head(ctx context.Context, q querier, chain int) (seq int64, hash []byte, err error) {
	err = q.QueryRowContext(ctx, "SELECT seq, hash FROM records WHERE chain = ? ORDER BY seq DESC LIMIT 1", chain).Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return forgotten(ctx, q, chain)
	}
	return seq, hash, err
}

// forgotten returns the last record of a chain that was forgotten.
func forgotten(ctx context.Context, q querier, chain int) (seq int64, hash []byte, err error) {
	err = q.QueryRowContext(ctx, "SELECT seq, hash FROM forgotten WHERE chain = ?", chain).Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, make([]byte, sha256.Size), nil
	}
	return seq, hash, err
}

// sum is the hash of a record after one with another.
func sum(chain int, seq int64, body, before []byte) []byte {
	h := sha256.New()
	h.Write([]byte("discreet journal record\n"))
	for _, n := range []int64{int64(chain), seq, int64(len(body))} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	h.Write(before)
	h.Write(body)
	return h.Sum(nil)
}

// Backup copies a journal to a file that there is not, as it is at one moment.
func Backup(ctx context.Context, path, to string) (err error) {
	defer wrap(&err, "back up journal to %s", to)
	return store.Copy(ctx, path, to)
}

// A Record is an event as it was kept.
type Record struct {
	Record int64 `json:"record"` // its number in its chain
	Event
	Hash []byte `json:"hash"`
}

// ErrTampered: the records do not agree with each other.
var ErrTampered = errors.New("the journal was edited or damaged")

// Read calls f with every record, those of accounts first, each chain from its oldest, and
// refuses with ErrTampered a chain that does not hold.
func Read(ctx context.Context, path string, f func(Record) error) (err error) {
	defer wrap(&err, "read journal %s", path)
	db, err := store.Existing(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for chain := range chains {
		if err := read(ctx, tx, chain, f); err != nil {
			return err
		}
	}
	return nil
}

func read(ctx context.Context, tx *sql.Tx, chain int, f func(Record) error) error {
	seq, hash, err := forgotten(ctx, tx, chain)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT seq, body, hash FROM records WHERE chain = ? ORDER BY seq", chain)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r Record
		var body []byte
		if err := rows.Scan(&r.Record, &body, &r.Hash); err != nil {
			return err
		}
		if r.Record != seq+1 || string(r.Hash) != string(sum(chain, r.Record, body, hash)) {
			return fmt.Errorf("%w: record %d", ErrTampered, r.Record)
		}
		if err := json.Unmarshal(body, &r.Event); err != nil {
			return fmt.Errorf("%w: record %d: %v", ErrTampered, r.Record, err)
		}
		if chainOf(r.Stranger) != chain {
			return fmt.Errorf("%w: record %d is in the other file's chain", ErrTampered, r.Record)
		}
		seq, hash = r.Record, r.Hash
		if err := f(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}
