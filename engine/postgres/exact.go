package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/internal/remote"
	"github.com/discreet-dp/discreet/sqltype"
)

const bigintOID = 20

// A snapshot is one transaction. It begins when it is first asked.
type snapshot struct {
	engine *Engine
	tables []string
	tx     *transaction
}

// Snapshot fixes the state of tables.
func (e *Engine) Snapshot(ctx context.Context, tables []string) (engine.Snapshot, error) {
	s := &snapshot{engine: e, tables: tables}
	if len(tables) == 0 {
		return s, nil
	}
	if err := s.begin(ctx); err != nil {
		return nil, remote.Failure(ctx, err)
	}
	return s, nil
}

func (s *snapshot) begin(ctx context.Context) (err error) {
	s.tx, err = s.engine.begin(ctx, s.tables, false, nil)
	return err
}

// Exact runs a release's query in a state of its own.
func (e *Engine) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	rows := &rows{types: exactTypes(q)}
	t, err := e.begin(ctx, q.Tables, true, func(tables []*table) []asked {
		return []asked{rows.of(with(reading(tables))+transport(q.SQL, rows.types), &q.Salt)}
	})
	if err != nil {
		return nil, remote.Failure(ctx, err)
	}
	t.end()
	return exact(q, rows.all), nil
}

// Exact runs a release's query. The rows come in the order of their keys.
func (s *snapshot) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	rows, err := s.rows(ctx, q.SQL, q.Tables, exactTypes(q), &q.Salt)
	if err != nil {
		return nil, remote.Failure(ctx, err)
	}
	return exact(q, rows), nil
}

func exactTypes(q engine.Query) []sqltype.Type {
	types := slices.Clone(q.Keys)
	for range q.Values {
		types = append(types, sqltype.DecimalOf(38, 0))
	}
	return types
}

// exact puts rows into the order of their keys.
func exact(q engine.Query, rows [][]sqltype.Value) *engine.Exact {
	slices.SortFunc(rows, func(a, b []sqltype.Value) int {
		for i := range q.Keys {
			if c := sqltype.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return engine.NewExact(rows)
}

// Close ends the transaction.
func (s *snapshot) Close() error {
	s.end()
	return nil
}

func (s *snapshot) end() {
	if s.tx != nil {
		s.tx.end()
	}
}

// rows runs one SELECT over tables of the snapshot, with a salt if there is one.
func (s *snapshot) rows(ctx context.Context, sql string, tables []string, types []sqltype.Type, salt *int64) (out [][]sqltype.Value, err error) {
	if s.tx == nil {
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	read, err := s.tx.readings(tables)
	if err != nil {
		return nil, err
	}
	r := &rows{types: types}
	if _, err := s.tx.run(ctx, r.of(with(read)+transport(sql, types), salt)); err != nil {
		return nil, err
	}
	return r.all, nil
}

// rows are those of a transported statement.
type rows struct {
	types []sqltype.Type
	all   [][]sqltype.Value
}

// of is the statement, whose rows are then these.
func (r *rows) of(sql string, salt *int64) asked {
	r.all = nil
	a := asked{sql: sql, row: r.add}
	if salt != nil {
		a.values, a.oids, a.often = [][]byte{strconv.AppendInt(nil, *salt, 10)}, []uint32{bigintOID}, true
	}
	return a
}

func (r *rows) add(texts [][]byte) (err error) {
	row := make([]sqltype.Value, len(r.types))
	for i, text := range texts {
		if row[i], err = value(text, r.types[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	r.all = append(r.all, row)
	return nil
}

// transport selects the columns of a statement in the form in which value reads them: what is
// counted, as the number.
func transport(sql string, types []sqltype.Type) string {
	names, columns := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		name := fmt.Sprintf("o%d", i)
		names[i], columns[i] = name, name
		switch t.Kind {
		case sqltype.DateKind:
			columns[i] = fmt.Sprintf("CAST(%s - DATE '1970-01-01' AS BIGINT)", name)
		case sqltype.TimestampKind, sqltype.TimeKind:
			columns[i] = fmt.Sprintf("CAST(extract(epoch FROM %s) * 1000000 AS BIGINT)", name)
		case sqltype.IntervalKind:
			columns[i] = fmt.Sprintf("extract(year FROM %[1]s) * 12 + extract(month FROM %[1]s) || ' ' || extract(day FROM %[1]s) || ' ' || "+
				"CAST((extract(hour FROM %[1]s) * 3600 + extract(minute FROM %[1]s) * 60 + extract(second FROM %[1]s)) * 1000000 AS BIGINT)", name)
		}
	}
	return fmt.Sprintf("SELECT %s FROM (\n%s\n) AS q(%s)", strings.Join(columns, ", "), sql, strings.Join(names, ", "))
}

var errNoValue = errors.New("the server's text is no value of the type") // without the text

// value reads the text of a transported column.
func value(text []byte, t sqltype.Type) (sqltype.Value, error) {
	if text == nil {
		return nil, nil
	}
	switch s := string(text); t.Kind {
	case sqltype.Text:
		return s, nil
	case sqltype.Smallint, sqltype.Integer, sqltype.Bigint, sqltype.DateKind, sqltype.TimeKind, sqltype.TimestampKind:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, errNoValue
		}
		switch t.Kind {
		case sqltype.DateKind:
			return sqltype.Date(n), nil
		case sqltype.TimeKind:
			return sqltype.Time(n), nil
		case sqltype.TimestampKind:
			return sqltype.Timestamp(n), nil
		}
		return n, nil
	case sqltype.DecimalKind:
		return decimal(s, t.Scale)
	case sqltype.IntervalKind:
		var i sqltype.Interval
		if _, err := fmt.Sscanf(s, "%d %d %d", &i.Months, &i.Days, &i.Micros); err != nil {
			return nil, errNoValue
		}
		return i, nil
	case sqltype.Boolean, sqltype.Real, sqltype.Double:
		v, err := sqltype.ParseValue(t, s)
		if err != nil {
			return nil, errNoValue
		}
		return v, nil
	}
	return nil, errNoValue
}

// decimal reads a number with so many digits after the point, and any before it.
func decimal(s string, scale uint8) (sqltype.Value, error) {
	whole, digits, point := strings.Cut(s, ".")
	if point && len(digits) != int(scale) || !point && scale != 0 {
		return nil, errNoValue
	}
	n, ok := new(big.Int).SetString(whole+digits, 10)
	if !ok {
		return nil, errNoValue
	}
	return sqltype.Decimal{Unscaled: n, Scale: scale}, nil
}
