package trino

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// An owner may run any SELECT that the user may. What it asks is computed in the cluster, and no
// record leaves that.
type owner struct {
	remote.NoFiles
	engine *Engine
}

var _ engine.Relator = (*owner)(nil)

// OpenOwner opens the catalog's cluster for the owner's own commands. The user is held to what is
// declared, as it is for statements.
func OpenOwner(ctx context.Context, c *catalog.Catalog, o Options) (engine.Owner, error) {
	o.Connections = 1
	e, err := Open(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return &owner{engine: e}, nil
}

// Rows runs one statement. Counts come as int64, truths as bool, and all else as text.
func (o *owner) Rows(ctx context.Context, sql string, args ...any) (columns []string, rows [][]any, err error) {
	if err := remote.NoParameters(args); err != nil {
		return nil, nil, fmt.Errorf("ask trino: %w", err)
	}
	a, err := o.engine.ask(ctx, sql)
	if err != nil {
		var said *failed
		if ctx.Err() == nil && !errors.As(err, &said) {
			return nil, nil, unconnected(ctx, err)
		}
		return nil, nil, fmt.Errorf("ask trino: %w", err)
	}
	for _, cells := range a.rows {
		row := make([]any, len(cells))
		for i, c := range cells {
			row[i] = c.shown()
		}
		rows = append(rows, row)
	}
	for _, c := range a.columns {
		columns = append(columns, c.Name)
	}
	return columns, rows, nil
}

// shown is a cell by the kind of its JSON.
func (c cell) shown() any {
	text, err := c.asText()
	switch {
	case err == nil && text == nil:
		return nil
	case err == nil && (string(c) == "true" || string(c) == "false"):
		return *text == "true"
	case err == nil:
		return *text
	}
	if n, err := strconv.ParseInt(string(c), 10, 64); err == nil {
		return n
	}
	return string(c)
}

// Relation describes a table. What it is read from is the snapshot that is current, if its
// snapshots have numbers.
func (o *owner) Relation(ctx context.Context, database, schema, name string) (engine.Relation, error) {
	s := catalog.Source{Format: catalog.Relation, Database: database, Schema: schema, Table: name}
	s.Text = s.Name()
	r := engine.Relation{Database: database, Schema: schema, Name: name}
	t := &catalog.Table{Name: s.Text, Source: s}
	if err := o.engine.find(ctx, []*catalog.Table{t}); err != nil {
		return r, unconnected(ctx, err)
	}
	seen, err := o.engine.describe(ctx, []*catalog.Table{t})
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		r.Problem, r.Hint = strings.TrimPrefix(d.Why, s.Text+": "), d.Hint
		return r, nil
	}
	if err != nil {
		return r, unconnected(ctx, err)
	}
	r.From = seen[0].from
	for _, c := range seen[0].columns {
		r.Columns = append(r.Columns, engine.Native{Name: c.name, Native: c.native, Type: c.native})
	}
	return r, nil
}

// Relations describes the tables of a schema that the user is shown.
func (o *owner) Relations(ctx context.Context, database, schema string) (all []engine.Relation, err error) {
	rows, err := o.engine.query(ctx, "SELECT table_name FROM "+quote(database)+".information_schema.tables WHERE table_schema = "+literal(schema)+" AND table_type = 'BASE TABLE' ORDER BY table_name")
	var said *failed
	if errors.As(err, &said) && said.Kind == "USER_ERROR" {
		return nil, nil // the user is shown no such catalog
	}
	if err != nil {
		return nil, unconnected(ctx, err)
	}
	for _, row := range rows {
		if row[0] == nil {
			continue
		}
		r, err := o.Relation(ctx, database, schema, *row[0])
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Close ends the connections.
func (o *owner) Close() error { return o.engine.Close() }
