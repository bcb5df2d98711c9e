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

// with compiles a query that WITH names.
func (c *compiler) with(s *scope, w *statement.CTE, recursive bool) {
	e := &cte{scope: s}
	if recursive && w.Query.Op == "UNION" && names(w.Query.Right, w.Name) {
		if len(w.Query.Order) > 0 || w.Query.Limit != nil || len(w.Query.With) > 0 {
			fail(unsupported, "ORDER BY, LIMIT and WITH in a recursive query are not supported")
		}
		e.plan = c.query(w.Query.Left, s)
		e.columns = rename(e.plan.columns, w.Columns)
		e.all, e.working = w.Query.All, true
		s.ctes = with(s.ctes, w.Name, e)
		recursive := c.query(w.Query.Right, s)
		if len(recursive.columns) != len(e.columns) {
			fail(syntax, "each UNION query must have the same number of columns")
		}
		var types []oid
		for _, col := range e.columns {
			types = append(types, col.typ)
		}
		e.recursive = c.as(recursive, types)
		e.working = false
		return
	}
	e.plan = c.query(w.Query, s)
	e.columns = rename(e.plan.columns, w.Columns)
	s.ctes = with(s.ctes, w.Name, e)
}

func with(m map[string]*cte, name string, e *cte) map[string]*cte {
	if m == nil {
		m = map[string]*cte{}
	}
	m[name] = e
	return m
}

// names says whether a query names a relation without a schema.
func names(q *statement.Select, name string) (found bool) {
	visit(q, func(r *statement.Relation) { found = found || r.Schema == "" && r.Name == name }, nil)
	return found
}

