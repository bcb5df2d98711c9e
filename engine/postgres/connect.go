package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// connectTimeout bounds how long a server may take to answer, where the URL does not say.
const connectTimeout = 10 * time.Second

// endTimeout bounds the end of a transaction that the caller has given up.
const endTimeout = 5 * time.Second

// defaultConnections is how many there are at most where nobody says.
const defaultConnections = 4

// A pool holds the connections to one database.
type pool struct {
	config *pgconn.Config
	named  []string // the databases that sources name
	places chan struct{}

	// forgetful is set when a session did not know what it had parsed: a pooler has given
	// another's place to it.
	forgetful atomic.Bool

	mu     sync.Mutex
	idle   []*session
	server string // which database of which server it is; "" before the first connection
	closed bool
}

func newPool(c *catalog.Catalog, o Options) (*pool, error) {
	config, err := pgconn.ParseConfig(o.URL)
	if err != nil { // its text quotes the URL
		return nil, cannotConnect(c, "what it holds is not a connection URL, or names a file that cannot be read").Try(`write it as in "postgres://discreet:PASSWORD@db.example:5432/clinic?sslmode=verify-full"`)
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > 2*time.Minute {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "discreet"
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	n := o.Connections
	if n == 0 {
		n = defaultConnections
	}
	p := &pool{config: config, places: make(chan struct{}, n)}
	for _, t := range c.Tables {
		if t.Source.Database != "" {
			p.named = append(p.named, t.Source.Database)
		}
	}
	return p, nil
}

func cannotConnect(c *catalog.Catalog, why string) *diagnostic.Diagnostic {
	return diagnostic.New("D101", diagnostic.Span{}, "the database of $%s cannot be used", c.Engine.Variable).Because("%s", why)
}

// settings are those of each transaction: what a value's text is, and what a name means, must
// depend neither on the role's settings nor on what a pooler's last client set. Row security
// raises where it would leave rows out. A fuzzy limit would leave rows out, too. Compiling takes
// longer than most releases. How many rows a condition leaves cannot be told through the readings of
// columns: a nested loop that was chosen for a few rows takes hours over many, where a hash takes
// seconds, so that there is one only where nothing else can join. They are one SELECT, since a statement for each takes a server
// longer to hear than to do. It takes the transaction's snapshot.
var settings = set("search_path=", "DateStyle=ISO, YMD", "TimeZone=UTC", "IntervalStyle=postgres", "extra_float_digits=1", "standard_conforming_strings=on",
	"row_security=off", "gin_fuzzy_search_limit=0", "transform_null_equals=off", "jit=off", "enable_nestloop=off")

// A look at tables needs a few rows of the system's own, to which indexes lead, however many tables the database
// has: between byIndex and byHash nothing else is planned. After it settings hold again, and the session's own choice of the rest.
var (
	byIndex = set("enable_nestloop=on", "enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off")
	byHash  = set("enable_nestloop=off", "enable_seqscan", "enable_hashjoin", "enable_mergejoin")
)

// set sets parameters until the transaction ends; one without a value has the session's.
func set(parameters ...string) string {
	var calls []string
	for _, p := range parameters {
		name, value, given := strings.Cut(p, "=")
		if value = literal(value); !given {
			value = "NULL"
		}
		calls = append(calls, "pg_catalog.set_config("+literal(name)+", "+value+", true)")
	}
	return "SELECT " + strings.Join(calls, ", ")
}

// A session is a connection, and what the server has parsed for it: names by their texts.
type session struct {
	*pgconn.PgConn
	parsed map[string]string
	order  []string        // the texts that are parsed, the oldest first
	heard  map[string]bool // texts that were run once, and are parsed if they come again
}

// mostParsed bounds what the server keeps for a session, and mostHeard what is remembered here.
const mostParsed, mostHeard = 32, 1024

// A transaction is one on a connection that nobody else uses.
type transaction struct {
	pool   *pool
	conn   *session
	tables []*table // that it holds
	parse  []asked  // statements to be parsed for later ones
}

// An asked statement has its parameters, and who takes its rows; nobody if nil. What a row holds
// is gone when row returns.
type asked struct {
	sql    string
	values [][]byte
	oids   []uint32
	row    func(values [][]byte) error
	done   *bool // is set when it was run, if it is not nil
	often  bool  // planning it may take longer than running it: the server is to keep its plan
}

// begin begins a transaction that holds tables as they are, and runs statements in it. Its snapshot
// is taken after the tables are held. A connection that was idle may be dead: then, and only
// then, another is made. If the transaction is whole it has ended, and used nothing but these
// statements.
//
// All is said at once, so that it takes one round trip. What comes after a statement that fails is
// not run.
func (p *pool) begin(ctx context.Context, tables []string, whole bool, statements ...asked) (*transaction, error) {
	all := []asked{{sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}}
	if len(tables) > 0 { // one that changes a table waits until the end, as this waits for it
		all = append(all, asked{sql: "LOCK TABLE " + strings.Join(tables, ", ") + " IN ACCESS SHARE MODE"})
	}
	return p.start(ctx, whole, append(append(all, asked{sql: settings}), statements...))
}

// start is begin by statements that are all that is said.
func (p *pool) start(ctx context.Context, whole bool, all []asked) (*transaction, error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		conn, used, err := p.take(ctx)
		if err != nil {
			<-p.places
			return nil, err
		}
		t := &transaction{pool: p, conn: conn, parse: conn.unparsed(all)}
		told := all
		if whole && len(t.parse) == 0 { // else it ends when they are parsed
			told = append(slices.Clip(all), asked{sql: "COMMIT"})
		}
		begun, err := t.run(ctx, told...)
		if err == nil {
			return t, nil
		}
		var said *pgconn.PgError
		if errors.As(err, &said) && said.Code == "26000" && !p.forgetful.Swap(true) { // nothing that reads was run
			t.release()
			continue
		}
		dead := ctx.Err() == nil && used && !begun && (conn.IsClosed() || !errors.As(err, &said))
		if !dead {
			t.end()
			return nil, err
		}
		p.drop(conn)
	}
}

// run runs statements in one round trip, and reports whether the first of them was.
func (t *transaction) run(ctx context.Context, statements ...asked) (begun bool, err error) {
	batch := &pgconn.Batch{}
	for _, s := range statements {
		if name := t.conn.parsed[s.sql]; name != "" && s.often && !t.pool.forgetful.Load() {
			batch.ExecPrepared(name, s.values, nil, nil)
			continue
		}
		batch.ExecParams(s.sql, s.values, s.oids, nil, nil)
	}
	results := t.conn.ExecBatch(ctx, batch)
	for _, s := range statements {
		if !results.NextResult() {
			break
		}
		begun = true
		rows := results.ResultReader()
		for rows.NextRow() {
			if s.row != nil && err == nil {
				err = s.row(rows.Values())
			}
		}
		if _, failed := rows.Close(); failed == nil && s.done != nil {
			*s.done = true
		}
	}
	return begun, errors.Join(err, results.Close())
}

// unparsed are statements that come often and which the server does not keep yet.
func (s *session) unparsed(statements []asked) (all []asked) {
	for _, a := range statements {
		if a.often && s.parsed[a.sql] == "" && (a.oids == nil || s.again(a.sql)) {
			all = append(all, a)
		}
	}
	return all
}

// again reports whether a text has come before: most statements never come a second time.
func (s *session) again(text string) bool {
	if s.heard[text] {
		delete(s.heard, text)
		return true
	}
	if s.heard == nil || len(s.heard) >= mostHeard {
		s.heard = map[string]bool{}
	}
	s.heard[text] = true
	return false
}

// keep has the server parse a statement under the transaction's settings, and keep it for the session.
func (s *session) keep(ctx context.Context, a asked) error {
	text := a.sql
	if len(s.order) >= mostParsed {
		oldest := s.order[0]
		if err := s.Deallocate(ctx, s.parsed[oldest]); err != nil {
			return err
		}
		delete(s.parsed, oldest)
		s.order = s.order[1:]
	}
	name := fmt.Sprintf("discreet_%x", sha256.Sum256([]byte(text)))[:40]
	if _, err := s.Prepare(ctx, name, text, a.oids); err != nil {
		return err
	}
	if s.parsed == nil {
		s.parsed = map[string]string{}
	}
	s.parsed[text], s.order = name, append(s.order, text)
	return nil
}

// take returns a connection, and whether it was used before.
func (p *pool) take(ctx context.Context) (conn *session, used bool, err error) {
	p.mu.Lock()
	for len(p.idle) > 0 && conn == nil {
		conn, p.idle = p.idle[len(p.idle)-1], p.idle[:len(p.idle)-1]
		if conn.IsClosed() {
			conn = nil
		}
	}
	p.mu.Unlock()
	if conn != nil {
		return conn, true, nil
	}
	made, err := pgconn.ConnectConfig(ctx, p.config)
	if err != nil {
		return nil, false, err
	}
	conn = &session{PgConn: made}
	if err := p.greet(ctx, made); err != nil {
		p.drop(conn)
		return nil, false, err
	}
	return conn, false, nil
}

// A wrongServer error says why a server cannot be used, in words for the owner.
type wrongServer string

func (w wrongServer) Error() string { return string(w) }

// greet looks at what answers: the same database of the same server as before, however the
// name that led there is resolved now.
func (p *pool) greet(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, "SELECT pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_encoding'), "+
		"(SELECT system_identifier FROM pg_catalog.pg_control_system()), d.oid, d.datname FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()").ReadAll()
	if err != nil || len(results) != 1 || len(results[0].Rows) != 1 {
		return fmt.Errorf("greet server: %w", errors.Join(err, errors.New("it does not say which it is")))
	}
	row := results[0].Rows[0]
	version, _ := strconv.Atoi(string(row[0]))
	encoding, identity, database := string(row[1]), string(row[2])+"/"+string(row[3]), string(row[4])
	switch {
	case version < 140000:
		return wrongServer("PostgreSQL 14 and later can be used, and it is older")
	case encoding != "UTF8":
		return wrongServer("its encoding is " + encoding + ", and texts that are not UTF-8 can make a statement fail")
	}
	for _, name := range p.named {
		if name != database {
			return wrongServer(fmt.Sprintf("it is %q, and a source names the database %q", database, name))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == "" {
		p.server = identity
	}
	if p.server != identity {
		return wrongServer("another server, or another database, answers than before")
	}
	return nil
}

// drop closes a connection without a word to the server that it would wait for.
func (p *pool) drop(conn *session) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	_ = conn.Close(ctx) // it is lost anyway
}

// end ends the transaction, which changed nothing. Its connection is used again only if it is
// as it was.
func (t *transaction) end() {
	if t.conn != nil {
		defer func() { <-t.pool.places }()
		t.release()
	}
}

// release is end for whoever goes on with the place that it had.
func (t *transaction) release() {
	p, conn := t.pool, t.conn
	t.conn = nil
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if !conn.IsClosed() {
		var err error
		if conn.TxStatus() == 'T' && !p.forgetful.Load() {
			for _, a := range t.parse {
				var said *pgconn.PgError
				if err = conn.keep(ctx, a); errors.As(err, &said) {
					p.forgetful.Store(true)
				}
				if err != nil {
					break
				}
			}
		}
		if conn.TxStatus() != 'I' {
			_, err = conn.Exec(ctx, "ROLLBACK").ReadAll()
		}
		if err == nil && conn.TxStatus() == 'I' {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.closed {
				p.idle = append(p.idle, conn)
				return
			}
		}
	}
	p.drop(conn)
}

func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, conn := range idle {
		p.drop(conn)
	}
}

// unconnected says why there is no connection, as far as that can be said without the words of
// others.
func unconnected(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	d = diagnostic.New("D101", diagnostic.Span{}, "the database cannot be used")
	var wrong wrongServer
	var said *pgconn.PgError
	switch {
	case errors.As(err, &wrong):
		return d.Because("%s", wrong)
	case errors.As(err, &said):
		switch {
		case strings.HasPrefix(said.Code, "28"):
			return d.Because("the server refuses the role, or its password").Try("set the environment variable of [engine] to a URL with the right ones")
		case said.Code == "3D000":
			return d.Because("the server has no such database")
		case strings.HasPrefix(said.Code, "53"):
			return d.Because("the server has no connection left")
		}
		return d.Because("the server refuses, with the state %s", said.Code)
	}
	return d.Because("there is no connection to the server").Try("look whether it runs, and at the environment variable of [engine]")
}
