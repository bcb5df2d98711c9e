package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// A compiler turns one statement into closures. Its methods fail by panicking with an *Error.
type compiler struct {
	*database
	params        []*parameter
	views         int // depth of views within views
	compiledViews map[*relation]*plan
	lenient       bool // functions that PostgreSQL does not have give NULL
	strange       bool // a part has no meaning here, or less than in PostgreSQL
}

// A parameter is $N: its type, given or found where it is used.
type parameter struct {
	typ oid // oidUnknown until found
}

// A scope is one query as its names are resolved.
type scope struct {
	outer   *scope
	rtes    []*rte
	visible namespace
	hidden  bool // while a subquery that is not LATERAL is read, its siblings cannot be seen
	ctes    map[string]*cte

	used    uint64 // the range table entries that were named since this was reset
	escapes bool   // something outside was named

	aggregates []*aggregate
	within     bool // the arguments of an aggregate
	setCalls   []*setCall
	noSets     bool
	windows    []*windowCall
	named      []*statement.Window
}

// An rte is an entry of the range table: what an item of FROM gives.
type rte struct {
	index               int
	alias, schema, name string
	columns             []column
	relation            *relation // of the system catalog, or nil
	scalar              bool      // a function of one column: its name is that of the column
}

// A name is a column that may be named without its table.
type visibleColumn struct {
	name string
	get  func() *expr
}

type namespace struct {
	columns []visibleColumn
	rtes    []*rte
}

func (n namespace) join(m namespace) namespace {
	return namespace{slices.Concat(n.columns, m.columns), slices.Concat(n.rtes, m.rtes)}
}

// A cte is a query that WITH names. Its rows are kept in the frame of the query it belongs to.
type cte struct {
	columns   []column
	plan      *plan
	recursive *plan // the second part of a recursive one
	all       bool  // of UNION ALL
	working   bool  // while the recursive part is read
	scope     *scope
}

func (s *scope) add(r *rte) *rte {
	r.index = len(s.rtes)
	if r.index == 63 {
		fail(tooMuch, "a query has more than 63 tables")
	}
	s.rtes = append(s.rtes, r)
	return r
}

// An expr is a compiled expression.
type expr struct {
	typ  oid
	mod  int32
	eval func(*frame) any

	name    string // that the column of a result gets
	weak    bool   // a name that gives way to that of what is around
	used    uint64 // entries of the range table of its own query
	outside bool   // names something outside its own query
	heavy   bool   // has a subquery

	literal *string // the text of a constant of unknown type, also where null is set
	null    bool    // the constant NULL
	param   *parameter
	number  int // of the parameter
	column  *columnRef
	equal   *[2]*expr // the operands of =
	fields  []column  // of a record, where they are known
	table   oid       // of a column of the system catalog
	attnum  int16
}

type columnRef struct{ rte, index int }

// A frame is one run of a query: the rows that its tables are at.
type frame struct {
	q     *query
	outer *frame
	rows  [][]any
	aggs  []any
	sets  []any
	wins  []any
	cache map[any]any
}

func (f *frame) up(n int) *frame {
	for ; n > 0; n-- {
		f = f.outer
	}
	return f
}

// columnOf makes the expression for a column of an entry, depth queries further out.
func (s *scope) columnOf(r *rte, i int, depth int) *expr {
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	at.used |= 1 << r.index
	n, c := r.index, r.columns[i]
	e := &expr{typ: c.typ, mod: c.mod, name: c.name, outside: depth > 0, fields: c.fields}
	if depth == 0 {
		e.used = 1 << r.index
		e.column = &columnRef{n, i}
		e.eval = func(f *frame) any {
			if row := f.rows[n]; row != nil {
				return row[i]
			}
			return nil
		}
	} else {
		e.eval = func(f *frame) any {
			if row := f.up(depth).rows[n]; row != nil {
				return row[i]
			}
			return nil
		}
	}
	if r.relation != nil {
		e.table, e.attnum = r.relation.oid, int16(i+1)
	}
	return e
}

