//go:build cgo

package release_test

import (
	"fmt"
	"slices"
	"strings"
)

// scan is a table as it stands.
func scan(t *table) relation {
	r := relation{sql: t.name, private: !t.public, domain: t.domain, table: t}
	for _, c := range t.columns {
		r.fields = append(r.fields, field{c.name, c.kind, c.bounded})
	}
	switch {
	case t.public || t.unit == unitRow:
	case t.unit == unitColumn:
		r.unit = "u"
	case t.unit == unitReference:
		r.refers = t.refers
	}
	return r
}

// private is a relation of private rows, mostly of rows that D' changes.
func (s *grammar) private(depth int) relation {
	var tables, changed []*table
	for _, t := range s.x.tables {
		if t.public {
			continue
		}
		if tables = append(tables, t); rowsText(s.x.d[t.name]) != rowsText(s.x.e[t.name]) {
			changed = append(changed, t)
		}
	}
	if len(changed) > 0 && !s.one(5) {
		tables = changed
	}
	return s.derive(scan(pick(s.draws, tables)), depth)
}

// sameUnit is a private relation whose units may meet those of r.
func (s *grammar) sameUnit(r relation, depth int) relation {
	var tables []*table
	for _, t := range s.x.tables {
		if !t.public && t.domain == r.domain && t.unit == unitColumn {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return r
	}
	return s.derive(scan(pick(s.draws, tables)), depth)
}

// public is a relation of public rows.
func (s *grammar) public(depth int) relation {
	var tables []*table
	for _, t := range s.x.tables {
		if t.public {
			tables = append(tables, t)
		}
	}
	r := scan(pick(s.draws, tables))
	a := s.name("a")
	f := r.under(a)
	switch {
	case depth > 0 && s.one(5):
		return relation{sql: "(VALUES (1, 'a', true), (2, 'b', false), (2, 'b', NULL), (NULL, NULL, true))",
			fields: []field{{"column1", whole, true}, {"column2", textual, false}, {"column3", boolean, false}}}
	case depth > 0 && s.one(4):
		k := s.key(f)
		return relation{sql: fmt.Sprintf("(SELECT %s AS k, count(*) AS c, avg(%s) AS m FROM %s AS %s GROUP BY 1)", k, s.number(f, 1), r.sql, a),
			fields: []field{{"c", whole, false}, {"m", floating, false}}}
	case depth > 0 && s.one(8):
		return relation{sql: fmt.Sprintf("(SELECT * FROM %s AS %s ORDER BY %s LIMIT 2)", r.sql, a, s.key(f)), fields: r.fields}
	case depth > 0 && s.one(5):
		return relation{sql: fmt.Sprintf("(SELECT DISTINCT %s AS k FROM %s AS %s)", s.number(f, 1), r.sql, a), fields: []field{{"k", floating, false}}}
	}
	return r
}

// derive draws relations over r that keep its rows private.
func (s *grammar) derive(r relation, depth int) relation {
	for ; depth > 0 && !s.one(4); depth-- {
		if r.refers != nil && s.one(3) {
			r = s.joinPrivate(r, depth)
			continue
		}
		if r.refers != nil && r.table != nil && s.x.all && s.one(3) {
			r = s.perReference(r)
			continue
		}
		switch s.n(10) {
		case 0, 1:
			r = s.perUnit(r)
		case 2, 3:
			r = s.joinPublic(r)
		case 4, 5:
			r = s.joinPrivate(r, depth)
		case 6:
			r = s.union(r, depth)
		case 7:
			r = s.named(r)
		case 8:
			if s.x.all && s.one(2) {
				r = s.windowed(r)
			} else {
				r = s.project(r)
			}
		case 9:
			if s.x.all && s.one(3) {
				r = s.common(r)
			} else if s.one(4) {
				r.sql, r.table = fmt.Sprintf("(SELECT * FROM %s AS %s LIMIT 3)", r.sql, s.name("a")), nil
			} else {
				r = s.distinct(r)
			}
		}
	}
	return r
}

// project computes columns.
func (s *grammar) project(r relation) relation {
	a := s.name("a")
	f := r.under(a)
	out := relation{private: r.private, domain: r.domain}
	var items []string
	if r.unit != "" && !s.one(8) {
		items, out.unit = append(items, fmt.Sprintf("%s.%s AS u", a, r.unit)), "u"
		out.fields = append(out.fields, s.unitField(r))
	}
	for range 1 + s.n(3) {
		var x field
		switch s.n(4) {
		case 0:
			x = pick(s.draws, f)
		case 1:
			x = field{s.number(f, 2), floating, false}
		case 2:
			x = field{s.text(f, 2), textual, false}
		case 3:
			x = field{s.bounded(f), floating, true}
		}
		name := s.name("c")
		items = append(items, fmt.Sprintf("%s AS %s", x.sql, name))
		out.fields = append(out.fields, field{name, x.kind, x.bounded})
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s%s)", strings.Join(items, ", "), r.sql, a, s.where(r, a, f))
	return out
}

func (s *grammar) unitField(r relation) field {
	f := r.fields[slices.IndexFunc(r.fields, func(f field) bool { return f.sql == r.unit })]
	return field{"u", f.kind, false}
}

// perUnit aggregates within each unit.
func (s *grammar) perUnit(r relation) relation {
	if r.unit == "" {
		return r
	}
	a := s.name("a")
	f := r.under(a)
	unit := a + "." + r.unit
	out := relation{private: true, domain: r.domain, unit: "u", fields: []field{s.unitField(r)}}
	items, keys := []string{unit + " AS u"}, []string{unit}
	for range []int{0, 0, 1, 2}[s.n(4)] {
		k, name := s.typedKey(f), s.name("c")
		items, keys = append(items, k.sql+" AS "+name), append(keys, k.sql)
		out.fields = append(out.fields, field{name, k.kind, k.bounded})
	}
	for range 1 + s.n(2) {
		name := s.name("c")
		x, k := "count(*)", whole
		switch s.n(8) {
		case 1, 2:
			x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"sum", "avg"}), s.summand(f)), floating
		case 3:
			x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"min", "max"}), s.number(f, 1)), floating
		case 4:
			x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"min", "max"}), s.text(f, 1)), textual
		case 5:
			x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"stddev", "var_pop"}), s.summand(f)), floating
		case 6:
			x = fmt.Sprintf("count(DISTINCT %s)", s.key(f))
		case 7:
			x, k = fmt.Sprintf("bool_or(%s)", s.condition(f, 1)), boolean
		}
		if s.one(5) {
			x += fmt.Sprintf(" FILTER (WHERE %s)", s.condition(f, 1))
		}
		items = append(items, x+" AS "+name)
		out.fields = append(out.fields, field{name, k, false})
	}
	having := ""
	if s.one(5) {
		having = " HAVING count(*) > 1"
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s%s GROUP BY %s%s)", strings.Join(items, ", "), r.sql, a, s.where(r, a, f), strings.Join(keys, ", "), having)
	return out
}

