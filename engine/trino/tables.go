package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A table is what a source is at the moment that it is looked at: its columns, and the snapshot
// that is current.
type table struct {
	declared *catalog.Table
	read     string // the text that reads that snapshot, as a named relation
	current  string // the text that reads the one that is current when a query begins
}

type column struct{ name, native string }

func refused(t *catalog.Table, why, hint string) error {
	return diagnostic.New("D101", diagnostic.Span{}, "table %q cannot be read", t.Name).
		Because("%s: %s", t.Source.Text, why).Try("%s", hint)
}

// nameless refuses a source whose name does not lead to one table.
func nameless(t *catalog.Table) error {
	s := t.Source
	switch {
	case s.Database == "":
		return refused(t, "the name of a table of Trino has three parts", `write it as in "lake.clinic.visits": catalog, schema, table`)
	case s.Text != strings.ToLower(s.Text) || strings.Contains(s.Table, "$"):
		return refused(t, "names are in small letters in Trino, and a dollar leads to what is not a table's rows", "name the table itself, in small letters")
	}
	return nil
}

func relation(t *catalog.Table) string {
	return quote(t.Source.Database) + "." + quote(t.Source.Schema) + "." + quote(t.Source.Table)
}

// snapshotOf is a SELECT of the number of the current snapshot of the i-th, an Iceberg table.
func snapshotOf(t *catalog.Table, i int) string {
	return fmt.Sprintf("SELECT '%d', 'snapshot', CAST(snapshot_id AS VARCHAR), '' FROM ", i) + quote(t.Source.Database) + "." + quote(t.Source.Schema) + "." + quote(t.Source.Table+"$refs") + " WHERE name = 'main' AND type = 'BRANCH'"
}

// find sees whether tables' snapshots have numbers. That one cannot be read at all is said when it
// is to be.
func (e *Engine) find(ctx context.Context, tables []*catalog.Table) error {
	if len(tables) == 0 {
		return nil
	}
	// Whoever may see what connectors there are need not try each table.
	others := map[string]bool{}
	rows, err := e.query(ctx, "SELECT catalog_name, connector_name FROM system.metadata.catalogs")
	var said *failed
	if err != nil && (!errors.As(err, &said) || said.Kind != "USER_ERROR") {
		return err
	}
	for _, row := range rows {
		if row[0] != nil && row[1] != nil && *row[1] != "iceberg" {
			others[*row[0]] = true
		}
	}
	for _, t := range tables {
		if nameless(t) != nil || others[t.Source.Database] {
			continue
		}
		_, err := e.query(ctx, snapshotOf(t, 0))
		if err != nil && (!errors.As(err, &said) || said.Kind != "USER_ERROR") {
			return err
		}
		e.mu.Lock()
		e.pinned[t.Name] = err == nil
		e.mu.Unlock()
	}
	return nil
}

// Moving are the tables of these names whose snapshots have no numbers.
func (e *Engine) Moving(tables []string) (moving []string) {
	for _, name := range tables {
		if !e.fixed(name) {
			moving = append(moving, name)
		}
	}
	return moving
}

// look looks at tables, all of them at once, and decides how each is read.
func (e *Engine) look(ctx context.Context, tables []*catalog.Table) ([]*table, error) {
	seen, err := e.describe(ctx, tables)
	if err != nil {
		return nil, err
	}
	all := make([]*table, len(tables))
	for i, t := range tables {
		read, err := reading(t, seen[i].columns, seen[i].from, false)
		if err != nil {
			return nil, err
		}
		current, err := reading(t, seen[i].columns, relation(t), true)
		if err != nil {
			return nil, err
		}
		all[i] = &table{t, read, current}
	}
	return all, nil
}

// A sight is what a table is: its columns, and what its current snapshot is selected from.
type sight struct {
	kind, version string
	columns       []column
	from          string
}

