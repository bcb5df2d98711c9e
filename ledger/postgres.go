package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// A database is a ledger in a PostgreSQL database, which several servers charge.
//
// What it rests on, and what fails if it does not hold:
//
//   - One row, discreet.head, is locked by whoever appends, from before the last record is read
//     until the transaction has ended (SELECT FOR UPDATE at READ COMMITTED: every later
//     statement sees what the holder before has committed). PostgreSQL gives a row lock back
//     only after the commit is on stable storage, here and on the replicas that it waits for.
//     So charges are decided one after the other, and no transaction is ever repeated.
//   - A commit counts only if it was reported without a warning by the session that set
//     synchronous_commit in that transaction. A wait for a replica that is cancelled leaves
//     a commit of this server alone, which others see: such a record is spent, and nothing that
//     rests on it leaves before a later commit was confirmed (the log is one sequence: a
//     confirmed commit confirms all before it).
//   - The database is the one that it was. A restored copy or a replica that took over may lack
//     what was spent: each server's anchor knows the last head that it was told was durable,
//     and the head's row knows the database's identity and its timeline, which every recovery
//     to a point in time and every promotion counts up.
type database struct {
	name       string // without secrets
	url        string
	replicated bool // charges only where a synchronous replica is asked for
	vouched    bool // the owner says that this is the newest: another place is accepted
}

// IsURL reports whether the path of a ledger is the URL of a database.
func IsURL(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://")
}

// How long the database may take. A session that stands still within a transaction, since its
// server was stopped or is gone, loses the lock.
const (
	lockWait      = "10000"
	statementWait = "15000"
	sessionStands = "20000"
	batchTakes    = 60 * time.Second
)

func newDatabase(url string, replicated bool) (*database, error) {
	name, err := pgsql.Name(url)
	return &database{name: name, url: url, replicated: replicated}, err
}

func (d *database) String() string { return d.name }

// settings are those of a session, by the name under which the server knows it.
func settings(name string) pgsql.Settings {
	return pgsql.Settings{
		"application_name": name, "search_path": "discreet", "client_encoding": "UTF8", "timezone": "UTC",
		"default_transaction_isolation": "read committed", "default_transaction_read_only": "off",
		"lock_timeout": lockWait, "statement_timeout": statementWait, "idle_in_transaction_session_timeout": sessionStands,
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
	}
}

func (d *database) connect() (*sql.DB, error) {
	db, err := pgsql.Open(d.url, settings("discreet ledger"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(16)
	return db, nil
}

// Nothing is taken, or given back, before the transaction that makes the tables.
func (d *database) claim() error  { return nil }
func (d *database) abandon()      {}
func (d *database) settle() error { return nil }
func (d *database) found() error  { return nil }
func (d *database) moved() error  { return nil } // begin sees it

// tables are those of a ledger. Texts are compared by their bytes, whatever the database's
// collation is: its order may change with the system's libraries, and an index with it.
const tables = `CREATE SCHEMA discreet;
CREATE TABLE discreet.records (
	seq    bigint PRIMARY KEY,
	kind   text COLLATE "C" NOT NULL,
	domain text COLLATE "C" NOT NULL,
	key    bytea,
	ref    bigint,
	body   bytea NOT NULL,
	answer bytea,
	hash   bytea NOT NULL
);
CREATE INDEX records_domain ON discreet.records (domain, seq);
CREATE INDEX records_key ON discreet.records (key, seq) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX records_commit ON discreet.records (ref) WHERE kind = 'commit';
CREATE TABLE discreet.head (
	one   boolean PRIMARY KEY CHECK (one),
	seq   bigint NOT NULL,
	hash  bytea NOT NULL,
	place text COLLATE "C" NOT NULL
) WITH (fillfactor = 10);
REVOKE ALL ON SCHEMA discreet FROM PUBLIC;
`

// described says what the schema consists of, a line each: all that could change or hide what
// is written.
const described = `SELECT line FROM (
	SELECT 1 AS part, c.relname || ' ' || c.relkind::text || c.relpersistence::text ||
		CASE WHEN c.relrowsecurity OR c.relforcerowsecurity OR c.relispartition OR c.relhassubclass THEN '!' ELSE '' END AS line
		FROM pg_catalog.pg_class c WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind NOT IN ('i', 't')
	UNION ALL SELECT 2, c.relname || '.' || lpad(a.attnum::text, 2, '0') || ' ' || a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod) ||
		CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || CASE WHEN a.atthasdef OR a.attisdropped OR a.attinhcount > 0 THEN '!' ELSE '' END
		FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
	UNION ALL SELECT 3, replace(pg_catalog.pg_get_indexdef(i.indexrelid), 'discreet.', '') || CASE WHEN i.indisvalid AND i.indisready AND i.indislive THEN '' ELSE '!' END
		FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind = 'r'
	UNION ALL SELECT 4, n.conname || ' ' || pg_catalog.pg_get_constraintdef(n.oid) FROM pg_catalog.pg_constraint n
		WHERE n.connamespace = 'discreet'::regnamespace AND n.contype <> 'n'
	UNION ALL SELECT 5, 'trigger ' || t.tgname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'discreet'::regnamespace
	UNION ALL SELECT 5, 'rule ' || w.rulename FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_class c ON c.oid = w.ev_class WHERE c.relnamespace = 'discreet'::regnamespace
	UNION ALL SELECT 5, 'policy ' || p.polname FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'discreet'::regnamespace
	UNION ALL SELECT 5, 'function ' || f.proname FROM pg_catalog.pg_proc f WHERE f.pronamespace = 'discreet'::regnamespace
	UNION ALL SELECT 5, 'operator ' || o.oprname FROM pg_catalog.pg_operator o WHERE o.oprnamespace = 'discreet'::regnamespace
) AS parts ORDER BY part, line COLLATE "C"`

// description is what described says of tables as they were made.
const description = `head rp
records rp
head.01 one boolean not null
head.02 seq bigint not null
head.03 hash bytea not null
head.04 place text not null
records.01 seq bigint not null
records.02 kind text not null
records.03 domain text not null
records.04 key bytea
records.05 ref bigint
records.06 body bytea not null
records.07 answer bytea
records.08 hash bytea not null
CREATE INDEX records_domain ON records USING btree (domain, seq)
CREATE INDEX records_key ON records USING btree (key, seq) WHERE (key IS NOT NULL)
CREATE UNIQUE INDEX head_pkey ON head USING btree (one)
CREATE UNIQUE INDEX records_commit ON records USING btree (ref) WHERE (kind = 'commit'::text)
CREATE UNIQUE INDEX records_pkey ON records USING btree (seq)
head_one_check CHECK (one)
head_pkey PRIMARY KEY (one)
records_pkey PRIMARY KEY (seq)
`

// place identifies the database server and its timeline.
const place = `(SELECT system_identifier::text FROM pg_catalog.pg_control_system()) || '/' ||
	substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8)`

func (d *database) create(ctx context.Context, c *statements) error {
	if err := d.empty(ctx, c); err != nil {
		return err
	}
	for _, s := range []string{"BEGIN", tables, "INSERT INTO discreet.head (one, seq, hash, place) SELECT true, 0, '', " + place} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return storage(err)
		}
	}
	return nil
}

