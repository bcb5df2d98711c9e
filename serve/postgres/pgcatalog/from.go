package pgcatalog

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// from compiles an item of FROM: how its rows are found, and what may be named.
func (c *compiler) from(s *scope, item statement.From) (node, namespace) {
	switch item := item.(type) {
	case *statement.Relation:
		return c.relationItem(s, item)
	case *statement.Subselect:
		inner := c.subselect(s, item.Query, item.Lateral)
		return c.derived(s, inner, item.Alias, "")
	case *statement.Functions:
		return c.functions(s, item)
	case *statement.Join:
		return c.joinItem(s, item)
	}
	fail(unsupported, "this item of FROM is not supported")
	return nil, namespace{}
}

// entry makes what may be named of an entry.
func (s *scope) entry(r *rte) namespace {
	n := namespace{rtes: []*rte{r}}
	for i, col := range r.columns {
		n.columns = append(n.columns, visibleColumn{col.name, func() *expr { return s.columnOf(r, i, 0) }})
	}
	return n
}

// rename gives columns the names of an alias.
func rename(columns []column, names []string) []column {
	out := slices.Clone(columns)
	if len(names) > len(out) {
		fail("42P10", "a table alias names more columns than there are")
	}
	for i, n := range names {
		out[i].name = n
	}
	return out
}

func (c *compiler) relationItem(s *scope, item *statement.Relation) (node, namespace) {
	name := item.Alias.Name
	if name == "" {
		name = item.Name
	}
	if item.Schema == "" {
		depth := 0
		for at := s; at != nil; at, depth = at.outer, depth+1 {
			if e := at.ctes[item.Name]; e != nil {
				return c.cteItem(s, e, depth, name, item.Alias.Columns)
			}
		}
	}
	r := c.relation(item.Schema, item.Name)
	if r == nil {
		full := item.Name
		if item.Schema != "" {
			full = item.Schema + "." + item.Name
		}
		panic(&Error{SQLState: noTable, Message: "relation \"" + full + "\" does not exist", Position: item.At + 1})
	}
	entry := s.add(&rte{alias: name, schema: r.schema, name: r.name, columns: rename(r.columns, item.Alias.Columns), relation: r})
	if view, ok := views[r.schema+"."+r.name]; ok {
		p := c.view(r, view)
		source := func(f *frame) *table { return f.q.once(p, func() *table { return p.table(f.q, nil) }) }
		return &scan{rte: entry.index, source: source, size: 300}, s.entry(entry)
	}
	source := func(f *frame) *table { return f.q.rows(r) }
	return &scan{rte: entry.index, source: source, size: float64(len(c.rows(r).rows))}, s.entry(entry)
}

// subselect compiles a query in FROM.
func (c *compiler) subselect(s *scope, q *statement.Select, lateral bool) *plan {
	saved := s.hidden
	s.hidden = s.hidden || !lateral
	defer func() { s.hidden = saved }()
	return c.query(q, s)
}

// derived makes an entry of a query in FROM.
func (c *compiler) derived(s *scope, p *plan, alias statement.Alias, name string) (node, namespace) {
	if alias.Name != "" {
		name = alias.Name
	}
	entry := s.add(&rte{alias: name, columns: rename(p.columns, alias.Columns)})
	before := p.siblings
	source := func(f *frame) *table {
		switch {
		case !p.escapes:
			return f.q.once(p, func() *table { return p.table(f.q, f) })
		case before == 0:
			return f.once(p, func() *table { return p.table(f.q, f) })
		}
		return p.table(f.q, f)
	}
	return &scan{rte: entry.index, source: source, size: 100, needs: before}, s.entry(entry)
}

