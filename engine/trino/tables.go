package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
}

type column struct{ name, native string }

func refused(t *catalog.Table, why, hint string) error {
	return diagnostic.New("D101", diagnostic.Span{}, "table %q cannot be read", t.Name).
		Because("%s: %s", t.Source.Text, why).Try("%s", hint)
}

// named refuses a source whose name does not lead to one table.
func named(t *catalog.Table) error {
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

// snapshotOf is a SELECT of the number of an Iceberg table's current snapshot.
func snapshotOf(t *catalog.Table) string {
	return "SELECT 'snapshot', CAST(snapshot_id AS VARCHAR), '' FROM " + quote(t.Source.Database) + "." + quote(t.Source.Schema) + "." + quote(t.Source.Table+"$refs") + " WHERE name = 'main' AND type = 'BRANCH'"
}

// find sees whether a table's snapshots have numbers. That it cannot be read at all is said when
// it is to be.
func (e *Engine) find(ctx context.Context, t *catalog.Table) error {
	if named(t) != nil {
		return nil
	}
	_, err := e.query(ctx, snapshotOf(t))
	var said *failed
	if err != nil && (!errors.As(err, &said) || said.Kind != "USER_ERROR") {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pinned[t.Name] = err == nil
	return nil
}

// look looks at a table, and decides how it is read.
func (e *Engine) look(ctx context.Context, t *catalog.Table) (*table, error) {
	if err := named(t); err != nil {
		return nil, err
	}
	within := quote(t.Source.Database) + ".information_schema."
	where := " WHERE table_schema = " + literal(t.Source.Schema) + " AND table_name = " + literal(t.Source.Table)
	text := "SELECT 'column', column_name, data_type FROM " + within + "columns" + where +
		" UNION ALL SELECT 'table', table_type, '' FROM " + within + "tables" + where
	e.mu.Lock()
	pinned := e.pinned[t.Name]
	e.mu.Unlock()
	if pinned {
		text += " UNION ALL " + snapshotOf(t)
	}
	rows, err := e.query(ctx, text)
	if err != nil {
		return nil, err
	}
	var columns []column
	kind, version := "", ""
	for _, row := range rows {
		if slices.Contains(row[:3], nil) {
			return nil, errors.New("trino: a table was not described")
		}
		switch *row[0] {
		case "column":
			columns = append(columns, column{*row[1], *row[2]})
		case "table":
			kind = *row[1]
		case "snapshot":
			version = *row[1]
		}
	}
	switch {
	case kind == "":
		return nil, refused(t, "there is no such table, or the user may not see it", "discreet reads as the user of the URL: see what SHOW TABLES tells that one")
	case kind != "BASE TABLE":
		return nil, refused(t, "it is a view, whose rows can be those of any table", "name the table itself; a view over it can be declared under [views], and derived columns with `is`")
	case pinned && strings.Trim(version, "0123456789") != "":
		return nil, errors.New("trino: a snapshot has no number")
	case pinned && version == "":
		return nil, refused(t, "it has no snapshot yet", "write to it once: it has no rows")
	}
	from := relation(t)
	if version != "" {
		from += " FOR VERSION AS OF " + version
	}
	read, err := reading(t, columns, from)
	if err != nil {
		return nil, err
	}
	return &table{t, read}, nil
}

// reading is the text of the relation that statements see.
func reading(t *catalog.Table, columns []column, from string) (string, error) {
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
