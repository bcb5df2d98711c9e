package people

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/internal/store"
	"github.com/discreet-dp/discreet/ledger"
)

// Suffix is what the accounts' file is called beside the ledger's.
const Suffix = ".accounts"

// Iterations is how often a password is hashed, where the options do not say.
const Iterations = 16_384

// Options of Open.
type Options struct {
	// Path is of the accounts' file: the ledger's and Suffix. Of a ledger in a PostgreSQL database
	// it is the database's URL: the accounts are in it, for all servers.
	Path   string
	Ledger *ledger.Ledger // whose chain has the rules
	Now    func() time.Time
	// Iterations is how often passwords are hashed, if this makes the file; at least 4096,
	// and Iterations if 0. A file keeps its number: accounts would be told apart by it.
	Iterations int
	// Pending is how many statements of an analyst may wait for an owner; 20 if 0.
	Pending int
	// Wait waits before a sign-in is looked at; a timer if nil.
	Wait func(context.Context, time.Duration) error
}

// Accounts are those of one ledger. The file beside it holds what passwords and tokens are
// checked by; the ledger's chain says which of that counts, and all that accounts may do.
// Several processes may use them at once, and one of them from many goroutines.
type Accounts struct {
	options    Options
	db         *sql.DB
	secret     []byte // of the file: for digests, salts, and for names that there are none of
	iterations int
	throttle   *throttle
	deriving   chan struct{} // a place for each password that is hashed at once
	derive     func(password string, f scram.KeyFactors) (scram.StoredCredentials, error)

	mu   sync.Mutex // of refreshing
	roll atomic.Pointer[roll]
}

// The file's tables. A row counts if the chain has its digest; others are what a crash
// left, or what somebody put there.
const schema = `
CREATE TABLE IF NOT EXISTS file (format INTEGER NOT NULL, iterations INTEGER NOT NULL, secret BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS passwords (digest BLOB PRIMARY KEY, account TEXT NOT NULL, salt BLOB NOT NULL,
	iterations INTEGER NOT NULL, stored BLOB NOT NULL, server BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS passwords_account ON passwords (account);
CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, account TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS places (place BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT;
`

// Open opens the accounts of a ledger, and makes their file if there is none: then nobody
// can sign in until an owner gives passwords. It refuses a file that others can read.
func Open(ctx context.Context, o Options) (_ *Accounts, err error) {
	defer wrap(&err, "open accounts %s", ledger.Named(o.Path))
	if o.Path == "" || o.Ledger == nil || o.Now == nil {
		return nil, errors.New("needs a path, a ledger and a clock")
	}
	switch {
	case o.Iterations == 0:
		o.Iterations = Iterations
	case o.Iterations < 4096 || o.Iterations > 10_000_000:
		return nil, errors.New("passwords are hashed at least 4096 times, and at most 10 million times")
	}
	if o.Pending == 0 {
		o.Pending = 20
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	db, tables, err := open(o.Path)
	if err != nil {
		return nil, err
	}
	a := &Accounts{options: o, db: db, throttle: newThrottle(chance(entropy.New())), deriving: make(chan struct{}, 4), derive: derive}
	a.roll.Store(&roll{})
	if err := a.prepare(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// schemaOfDatabase is the same in a database. The lock makes one server wait while another
// makes the tables.
const schemaOfDatabase = `SELECT pg_advisory_xact_lock(1, 7236501);
CREATE SCHEMA IF NOT EXISTS discreet_accounts;
REVOKE ALL ON SCHEMA discreet_accounts FROM PUBLIC;
CREATE TABLE IF NOT EXISTS file (format integer NOT NULL, iterations integer NOT NULL, secret bytea NOT NULL);
CREATE TABLE IF NOT EXISTS passwords (digest bytea PRIMARY KEY, account text COLLATE "C" NOT NULL, salt bytea NOT NULL,
	iterations integer NOT NULL, stored bytea NOT NULL, server bytea NOT NULL);
CREATE INDEX IF NOT EXISTS passwords_account ON passwords (account);
CREATE TABLE IF NOT EXISTS tokens (id text COLLATE "C" PRIMARY KEY, account text COLLATE "C" NOT NULL, hash bytea NOT NULL);
CREATE TABLE IF NOT EXISTS places (place bytea PRIMARY KEY, at bigint NOT NULL);
`

// open opens a file, or a database, and returns the tables that it needs.
func open(path string) (*sql.DB, string, error) {
	if !ledger.IsURL(path) {
		db, err := store.Open(path)
		return db, schema, err
	}
	db, err := pgsql.Open(path, pgsql.Settings{"application_name": "discreet accounts", "search_path": "discreet_accounts", "client_encoding": "UTF8",
		"lock_timeout": "10000", "statement_timeout": "15000", "idle_in_transaction_session_timeout": "20000", "client_min_messages": "warning"})
	if err != nil {
		return nil, "", err
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(8)
	return db, schemaOfDatabase, nil
}

// prepare makes the tables if there are none, and reads what the file says of itself.
func (a *Accounts) prepare(ctx context.Context, tables string) error {
	secret := make([]byte, 32)
	if _, err := entropy.New().Read(secret); err != nil {
		return err
	}
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO file SELECT 1, ?, ? WHERE NOT EXISTS (SELECT 1 FROM file)", a.options.Iterations, secret); err != nil {
		return err
	}
	var format int
	if err := tx.QueryRowContext(ctx, "SELECT format, iterations, secret FROM file").Scan(&format, &a.iterations, &a.secret); err != nil {
		return err
	}
	if format != 1 || a.iterations < 4096 || len(a.secret) != 32 {
		return errors.New("this is not a file of accounts that this version can read")
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return a.recall(ctx)
}

// Close closes the file.
func (a *Accounts) Close() error { return a.db.Close() }

// Backup copies the accounts' file of a ledger to one that there is not, as it is at one
// moment. It opens no ledger.
func Backup(ctx context.Context, path, to string) (err error) {
	defer wrap(&err, "back up accounts to %s", to)
	return store.Copy(ctx, path, to)
}

func (a *Accounts) now() time.Time { return a.options.Now() }

// rolled returns the roll as it was read last.
func (a *Accounts) rolled() *roll { return a.roll.Load() }

// refresh reads the rules that were recorded since it did so last.
func (a *Accounts) refresh(ctx context.Context) (*roll, error) {
	before := a.rolled()
	rules, last, err := a.options.Ledger.Rules(ctx, before.last)
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		return before, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.rolled(); now != before { // another was faster
		if now.last >= last {
			return now, nil
		}
		if rules, last, err = a.options.Ledger.Rules(ctx, now.last); err != nil {
			return nil, err
		}
		before = now
	}
	next, err := before.with(rules, last)
	if err != nil {
		return nil, err
	}
	a.roll.Store(next)
	return next, nil
}

// chance draws a number below n. Where there is no randomness it is always the same, which
// makes nobody wait longer.
func chance(e *entropy.Source) func(n int) int {
	return func(n int) int {
		v, err := e.Uint64()
		if err != nil {
			return 0
		}
		return int(v % uint64(n))
	}
}

// wait waits for a time.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}
