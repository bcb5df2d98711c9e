// Package pgsql speaks to a PostgreSQL database through database/sql: the little of it that
// books need, over the protocol's library alone.
//
// Parameters are written "?", so that one text serves SQLite, too. Parameters and results are
// numbers, texts, bytes and truths. A commit counts only if the server said so and warned of
// nothing (see Commit). No error of this package holds a password, an address or a value.
//
// pgx's own adapter to database/sql would bring the whole of its types, a megabyte that
// nothing here uses.
package pgsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Settings are given to the server for every session, in place of what a role or a database
// says.
type Settings map[string]string

// Open returns connections to the database that a URL names. It connects when one is needed.
func Open(url string, s Settings) (*sql.DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	for k, v := range s {
		config.RuntimeParams[k] = v
	}
	return sql.OpenDB(&connector{config}), nil
}

// Name is what the database of a URL is called in messages: host, port and name.
func Name(url string) (string, error) {
	config, err := parse(url)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("postgres://%s:%d/%s", config.Host, config.Port, config.Database), nil
}

func parse(url string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil { // without the library's words: they may quote the URL
		return nil, errors.New("this is no URL of a PostgreSQL database: postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	if h := config.Host; !strings.HasPrefix(h, "/") && !strings.HasPrefix(h, "127.") && h != "localhost" && h != "::1" && !strings.Contains(url, "sslmode=") {
		return nil, errors.New("the URL of a database on another machine says how the connection is protected: ?sslmode=verify-full")
	}
	return config, nil
}

// An Error is the server's, or of the way to it.
type Error struct {
	Code   string // SQLSTATE; "" where the connection failed
	Before bool   // it is of a statement that waited for a commit, which was not tried
	text   string
}

func (e *Error) Error() string { return e.text }

// Lost reports whether the connection failed, so that nothing is known of what was under way.
func (e *Error) Lost() bool {
	return e.Code == "" || strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P")
}

// failure puts an error of the library into one of ours.
func failure(err error) error {
	var theirs *pgconn.PgError
	var known *Error
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &theirs):
		return &Error{Code: theirs.Code, text: fmt.Sprintf("the database says %s (%s)", theirs.Message, theirs.Code)}
	}
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		return &Error{text: "no connection to the database: it does not answer"}
	}
	return &Error{text: "no connection to the database"}
}

// A connector makes connections.
type connector struct{ config *pgconn.Config }

func (c *connector) Driver() driver.Driver { return nowhere{} }

// nowhere is the driver that database/sql asks for names of databases, which nobody uses here.
type nowhere struct{}

func (nowhere) Open(string) (driver.Conn, error) { return nil, errors.New("pgsql: use Open") }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	out := &conn{}
	config := c.config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized != "NOTICE" && n.SeverityUnlocalized != "INFO" && n.SeverityUnlocalized != "LOG" && n.SeverityUnlocalized != "DEBUG" {
			out.warned = n.Message // of an unknown severity, too
		}
	}
	var err error
	if out.to, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, failure(err)
	}
	return out, nil
}

// A conn is one session.
type conn struct {
	to     *pgconn.PgConn
	warned string            // the last warning
	made   int               // statements that were prepared
	names  map[string]string // of those that are used by their texts
	ahead  []earlier
	later  []later
}

var (
	_ driver.ExecerContext      = (*conn)(nil)
	_ driver.QueryerContext     = (*conn)(nil)
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
)

// IsValid reports whether the session may be kept.
func (c *conn) IsValid() bool { return !c.to.IsClosed() }

// ResetSession gives up a session that was left in a transaction, or is lost.
func (c *conn) ResetSession(context.Context) error {
	if c.to.IsClosed() || c.to.TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	c.ahead, c.later = nil, nil
	return nil
}

func (c *conn) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), closing)
	defer stop()
	return failure(c.to.Close(ctx))
}

