//go:build cgo

package release_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A field is a column in scope: how to write it, and what it may be used for.
type field struct {
	sql     string
	kind    kind
	bounded bool
}

// A relation is something for FROM.
type relation struct {
	sql     string
	fields  []field // sql is the bare column name
	private bool
	domain  string // of a private relation
	unit    string // the column that holds the unit, or ""
	refers  *table // a private table whose column "ref" leads to the unit
	table   *table // of a plain table
}

// A grammar draws statements. It knows little of what is refused: it aims at
// what is accepted, and strays from it now and then.
type grammar struct {
	draws
	x     *example
	names int
	with  []string
	ctes  []relation

	pivots bool // releases have aggregates of which a row adds to one at most
}

func (g draws) statement(x *example) string {
	s := &grammar{draws: g, x: x}
	return s.whole(s.answer())
}

// pivotStatement is a release, or grouping sets, with such aggregates.
func (g draws) pivotStatement(x *example) string {
	s := &grammar{draws: g, x: x, pivots: true}
	if s.one(3) {
		return s.whole(s.sets())
	}
	sql, _ := s.release()
	return s.whole(sql)
}

// whole is a statement with what its body reads.
func (s *grammar) whole(body string) string {
	if len(s.with) > 0 {
		return "WITH " + strings.Join(s.with, ", ") + " " + body
	}
	return body
}

func (s *grammar) name(prefix string) string {
	s.names++
	return fmt.Sprintf("%s%d", prefix, s.names)
}

// answer is a release, or post-processing of releases.
func (s *grammar) answer() string {
	switch s.n(12) {
	default:
		sql, _ := s.release()
		return sql
	case 8:
		if s.x.all {
			return s.sets()
		}
		sql, _ := s.release()
		return sql
	case 9:
		sql, n := s.release()
		return fmt.Sprintf("%s ORDER BY %d DESC LIMIT 3", sql, 1+s.n(n))
	case 10:
		a, _ := s.release()
		b, _ := s.release()
		return fmt.Sprintf("SELECT * FROM (%s) AS x CROSS JOIN (%s) AS y", a, b)
	case 11:
		sql, _ := s.release()
		return fmt.Sprintf("SELECT count(*) FROM (%s) AS x", sql)
	}
}

// sets are grouping sets over private rows, mostly by keys with complete domains.
func (s *grammar) sets() string {
	r := s.private(pick(s.draws, []int{1, 0}))
	a := s.name("a")
	f := r.under(a)
	keys := []string{s.finite(f), s.finite(f)}
	items := []string{keys[0], fmt.Sprintf("grouping(%s, %s)", keys[0], keys[1])}
	for range 1 + s.n(3) {
		items = append(items, s.aggregate(r, a, f))
	}
	if s.pivots {
		items = append(items, s.pivot(f)...)
	}
	form := pick(s.draws, []string{"ROLLUP (%s, %s)", "CUBE (%s, %s)", "GROUPING SETS ((%[2]s), (%[1]s))", "%s, ROLLUP (%s)", "GROUPING SETS ((), (%[1]s), (%[1]s, %[2]s), (%[1]s))"})
	return fmt.Sprintf("SELECT %s FROM %s AS %s%s GROUP BY %s", strings.Join(items, ", "), r.sql, a, s.where(r, a, f), fmt.Sprintf(form, keys[0], keys[1]))
}

// finite is a key that mostly has a complete domain.
func (s *grammar) finite(f []field) string {
	switch s.n(4) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN 'x' ELSE 'z' END", s.condition(f, 1))
	case 1:
		return fmt.Sprintf("width_bucket(%s, 0, 10, 3)", s.number(f, 1))
	case 2:
		return s.condition(f, 1)
	}
	return s.key(f)
}

