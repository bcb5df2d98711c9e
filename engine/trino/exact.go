package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/sqltype"
)

// A snapshot is one state of each table: it is looked at when the first query reads it.
type snapshot struct {
	engine *Engine
	tables []string
	known  map[string]*table
	single bool // it is for one query
}

// Snapshot fixes the state of tables.
func (e *Engine) Snapshot(ctx context.Context, tables []string) (engine.Snapshot, error) {
	s := &snapshot{engine: e, tables: tables}
	if _, err := s.readings(ctx, tables, ""); err != nil {
		return nil, remote.Failure(ctx, err)
	}
	return s, nil
}

// Exact runs a release's query in a state of its own.
func (e *Engine) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	return (&snapshot{engine: e, tables: q.Tables, single: true}).Exact(ctx, q)
}

// once reports whether a statement reads a table in one place.
func once(sql, table string) bool { return strings.Count(sql, quote(table)) == 1 }

// Exact runs a release's query. The rows come in the order of their keys.
func (s *snapshot) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	types := slices.Clone(q.Keys)
	for range q.Values {
		types = append(types, sqltype.DecimalOf(38, 0))
	}
	rows, err := s.rows(ctx, q.SQL, q.Tables, types, q.Salt)
	if err != nil {
		return nil, remote.Failure(ctx, err)
	}
	slices.SortFunc(rows, func(a, b []sqltype.Value) int {
		for i := range q.Keys {
			if c := sqltype.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return engine.NewExact(rows), nil
}

// Close does nothing: a snapshot is a number.
func (s *snapshot) Close() error { return nil }

// readings are the texts that read tables in a statement. Where it is the only one and reads a table
// in one place, it sees one snapshot without a number; and with a number Trino does not know how the
// table is laid out.
func (s *snapshot) readings(ctx context.Context, names []string, sql string) (texts []string, err error) {
	var unknown []*catalog.Table
	for _, name := range names {
		declared, ok := s.engine.catalog.Table(name)
		switch {
		case !slices.Contains(s.tables, name):
			return nil, fmt.Errorf("table %q is not in the snapshot", name)
		case !ok:
			return nil, fmt.Errorf("table %q is not declared", name)
		case s.known[name] == nil:
			unknown = append(unknown, declared)
		}
	}
	if len(unknown) > 0 {
		seen, err := s.engine.look(ctx, unknown)
		if err != nil {
			return nil, err
		}
		if s.known == nil {
			s.known = map[string]*table{}
		}
		for _, t := range seen {
			s.known[t.declared.Name] = t
		}
	}
	for _, name := range names {
		text := s.known[name].read
		if s.single && once(sql, name) {
			text = s.known[name].current
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// rows runs one SELECT over tables of the snapshot.
func (s *snapshot) rows(ctx context.Context, sql string, tables []string, types []sqltype.Type, salt int64) ([][]sqltype.Value, error) {
	read, err := s.readings(ctx, tables, sql)
	if err != nil {
		return nil, err
	}
	a, err := s.engine.ask(ctx, withed(read)+transport(salted(sql, salt), types))
	if err != nil {
		return nil, err
	}
	out := make([][]sqltype.Value, len(a.rows))
	for i, cells := range a.rows {
		if out[i], err = values(cells, types); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// values reads a row of transported columns.
func values(cells []cell, types []sqltype.Type) ([]sqltype.Value, error) {
	if len(cells) != len(types) {
		return nil, errNoValue
	}
	row := make([]sqltype.Value, len(types))
	for i, c := range cells {
		text, err := c.asText()
		if err != nil {
			return nil, err
		}
		if row[i], err = value(text, types[i]); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return row, nil
}

// salted puts a salt into a rendered statement: where its mark stands in no text and no name.
func salted(sql string, salt int64) string {
	var b strings.Builder
	within := byte(0)
	for i := 0; i < len(sql); i++ {
		c := sql[i]
		switch {
		case within == 0 && (c == '\'' || c == '"'):
			within = c
		case within == c:
			within = 0 // a doubled one opens again at once
		case within == 0 && strings.HasPrefix(sql[i:], derive.TrinoSalt):
			fmt.Fprintf(&b, "BIGINT '%d'", salt)
			i += len(derive.TrinoSalt) - 1
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// transport selects the columns of a statement as texts: JSON has no number for all of them. That
// of a real has seven digits, and that of a double all.
func transport(sql string, types []sqltype.Type) string {
	names, columns := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		names[i] = fmt.Sprintf("o%d", i)
		columns[i] = "CAST(" + names[i] + " AS VARCHAR)"
		if t.Kind == sqltype.Real {
			columns[i] = "CAST(CAST(" + names[i] + " AS DOUBLE) AS VARCHAR)"
		}
	}
	return fmt.Sprintf("SELECT %s FROM (\n%s\n) AS q(%s)", strings.Join(columns, ", "), sql, strings.Join(names, ", "))
}

var errNoValue = errors.New("the cluster's text is no value of the type") // without the text

// value reads the text of a transported column.
func value(text *string, t sqltype.Type) (sqltype.Value, error) {
	if text == nil {
		return nil, nil
	}
	if t.Kind == sqltype.Text {
		return *text, nil
	}
	v, err := sqltype.ParseValue(t, *text)
	if err != nil || v == nil {
		return nil, errNoValue
	}
	return v, nil
}