// whole makes the expression for a row of an entry.
func (s *scope) whole(r *rte, depth int) *expr {
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	at.used |= 1 << r.index
	n, columns := r.index, r.columns
	return &expr{typ: oidRecord, mod: -1, name: r.alias, outside: depth > 0, fields: columns, eval: func(f *frame) any {
		row := f.up(depth).rows[n]
		if row == nil {
			return nil
		}
		return &record{columns, row[:len(columns)]}
	}}
}

// systemColumns are those that every table of the system catalog has unasked.
func (s *scope) systemColumn(r *rte, name string, depth int) *expr {
	if r.relation == nil {
		return nil
	}
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	var typ oid
	var value any
	switch name {
	case "tableoid":
		typ, value = oidOID, r.relation.oid
	case "xmin":
		typ, value = oidXID, int64(1)
	case "xmax":
		typ, value = oidXID, int64(0)
	case "cmin", "cmax":
		typ, value = oidCID, int64(0)
	case "ctid":
		typ, value = oidTID, "(0,1)"
	default:
		return nil
	}
	at.used |= 1 << r.index
	n := r.index
	return &expr{typ: typ, mod: -1, name: name, outside: depth > 0, eval: func(f *frame) any {
		if f.up(depth).rows[n] == nil {
			return nil
		}
		return value
	}}
}

// resolve finds what a name of one or more parts means.
func (s *scope) resolve(parts []string, pos int) *expr {
	last := parts[len(parts)-1]
	depth := 0
	var tableFound bool
	for at := s; at != nil; at, depth = at.outer, depth+1 {
		if at.hidden {
			continue
		}
		if len(parts) == 1 {
			var found *expr
			for _, c := range at.visible.columns {
				if c.name == last {
					if found != nil {
						panic(&Error{SQLState: "42702", Message: "column reference \"" + last + "\" is ambiguous", Position: pos})
					}
					if found = c.get(); depth > 0 {
						found = s.lift(found, depth)
					}
				}
			}
			if found != nil {
				return found
			}
			for _, r := range at.visible.rtes {
				if r.alias == last {
					if r.scalar {
						return s.columnOf(r, 0, depth)
					}
					return s.whole(r, depth)
				}
			}
			for _, r := range at.visible.rtes {
				if e := s.systemColumn(r, last, depth); e != nil {
					return e
				}
			}
			continue
		}
		for _, r := range at.visible.rtes {
			if !r.is(parts[:len(parts)-1]) {
				continue
			}
			tableFound = true
			for i, c := range r.columns {
				if c.name == last {
					return s.columnOf(r, i, depth)
				}
			}
			if e := s.systemColumn(r, last, depth); e != nil {
				return e
			}
		}
	}
	if len(parts) > 1 && !tableFound {
		panic(&Error{SQLState: noTable, Message: "missing FROM-clause entry for table \"" + parts[len(parts)-2] + "\"", Position: pos})
	}
	name := "\"" + last + "\""
	if len(parts) > 1 {
		name = parts[len(parts)-2] + "." + last
	}
	panic(&Error{SQLState: noColumn, Message: "column " + name + " does not exist", Position: pos})
}

// lift makes an expression of an outer query one of this.
func (s *scope) lift(e *expr, depth int) *expr {
	at := s
	for range depth {
		at.escapes = true
		at = at.outer
	}
	inner := e.eval
	lifted := *e
	lifted.used, lifted.outside, lifted.column = 0, true, nil
	lifted.eval = func(f *frame) any { return inner(f.up(depth)) }
	return &lifted
}

// is says whether the parts before a column's name mean an entry.
func (r *rte) is(parts []string) bool {
	last := parts[len(parts)-1]
	if r.alias != last {
		return false
	}
	return len(parts) == 1 || r.relation != nil && r.alias == r.name && parts[len(parts)-2] == r.schema
}