// describe looks at tables that find has seen.
func (e *Engine) describe(ctx context.Context, tables []*catalog.Table) ([]sight, error) {
	var parts []string
	for i, t := range tables {
		if err := nameless(t); err != nil {
			return nil, err
		}
		within := quote(t.Source.Database) + ".information_schema."
		where := " WHERE table_schema = " + literal(t.Source.Schema) + " AND table_name = " + literal(t.Source.Table)
		parts = append(parts, fmt.Sprintf("SELECT '%d', 'column', column_name, data_type FROM %scolumns%s UNION ALL SELECT '%d', 'table', table_type, '' FROM %stables%s", i, within, where, i, within, where))
		if e.fixed(t.Name) {
			parts = append(parts, snapshotOf(t, i))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := e.query(ctx, strings.Join(parts, " UNION ALL "))
	if err != nil {
		return nil, err
	}
	seen := make([]sight, len(tables))
	for _, row := range rows {
		if slices.Contains(row[:4], nil) {
			return nil, errors.New("trino: a table was not described")
		}
		i, err := strconv.Atoi(*row[0])
		if err != nil {
			return nil, errors.New("trino: a table was not described")
		}
		switch *row[1] {
		case "column":
			seen[i].columns = append(seen[i].columns, column{*row[2], *row[3]})
		case "table":
			seen[i].kind = *row[2]
		case "snapshot":
			seen[i].version = *row[2]
		}
	}
	for i, t := range tables {
		s := &seen[i]
		switch pinned := e.fixed(t.Name); {
		case s.kind == "":
			return nil, refused(t, "there is no such table, or the user may not see it", "discreet reads as the user of the URL: see what SHOW TABLES tells that one")
		case s.kind != "BASE TABLE":
			return nil, refused(t, "it is a view, whose rows can be those of any table", "name the table itself; a view over it can be declared under [views], and derived columns with `is`")
		case pinned && strings.Trim(s.version, "0123456789") != "":
			return nil, errors.New("trino: a snapshot has no number")
		case pinned && s.version == "":
			return nil, refused(t, "it has no snapshot yet", "write to it once: it has no rows")
		}
		if s.from = relation(t); s.version != "" {
			s.from += " FOR VERSION AS OF " + s.version
		}
	}
	return seen, nil
}

// fixed reports whether a table's snapshots have numbers.
func (e *Engine) fixed(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pinned[name]
}

// reading is the text of the relation that statements see. With laid, the unit's column is read so
// that the planner knows it as one by which the table may be laid out.
func reading(t *catalog.Table, columns []column, from string, laid bool) (string, error) {
	r, err := derive.Read(t)
	if err != nil {
		return "", refused(t, "its derived columns mean nothing", "discreet check")
	}
	var fields, whole []string
	for i, f := range r.Fields {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == f.Name })
		if at < 0 {
			return "", refused(t, fmt.Sprintf("it has no column %q", f.Name), "names are in small letters in Trino")
		}
		c := columns[at]
		value, ok := derive.TrinoField(quote(c.name), c.native, f.Type)
		if !ok {
			return "", refused(t, fmt.Sprintf("its column %q is of type %s, which cannot be read as %s", c.name, c.native, f.Type), "declare another type, or leave the column out")
		}
		if plain, ok := derive.TrinoPlain(quote(c.name), c.native, f.Type); ok && laid && f.Column != nil && f.Column == t.Unit.Column {
			value = plain
		}
		if fields = append(fields, fmt.Sprintf("%s AS c%d", value, i)); f.Column != nil {
			whole = append(whole, fmt.Sprintf("(%s IS NULL OR %s IS NOT NULL)", quote(c.name), value))
		}
	}
	inner := "SELECT " + strings.Join(fields, ", ") + " FROM " + from
	if t.Malformed == catalog.SkipRecord && len(whole) > 0 {
		inner += " WHERE " + strings.Join(whole, " AND ")
	}
	values, err := r.TrinoColumns()
	var said *diagnostic.Diagnostic
	if errors.As(err, &said) {
		return "", refused(t, said.Message, said.Hint)
	}
	if err != nil {
		return "", refused(t, "its derived columns cannot be computed", "discreet check")
	}
	for i, c := range t.Columns {
		values[i] += " AS " + quote(c.Name)
	}
	return quote(t.Name) + " AS (SELECT " + strings.Join(values, ", ") + " FROM (" + inner + ") AS t)", nil
}