// release is an aggregation over private rows; n is its number of columns.
func (s *grammar) release() (sql string, n int) {
	// Short statements leave more of the difference between neighbours to see.
	r := s.private(pick(s.draws, []int{1, 2, 1, 0, 3}))
	a := s.name("a")
	f := r.under(a)
	var items, keys []string
	for range []int{0, 0, 1, 1, 2, 3}[s.n(6)] {
		key := s.key(f)
		if s.one(4) {
			key = fmt.Sprint(len(items) + 1)
			items = append(items, s.key(f))
		} else {
			items = append(items, key)
		}
		keys = append(keys, key)
	}
	for range 1 + s.n(3) {
		items = append(items, s.aggregate(r, a, f))
	}
	if s.pivots {
		items = append(items, s.pivot(f)...)
	}
	sql = fmt.Sprintf("SELECT %s FROM %s AS %s%s", strings.Join(items, ", "), r.sql, a, s.where(r, a, f))
	if len(keys) > 0 {
		sql += " GROUP BY " + strings.Join(keys, ", ")
	}
	if s.one(10) {
		sql += " HAVING count(*) > 2"
	}
	return sql, len(items)
}

// under returns the fields as seen below an alias.
func (r relation) under(alias string) []field {
	out := slices.Clone(r.fields)
	for i := range out {
		out[i].sql = alias + "." + out[i].sql
	}
	return out
}

// key is a grouping key: mostly a column.
func (s *grammar) key(f []field) string {
	f = slices.DeleteFunc(slices.Clone(f), func(f field) bool { return f.kind == span })
	if len(f) > 0 && !s.one(3) {
		return late(s.draws, f).sql
	}
	switch s.n(6) {
	case 0:
		return fmt.Sprintf("CASE WHEN %s THEN 'x' WHEN %s THEN 'y' ELSE 'z' END", s.condition(f, 1), s.condition(f, 1))
	case 1:
		return fmt.Sprintf("width_bucket(%s, 0, 10, 3)", s.number(f, 1))
	case 2:
		return s.condition(f, 1)
	case 3:
		return s.text(f, 2)
	case 4:
		return fmt.Sprintf("extract(%s FROM %s)", pick(s.draws, []string{"month", "year", "dow", "hour"}), s.stamp(f, 1))
	}
	return s.number(f, 2)
}

// aggregate is one of those that a release may have, and at times one of those
// that it may not.
func (s *grammar) aggregate(r relation, alias string, f []field) string {
	var out string
	switch s.n(12) {
	case 0, 1:
		out = "count(*)"
	case 2:
		out = fmt.Sprintf("count(%s)", s.any(f, 1))
	case 3, 4:
		out = fmt.Sprintf("count(DISTINCT %s)", s.key(f))
	case 5:
		if r.unit != "" {
			out = fmt.Sprintf("count(DISTINCT %s.%s)", alias, r.unit)
			break
		}
		out = "count(*)"
	case 6, 7, 8:
		out = fmt.Sprintf("sum(%s)", s.bounded(f))
	case 9:
		if out = fmt.Sprintf("avg(%s)", s.bounded(f)); s.x.all && s.one(3) {
			out = fmt.Sprintf("%s(%s, %s)", pick(s.draws, []string{"corr", "covar_pop", "regr_slope"}), s.bounded(f), s.bounded(f))
		}
	case 10:
		out = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"var_pop", "variance", "stddev", "stddev_pop"}), s.bounded(f))
	case 11:
		out = fmt.Sprintf("%s(%s)", pick(s.draws, []string{"sum", "avg", "max", "min"}), s.number(f, 2))
	}
	if s.one(6) {
		out += fmt.Sprintf(" FILTER (WHERE %s)", s.condition(f, 1))
	}
	return out
}

// pivot are two aggregates of which a row adds to one at most.
func (s *grammar) pivot(f []field) []string {
	c := s.condition(f, 1)
	return []string{
		fmt.Sprintf(pick(s.draws, []string{"count(*) FILTER (WHERE %s)", "sum((%s)::int)"}), c),
		fmt.Sprintf(pick(s.draws, []string{"countif(NOT (%s))", "sum(CASE WHEN NOT (%s) THEN 1 ELSE 0 END)"}), c),
	}
}