// Begin starts a transaction.
func (c *conn) Begin() (driver.Tx, error) {
	if _, err := c.ExecContext(context.Background(), "BEGIN", nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
}

type tx struct{ c *conn }

func (t tx) Commit() error { return t.c.commit(context.Background()) }

func (t tx) Rollback() error {
	_, err := t.c.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.made++
	name := "s" + strconv.Itoa(c.made)
	d, err := c.to.Prepare(ctx, name, numbered(query), nil)
	if err != nil {
		return nil, failure(err)
	}
	return &statement{c, d, query}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 { // several statements may stand in one text
		if query == "ROLLBACK" {
			c.later = nil
		}
		if r, err := c.told(ctx, query, nil); err != nil {
			return nil, err
		} else if r != nil {
			return driver.RowsAffected(r.affected), nil
		}
		results, err := c.to.Exec(ctx, query).ReadAll()
		if err != nil {
			return nil, failure(err)
		}
		return driver.RowsAffected(results[len(results)-1].CommandTag.RowsAffected()), nil
	}
	rows, err := c.QueryContext(ctx, query, args)
	return done(rows, err)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	values, formats, err := encode(args)
	if err != nil {
		return nil, err
	}
	if r, err := c.told(ctx, query, values); err != nil || r != nil {
		return r.orNothing(), err
	}
	outside := c.to.TxStatus() == 'I'
	rows, err := read(c.to.ExecParams(ctx, numbered(query), values, nil, formats, []int16{1}))
	return rows, c.again(query, outside, err)
}

// again tells database/sql to take another session where this one was lost while nobody used it:
// of what only reads, outside of a transaction, nothing can have happened.
func (c *conn) again(query string, outside bool, err error) error {
	var ours *Error
	if outside && strings.HasPrefix(query, "SELECT ") && errors.As(err, &ours) && ours.Lost() && c.to.IsClosed() {
		return driver.ErrBadConn
	}
	return err
}

// A statement is one that the server has parsed.
type statement struct {
	c    *conn
	d    *pgconn.StatementDescription
	text string // as its user has it
}

func (s *statement) Close() error {
	if s.c.to.IsClosed() {
		return nil
	}
	return failure(s.c.to.Deallocate(context.Background(), s.d.Name))
}

func (s *statement) NumInput() int { return len(s.d.ParamOIDs) }

func (s *statement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

func (s *statement) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	rows, err := s.QueryContext(ctx, args)
	return done(rows, err)
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	values, formats, err := encode(args)
	if err != nil {
		return nil, err
	}
	if r, err := s.c.told(ctx, s.text, values); err != nil || r != nil {
		return r.orNothing(), err
	}
	outside := s.c.to.TxStatus() == 'I'
	rows, err := read(s.c.to.ExecPrepared(ctx, s.d.Name, values, formats, []int16{1}))
	return rows, s.c.again(s.d.SQL, outside, err)
}

// done reads a result to its end.
func done(rows driver.Rows, err error) (driver.Result, error) {
	if err != nil {
		return nil, err
	}
	r := rows.(*result)
	if err := r.Close(); err != nil {
		return nil, err
	}
	return driver.RowsAffected(r.affected), nil
}

// numbered writes $1, $2, ... for question marks. The texts are the program's own, and have
// no others.
func numbered(query string) string {
	var out strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("$" + strconv.Itoa(n))
		query = after
	}
}

// Commit ends the transaction of a connection, and returns nil only if the server says that
// it is committed and warned of nothing. A wait for a synchronous replica that is cancelled,
// by a time limit, an administrator or a shutdown, commits on this server alone and says so
// in a warning and in nothing else. After any error the transaction may be there or not.
func Commit(ctx context.Context, c *sql.Conn) error {
	return c.Raw(func(raw any) error { return raw.(*conn).commit(ctx) })
}

func (c *conn) commit(ctx context.Context) error {
	c.warned, c.ahead = "", nil
	tags, err := c.send(ctx, "COMMIT")
	switch {
	case err != nil:
		return err
	case len(tags) != 1 || tags[0] != "COMMIT":
		return &Error{Code: "25P02", text: "the database has not committed"}
	case c.warned != "":
		return &Error{Code: "01000", text: "the database has committed and warns: " + c.warned}
	}
	return nil
}

// Alive reports whether a connection can be used further.
func Alive(c *sql.Conn) bool {
	alive := false
	err := c.Raw(func(raw any) error {
		alive = raw.(*conn).IsValid()
		return nil
	})
	return err == nil && alive
}

// A result is rows as they come, or those that have come.
type result struct {
	from     *pgconn.ResultReader // nil where they have
	rows     [][][]byte
	types    []uint32
	columns  []string
	waiting  bool // a row was read already
	ended    bool
	affected int64
}

// read looks at the first row, so that an error of the statement is an error of the query.
func read(from *pgconn.ResultReader) (driver.Rows, error) {
	r := &result{from: from}
	r.waiting = from.NextRow()
	for _, f := range from.FieldDescriptions() {
		r.types, r.columns = append(r.types, f.DataTypeOID), append(r.columns, f.Name)
	}
	if !r.waiting {
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// orNothing is r as rows, or none at all.
func (r *result) orNothing() driver.Rows {
	if r == nil {
		return nil
	}
	return r
}

func (r *result) Columns() []string { return r.columns }

func (r *result) Close() error {
	if r.ended || r.from == nil {
		return nil
	}
	r.ended = true
	tag, err := r.from.Close()
	r.affected = tag.RowsAffected()
	return failure(err)
}

func (r *result) Next(dest []driver.Value) error {
	if r.from == nil {
		if len(r.rows) == 0 {
			return io.EOF
		}
		row := r.rows[0]
		r.rows = r.rows[1:]
		return r.decode(row, dest)
	}
	if !r.waiting && (r.ended || !r.from.NextRow()) {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	r.waiting = false
	return r.decode(r.from.Values(), dest)
}

func (r *result) decode(row [][]byte, dest []driver.Value) (err error) {
	for i, v := range row {
		if dest[i], err = decode(r.types[i], v); err != nil {
			return err
		}
	}
	return nil
}

// Copy runs COPY ... FROM STDIN in the session of a connection, with what there is to read.
func Copy(ctx context.Context, c *sql.Conn, statement string, from io.Reader) error {
	return c.Raw(func(raw any) error {
		_, err := raw.(*conn).to.CopyFrom(ctx, from, statement)
		return failure(err)
	})
}