func (d *database) vacant(ctx context.Context, db *sql.DB) error { return d.empty(ctx, db) }

// empty refuses a database where a ledger is, or whose server does not fit.
func (d *database) empty(ctx context.Context, q querier) error {
	if err := d.fit(ctx, q); err != nil {
		return err
	}
	there, err := d.there(ctx, q)
	if err == nil && there {
		err = ErrExists
	}
	return err
}

func (d *database) there(ctx context.Context, q querier) (there bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'discreet')").Scan(&there)
	return there, storage(err)
}

// fit refuses a server that does not keep what it has committed, or of which this is a replica.
func (d *database) fit(ctx context.Context, q querier) error {
	var version, fsync, pages string
	var replica bool
	err := q.QueryRowContext(ctx, `SELECT current_setting('server_version_num'), current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery()`).
		Scan(&version, &fsync, &pages, &replica)
	switch {
	case err != nil:
		return storage(err)
	case len(version) < 6 || version < "140000":
		return fmt.Errorf("%w: PostgreSQL 14 or later is needed", ErrStorage)
	case replica:
		return fmt.Errorf("%w: the database is a replica, which others write", ErrStorage)
	case fsync != "on" || pages != "on":
		return fmt.Errorf("%w: the database's server does not sync what it commits (fsync = %s, full_page_writes = %s)", ErrStorage, fsync, pages)
	}
	return nil
}

func (d *database) check(ctx context.Context, db *sql.DB) error {
	if err := d.fit(ctx, db); err != nil {
		return err
	}
	if there, err := d.there(ctx, db); err != nil {
		return err
	} else if !there {
		return fmt.Errorf("%w: only its owner creates a ledger", ErrMissing)
	}
	rows, err := db.QueryContext(ctx, described)
	if err != nil {
		return storage(err)
	}
	defer rows.Close()
	var have strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return storage(err)
		}
		have.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		return storage(err)
	}
	if have.String() != description {
		return fmt.Errorf("%w: the schema discreet does not have the tables of a ledger, and nothing else", ErrTampered)
	}
	return nil
}

// whole has nothing to look at: Verify reads every record.
func (d *database) whole(context.Context, *sql.Conn) error { return nil }

// The texts with which a transaction that writes begins.
const (
	beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	lockHead     = "SELECT seq FROM head WHERE one FOR UPDATE"
	readHead     = `SELECT seq, hash, place, ` + place + `,
		set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true),
		current_setting('synchronous_standby_names') FROM head WHERE one`
)