// perReference aggregates the rows of each reference, or keeps those with others of it.
func (s *grammar) perReference(r relation) relation {
	a, b := s.name("a"), s.name("a")
	f := r.under(a)
	if s.one(2) {
		r.sql, r.table = fmt.Sprintf("(SELECT * FROM %s AS %s WHERE %sEXISTS (SELECT 1 FROM %s AS %s WHERE %s.ref = %s.ref AND %s.id <> %s.id))",
			r.sql, a, pick(s.draws, []string{"", "NOT "}), r.sql, b, b, a, b, a), nil
		return r
	}
	out := relation{private: true, domain: r.domain, fields: []field{{"n", whole, false}, {"m", floating, false}}}
	out.sql = fmt.Sprintf("(SELECT count(*) AS n, max(%s) AS m FROM %s AS %s GROUP BY %s.ref)", s.number(f, 1), r.sql, a, a)
	return out
}

// windowed numbers, compares and adds up the rows of each unit.
func (s *grammar) windowed(r relation) relation {
	a := s.name("a")
	f := r.under(a)
	out := relation{private: r.private, domain: r.domain}
	var items, partition []string
	if r.unit != "" && !s.one(12) {
		partition = append(partition, a+"."+r.unit)
	}
	if r.unit != "" {
		items, out.unit, out.fields = append(items, a+"."+r.unit+" AS u"), "u", []field{s.unitField(r)}
	}
	if s.one(3) {
		partition = append(partition, s.key(f))
	}
	for range 1 + s.n(2) {
		k, name := s.typedKey(f), s.name("c")
		items = append(items, k.sql+" AS "+name)
		out.fields = append(out.fields, field{name, k.kind, k.bounded})
	}
	over := ""
	if len(partition) > 0 {
		over = "PARTITION BY " + strings.Join(partition, ", ")
	}
	if !s.one(4) {
		over += " ORDER BY " + s.key(f) + pick(s.draws, []string{"", " DESC", " NULLS FIRST"})
	}
	frame := pick(s.draws, []string{"", " ROWS 1 PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " RANGE UNBOUNDED PRECEDING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"})
	x, k := "row_number()", whole
	switch s.n(8) {
	case 0:
		x = pick(s.draws, []string{"rank()", "dense_rank()", "ntile(2)"})
	case 1, 2:
		v := s.typedKey(f)
		x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"lag", "lead"}), v.sql), v.kind
	case 3:
		v := s.typedKey(f)
		x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"first_value", "last_value", "min", "max"}), v.sql), v.kind
		if v.kind == boolean && (x[0] == 'm') {
			x = "bool_or(" + v.sql + ")"
		}
	case 4, 5:
		x, k = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"sum", "avg"}), s.summand(f)), floating
	}
	name := s.name("c")
	items = append(items, fmt.Sprintf("%s OVER (%s%s) AS %s", x, over, frame, name))
	out.fields = append(out.fields, field{name, k, false})
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s%s)", strings.Join(items, ", "), r.sql, a, s.where(r, a, f))
	if x == "row_number()" && s.one(2) {
		b := s.name("a")
		out.sql = fmt.Sprintf("(SELECT * FROM %s AS %s WHERE %s.%s %s)", out.sql, b, b, name, pick(s.draws, []string{"= 1", "<= 2", "= 2", "< 2"}))
	}
	return out
}

