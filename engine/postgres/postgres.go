// Package postgres runs rendered SQL in a PostgreSQL server, 14 or later, over the tables
// that a catalog names there.
//
// It guarantees that
//
//   - the server is only read: each query is one SELECT within a transaction that is
//     READ ONLY, as a role that can write nothing and see nothing but the declared tables
//     (see roleCheck; the owner's accept_role = true waives that check alone);
//   - all releases of a statement see one state of the data: they run in one REPEATABLE
//     READ transaction, which holds the tables as they were looked at (no table can be
//     altered, dropped or exchanged for another between the look and the last release);
//   - a source is a table whose rows are its own: no view, foreign table or table under row
//     security, and no two sources that share rows (see tables.go);
//   - reading is total: whatever stands in a table, the relation that queries see has exactly
//     the declared columns in canonical form (render.PostgresField);
//   - nothing that the server says reaches anybody but the owner: it quotes values;
//   - a retry is never silent: what fails once its transaction has begun has failed. An idle
//     connection that turns out to be dead is replaced before that.
//
// It does not guarantee how long a query takes, nor that it succeeds: a statement_timeout,
// a lost connection, a restart of the server and a full disk are failures of resources. Nor
// that the server's own log keeps quiet: the owner's settings decide what it holds, and with
// log_statement or log_min_duration_statement that is the SQL and the salt of each query.
package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// Options say where the server is, and what runs beside it.
type Options struct {
	// URL is a connection URL or string as libpq reads it.
	URL string
	// Connections is how many there are at most, so how many statements run at once; 4 if 0.
	Connections int
	// Post runs what comes after the releases: its Scratch is this engine's. It knows no
	// private table. The engine closes it.
	Post engine.Engine
}

// An Engine is a PostgreSQL database over which a catalog is declared. It is safe for
// concurrent use.
type Engine struct {
	catalog *catalog.Catalog
	post    engine.Engine
	pool    *pool
	planned plannable

	mu     sync.Mutex
	tables map[string]*table // by the catalog's names, as they were looked at last
}

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.Snapshotter  = (*Engine)(nil)
	_ engine.Preparer     = (*Engine)(nil)
	_ engine.PostPreparer = (*Engine)(nil)
)

// Open connects, and looks at the role and at the tables that the catalog declares: their
// names and types, no row. Its errors are for the owner, and depend on no row.
func Open(ctx context.Context, c *catalog.Catalog, o Options) (*Engine, error) {
	pool, err := newPool(c, o)
	if err != nil {
		return nil, err
	}
	e := &Engine{catalog: c, post: o.Post, pool: pool}
	if err := e.open(ctx); err != nil {
		e.pool.close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) open(ctx context.Context) error {
	t, err := e.pool.begin(ctx, nil, false)
	if err != nil {
		return unconnected(ctx, err)
	}
	defer t.end()
	seen, err := look(ctx, t, e.catalog)
	if err != nil {
		return err
	}
	if !e.catalog.Engine.AcceptRole {
		if err := checkRole(ctx, t, seen.relations()); err != nil {
			return err
		}
	}
	// What a source lacks stands in the way of the statements that read it alone.
	e.tables = seen.tables
	return seen.shared
}

// Dialect returns "postgres".
func (e *Engine) Dialect() string { return string(catalog.PostgreSQL) }

// Scratch opens an instance of the engine that post-processes.
func (e *Engine) Scratch(ctx context.Context) (engine.Scratch, error) { return e.post.Scratch(ctx) }

// PreparePost plans what a scratch instance will run.
func (e *Engine) PreparePost(ctx context.Context, sql string, tables []engine.Table) error {
	return engine.PreparePost(ctx, e.post, sql, tables)
}

// Public returns the rows of a public table.
func (e *Engine) Public(ctx context.Context, name string) ([]engine.Column, [][]sqltype.Value, error) {
	s := &snapshot{engine: e, tables: []string{name}}
	defer s.end()
	return remote.Public(ctx, e.catalog, name, func(sql string, types []sqltype.Type) ([][]sqltype.Value, error) {
		return s.rows(ctx, sql, []string{name}, types, nil)
	})
}

// Prepare tells whether the server can plan a statement over relations of those columns. A query
// over the catalog's own tables is planned as it will be, since some joins have no plan; whether
// there is one hangs on the statement and on what the tables are, and is asked once for both. Other
// relations are empty, and stand before the catalog's of the same names: the server analyses a
// statement when it is prepared, and reads no row. That the catalog's tables can be read at all is
// said now, before anything is charged.
func (e *Engine) Prepare(ctx context.Context, sql string, tables []engine.Table) error {
	var names []string
	for _, t := range tables {
		if _, ok := e.catalog.Table(t.Name); ok {
			names = append(names, t.Name)
		}
	}
	ask := e.analyse
	if e.own(tables) {
		ask = e.plan
	}
	err := ask(ctx, sql, names, tables)
	var said *pgconn.PgError
	var d *diagnostic.Diagnostic
	var ran *runError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &d):
		return err
	case errors.As(err, &ran) && errors.As(err, &said) && unplannable(said.Code):
		return engine.ErrPlan
	case err != nil && ran == nil:
		return unconnected(ctx, err)
	}
	return nil // the statement itself will show what is wrong
}