// table runs a query of WITH.
func (e *cte) table(owner *frame) *table {
	q := owner.q
	t := e.plan.table(q, owner)
	if e.recursive == nil {
		return t
	}
	seen := map[string]bool{}
	fresh := func(rows [][]any) (out [][]any) {
		for _, row := range rows {
			if !e.all {
				k := string(key(nil, &record{values: row}))
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			out = append(out, row)
		}
		return out
	}
	step := fresh(t.rows)
	total := slices.Clone(step)
	for len(step) > 0 {
		q.tick(10)
		inner := &frame{q: q, outer: owner.outer, rows: owner.rows, cache: map[any]any{e: &table{rows: step}}}
		for k, v := range owner.cache { // what else WITH names, once run
			if k != any(e) {
				inner.cache[k] = v
			}
		}
		step = fresh(e.recursive.table(q, inner).rows)
		total = append(total, step...)
	}
	return &table{rows: total}
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

// setOperation compiles UNION, INTERSECT and EXCEPT.
func (c *compiler) setOperation(s *scope, q *statement.Select) *plan {
	left, right := c.parts(q.Left, s), c.parts(q.Right, s)
	if len(left.columns) != len(right.columns) {
		fail(syntax, "each %s query must have the same number of columns", q.Op)
	}
	var types []oid
	p := &plan{origins: make([]origin, len(left.columns))}
	for i, l := range left.columns {
		r := right.columns[i]
		t := c.common([]oid{l.typ, r.typ})
		if l.typ == oidUnknown && r.typ == oidUnknown {
			t = oidText
		}
		types = append(types, t)
		mod := l.mod
		if l.typ != t || r.typ != t || l.mod != r.mod {
			mod = -1
		}
		p.columns = append(p.columns, column{l.name, t, mod, l.fields})
	}
	left, right = c.as(left, types), c.as(right, types)
	finish := c.ordering(s, q, p.columns, nil)
	p.run = func(qu *query, outer *frame, yield func([]any) bool) {
		f := &frame{q: qu, outer: outer}
		l, r := left.table(qu, f).rows, right.table(qu, f).rows
		var rows []outRow
		give := func(row []any) { rows = append(rows, outRow{row, nil}) }
		id := func(row []any) string { qu.tick(1); return string(key(nil, &record{values: row})) }
		seen := map[string]int{}
		switch q.Op {
		case "UNION":
			for _, row := range slices.Concat(l, r) {
				if k := id(row); q.All || seen[k] == 0 {
					seen[k]++
					give(row)
				}
			}
		default:
			for _, row := range r {
				seen[id(row)]++
			}
			given := map[string]bool{}
			for _, row := range l {
				k := id(row)
				in := seen[k] > 0
				if in && q.All {
					seen[k]--
				}
				if in == (q.Op == "INTERSECT") && (q.All || !given[k]) {
					given[k] = true
					give(row)
				}
			}
		}
		finish(f, rows, yield)
	}
	return p
}

// An outRow is a row of a result with the keys by which it is sorted, those of DISTINCT ON first.
type outRow struct{ values, keys []any }

// A sortKey is a key of ORDER BY: a column of the result, or an expression.
type sortKey struct {
	position         int // or -1
	expr             *expr
	desc, nullsFirst bool
}

// sortKeys finds what ORDER BY means.
func (c *compiler) sortKeys(s *scope, order []statement.Order, columns []column, expression func(statement.Expr) *expr) (keys []sortKey) {
	for _, o := range order {
		k := sortKey{position: -1, desc: o.Desc, nullsFirst: o.NullsFirst}
		if n, ok := o.Expr.(*statement.Const); ok {
			i, ok := n.Value.(int64)
			if ok && (i < 1 || int(i) > len(columns)) {
				fail("42P10", "ORDER BY position %d is not in select list", i)
			}
			if ok {
				k.position = int(i) - 1
			}
		}
		if col, ok := o.Expr.(*statement.Column); ok && len(col.Parts) == 1 && !col.Star && k.position < 0 {
			k.position = slices.IndexFunc(columns, func(x column) bool { return x.name == col.Parts[0] })
		}
		if k.position < 0 {
			if expression == nil {
				fail(unsupported, "ORDER BY of this query must name its columns")
			}
			k.expr = expression(o.Expr)
		}
		keys = append(keys, k)
	}
	return keys
}

// ordering compiles ORDER BY, LIMIT and OFFSET of rows that are all there.
func (c *compiler) ordering(s *scope, q *statement.Select, columns []column, expression func(statement.Expr) *expr) func(*frame, []outRow, func([]any) bool) {
	keys := c.sortKeys(s, q.Order, columns, expression)
	limits := c.limits(s, q)
	return func(f *frame, rows []outRow, yield func([]any) bool) {
		if len(keys) > 0 {
			sortRows(f.q, rows, keys)
		}
		skip, most := limits(f)
		for _, row := range rows {
			if skip > 0 {
				skip--
				continue
			}
			if most == 0 || !yield(row.values) {
				return
			}
			most--
		}
	}
}

// sortRows sorts by keys: those that are expressions have their values in the rows.
func sortRows(q *query, rows []outRow, keys []sortKey) {
	slices.SortStableFunc(rows, func(a, b outRow) int {
		q.tick(1)
		for i, k := range keys {
			var x, y any
			if k.position >= 0 {
				x, y = a.values[k.position], b.values[k.position]
			} else {
				x, y = a.keys[i], b.keys[i]
			}
			n := 0
			switch {
			case x == nil && y == nil:
				continue
			case x == nil:
				n = 1
				if k.nullsFirst {
					n = -1
				}
				return n
			case y == nil:
				n = -1
				if k.nullsFirst {
					n = 1
				}
				return n
			}
			if n = compare(x, y); n != 0 {
				if k.desc {
					n = -n
				}
				return n
			}
		}
		return 0
	})
}

// limits compiles LIMIT and OFFSET; a limit of -1 is none.
func (c *compiler) limits(s *scope, q *statement.Select) func(*frame) (skip, most int64) {
	bound := func(e statement.Expr) *expr {
		if e == nil {
			return nil
		}
		return c.coerce(c.expr(s, e), oidInt8, -1)
	}
	limit, offset := bound(q.Limit), bound(q.Offset)
	return func(f *frame) (skip, most int64) {
		most = -1
		if limit != nil {
			if n, ok := limit.eval(f).(int64); ok {
				if most = n; n < 0 {
					fail("2201W", "LIMIT must not be negative")
				}
			}
		}
		if offset != nil {
			if n, ok := offset.eval(f).(int64); ok {
				if skip = n; n < 0 {
					fail("2201X", "OFFSET must not be negative")
				}
			}
		}
		return skip, most
	}
}

// sublink compiles a query in an expression.
func (c *compiler) sublink(s *scope, e *statement.Sublink) *expr {
	p := c.query(e.Query, s)
	rows := func(f *frame) *table {
		if !p.escapes {
			return f.q.once(p, func() *table { return p.table(f.q, f) })
		}
		return p.table(f.q, f)
	}
	switch e.Kind {
	case "exists":
		return &expr{typ: oidBool, mod: -1, name: "exists", heavy: true, eval: func(f *frame) any {
			if !p.escapes {
				return len(rows(f).rows) > 0
			}
			found := false
			p.run(f.q, f, func([]any) bool { found = true; return false })
			return found
		}}
	case "any", "all":
		return c.anySublink(s, e, p, rows)
	}
	if len(p.columns) != 1 {
		fail(syntax, "subquery must return only one column")
	}
	col := p.columns[0]
	if e.Kind == "array" {
		typ, elem := c.arrayOf(col.typ), col.typ
		return &expr{typ: typ, mod: -1, name: "array", heavy: true, eval: func(f *frame) any {
			a := &array{elem: elem, lower: 1}
			for _, row := range rows(f).rows {
				a.items = append(a.items, row[0])
			}
			return a
		}}
	}
	return &expr{typ: col.typ, mod: col.mod, name: col.name, heavy: true, fields: col.fields, eval: func(f *frame) any {
		t := rows(f)
		switch len(t.rows) {
		case 0:
			return nil
		case 1:
			return t.rows[0][0]
		}
		fail("21000", "more than one row returned by a subquery used as an expression")
		return nil
	}}
}

// anySublink compiles x IN (query) and its like.
func (c *compiler) anySublink(s *scope, e *statement.Sublink, p *plan, rows func(*frame) *table) *expr {
	var left []*expr
	if row, ok := e.X.(*statement.Row); ok {
		left = c.exprs(s, row.Items)
	} else {
		left = []*expr{c.expr(s, e.X)}
	}
	if len(left) != len(p.columns) {
		fail(syntax, "subquery has wrong number of columns")
	}
	var tests []*expr
	for i, x := range left {
		col := p.columns[i]
		y := &expr{typ: col.typ, mod: col.mod, eval: func(f *frame) any { return f.q.row[i] }}
		tests = append(tests, c.apply(e.Op, x, y, e.At))
	}
	every := e.Kind == "all"
	return &expr{typ: oidBool, mod: -1, name: "?column?", heavy: true, eval: func(f *frame) any {
		t := rows(f)
		saved := f.q.row
		defer func() { f.q.row = saved }()
		// With one column that can be looked up, the others need not be seen.
		list := t.rows
		if len(tests) == 1 && e.Op == "=" && !every && tests[0].equal != nil && len(list) > 8 {
			f.q.row = list[0]
			if v := tests[0].equal[0].eval(f); v != nil {
				if found, ok := t.lookup(0, v); ok && len(found) > 0 {
					return true
				}
			}
		}
		var result any = every
		for _, row := range list {
			f.q.tick(1)
			f.q.row = row
			var v any = true
			for _, t := range tests {
				v = both(v, t.eval(f))
			}
			switch {
			case v == nil:
				result = nil
			case v != every:
				return !every
			}
		}
		return result
	}}
}