// functions compiles calls in FROM.
func (c *compiler) functions(s *scope, item *statement.Functions) (node, namespace) {
	saved, escaped := s.used, s.escapes
	s.used = 0
	var calls []*setCall
	var columns []column
	for _, e := range item.Calls {
		call, ok := e.(*statement.Call)
		var set *setCall
		if ok {
			set = c.setCall(s, call)
		}
		if set == nil { // one value
			x := c.expr(s, e)
			if x.typ == oidUnknown {
				x = c.coerce(x, oidText, -1)
			}
			set = &setCall{columns: []column{{x.name, x.typ, x.mod, x.fields}}, run: func(f *frame) [][]any { return [][]any{{x.eval(f)}} }}
			if len(x.fields) > 0 {
				set = &setCall{columns: x.fields, run: func(f *frame) [][]any {
					if r, ok := x.eval(f).(*record); ok {
						return [][]any{r.values}
					}
					return [][]any{make([]any, len(x.fields))}
				}}
			}
		}
		if len(item.Columns) > 0 {
			set = &setCall{columns: nil, run: func(*frame) [][]any { return nil }}
			for _, d := range item.Columns {
				t, mod := c.typeOf(d.Type)
				set.columns = append(set.columns, column{name: d.Name, typ: t, mod: mod})
			}
		}
		calls = append(calls, set)
		columns = append(columns, set.columns...)
	}
	needs := s.used
	s.used |= saved
	s.escapes = s.escapes || escaped
	if item.Ordinality {
		columns = append(slices.Clone(columns), column{name: "ordinality", typ: oidInt8, mod: -1})
	}
	name := item.Alias.Name
	if name == "" && len(item.Calls) > 0 {
		if call, ok := item.Calls[0].(*statement.Call); ok {
			name = call.Name
		}
	}
	scalar := len(columns) == 1 && !calls[0].composite
	if scalar && len(item.Alias.Columns) == 0 && item.Alias.Name != "" {
		columns = slices.Clone(columns)
		columns[0].name = name
	}
	entry := s.add(&rte{alias: name, columns: rename(columns, item.Alias.Columns), scalar: scalar})
	source := func(f *frame) *table {
		t := &table{}
		var parts [][][]any
		most := 0
		for _, call := range calls {
			rows := call.run(f)
			parts = append(parts, rows)
			most = max(most, len(rows))
		}
		for i := range most {
			f.q.hold(len(columns))
			row := make([]any, 0, len(columns))
			for k, rows := range parts {
				if i < len(rows) {
					row = append(row, rows[i]...)
				} else {
					row = append(row, make([]any, len(calls[k].columns))...)
				}
			}
			if item.Ordinality {
				row = append(row, int64(i+1))
			}
			t.rows = append(t.rows, row)
		}
		return t
	}
	return &scan{rte: entry.index, source: source, size: 10, needs: needs}, s.entry(entry)
}

// relation finds a relation of the system catalog by its name.
func (c *compiler) relation(schema, name string) *relation {
	if schema == "" {
		schema = "pg_catalog"
	}
	if schema == service {
		return c.service[name]
	}
	return c.relations[schema+"."+name]
}

// view compiles the query that a view of the system catalog stands for, and gives its columns
// the types that PostgreSQL's have.
func (c *compiler) view(r *relation, text string) *plan {
	if p := c.compiledViews[r]; p != nil {
		return p
	}
	if c.views++; c.views > 8 {
		fail(tooMuch, "views are nested too deep")
	}
	defer func() { c.views-- }()
	list, err := statement.Parse(text)
	if err != nil || len(list) != 1 {
		fail("XX000", "view %s cannot be read", r.name)
	}
	p := c.query(list[0].Select, nil)
	byName := map[string]int{}
	for i, col := range p.columns {
		byName[strings.ToLower(col.name)] = i
	}
	at := make([]int, len(r.columns))
	convert := make([]func(*query, any) any, len(r.columns))
	for i, col := range r.columns {
		k, ok := byName[col.name]
		if !ok {
			at[i] = -1
			continue
		}
		at[i] = k
		convert[i] = c.conversion(p.columns[k].typ, col.typ, col.mod)
	}
	inner := p.run
	out := &plan{columns: r.columns}
	out.run = func(q *query, outer *frame, yield func([]any) bool) {
		inner(q, outer, func(row []any) bool {
			shown := make([]any, len(at))
			for i, k := range at {
				if k < 0 || row[k] == nil {
					continue
				}
				if shown[i] = row[k]; convert[i] != nil {
					shown[i] = convert[i](q, row[k])
				}
			}
			return yield(shown)
		})
	}
	c.compiledViews[r] = out
	return out
}
