package pgcatalog

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// An aggregate is a call of one, of the groups of a query.
type aggregate struct {
	name           string
	args           []*expr
	keys           []sortKey
	filter         *expr
	star, distinct bool
	call           *invocation
}

// An accumulator is the state of an aggregate in one group.
type accumulator interface {
	result(q *query) any
}

type counter struct{ n int64 }

func (c *counter) result(*query) any { return c.n }

// A collection keeps what it was given.
type collection struct {
	of   *aggregate
	rows []outRow
	seen map[string]bool
}

func (a *aggregate) start() accumulator {
	if a.name == "count" && !a.distinct {
		return &counter{}
	}
	return &collection{of: a}
}

// aggregates are those that have a meaning here; the others of PostgreSQL give NULL.
var aggregates = []string{"count", "min", "max", "bool_and", "every", "bool_or", "array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "sum", "avg"}

// keepsNull are the aggregates to which NULL is a value.
var keepsNull = []string{"array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"}

func (a *aggregate) add(f *frame, state accumulator) {
	if a.filter != nil && a.filter.eval(f) != true {
		return
	}
	f.q.tick(1)
	values := make([]any, len(a.args))
	for i, x := range a.args {
		values[i] = x.eval(f)
	}
	if len(values) > 0 && values[0] == nil && !slices.Contains(keepsNull, a.name) {
		return
	}
	switch state := state.(type) {
	case *counter:
		state.n++
	case *collection:
		if a.distinct {
			k := string(key(nil, &record{values: values[:1]}))
			if state.seen[k] {
				return
			}
			if state.seen == nil {
				state.seen = map[string]bool{}
			}
			state.seen[k] = true
		}
		// The least and the greatest of what came so far is enough.
		if n := len(state.rows); n == 1 && (a.name == "min" || a.name == "max") {
			if order := compare(values[0], state.rows[0].values[0]); order < 0 && a.name == "min" || order > 0 && a.name == "max" {
				state.rows[0].values = values
			}
			return
		}
		row := outRow{values: values}
		for _, k := range a.keys {
			row.keys = append(row.keys, k.expr.eval(f))
		}
		f.q.hold(len(values) + len(a.keys) + 4)
		state.rows = append(state.rows, row)
	}
}

func (c *collection) result(q *query) any {
	a := c.of
	if len(a.keys) > 0 {
		sortRows(q, c.rows, a.keys)
	} else if a.distinct {
		sortRows(q, c.rows, []sortKey{{position: 0}})
	}
	if a.name == "count" {
		return int64(len(c.rows))
	}
	if len(c.rows) == 0 {
		return nil
	}
	first := c.rows[0].values
	switch a.name {
	case "min", "max":
		return first[0]
	case "bool_and", "every", "bool_or":
		for _, row := range c.rows {
			if row.values[0] == (a.name == "bool_or") {
				return a.name == "bool_or"
			}
		}
		return a.name != "bool_or"
	case "array_agg":
		out := &array{elem: q.elem(a.call.result), lower: 1}
		for _, row := range c.rows {
			out.items = append(out.items, row.values[0])
		}
		return out
	case "string_agg":
		n := 0
		for _, row := range c.rows {
			s, _ := row.values[0].(string)
			between, _ := row.values[1].(string)
			n += len(s) + len(between)
		}
		q.room(n)
		var b strings.Builder
		for i, row := range c.rows {
			if between, ok := row.values[1].(string); ok && i > 0 {
				b.WriteString(between)
			}
			b.WriteString(row.values[0].(string))
		}
		return b.String()
	case "json_agg", "jsonb_agg":
		var items []string
		for _, row := range c.rows {
			items = append(items, q.json(a.call.types[0], row.values[0], a.name == "jsonb_agg"))
		}
		return q.made("[" + strings.Join(items, ", ") + "]")
	case "json_object_agg", "jsonb_object_agg":
		var pairs []member
		for _, row := range c.rows {
			pairs = append(pairs, member{q.write(a.call.types[0], row.values[0]), q.json(a.call.types[1], row.values[1], a.name == "jsonb_object_agg")})
		}
		if a.name == "json_object_agg" {
			return q.made(object1(pairs, "{ ", " : ", " }"))
		}
		return q.made(objectB(pairs))
	case "sum", "avg":
		return c.sum(q)
	}
	return nil
}

// sum adds up, in the type that PostgreSQL does.
func (c *collection) sum(q *query) any {
	if q.base(c.of.call.result) == oidFloat8 || q.base(c.of.call.result) == oidFloat4 {
		total := 0.0
		for _, row := range c.rows {
			f, ok := row.values[0].(float64)
			if !ok {
				return nil
			}
			total += f
		}
		if c.of.name == "avg" {
			total /= float64(len(c.rows))
		}
		return total
	}
	total := new(big.Rat)
	for _, row := range c.rows {
		switch v := row.values[0].(type) {
		case int64:
			total.Add(total, new(big.Rat).SetInt64(v))
		case *big.Rat:
			total.Add(total, v)
		default:
			return nil
		}
	}
	if c.of.name == "avg" {
		total.Quo(total, new(big.Rat).SetInt64(int64(len(c.rows))))
	}
	if q.base(c.of.call.result) == oidInt8 {
		if !total.Num().IsInt64() {
			fail(outOfRange, "bigint out of range")
		}
		return total.Num().Int64()
	}
	return total
}

// makeAggregate compiles the call of an aggregate, without a place for its value.
func (c *compiler) makeAggregate(s *scope, e *statement.Call) *aggregate {
	if s.within {
		fail("42803", "aggregate function calls cannot be nested")
	}
	s.within = true
	saved := s.noSets
	s.noSets = true
	defer func() { s.within, s.noSets = false, saved }()
	args := c.exprs(s, e.Args)
	c.strange = c.strange || !slices.Contains(aggregates, e.Name)
	a := &aggregate{name: e.Name, star: e.Star, distinct: e.Distinct, call: &invocation{}}
	proc, params := c.find(e, args)
	switch {
	case e.Star:
		a.call.result = oidInt8
	case proc == nil:
		a.call.result = c.unknown(e, args).typ
	default:
		for i, x := range args {
			a.call.types = append(a.call.types, x.typ)
			args[i] = c.coerceParam(x, params[i], params, types(args))
		}
		a.call.result = c.concrete(proc.result, params, a.call.types)
		for i, x := range args {
			a.call.types[i] = x.typ
		}
	}
	a.args = args
	for _, o := range e.Order {
		x := c.expr(s, o.Expr)
		if x.typ == oidUnknown {
			x = c.coerce(x, oidText, -1)
		}
		a.keys = append(a.keys, sortKey{position: -1, expr: x, desc: o.Desc, nullsFirst: o.NullsFirst})
	}
	if e.Filter != nil {
		a.filter = c.coerceBool(c.expr(s, e.Filter))
	}
	return a
}

func (c *compiler) aggregate(s *scope, e *statement.Call) *expr {
	a := c.makeAggregate(s, e)
	i := len(s.aggregates)
	s.aggregates = append(s.aggregates, a)
	return &expr{typ: a.call.result, mod: -1, name: e.Name, eval: func(f *frame) any {
		if i < len(f.aggs) {
			return f.aggs[i]
		}
		return nil
	}}
}
