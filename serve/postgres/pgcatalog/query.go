package pgcatalog

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// Bounds on one statement.
const (
	maxSteps = 8_000_000 // rows looked at and values made
	maxCells = 2_000_000 // values that are kept
	maxBytes = 32 << 20  // of texts that are made
	maxValue = 4 << 20   // of one text
)

// A query is one run of a statement.
type query struct {
	ctx context.Context
	*database
	arguments []Parameter
	steps     int
	cells     int
	bytes     int
	cache     map[any]any
	item      any   // that a quantified comparison is at
	row       []any // that IN (query) is at
}

// tick counts work, and fails where it is too much.
func (q *query) tick(n int) {
	was := q.steps
	if q.steps += n; q.steps > maxSteps {
		fail(tooMuch, "the catalog query takes too much work")
	}
	if was>>12 != q.steps>>12 && q.ctx.Err() != nil {
		fail("57014", "canceling statement due to user request")
	}
}

// hold counts values that are kept.
func (q *query) hold(n int) {
	q.tick(1)
	if q.cells += n; q.cells > maxCells {
		fail(tooMuch, "the catalog query keeps too many rows")
	}
}

// made counts the bytes of a text, and returns it.
func (q *query) made(s string) string {
	q.room(len(s))
	return s
}

// room asks for the bytes of a text before it is made.
func (q *query) room(n int) {
	if q.bytes += n; n > maxValue || q.bytes > maxBytes {
		fail(tooMuch, "the catalog query makes texts that are too long")
	}
}

func (q *query) once(key any, make func() *table) *table {
	if t, ok := q.cache[key].(*table); ok {
		return t
	}
	t := make()
	q.cache[key] = t
	return t
}

func (f *frame) once(key any, make func() *table) *table {
	if t, ok := f.cache[key].(*table); ok {
		return t
	}
	t := make()
	f.keep(key, t)
	return t
}

func (f *frame) keep(key any, t *table) {
	if f.cache == nil {
		f.cache = map[any]any{}
	}
	f.cache[key] = t
}

// weigh counts the work of what looks at values: long texts and arrays take longer than others.
func (q *query) weigh(values ...any) {
	n := 0
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v) >> 5
		case *array:
			n += len(v.items)
		}
	}
	if n > 0 {
		q.tick(n)
	}
}

// given is a parameter as a value of a type.
type given struct {
	n int
	t oid
}

// argument returns the value of a parameter, read as one of a type. It is read once, however many rows ask.
func (q *query) argument(n int, t oid) any {
	if v, ok := q.cache[given{n, t}]; ok {
		return v
	}
	v := q.readArgument(n, t)
	q.cache[given{n, t}] = v
	return v
}

func (q *query) readArgument(n int, t oid) any {
	if n > len(q.arguments) {
		fail("08P01", "there is no value for parameter $%d", n)
	}
	p := q.arguments[n-1]
	if p.Value == nil {
		return nil
	}
	switch b := q.base(t); {
	case integer(b) && object(b) && b != oidOID && b != oidXID && b != oidCID:
		return q.object(b, *p.Value)
	case t == oidUnknown:
		return *p.Value
	}
	return q.read(t, *p.Value)
}

// A plan is a query that can be run.
type plan struct {
	columns  []column
	origins  []origin
	run      func(q *query, outer *frame, yield func([]any) bool)
	escapes  bool   // names something outside
	siblings uint64 // entries beside it that it names
}

// An origin is the column of a relation that a column of a result is.
type origin struct {
	table  oid
	attnum int16
}

func (p *plan) table(q *query, outer *frame) *table {
	t := &table{}
	p.run(q, outer, func(row []any) bool {
		q.hold(len(row) + 2)
		t.rows = append(t.rows, row)
		return true
	})
	return t
}

// query compiles a query within a scope, and gives values of unknown type one.
func (c *compiler) query(q *statement.Select, outer *scope) *plan {
	var used uint64
	if outer != nil {
		used, outer.used = outer.used, 0
	}
	p := c.parts(q, outer)
	if outer != nil {
		p.siblings = outer.used
		outer.used |= used
	}
	types := make([]oid, len(p.columns))
	for i, col := range p.columns {
		if types[i] = col.typ; col.typ == oidUnknown {
			types[i] = oidText
		}
	}
	return c.as(p, types)
}

// as makes the columns of a plan of these types.
func (c *compiler) as(p *plan, types []oid) *plan {
	convert := make([]func(*query, any) any, len(types))
	change := false
	columns := slices.Clone(p.columns)
	for i, t := range types {
		if columns[i].typ != t {
			convert[i] = c.conversion(columns[i].typ, t, -1)
			columns[i].typ, columns[i].mod = t, -1
			change = change || convert[i] != nil
		}
	}
	out := *p
	out.columns = columns
	if change {
		out.run = func(q *query, outer *frame, yield func([]any) bool) {
			p.run(q, outer, func(row []any) bool {
				row = slices.Clone(row)
				for i, f := range convert {
					if f != nil && row[i] != nil {
						row[i] = f(q, row[i])
					}
				}
				return yield(row)
			})
		}
	}
	return &out
}

// parts compiles a query; its columns may be of unknown type.
func (c *compiler) parts(q *statement.Select, outer *scope) *plan {
	s := &scope{outer: outer}
	for _, w := range q.With {
		c.with(s, w, q.Recursive)
	}
	var p *plan
	switch {
	case q.Op != "":
		p = c.setOperation(s, q)
	case len(q.Values) > 0:
		p = c.values(s, q)
	default:
		p = c.selection(s, q)
	}
	p.escapes = s.escapes
	return p
}

// values compiles VALUES.
func (c *compiler) values(s *scope, q *statement.Select) *plan {
	width := len(q.Values[0])
	var rows [][]*expr
	types := make([][]oid, width)
	for _, list := range q.Values {
		row := c.exprs(s, list)
		if len(row) != width {
			fail(syntax, "VALUES lists must all be the same length")
		}
		for i, x := range row {
			types[i] = append(types[i], x.typ)
		}
		rows = append(rows, row)
	}
	p := &plan{origins: make([]origin, width)}
	for i := range width {
		t := c.common(types[i])
		mod := rows[0][i].mod
		for _, row := range rows {
			if row[i].mod != mod || row[i].typ != t {
				mod = -1
			}
			row[i] = c.coerce(row[i], t, -1)
		}
		p.columns = append(p.columns, column{"column" + itoa(i+1), t, mod, rows[0][i].fields})
	}
	finish := c.ordering(s, q, p.columns, nil)
	p.run = func(qu *query, outer *frame, yield func([]any) bool) {
		f := &frame{q: qu, outer: outer}
		var out []outRow
		for _, row := range rows {
			vals := make([]any, width)
			for i, x := range row {
				vals[i] = x.eval(f)
			}
			qu.hold(width)
			out = append(out, outRow{vals, nil})
		}
		finish(f, out, yield)
	}
	return p
}
