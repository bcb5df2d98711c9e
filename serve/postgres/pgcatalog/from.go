package pgcatalog

import (
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// A table is rows, with indexes that are made when they are first used.
type table struct {
	rows  [][]any
	index map[int]map[any][][]any
}

// lookup returns the rows with a value in a column; ok is false where the value cannot be
// looked up.
func (t *table) lookup(column int, v any) (rows [][]any, ok bool) {
	switch v.(type) {
	case int64, string, bool:
	default:
		return nil, false
	}
	if t.index == nil {
		t.index = map[int]map[any][][]any{}
	}
	index := t.index[column]
	if index == nil {
		index = map[any][][]any{}
		for _, row := range t.rows {
			switch v := row[column].(type) {
			case int64, string, bool:
				index[v] = append(index[v], row)
			case nil:
			default:
				return nil, false
			}
		}
		t.index[column] = index
	}
	return index[v], true
}

// A conjunct is a condition that rows must meet, of a chain of AND.
type conjunct struct{ *expr }

// A node gives rows: it sets the rows of its entries in the frame and calls yield for each.
// It returns false where yield did.
type node interface {
	provides() uint64
	// attach tells the node which entries have rows before it runs and which conditions there
	// are. It takes what it can test, and returns the rest.
	attach(bound uint64, conditions []conjunct) []conjunct
	// estimate says about how many rows it gives then.
	estimate(bound uint64, conditions []conjunct) float64
	run(f *frame, yield func() bool) bool
}

// A scan gives the rows of one entry.
type scan struct {
	rte     int
	source  func(*frame) *table
	size    float64
	needs   uint64 // entries that a LATERAL source names
	filters []*expr
	keys    []keyed
}

// keyed is a column that must equal an expression.
type keyed struct {
	column int
	value  *expr
}

func (s *scan) provides() uint64 { return 1 << s.rte }

func (s *scan) keyOf(bound uint64, c conjunct) (keyed, bool) {
	if c.equal == nil {
		return keyed{}, false
	}
	for i, x := range c.equal {
		other := c.equal[1-i]
		if x.column != nil && x.column.rte == s.rte && other.used&^bound == 0 {
			return keyed{x.column.index, other}, true
		}
	}
	return keyed{}, false
}

func (s *scan) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	var heavy []*expr
	for _, c := range conditions {
		if c.used&^(bound|s.provides()) != 0 {
			rest = append(rest, c)
			continue
		}
		if k, ok := s.keyOf(bound, c); ok {
			s.keys = append(s.keys, k)
		}
		if c.heavy {
			heavy = append(heavy, c.expr)
		} else {
			s.filters = append(s.filters, c.expr)
		}
	}
	s.filters = append(s.filters, heavy...)
	return rest
}

func (s *scan) estimate(bound uint64, conditions []conjunct) float64 {
	if s.needs&^bound != 0 {
		return math.Inf(1)
	}
	n := s.size
	for _, c := range conditions {
		if c.used&^(bound|s.provides()) != 0 {
			continue
		}
		if _, ok := s.keyOf(bound, c); ok {
			n = math.Min(n/4, math.Sqrt(s.size))
		} else if c.used&s.provides() != 0 {
			n *= 0.7
		}
	}
	return n
}

func (s *scan) run(f *frame, yield func() bool) bool {
	t := s.source(f)
	rows := t.rows
	for _, k := range s.keys {
		v := k.value.eval(f)
		if v == nil {
			return true
		}
		if found, ok := t.lookup(k.column, v); ok && len(found) < len(rows) {
			rows = found
		}
	}
rows:
	for _, row := range rows {
		f.q.tick(1)
		f.rows[s.rte] = row
		for _, c := range s.filters {
			if c.eval(f) != true {
				continue rows
			}
		}
		if !yield() {
			return false
		}
	}
	return true
}

// A group joins nodes by inner joins, in the order that seems to give fewest rows.
type group struct {
	nodes []node
	own   []conjunct
	first []*expr // conditions that need no row of these
}

func (g *group) provides() (all uint64) {
	for _, n := range g.nodes {
		all |= n.provides()
	}
	return all
}

