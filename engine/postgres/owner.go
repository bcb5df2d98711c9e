package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
)

// An owner may run any SELECT that the role may.
type owner struct {
	remote.NoFiles
	engine *Engine
}

var _ engine.Relator = (*owner)(nil)

// OpenOwner opens the catalog's database for the owner's own commands. The role is held to
// what is declared, as it is for statements.
func OpenOwner(ctx context.Context, c *catalog.Catalog, o Options) (engine.Owner, error) {
	o.Connections = 1
	e, err := Open(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return &owner{engine: e}, nil
}

// Rows runs one statement in a transaction of its own. Counts come as int64, truths as bool,
// and all else as text.
func (o *owner) Rows(ctx context.Context, sql string, args ...any) (columns []string, rows [][]any, err error) {
	if err := remote.NoParameters(args); err != nil {
		return nil, nil, fmt.Errorf("ask postgres: %w", err)
	}
	t, err := o.engine.pool.begin(ctx, nil, false)
	if err != nil {
		return nil, nil, unconnected(ctx, err)
	}
	defer t.end()
	result := t.conn.ExecParams(ctx, sql, nil, nil, nil, nil)
	for result.NextRow() {
		row := make([]any, len(result.FieldDescriptions()))
		for i, text := range result.Values() {
			row[i] = shown(text, result.FieldDescriptions()[i].DataTypeOID)
		}
		rows = append(rows, row)
	}
	for _, f := range result.FieldDescriptions() {
		columns = append(columns, f.Name)
	}
	if _, err := result.Close(); err != nil {
		return nil, nil, fmt.Errorf("ask postgres: %w", err)
	}
	return columns, rows, nil
}

func shown(text []byte, oid uint32) any {
	const boolOID, smallintOID, integerOID = 16, 21, 23
	if text == nil {
		return nil
	}
	switch s := string(text); oid {
	case bigintOID, smallintOID, integerOID:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		return s
	case boolOID:
		return s == "t"
	default:
		return s
	}
}

// Relation describes a table of the connected database.
func (o *owner) Relation(ctx context.Context, _, schema, name string) (engine.Relation, error) {
	all, err := o.describe(ctx, schema, []string{name})
	if err != nil {
		return engine.Relation{}, err
	}
	return all[0], nil
}

// Relations describes the tables of a schema that the role may read.
func (o *owner) Relations(ctx context.Context, _, schema string) ([]engine.Relation, error) {
	_, rows, err := o.Rows(ctx, "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = "+literal(schema)+
		" AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var names []string
	for _, row := range rows {
		name, _ := row[0].(string)
		names = append(names, name)
	}
	return o.describe(ctx, schema, names)
}

func (o *owner) describe(ctx context.Context, schema string, names []string) ([]engine.Relation, error) {
	t, err := o.engine.pool.begin(ctx, nil, false)
	if err != nil {
		return nil, unconnected(ctx, err)
	}
	defer t.end()
	c := &catalog.Catalog{Engine: o.engine.catalog.Engine}
	for _, name := range names {
		c.Tables = append(c.Tables, &catalog.Table{Name: name, Source: catalog.Source{Text: name, Format: catalog.Relation, Schema: schema, Table: name}})
	}
	seen, err := look(ctx, t, c)
	if err != nil {
		return nil, err
	}
	all := make([]engine.Relation, len(names))
	for i, name := range names {
		d := seen.tables[name]
		r := engine.Relation{Schema: schema, Name: name, From: d.relation}
		if d.problem != nil {
			r.Problem, r.Hint = strings.TrimPrefix(d.problem.Why, name+": "), d.problem.Hint
		}
		for _, column := range d.columns {
			n := engine.Native{Name: column.name, Native: column.native, Type: column.shown, Denied: !column.readable || column.computed, Key: column.key}
			if column.to != nil {
				n.To = column.to
			}
			r.Columns = append(r.Columns, n)
		}
		all[i] = r
	}
	return all, nil
}

// Close ends the connection.
func (o *owner) Close() error { return o.engine.Close() }
