package ledger

import (
	"context"
	"database/sql"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// A store is where the records of a ledger are kept. The ledger decides all else: which
// record is next, what its hash is, whether the chain goes on from what was seen. A store
// only has to keep what it is given, in this sense:
//
//   - between begin(writing) and commit or the end of the transaction nobody else appends, in
//     whatever process, and what is read is all that was appended before;
//   - commit returns nil only when all of the transaction is on stable storage; after any
//     error it may be there or not, whole in both cases;
//   - records are never changed or removed.
//
// Records are read and appended through database/sql, by the same texts in every store (see
// record.go): "?" stands for a parameter, and all else is SQL that SQLite and PostgreSQL
// both understand.
type store interface {
	// String is what the ledger is called in messages. It tells no secret.
	String() string
	// claim takes the place for a new ledger. It refuses with ErrExists a place where there
	// is one. abandon gives it back when nothing came of it.
	claim() error
	abandon()
	// vacant refuses with ErrExists a place where a ledger is.
	vacant(ctx context.Context, db *sql.DB) error
	// connect returns connections to it. It need not look whether anything is there.
	connect() (*sql.DB, error)
	// found refuses with ErrMissing where no ledger is, and with ErrExposed one that others
	// can change. From then on moved refuses with ErrRolledBack another that was put in its place.
	found() error
	moved() error
	// create begins a transaction in which nobody else writes, and makes the tables. settle
	// makes durable what its commit does not.
	create(ctx context.Context, c *statements) error
	settle() error
	// check refuses with ErrTampered tables that are not as create makes them: a trigger
	// could undo what a record says.
	check(ctx context.Context, db *sql.DB) error
	// whole refuses with ErrTampered a damaged storage, as far as that can be seen without
	// reading records.
	whole(ctx context.Context, c *sql.Conn) error
	// begin starts a transaction: one that writes, or one that sees one state. Where the store
	// knows the last record itself, it returns it; otherwise one without a number. next are what
	// will be asked in it first: a store that is far away asks them with the beginning.
	begin(ctx context.Context, c *statements, writing bool, next []pgsql.Statement) (record, error)
	// append writes a record, at the latest with commit, which says then if it was not taken.
	append(ctx context.Context, c *statements, text string, args ...any) error
	// version is a number that is the same in two transactions of one connection if nobody else
	// has written in between, be it to change a record; 0 where that is not known.
	version(ctx context.Context, c *statements) (int64, error)
	// commit ends a transaction that wrote, with the last record. Where it failed, usable says
	// whether further transactions of this process know what they find.
	commit(ctx context.Context, c *statements, head record) (usable bool, err error)
	// confirms reports whether records can be seen of which it is not known yet that they are on
	// stable storage. A commit confirms all before it, and may have none of its own.
	confirms() bool
	// alive reports whether a connection can be used further; if not, the writer takes another.
	alive(c *sql.Conn) bool
	// bound limits how long a transaction may take.
	bound(ctx context.Context) (context.Context, context.CancelFunc)
	// analyst is an expression for the analyst of a record, and what turns its value into the name.
	analyst() (expression string, decode func([]byte) (string, error))
	// bytes is how much room it takes.
	bytes(ctx context.Context, db *sql.DB) (int64, error)
}

// A querier is a connection, a transaction or a pool.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