func (d *database) begin(ctx context.Context, c *statements, writing bool, next []pgsql.Statement) (kept record, err error) {
	if !writing {
		_, err := c.ExecContext(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
		return record{}, storage(err)
	}
	// One round trip: each statement sees what was committed before it, and all but the first two
	// are run when the lock is held.
	first := []pgsql.Statement{{Text: beginWriting}, {Text: lockHead}, {Text: readHead}, {Text: lastRecord}}
	if err := pgsql.Ahead(ctx, c.on.(*sql.Conn), append(first, next...)...); err != nil {
		return record{}, storage(err)
	}
	if _, err := c.ExecContext(ctx, beginWriting); err != nil {
		return record{}, storage(err)
	}
	defer func() {
		if err != nil {
			c.ExecContext(ctx, "ROLLBACK") //nolint:errcheck // the failure before it is the news
		}
	}()
	// The row is locked in a statement of its own: what the next one sees was committed before.
	var hash []byte
	var was, is, waits, replicas string
	if err := c.QueryRowContext(ctx, lockHead).Scan(&kept.seq); err != nil {
		return record{}, noHead(err)
	}
	err = c.QueryRowContext(ctx, readHead).Scan(&kept.seq, &hash, &was, &is, &waits, &replicas)
	switch {
	case err != nil:
		return record{}, noHead(err)
	case len(hash) != len(kept.hash):
		return record{}, fmt.Errorf("%w: its head has no hash", ErrTampered)
	case waits != "on" && waits != "remote_apply":
		return record{}, fmt.Errorf("%w: the session does not wait for its commits (synchronous_commit = %s)", ErrStorage, waits)
	case d.replicated && strings.TrimSpace(replicas) == "":
		return record{}, fmt.Errorf("%w: no synchronous replica is asked for (synchronous_standby_names), and the catalog wants one", ErrStorage)
	case was != is && !d.replicated && !d.vouched:
		return record{}, fmt.Errorf("%w: the database was restored, or a replica took over (%s was %s)", ErrElsewhere, is, was)
	}
	kept.hash = digest(hash)
	return kept, nil
}

// noHead is an error of reading the head, which is always there.
func noHead(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: it has no head", ErrTampered)
	}
	return storage(err)
}

// commit confirms all that was appended before, too, and may have nothing of its own. What it
// leaves behind is read anew by the next transaction, so that this process can go on after any
// failure.
func (d *database) commit(ctx context.Context, c *statements, head record) (usable bool, err error) {
	on := c.on.(*sql.Conn)
	if err := pgsql.Later(ctx, on, 1, "UPDATE head SET seq = ?, hash = ?, place = "+place+" WHERE one AND seq <= ?", head.seq, head.hash[:], head.seq); err != nil {
		return true, storage(err)
	}
	// The commit goes with them, and is not tried where the head is not what it should be.
	if err := pgsql.Later(ctx, on, 1, "SELECT 1 / (SELECT count(*) FROM head h JOIN records r ON r.seq = h.seq AND r.hash = h.hash WHERE h.one AND h.seq = ? AND h.hash = ?)", head.seq, head.hash[:]); err != nil {
		return true, storage(err)
	}
	err = pgsql.Commit(ctx, on)
	var said *pgsql.Error
	switch {
	case errors.Is(err, pgsql.ErrRows) || errors.As(err, &said) && said.Before:
		return true, storage(err)
	case err != nil:
		return true, fmt.Errorf("%w: commit: %v", ErrStorage, err)
	}
	return true, nil
}

// append waits for the next statement, or for the commit.
func (d *database) append(ctx context.Context, c *statements, text string, args ...any) error {
	return storage(pgsql.Later(ctx, c.on.(*sql.Conn), 1, text, args...))
}

func (d *database) alive(c *sql.Conn) bool { return pgsql.Alive(c) }

func (d *database) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, batchTakes)
}

// confirms: what others have committed can be seen before it is known to be durable.
func (d *database) confirms() bool { return true }

// analyst reads the body as it is: PostgreSQL's functions for JSON refuse some of it.
func (d *database) analyst() (string, func([]byte) (string, error)) {
	return "body", func(b []byte) (string, error) {
		var e struct {
			Analyst string `json:"analyst"`
		}
		err := json.NewDecoder(bytes.NewReader(b)).Decode(&e)
		return e.Analyst, err
	}
}

func (d *database) bytes(ctx context.Context, db *sql.DB) (sum int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT pg_total_relation_size('records') + pg_total_relation_size('head')").Scan(&sum)
	return sum, storage(err)
}

// version is none: other servers write between any two transactions, so that nothing is
// remembered from one to the next.
func (d *database) version(context.Context, *statements) (int64, error) { return 0, nil }
