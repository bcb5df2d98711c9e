// Package trino runs rendered SQL in a Trino cluster, 476 or later, over the tables that a catalog
// names there: those of its Iceberg connector first, and of others by the same SQL.
//
// It guarantees that
//
//   - the cluster is only read: each query is one SELECT, as a user that can write nothing and
//     see nothing but the declared tables (see user.go; the owner's accept_role = true waives that
//     check alone), who is authenticated over TLS, or asks this machine's own coordinator;
//   - all releases of a statement see one snapshot of each Iceberg table: its number is looked up
//     once, and each query names it;
//   - reading is total: whatever stands in a table, the relation that queries see has exactly
//     the declared columns in canonical form (render.TrinoField);
//   - nothing that the cluster says reaches anybody but the owner: it quotes values;
//   - nothing is retried: a killed worker, a lost connection and a limit are failures of
//     resources, and no part of an answer is read twice.
//
// It does not guarantee how long a query takes, nor that two tables' snapshots are of one moment,
// nor that the releases of a statement agree where a table is of another connector than Iceberg's
// and is written meanwhile: each alone is as private as its cost says. The salt of each query
// stands in its text, which the cluster's event listeners, its web page and its logs show: who
// reads these is in the owner's camp.
package trino

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// Options say where the coordinator is, and what runs beside it.
type Options struct {
	// URL is the coordinator's, with the user and the password.
	URL string
	// Connections is how many statements run at once; 4 if 0.
	Connections int
	// Post runs what comes after the releases: its Scratch is this engine's. It knows no private
	// table. The engine closes it.
	Post engine.Engine
}

// An Engine is a Trino cluster over which a catalog is declared. It is safe for concurrent use.
type Engine struct {
	catalog *catalog.Catalog
	post    engine.Engine
	client  *client
	places  chan struct{}

	mu     sync.Mutex
	pinned map[string]bool // tables whose snapshots have numbers
}

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.Snapshotter  = (*Engine)(nil)
	_ engine.Preparer     = (*Engine)(nil)
	_ engine.PostPreparer = (*Engine)(nil)
	_ engine.Unsteady     = (*Engine)(nil)
)

// Open connects, and looks at the user and at the tables that the catalog declares: their names
// and types, no row. Its errors are for the owner, and depend on no row.
func Open(ctx context.Context, c *catalog.Catalog, o Options) (*Engine, error) {
	client, err := newClient(c, o)
	if err != nil {
		return nil, err
	}
	n := o.Connections
	if n == 0 {
		n = 4
	}
	e := &Engine{catalog: c, post: o.Post, client: client, places: make(chan struct{}, n), pinned: map[string]bool{}}
	if _, err := client.query(ctx, "SELECT 'ready'"); err != nil {
		return nil, unconnected(ctx, err)
	}
	// What a source lacks stands in the way of the statements that read it alone.
	if err := e.find(ctx, c.Tables); err != nil {
		return nil, unconnected(ctx, err)
	}
	if !c.Engine.AcceptRole {
		if err := e.checkUser(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Dialect returns "trino".
func (e *Engine) Dialect() string { return string(catalog.Trino) }

// Scratch opens an instance of the engine that post-processes.
func (e *Engine) Scratch(ctx context.Context) (engine.Scratch, error) { return e.post.Scratch(ctx) }

// PreparePost plans what a scratch instance will run.
func (e *Engine) PreparePost(ctx context.Context, sql string, tables []engine.Table) error {
	return engine.PreparePost(ctx, e.post, sql, tables)
}

// Public returns the rows of a public table.
func (e *Engine) Public(ctx context.Context, name string) ([]engine.Column, [][]sqltype.Value, error) {
	s := &snapshot{engine: e, tables: []string{name}}
	return remote.Public(ctx, e.catalog, name, func(sql string, types []sqltype.Type) ([][]sqltype.Value, error) {
		return s.rows(ctx, sql, []string{name}, types, 0)
	})
}

// Prepare tells whether the cluster can plan a statement over relations of those columns: empty
// ones, or the catalog's own, of which it reads no row. That the catalog's tables can be read at
// all is said now, before anything is charged.
func (e *Engine) Prepare(ctx context.Context, sql string, tables []engine.Table) error {
	var with []string
	var own []*catalog.Table
	for _, t := range tables {
		if remote.Own(e.catalog, t) {
			declared, _ := e.catalog.Table(t.Name)
			own = append(own, declared)
			continue
		}
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, derive.TrinoNull(c.Type)+" AS "+quote(c.Name))
		}
		with = append(with, quote(t.Name)+" AS (SELECT "+strings.Join(columns, ", ")+" WHERE FALSE)")
	}
	seen, err := e.look(ctx, own)
	if err != nil {
		return unconnected(ctx, err)
	}
	for _, t := range seen {
		with = append(with, t.read)
	}
	_, err = e.query(ctx, "EXPLAIN "+withed(with)+"SELECT * FROM (\n"+salted(sql, 0)+"\n) AS q")
	var said *failed
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said) && said.Kind == "USER_ERROR":
		return engine.ErrPlan
	}
	return nil // the statement itself will show what is wrong
}

// query runs one statement whose columns are texts when there is a place for it.
func (e *Engine) query(ctx context.Context, sql string) ([][]*string, error) {
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	defer e.leave()
	return e.client.query(ctx, sql)
}

// ask is query for any columns.
func (e *Engine) ask(ctx context.Context, sql string) (answer, error) {
	if err := e.enter(ctx); err != nil {
		return answer{}, err
	}
	defer e.leave()
	return e.client.ask(ctx, sql)
}

func (e *Engine) enter(ctx context.Context) error {
	select {
	case e.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) leave() { <-e.places }

// Close ends the connections and the engine that post-processes.
func (e *Engine) Close() error {
	e.client.http.CloseIdleConnections()
	if e.post == nil {
		return nil
	}
	return e.post.Close()
}

// unconnected says why nothing can be asked, as far as that can be said without the words of
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
	var said *failed
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown), errors.As(err, &wrongName), errors.As(err, &invalid):
		return d.Because("nobody that this machine trusts vouches for the coordinator's certificate, or it is of another name, or out of date").
			Try("add sslrootcert=FILE to the URL, as in \"https://...:8443?sslrootcert=/etc/discreet/trino.pem\", with the certificate of who made it")
	case errors.Is(err, errRejected):
		return d.Because("the coordinator refuses the user, or the password").Try("set the environment variable of [engine] to a URL with the right ones")
	case errors.As(err, &said):
		return d.Because("the coordinator refuses, with the error %s", said.Name)
	}
	return d.Because("there is no answer from the coordinator").Try("look whether it runs, and at the environment variable of [engine]")
}

func withed(relations []string) string {
	if len(relations) == 0 {
		return ""
	}
	return "WITH " + strings.Join(relations, ", ") + " "
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