func (g *group) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	for _, c := range slices.Concat(conditions, g.own) {
		if c.used&^bound == 0 {
			g.first = append(g.first, c.expr)
		} else {
			rest = append(rest, c)
		}
	}
	left := slices.Clone(g.nodes)
	g.nodes = g.nodes[:0]
	for len(left) > 0 {
		best, least := 0, math.Inf(1)
		for i, n := range left {
			if e := n.estimate(bound, rest); e < least {
				best, least = i, e
			}
		}
		n := left[best]
		left = slices.Delete(left, best, best+1)
		rest = n.attach(bound, rest)
		bound |= n.provides()
		g.nodes = append(g.nodes, n)
	}
	return rest
}

func (g *group) estimate(bound uint64, conditions []conjunct) float64 {
	least := math.Inf(1)
	all := slices.Concat(conditions, g.own)
	for _, n := range g.nodes {
		least = math.Min(least, n.estimate(bound, all))
	}
	return least
}

func (g *group) run(f *frame, yield func() bool) bool {
	for _, c := range g.first {
		if c.eval(f) != true {
			return true
		}
	}
	return g.from(0, f, yield)
}

func (g *group) from(i int, f *frame, yield func() bool) bool {
	if i == len(g.nodes) {
		return yield()
	}
	return g.nodes[i].run(f, func() bool { return g.from(i+1, f, yield) })
}

// An outerJoin is a LEFT or a FULL join.
type outerJoin struct {
	left, right node
	on          []conjunct
	full        bool
	after       []*expr // conditions on what it gives
	pairs       []*expr // of a FULL join
}

func (j *outerJoin) provides() uint64 { return j.left.provides() | j.right.provides() }

func (j *outerJoin) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	leave := conditions
	if !j.full {
		leave = j.left.attach(bound, conditions)
		j.pairs = expressions(j.right.attach(bound|j.left.provides(), j.on))
	} else {
		j.left.attach(bound, nil)
		j.right.attach(bound, nil)
		j.pairs = expressions(j.on)
	}
	for _, c := range leave {
		if c.used&^(bound|j.provides()) == 0 {
			j.after = append(j.after, c.expr)
		} else {
			rest = append(rest, c)
		}
	}
	return rest
}

func expressions(list []conjunct) (out []*expr) {
	for _, c := range list {
		out = append(out, c.expr)
	}
	return out
}

func (j *outerJoin) estimate(bound uint64, conditions []conjunct) float64 {
	return j.left.estimate(bound, conditions)
}

func all(list []*expr, f *frame) bool {
	for _, c := range list {
		if c.eval(f) != true {
			return false
		}
	}
	return true
}

func (j *outerJoin) run(f *frame, yield func() bool) bool {
	give := func() bool { return !all(j.after, f) || yield() }
	if j.full {
		return j.runFull(f, give)
	}
	return j.left.run(f, func() bool {
		matched := false
		if !j.right.run(f, func() bool {
			if !all(j.pairs, f) {
				return true
			}
			matched = true
			return give()
		}) {
			return false
		}
		if matched {
			return true
		}
		f.clear(j.right.provides())
		return give()
	})
}

// runFull keeps the rows of the right side, and gives those without a partner at the end.
func (j *outerJoin) runFull(f *frame, give func() bool) bool {
	var kept [][][]any
	j.right.run(f, func() bool { kept = append(kept, slices.Clone(f.rows)); f.q.hold(len(f.rows)); return true })
	met := make([]bool, len(kept))
	set := func(rows [][]any) {
		for i := range rows {
			if j.right.provides()&(1<<i) != 0 {
				f.rows[i] = rows[i]
			}
		}
	}
	if !j.left.run(f, func() bool {
		matched := false
		for i, rows := range kept {
			f.q.tick(1)
			if set(rows); all(j.pairs, f) {
				matched, met[i] = true, true
				if !give() {
					return false
				}
			}
		}
		if matched {
			return true
		}
		f.clear(j.right.provides())
		return give()
	}) {
		return false
	}
	f.clear(j.left.provides())
	for i, rows := range kept {
		if set(rows); !met[i] && !give() {
			return false
		}
	}
	return true
}

// clear gives entries the row of NULLs.
func (f *frame) clear(entries uint64) {
	for i := range f.rows {
		if entries&(1<<i) != 0 {
			f.rows[i] = nil
		}
	}
}

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

