//go:build cgo

package release_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/least"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// Machines are two engines over the same databases: in one a single thread
// reads the rows in order, in the other several threads read them in another.
type machines struct {
	plain, other *sql.Conn
	loaded       *example // as the real engine reads it
}

func newMachines(t testing.TB) *machines {
	open := func(settings string) *sql.Conn {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.ExecContext(t.Context(), settings+"; CREATE SCHEMA d; CREATE SCHEMA e"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	return &machines{
		plain: open("SET threads = 1"),
		other: open("SET threads = 4; SET preserve_insertion_order = false; PRAGMA verify_parallelism; PRAGMA disable_optimizer"),
	}
}

// load creates the example's tables in both machines. The engine's contract is
// kept here: what is not a value of its type, NaN, infinities and infinite
// dates are NULL, −0 is 0.
func (m *machines) load(ctx context.Context, x *example, p pipeline) error {
	if m.loaded == x && p.canonical == nil {
		return nil
	}
	if m.loaded = x; p.canonical != nil {
		m.loaded = nil
	}
	canonical := p.canonical
	if canonical == nil {
		canonical = canon
	}
	script := func(reorder func([]row) []row) string {
		var b strings.Builder
		for i, schema := range []string{"d", "e"} {
			d := []database{x.d, x.e}[i]
			for _, t := range x.tables {
				var fields []string
				for i, c := range t.columns {
					fields = append(fields, fmt.Sprintf("%s AS %s", canonical(c.typ, fmt.Sprintf("TRY_CAST(v%d AS %s)", i, engineType(c.typ))), c.name))
				}
				fmt.Fprintf(&b, "CREATE OR REPLACE TABLE %s.%s AS SELECT %s FROM %s;\n", schema, t.name, strings.Join(fields, ", "), t.values(reorder(d[t.name])))
			}
		}
		return b.String()
	}
	if _, err := m.plain.ExecContext(ctx, script(slices.Clone)); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	shuffle := rand.New(rand.NewPCG(1, uint64(len(x.text))))
	_, err := m.other.ExecContext(ctx, script(func(rows []row) []row {
		rows = slices.Clone(rows)
		shuffle.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}))
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// values prints rows of texts v0, v1, ... for FROM.
func (t *table) values(rows []row) string {
	names := []string{"n"}
	for i := range t.columns {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	var all []string
	for i, r := range append(slices.Clone(rows), make(row, len(t.columns))) { // an empty list is no list
		all = append(all, fmt.Sprintf("(%d, %s)", i, literals(r)))
	}
	return fmt.Sprintf("(SELECT * FROM (VALUES %s) AS t(%s) LIMIT %d) AS t", strings.Join(all, ", "), strings.Join(names, ", "), len(rows))
}

func literals(r row) string {
	var out []string
	for _, v := range r {
		if s, ok := v.(string); ok {
			out = append(out, "'"+strings.ReplaceAll(s, "'", "''")+"'")
		} else {
			out = append(out, "CAST(NULL AS VARCHAR)")
		}
	}
	return strings.Join(out, ", ")
}

func engineType(typ string) string {
	switch typ {
	case "real":
		return "FLOAT"
	case "text":
		return "VARCHAR"
	}
	return typ
}

// canon prints the canonical value of a field.
func canon(typ, value string) string {
	switch typ {
	case "real", "double":
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s + CAST(0 AS %s) END", value, value, engineType(typ))
	case "date", "timestamp":
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", value, value)
	}
	return value
}

// A group is one row of a release's query.
type group struct {
	key    []any
	values []*big.Int
}

// groups are a result, by key.
type groups map[string]group

func (g groups) differs(h groups) string {
	for _, pair := range [][2]groups{{g, h}, {h, g}} {
		for key, v := range pair[0] {
			w, ok := pair[1][key]
			if !ok {
				return fmt.Sprintf("group %s is in one result alone", key)
			}
			for i := range v.values {
				if v.values[i].Cmp(w.values[i]) != 0 {
					return fmt.Sprintf("value %d of group %s is %v and %v", i, key, v.values[i], w.values[i])
				}
			}
		}
	}
	return ""
}

func (g groups) add(h groups) {
	for key, v := range h {
		if w, ok := g[key]; ok {
			for i := range v.values {
				w.values[i].Add(w.values[i], v.values[i])
			}
		} else {
			g[key] = v
		}
	}
}

// exactGroups runs a query in a schema. It fails on two rows of one key, and
// on values that are no integers.
//
// Where there are forms by package least or over copies, these must say the same.
func exactGroups(ctx context.Context, on *sql.Conn, schema string, q engine.Query, salt int64, slice, slices int) (groups, error) {
	var forms []string
	know := func(register func(*duckdb.Conn) error) {
		_ = on.Raw(func(c any) error { return register(c.(*duckdb.Conn)) }) // which says no if the function is known
	}
	if of := q.Least; of != nil {
		know(func(c *duckdb.Conn) error {
			return least.Register(c, least.Shape{Groups: of.Groups, Values: of.Values})
		})
		forms = append(forms, of.SQL)
	}
	if of := q.Whole; of != nil {
		forms = append(forms, of.SQL)
	}
	if of := q.Totals; of != nil {
		know(least.Totals{Values: of.Values, Totals: of.Totals}.Register)
		if slices == 1 {
			forms = append(forms, of.SQL)
		}
	}
	if h := q.Held; h != nil {
		forms = append(forms, h.SQL)
		if of := h.Least; of != nil {
			know(func(c *duckdb.Conn) error {
				return least.Register(c, least.Shape{Groups: of.Groups, Values: of.Values})
			})
			forms = append(forms, of.SQL)
		}
		if of := h.Totals; of != nil && slices == 1 {
			know(least.Totals{Values: of.Values, Totals: of.Totals}.Register)
			forms = append(forms, of.SQL)
		}
	}
	own, err := exactRows(ctx, on, schema, q, salt, slice, slices)
	for _, form := range forms {
		if err != nil || form == q.SQL {
			return own, err
		}
		other := q
		other.SQL = form
		byUnit, failed := exactRows(ctx, on, schema, other, salt, slice, slices)
		if failed != nil {
			return nil, failed
		}
		if difference := own.differs(byUnit); difference != "" {
			return nil, fmt.Errorf("%s in the SQL and %s", difference, form)
		}
	}
	return own, err
}

// laid has the rows of copies, as copies have them, in place of their names in all forms of a query: in no order.
func laid(b *plan.Bounded, q engine.Query) error {
	var failed error
	var tables []*catalog.Table
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok {
			tables = append(tables, s.Table)
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(b.Input)
	into := func(text *string) {
		for _, t := range tables {
			if t.Unit.Column == nil {
				continue
			}
			beside, err := render.Beside(t)
			failed = errors.Join(failed, err)
			of := fmt.Sprintf(`SELECT %s, %q AS %s FROM %q AS r WHERE %q IS NOT NULL`, strings.Join(append([]string{"r.*"}, beside...), ", "), t.Unit.Column.Name, engine.UnitKey, t.Name, t.Unit.Column.Name)
			if t.Unit.Kind == catalog.UnitReference {
				of = fmt.Sprintf("SELECT t.*, o.unit AS %s FROM %q AS t JOIN (%s) AS o ON t.%q = o.key", engine.UnitKey, t.Name, owned(t.Unit.References, t.Unit.Referred), t.Unit.Column.Name)
			}
			*text = strings.ReplaceAll(*text, fmt.Sprintf("FROM %q", engine.LaidName(t.Name)), fmt.Sprintf("FROM (SELECT *, dense_rank() OVER (ORDER BY %s) AS %s, count(*) OVER (PARTITION BY %s) AS %s FROM (%s) AS t) AS t",
				engine.UnitKey, engine.UnitNumber, engine.UnitKey, engine.UnitRows, of))
		}
	}
	if q.Whole != nil {
		into(&q.Whole.SQL)
	}
	if q.Totals != nil {
		into(&q.Totals.SQL)
	}
	if h := q.Held; h != nil {
		into(&h.SQL)
		if h.Least != nil {
			into(&h.Least.SQL)
		}
		if h.Totals != nil {
			into(&h.Totals.SQL)
		}
	}
	return failed
}

// owned selects the units of a table's rows by one of its columns.
func owned(t *catalog.Table, by *catalog.Column) string {
	if t.Unit.Kind == catalog.UnitReference {
		return fmt.Sprintf("SELECT t.%q AS key, o.unit FROM %q AS t JOIN (%s) AS o ON t.%q = o.key", by.Name, t.Name, owned(t.Unit.References, t.Unit.Referred), t.Unit.Column.Name)
	}
	unit := fmt.Sprintf("%q", t.Unit.Column.Name)
	where := unit
	if t.Unit.Column.Type.IsInteger() {
		unit = "CAST(" + unit + " AS BIGINT)"
	}
	return fmt.Sprintf("SELECT %q AS key, %s AS unit FROM %q WHERE %s IS NOT NULL", by.Name, unit, t.Name, where)
}

func exactRows(ctx context.Context, on *sql.Conn, schema string, q engine.Query, salt int64, slice, slices int) (groups, error) {
	text := strings.NewReplacer("$salt", fmt.Sprint(salt), "$slices", fmt.Sprint(slices), "$slice", fmt.Sprint(slice)).Replace(q.SQL)
	keys := len(q.Keys)
	if _, err := on.ExecContext(ctx, "SET schema = '"+schema+"'"); err != nil {
		return nil, err
	}
	rows, err := on.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := groups{}
	for rows.Next() {
		cells, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		g := group{key: cells[:keys]}
		for _, v := range cells[keys:] {
			switch v := v.(type) {
			case nil:
				g.values = append(g.values, new(big.Int))
			case *big.Int:
				g.values = append(g.values, new(big.Int).Set(v))
			default:
				return nil, fmt.Errorf("%T %v is no integer", v, v)
			}
		}
		key := bits(g.key)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("group %s stands twice", key)
		}
		out[key] = g
	}
	return out, rows.Err()
}

// bits prints values so that different ones, −0 and 0 too, look different.
func bits(values []any) string {
	var out []string
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			out = append(out, fmt.Sprintf("%v/%x", v, math.Float64bits(v)))
		case float32:
			out = append(out, fmt.Sprintf("%v/%x", v, math.Float32bits(v)))
		case duckdb.Decimal:
			out = append(out, fmt.Sprintf("%v/%d", v.Value, v.Scale))
		case string:
			out = append(out, fmt.Sprintf("%q", v))
		case time.Time:
			out = append(out, v.UTC().Format("2006-01-02T15:04:05.999999"))
		default:
			out = append(out, fmt.Sprintf("%v", v))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// valueOf converts the driver's value.
func valueOf(v any, t sqltype.Type) sqltype.Value {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case duckdb.Decimal:
		return sqltype.Decimal{Unscaled: v.Value, Scale: v.Scale}
	case time.Time:
		switch t.Kind {
		case sqltype.DateKind:
			return sqltype.Date(math.Floor(float64(v.Unix()) / 86400))
		case sqltype.TimeKind:
			return sqltype.Time(v.UTC().Sub(v.UTC().Truncate(24*time.Hour)) / time.Microsecond)
		}
		return sqltype.Timestamp(v.UnixMicro())
	}
	return v
}