// summand is a number, rather one whose sum depends on the order of addition.
func (s *grammar) summand(f []field) string {
	if floats := s.of(f, is(floating)); len(floats) > 0 && s.one(2) {
		return pick(s.draws, floats)
	}
	return s.number(f, 1)
}

// typedKey is a column as a key.
func (s *grammar) typedKey(f []field) field {
	f = slices.DeleteFunc(slices.Clone(f), func(f field) bool { return f.kind == span })
	if len(f) == 0 {
		return field{"length('a')", whole, false}
	}
	return pick(s.draws, f)
}

// common is INTERSECT or EXCEPT with rows of the same units.
func (s *grammar) common(r relation) relation {
	if r.unit == "" {
		return r
	}
	o := s.sameUnit(r, 1)
	if o.unit == "" || s.unitField(o).kind != s.unitField(r).kind {
		return r
	}
	a, b := s.name("a"), s.name("a")
	out := relation{private: true, domain: r.domain, unit: "u", fields: []field{s.unitField(r)}}
	left, right := a+"."+r.unit+" AS u", b+"."+o.unit
	for _, x := range r.under(a) {
		for _, y := range o.under(b) {
			if x.kind == y.kind && x.kind != span && len(out.fields) < 2 && s.one(2) {
				name := s.name("c")
				left, right = left+", "+x.sql+" AS "+name, right+", "+y.sql
				out.fields = append(out.fields, field{name, x.kind, false})
			}
		}
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s%s %s SELECT %s FROM %s AS %s%s)", left, r.sql, a, s.where(r, a, r.under(a)),
		pick(s.draws, []string{"INTERSECT", "EXCEPT"}), right, o.sql, b, s.where(o, b, o.under(b)))
	return out
}

// distinct drops copies.
func (s *grammar) distinct(r relation) relation {
	a := s.name("a")
	out := relation{private: true, domain: r.domain}
	var items []string
	if r.unit != "" {
		items, out.unit, out.fields = append(items, a+"."+r.unit+" AS u"), "u", []field{s.unitField(r)}
	} else if !s.one(8) {
		return r // it would be a release
	}
	for range 1 + s.n(2) {
		k, name := s.typedKey(r.under(a)), s.name("c")
		items = append(items, k.sql+" AS "+name)
		out.fields = append(out.fields, field{name, k.kind, k.bounded})
	}
	out.sql = fmt.Sprintf("(SELECT DISTINCT %s FROM %s AS %s)", strings.Join(items, ", "), r.sql, a)
	return out
}

// joined lists the columns of two sides under new names.
func (s *grammar) joined(l, r []field) (items []string, out []field) {
	for _, x := range some(s.draws, append(slices.Clone(l), r...), 2, 5) {
		name := s.name("c")
		items = append(items, x.sql+" AS "+name)
		out = append(out, field{name, x.kind, x.bounded})
	}
	return items, out
}

