package pgcatalog

import (
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A function computes what a function of PostgreSQL does. What it says of its arguments is in
// the call.
type function func(q *query, v *invocation, args []any) any

// An invocation is a call as it was compiled.
type invocation struct {
	types  []oid // of the arguments
	fields [][]column
	result oid
	proc   *procedure
}

// A setCall is a call that gives rows.
type setCall struct {
	columns   []column
	composite bool // its value is a record
	run       func(*frame) [][]any
}

// find returns the function that a call means, with the types of its arguments; nil if there
// is none.
func (c *compiler) find(e *statement.Call, args []*expr) (*procedure, []oid) {
	var found []*procedure
	var params [][]oid
	for _, p := range c.procedures[e.Name] {
		if e.Schema != "" && c.namespaceName(p.namespace) != e.Schema || e.Schema == "" && p.namespace != nsCatalog {
			continue
		}
		types := p.args
		switch {
		case len(args) == len(types):
		case p.variadic && len(args) >= len(types)-1 && !e.Variadic:
			types = slices.Clone(types[:len(types)-1])
			for len(types) < len(args) {
				types = append(types, p.variadicElement)
			}
		case len(args) >= p.required && len(args) < len(types):
			types = types[:len(args)]
		default:
			continue
		}
		if p.variadic && !e.Variadic && len(args) == len(p.args) && c.elem(args[len(args)-1].typ) == 0 {
			types = slices.Clone(types)
			types[len(types)-1] = p.variadicElement
		}
		found, params = append(found, p), append(params, types)
	}
	if len(found) == 0 {
		return nil, nil
	}
	var actual []oid
	for _, a := range args {
		actual = append(actual, a.typ)
	}
	if i := c.choose(params, actual); i >= 0 {
		return found[i], params[i]
	}
	return nil, nil
}

// is says whether a call is of an aggregate ('a'), a window function ('w'), a function ('f').
func (c *compiler) is(e *statement.Call, kind byte) bool {
	if e.Schema != "" && e.Schema != "pg_catalog" {
		return false
	}
	return slices.ContainsFunc(c.procedures[e.Name], func(p *procedure) bool { return p.kind == kind && p.namespace == nsCatalog })
}

// call compiles a call of a function.
func (c *compiler) call(s *scope, e *statement.Call) *expr {
	switch {
	case e.Over != nil:
		return c.windowCall(s, e)
	case c.is(e, 'a') && (e.Star || e.Distinct || len(e.Order) > 0 || e.Filter != nil || !c.is(e, 'f')):
		return c.aggregate(s, e)
	}
	if set := c.setCall(s, e); set != nil {
		if s.noSets {
			fail(unsupported, "set-returning functions are not allowed in WHERE")
		}
		i := len(s.setCalls)
		s.setCalls = append(s.setCalls, set)
		out := &expr{typ: set.columns[0].typ, mod: -1, name: e.Name, eval: func(f *frame) any { return f.sets[i] }}
		if set.composite {
			out.typ, out.fields = oidRecord, set.columns
		}
		return out
	}
	args := c.exprs(s, e.Args)
	proc, params := c.find(e, args)
	if proc == nil {
		// f(x) may stand for x.f, and t(x) for x::t.
		if len(args) == 1 {
			if t := c.typeNames["pg_catalog."+e.Name]; t != nil && e.Schema != "information_schema" {
				out := *c.coerce(args[0], t.oid, -1)
				out.name = e.Name
				return &out
			}
		}
		return c.unknown(e, args)
	}
	v := &invocation{proc: proc}
	for i, x := range args {
		v.types = append(v.types, x.typ)
		args[i] = c.coerceParam(x, params[i], params, types(args))
		v.fields = append(v.fields, args[i].fields)
	}
	v.result = c.concrete(proc.result, params, v.types)
	for i, x := range args {
		v.types[i] = x.typ
	}
	out := &expr{typ: v.result, mod: -1, name: e.Name}
	implement := functions[e.Name]
	if e.Variadic && e.Name != "array_to_string" {
		if spread := implement; spread != nil {
			implement = func(q *query, v *invocation, args []any) any {
				a, ok := args[len(args)-1].(*array)
				if !ok {
					return nil
				}
				w := *v
				w.types = slices.Clone(v.types[:len(v.types)-1])
				for range a.items {
					w.types = append(w.types, a.elem)
				}
				w.fields = make([][]column, len(w.types))
				return spread(q, &w, append(slices.Clone(args[:len(args)-1]), a.items...))
			}
		}
	}
	if len(proc.out) > 0 {
		out.typ, out.fields = oidRecord, proc.out
		if len(proc.out) == 1 {
			out.typ, out.fields = proc.out[0].typ, nil
		}
	}
	for _, a := range args {
		out.heavy = out.heavy || a.heavy
	}
	if implement == nil { // known to PostgreSQL, of no use here
		c.strange = true
		out.eval = func(*frame) any { return nil }
		return out
	}
	strict := proc.strict
	out.eval = func(f *frame) any {
		f.q.tick(1)
		values := make([]any, len(args))
		for i, a := range args {
			if values[i] = a.eval(f); values[i] == nil && strict {
				return nil
			}
		}
		f.q.weigh(values...)
		return implement(f.q, v, values)
	}
	return out
}

func types(args []*expr) (out []oid) {
	for _, a := range args {
		out = append(out, a.typ)
	}
	return out
}

// unknown is a function that PostgreSQL does not have: NULL beside what the catalog knows,
// since an extension's absence must not break a client.
func (c *compiler) unknown(e *statement.Call, args []*expr) *expr {
	c.strange = true
	if !c.lenient {
		name := e.Name + "("
		for i, a := range args {
			if i > 0 {
				name += ", "
			}
			name += c.typeName(a.typ, -1)
		}
		panic(&Error{SQLState: noFunction, Position: e.At + 1, Message: "function " + name + ") does not exist",
			Hint: "No function matches the given name and argument types. You might need to add explicit type casts."})
	}
	out := fixed(oidText, nil)
	out.name = e.Name
	return out
}

// setCall compiles a call that gives rows; nil if it gives one value.
func (c *compiler) setCall(s *scope, e *statement.Call) *setCall {
	if e.Name == "unnest" && len(e.Args) > 1 {
		return c.unnestSeveral(s, e)
	}
	if !slices.ContainsFunc(c.procedures[e.Name], func(p *procedure) bool { return p.set }) {
		return nil
	}
	saved := s.noSets
	s.noSets = true
	args := c.exprs(s, e.Args)
	s.noSets = saved
	proc, params := c.find(e, args)
	if proc == nil || !proc.set {
		return nil
	}
	v := &invocation{proc: proc}
	for i, x := range args {
		v.types = append(v.types, x.typ)
		args[i] = c.coerceParam(x, params[i], params, types(args))
		v.fields = append(v.fields, args[i].fields)
	}
	v.result = c.concrete(proc.result, params, v.types)
	set := &setCall{columns: []column{{name: e.Name, typ: v.result, mod: -1}}}
	if len(proc.out) > 0 {
		set.columns, set.composite = slices.Clone(proc.out), len(proc.out) > 1
		for i, col := range set.columns {
			set.columns[i].typ = c.concrete(col.typ, params, v.types)
		}
	}
	if info := c.types[v.result]; info != nil && info.kind == 'c' {
		for _, r := range c.relations {
			if r.oid == info.relation {
				set.columns, set.composite = r.columns, true
			}
		}
	}
	implement := setFunctions[e.Name]
	set.run = func(f *frame) [][]any {
		values := make([]any, len(args))
		for i, a := range args {
			if values[i] = a.eval(f); values[i] == nil {
				return nil
			}
		}
		if implement == nil {
			return nil
		}
		rows := implement(f.q, v, values)
		f.q.hold(len(rows) * len(set.columns))
		return rows
	}
	return set
}

// unnestSeveral compiles unnest of several arrays, side by side.
func (c *compiler) unnestSeveral(s *scope, e *statement.Call) *setCall {
	args := c.exprs(s, e.Args)
	set := &setCall{composite: true}
	for _, a := range args {
		elem := c.elem(a.typ)
		if elem == 0 {
			fail(noFunction, "function unnest(%s) does not exist", c.typeName(a.typ, -1))
		}
		set.columns = append(set.columns, column{name: "unnest", typ: elem, mod: -1})
	}
	set.run = func(f *frame) [][]any {
		var rows [][]any
		for i, a := range args {
			list, ok := a.eval(f).(*array)
			if !ok {
				continue
			}
			for n, v := range list.items {
				if n == len(rows) {
					f.q.hold(len(args))
					rows = append(rows, make([]any, len(args)))
				}
				rows[n][i] = v
			}
		}
		return rows
	}
	return set
}

// namedValue compiles current_user and its like.
func (c *compiler) namedValue(name string) *expr {
	out := &expr{mod: -1, name: name}
	switch name {
	case "current_user", "current_role", "user", "session_user":
		out.typ = oidName
		out.eval = func(f *frame) any { return f.q.session.Account }
	case "current_catalog":
		out.typ = oidName
		out.eval = func(f *frame) any { return f.q.session.Database }
	case "current_schema":
		out.typ = oidName
		out.eval = func(*frame) any { return "public" }
	case "current_date":
		out.typ = oidDate
		out.eval = func(f *frame) any { return f.q.now().Format("2006-01-02") }
	case "current_time":
		out.typ = oidTimetz
		out.eval = func(f *frame) any { return f.q.now().Format("15:04:05.999999") + "+00" }
	case "current_timestamp":
		out.typ = oidTimestamptz
		out.eval = func(f *frame) any { return f.q.now().Format(timestamp) + "+00" }
	case "localtime":
		out.typ = oidTime
		out.eval = func(f *frame) any { return f.q.now().Format("15:04:05.999999") }
	case "localtimestamp":
		out.typ = oidTimestamp
		out.eval = func(f *frame) any { return f.q.now().Format(timestamp) }
	default:
		fail(unsupported, "%s is not supported", name)
	}
	return out
}

// timestamp is how PostgreSQL writes one.
const timestamp = "2006-01-02 15:04:05.999999"