func (c *compiler) cteItem(s *scope, e *cte, depth int, name string, renamed []string) (node, namespace) {
	entry := s.add(&rte{alias: name, columns: rename(e.columns, renamed)})
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	if e.working {
		source := func(f *frame) *table { return f.up(depth).cache[e].(*table) }
		return &scan{rte: entry.index, source: source, size: 20}, s.entry(entry)
	}
	source := func(f *frame) *table {
		owner := f.up(depth)
		return owner.once(e.plan, func() *table { return e.table(owner) })
	}
	return &scan{rte: entry.index, source: source, size: 100}, s.entry(entry)
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

func (c *compiler) joinItem(s *scope, item *statement.Join) (node, namespace) {
	left, leftNames := c.from(s, item.Left)
	outside := s.visible
	s.visible = outside.join(leftNames)
	right, rightNames := c.from(s, item.Right)
	names := leftNames.join(rightNames)
	var on []conjunct
	using := item.Using
	if item.Natural {
		for _, l := range leftNames.columns {
			for _, r := range rightNames.columns {
				if l.name == r.name && !slices.Contains(using, l.name) {
					using = append(using, l.name)
				}
			}
		}
	}
	if len(using) > 0 {
		on, names = c.using(s, item.Kind, using, leftNames, rightNames)
	}
	if item.On != nil {
		s.visible = names
		on = c.conjuncts(s, item.On)
	}
	s.visible = outside
	if item.Alias.Name != "" {
		names = c.aliased(s, names, item.Alias)
	}
	switch item.Kind {
	case "inner":
		g := &group{own: on}
		for _, n := range []node{left, right} {
			if inner, ok := n.(*group); ok {
				g.nodes, g.own = append(g.nodes, inner.nodes...), append(inner.own, g.own...)
			} else {
				g.nodes = append(g.nodes, n)
			}
		}
		return g, names
	case "right":
		return &outerJoin{left: right, right: left, on: on}, names
	}
	return &outerJoin{left: left, right: right, on: on, full: item.Kind == "full"}, names
}

// using makes the conditions of USING and NATURAL, and merges the columns.
func (c *compiler) using(s *scope, kind string, using []string, left, right namespace) (on []conjunct, merged namespace) {
	find := func(n namespace, name string) *visibleColumn {
		for i := range n.columns {
			if n.columns[i].name == name {
				return &n.columns[i]
			}
		}
		fail(noColumn, "column %q specified in USING clause does not exist", name)
		return nil
	}
	merged.rtes = slices.Concat(left.rtes, right.rtes)
	for _, name := range using {
		l, r := find(left, name), find(right, name)
		saved := s.used
		s.used = 0
		x, y := l.get(), r.get()
		eq := c.apply("=", x, y, -1)
		eq.used = s.used
		s.used = saved
		on = append(on, conjunct{eq})
		get := l.get
		switch kind {
		case "right":
			get = r.get
		case "full":
			get = func() *expr {
				x, y := c.matched(l.get(), r.get())
				return &expr{typ: x.typ, mod: -1, name: name, used: x.used | y.used, eval: func(f *frame) any {
					if v := x.eval(f); v != nil {
						return v
					}
					return y.eval(f)
				}}
			}
		}
		merged.columns = append(merged.columns, visibleColumn{name, get})
	}
	for _, n := range []namespace{left, right} {
		for _, col := range n.columns {
			if !slices.Contains(using, col.name) {
				merged.columns = append(merged.columns, col)
			}
		}
	}
	return on, merged
}

// aliased renames what a join gives.
func (c *compiler) aliased(s *scope, names namespace, alias statement.Alias) namespace {
	out := namespace{}
	for i, col := range names.columns {
		if i < len(alias.Columns) {
			col.name = alias.Columns[i]
		}
		out.columns = append(out.columns, col)
	}
	out.rtes = names.rtes
	return out
}

// conjuncts compiles a condition and takes it apart at AND.
func (c *compiler) conjuncts(s *scope, e statement.Expr) (out []conjunct) {
	if l, ok := e.(*statement.Logic); ok && l.Op == "AND" {
		for _, a := range l.Args {
			out = append(out, c.conjuncts(s, a)...)
		}
		return out
	}
	saved := s.noSets
	s.noSets = true
	x := c.expr(s, e)
	s.noSets = saved
	x = c.coerceBool(x)
	return append(out, conjunct{x})
}

func (c *compiler) coerceBool(x *expr) *expr {
	if x.typ == oidBool {
		return x
	}
	if x.typ != oidUnknown {
		fail(wrongType, "argument of WHERE must be type boolean, not type %s", c.typeName(x.typ, -1))
	}
	return c.coerce(x, oidBool, -1)
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