func (s *grammar) joinPublic(r relation) relation {
	p := s.public(2)
	a, b := s.name("a"), s.name("a")
	l, f := r.under(a), p.under(b)
	items, fields := s.joined(l, f)
	out := relation{private: true, domain: r.domain, fields: fields}
	if r.unit != "" {
		items, out.unit = append(items, a+"."+r.unit+" AS u"), "u"
		out.fields = append(out.fields, s.unitField(r))
	}
	join := pick(s.draws, []string{"CROSS JOIN ", ", "}) + p.sql + " AS " + b
	if on := s.meet(l, f); on != "" && !s.one(6) {
		if s.one(4) {
			on += " AND " + s.condition(append(slices.Clone(l), f...), 1)
		}
		kind := pick(s.draws, []string{"JOIN", "LEFT JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
		if (kind == "RIGHT JOIN" || kind == "FULL JOIN") && !s.one(6) {
			// An outer join that preserves the private side, the other way round.
			out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s RIGHT JOIN %s AS %s ON %s)", strings.Join(items, ", "), p.sql, b, r.sql, a, on)
			return out
		}
		join = fmt.Sprintf("%s %s AS %s ON %s", kind, p.sql, b, on)
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s %s)", strings.Join(items, ", "), r.sql, a, join)
	return out
}

func (s *grammar) joinPrivate(r relation, depth int) relation {
	a, b := s.name("a"), s.name("a")
	kind := pick(s.draws, []string{"JOIN", "JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"})
	var o relation
	var on, unit string
	switch {
	case r.refers != nil:
		// Along the reference.
		o = scan(r.refers)
		on = fmt.Sprintf("%s.ref = %s.id", a, b)
		if o.unit != "" && (kind == "JOIN" || kind == "RIGHT JOIN") {
			unit = b + ".u"
		}
	case r.unit != "":
		if o = s.sameUnit(r, depth-1); o.unit == "" {
			return r
		}
		on = fmt.Sprintf("%s.%s = %s.%s", a, r.unit, b, o.unit)
		switch kind {
		case "JOIN", "LEFT JOIN":
			unit = a + "." + r.unit
		case "RIGHT JOIN":
			unit = b + "." + o.unit
		case "FULL JOIN":
			unit = fmt.Sprintf("coalesce(%s.%s, %s.%s)", a, r.unit, b, o.unit)
		}
	default:
		return r
	}
	l, f := r.under(a), o.under(b)
	using := r.unit == "u" && o.unit == "u" && s.one(4)
	if using {
		unit = "u"
	} else if c := s.meet(l, f); c != "" && s.one(3) {
		on += " AND " + c
	}
	if s.one(25) {
		on = s.meet(l, f) // off the unit, mostly: to be refused
	}
	if on == "" {
		return r
	}
	items, fields := s.joined(l, f)
	out := relation{private: true, domain: r.domain, fields: fields}
	if unit != "" {
		items, out.unit = append(items, unit+" AS u"), "u"
		k := s.unitField(relation{unit: "u", fields: []field{{"u", whole, false}}})
		if r.unit != "" {
			k = s.unitField(r)
		} else if o.unit != "" {
			k = s.unitField(o)
		}
		out.fields = append(out.fields, k)
	}
	if on = " ON " + on; using {
		on = " USING (u)"
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s %s %s AS %s%s)", strings.Join(items, ", "), r.sql, a, kind, o.sql, b, on)
	return out
}

// union puts two private relations below each other: columns of one kind.
func (s *grammar) union(r relation, depth int) relation {
	var o relation
	switch {
	case r.unit != "":
		o = s.sameUnit(r, depth-1)
	default:
		o = s.private(depth - 1)
	}
	if o.domain != r.domain || (o.unit == "") != (r.unit == "") {
		if !s.one(6) {
			return r
		}
	}
	a, b := s.name("a"), s.name("a")
	out := relation{private: true, domain: r.domain}
	var left, right []string
	if r.unit != "" && o.unit != "" {
		left, right, out.unit = []string{a + "." + r.unit + " AS u"}, []string{b + "." + o.unit + " AS u"}, "u"
		out.fields = []field{s.unitField(r)}
	}
	for _, x := range r.under(a) {
		for _, y := range o.under(b) {
			if x.kind == y.kind && s.one(2) {
				name := s.name("c")
				left, right = append(left, x.sql+" AS "+name), append(right, y.sql)
				out.fields = append(out.fields, field{name, x.kind, x.bounded && y.bounded})
				break
			}
		}
	}
	if len(left) == 0 {
		return r
	}
	out.sql = fmt.Sprintf("(SELECT %s FROM %s AS %s UNION ALL SELECT %s FROM %s AS %s)", strings.Join(left, ", "), r.sql, a, strings.Join(right, ", "), o.sql, b)
	return out
}

// named makes r a WITH query, or takes one that is there.
func (s *grammar) named(r relation) relation {
	for _, c := range s.ctes {
		if c.domain == r.domain && s.one(2) {
			return c
		}
	}
	name := s.name("w")
	s.with = append(s.with, fmt.Sprintf("%s AS (SELECT * FROM %s AS %s)", name, r.sql, s.name("a")))
	r.sql, r.table = name, nil
	s.ctes = append(s.ctes, r)
	return r
}