// bounded is a number whose bounds follow from declared ones.
func (s *grammar) bounded(f []field) string {
	var bounded []field
	for _, f := range f {
		if f.bounded {
			bounded = append(bounded, f)
		}
	}
	if len(bounded) > 0 && !s.one(4) {
		x := late(s.draws, bounded).sql
		switch s.n(6) {
		default:
			return x
		case 3:
			return fmt.Sprintf("%s * %d", x, 1+s.n(3))
		case 4:
			return fmt.Sprintf("(%s - %s)", x, pick(s.draws, bounded).sql)
		case 5:
			return fmt.Sprintf("(%s)::%s", x, pick(s.draws, []string{"double precision", "integer", "numeric(10,2)", "smallint"}))
		}
	}
	if s.one(4) {
		return fmt.Sprintf("CASE WHEN %s THEN 3 ELSE 5 END", s.condition(f, 1))
	}
	return fmt.Sprintf("least(greatest(%s, %s), %s)", s.number(f, 1), pick(s.draws, []string{"0", "-2", "3.5"}), pick(s.draws, []string{"10", "4", "7.25"}))
}

// where draws conditions, with semijoins among them.
func (s *grammar) where(r relation, alias string, f []field) string {
	var conditions []string
	if s.one(6) {
		conditions = append(conditions, s.condition(f, 2))
	}
	if r.unit != "" && s.x.all && s.one(12) { // of the same unit
		o, b := s.sameUnit(r, 1), s.name("a")
		if o.unit != "" {
			of := o.under(b)
			conditions = append(conditions, fmt.Sprintf("%s >= (SELECT %s(%s) FROM %s AS %s WHERE %s.%s = %s.%s)", s.number(f, 1),
				pick(s.draws, []string{"min", "avg", "count"}), s.number(of, 1), o.sql, b, b, o.unit, alias, r.unit))
		}
	}
	if s.one(12) {
		p, b := s.public(1), s.name("a")
		conditions = append(conditions, fmt.Sprintf("%s >= (SELECT %s(%s) FROM %s AS %s)", s.number(f, 1),
			pick(s.draws, []string{"min", "avg", "sum", "stddev"}), s.number(p.under(b), 1), p.sql, b))
	}
	if s.one(6) {
		if c := s.semijoin(r, alias, f); c != "" {
			conditions = append(conditions, c)
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

func (s *grammar) semijoin(r relation, alias string, f []field) string {
	not := pick(s.draws, []string{"", "NOT "})
	if r.unit != "" && s.one(2) {
		o := s.sameUnit(r, 1)
		if o.unit == "" {
			return ""
		}
		b := s.name("a")
		of := o.under(b)
		switch s.n(3) {
		case 0:
			return fmt.Sprintf("%s.%s %sIN (SELECT %s.%s FROM %s AS %s%s)", alias, r.unit, not, b, o.unit, o.sql, b, s.where(o, b, of))
		case 1:
			if c := s.meet(f, of); c != "" {
				return fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s AS %s WHERE %s.%s = %s.%s AND %s)", not, o.sql, b, b, o.unit, alias, r.unit, c)
			}
		}
		return fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s AS %s WHERE %s.%s = %s.%s)", not, o.sql, b, b, o.unit, alias, r.unit)
	}
	p := s.public(1)
	b := s.name("a")
	pf := p.under(b)
	for _, x := range f {
		for _, y := range pf {
			if x.kind == y.kind && x.kind != span {
				return fmt.Sprintf("%s %sIN (SELECT %s FROM %s AS %s)", x.sql, not, y.sql, p.sql, b)
			}
		}
	}
	return ""
}

// meet is a condition between two relations.
func (s *grammar) meet(l, r []field) string {
	var all []string
	for _, x := range l {
		for _, y := range r {
			if x.kind == y.kind || x.kind.number() && y.kind.number() {
				op := "="
				if x.kind != boolean && s.one(4) {
					op = pick(s.draws, []string{"<", ">=", "<>"})
				}
				all = append(all, fmt.Sprintf("%s %s %s", x.sql, op, y.sql))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return pick(s.draws, all)
}

// examples generates whole examples for the planted faults, without shrinking.
var examples = rapid.Custom(firstExample)