// plan has the server plan a query over the catalog's tables, and run nothing.
func (e *Engine) plan(ctx context.Context, sql string, names []string, _ []engine.Table) error {
	var key string
	t, err := e.begin(ctx, names, true, func(tables []*table) []asked {
		text := "EXPLAIN (COSTS OFF) " + with(reading(tables)) + wrapped(sql, "*")
		if key = text + marksOf(tables); e.planned.has(key) {
			return nil
		}
		return []asked{{sql: text, values: [][]byte{[]byte("0")}, oids: []uint32{bigintOID}}}
	})
	if err != nil {
		return err
	}
	t.end()
	e.planned.add(key)
	return nil
}

// analyse has the server analyse a query over relations of those columns, which are empty.
func (e *Engine) analyse(ctx context.Context, sql string, names []string, tables []engine.Table) error {
	var empty []string
	for _, t := range tables {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, derive.PostgresNull(c.Type)+" AS "+quote(c.Name))
		}
		empty = append(empty, quote(t.Name)+" AS (SELECT "+strings.Join(columns, ", ")+" WHERE FALSE)")
	}
	t, err := e.begin(ctx, names, false, nil)
	if err != nil {
		return err
	}
	defer t.end()
	if _, err = t.conn.Prepare(ctx, "", with(empty)+wrapped(sql, "*"), []uint32{bigintOID}); err != nil {
		return &runError{err}
	}
	return nil
}

// own reports whether relations are those of the catalog.
func (e *Engine) own(tables []engine.Table) bool {
	return !slices.ContainsFunc(tables, func(t engine.Table) bool { return !remote.Own(e.catalog, t) })
}

// plannable are queries for which the server has a plan, with the marks of what they read.
type plannable struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]bool
}

// mostPlannable bounds what is remembered.
const mostPlannable = 4096

func (p *plannable) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[sha256.Sum256([]byte(text))]
}

func (p *plannable) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil || len(p.all) >= mostPlannable {
		p.all = map[[sha256.Size]byte]bool{}
	}
	p.all[sha256.Sum256([]byte(text))] = true
}

// unplannable are the states that say that a statement means nothing, or is too much whatever
// the data: syntax and names (42), features (0A), and limits of a program (54).
func unplannable(state string) bool {
	return strings.HasPrefix(state, "42") || strings.HasPrefix(state, "0A") || strings.HasPrefix(state, "54")
}

// Close ends the connections and the engine that post-processes.
func (e *Engine) Close() error {
	e.pool.close()
	if e.post == nil {
		return nil
	}
	return e.post.Close()
}

// with begins a statement that names relations.
func with(relations []string) string {
	if len(relations) == 0 {
		return ""
	}
	return "WITH " + strings.Join(relations, ", ") + " "
}

// wrapped is a statement within another: it is one SELECT, or it means nothing.
func wrapped(sql, columns string) string {
	return "SELECT " + columns + " FROM (\n" + sql + "\n) AS q"
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
