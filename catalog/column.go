package catalog

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/sqltype"
)

func (l *loader) declareColumns(t *Table, n *node) {
	f := n.field("columns")
	if f == nil || f.kind == tableNode && len(f.fields) == 0 {
		l.missing(n, "columns", `declare them, as in age = { type = "integer" }; what is not declared does not exist`)
		return
	}
	if _, ok := l.table(f); !ok {
		return
	}
	l.names(f, "column", func(n *node) { l.column(t, n) })
}

func (l *loader) column(t *Table, n *node) {
	c := &Column{Name: n.name}
	l.columns[c] = n
	t.Columns = append(t.Columns, c)
	l.declareColumn(c, n, t.Public)
}

// declareColumn reads a column's type, and what else is declared of it.
func (l *loader) declareColumn(c *Column, n *node, public bool) {
	if n.kind != tableNode {
		l.refuse("D084", n.place(), "column %q must be a table, not %s", n.name, n.describe()).
			Try(`write %s = { type = "integer" }`, n.name)
		return
	}
	l.keys(n, "type", "from", "is", "lower", "upper", "bounds", "step", "domain", "sum_lower", "sum_upper", "mapped")
	if seen, ok := l.boolean(n.field("mapped")); ok {
		c.Mapped = &seen
	}
	if from := n.field("from"); from != nil {
		if s, ok := l.str(from); ok && s == "" {
			l.refuse("D084", from.value, "%q names no column of the source", "from")
		} else {
			c.From = s
		}
	}
	if is := n.field("is"); is != nil {
		if n.field("from") != nil {
			l.refuse("D104", is.key, "column %q is both read and derived", n.name).
				Because("from names a column of the source, is an expression that computes one").Try("remove one of them")
		}
		c.Is, _ = l.sql("D104", is)
	}
	f := n.field("type")
	if f == nil {
		l.missing(n, "type", `write its SQL type, as in { type = "integer" }`)
		return
	}
	name, ok := l.str(f)
	if !ok {
		return
	}
	var err error
	if c.Type, err = sqltype.Parse(name); err != nil {
		d := l.refuse("D090", f.value, "%v", err).Try("the types are %s", strings.Join(sqltype.Names(), ", "))
		if near := diagnostic.Nearest(name, sqltype.Names()); near != "" && !strings.Contains(near, "(") {
			d.Try("did you mean %q?", near)
		}
		return
	}
	if public {
		for _, key := range []string{"step", "domain", "sum_lower", "sum_upper", "bounds"} {
			if f := n.field(key); f != nil {
				l.refuse("D093", f.key, "a column of a public table has no %q", key).
					Because("its values are its domain, and sums are of private rows").Try("remove it")
			}
		}
		if f := n.field("mapped"); f != nil {
			l.refuse("D093", f.key, "a column of a public table has no %q", "mapped").Because("code is run over private tables alone").Try("remove it")
		}
		l.bounds(c, n) // to which values are clamped where private rows that are joined with it are summed
		return
	}
	l.bounds(c, n)
	l.sumBounds(c, n)
	l.autoBounds(c, n)
}

// autoBounds reads bounds = "auto".
func (l *loader) autoBounds(c *Column, n *node) {
	f := n.field("bounds")
	if c.Auto = l.auto("D091", f, "lower and upper"); !c.Auto {
		return
	}
	switch {
	case !c.Type.IsNumeric():
		l.refuse("D091", f.value, "the bounds of a column of type %s are not found", c.Type).
			Because("what is found are bounds of numbers").Try("remove bounds; declare lower and upper where the type has them")
	case n.field("lower") == nil || n.field("upper") == nil:
		l.refuse("D091", f.value, "bounds that are to be found need a range to look in").
			Because("the range is public; it holds until bounds are found, and where too few units are there to find any").
			Try("write the widest that could be, as in lower = 0, upper = 1000000; ten times too wide costs little")
	case n.field("sum_lower") != nil || n.field("sum_upper") != nil:
		l.refuse("D091", f.value, "bounds that are to be found beside bounds of a unit's sum").
			Because("the sum is clamped then, and the values' bounds play no part").Try("remove either")
	}
}

// both returns the two keys of a pair of bounds if both are there.
func (l *loader) both(n *node, lower, upper string) (lo, hi *node, ok bool) {
	lo, hi = n.field(lower), n.field(upper)
	switch {
	case lo != nil && hi == nil:
		l.refuse("D091", lo.key, "%q has no %q beside it", lower, upper).Because("a column is bounded on both sides or not at all")
	case lo == nil && hi != nil:
		l.refuse("D091", hi.key, "%q has no %q beside it", upper, lower).Because("a column is bounded on both sides or not at all")
	}
	return lo, hi, lo != nil && hi != nil
}

// bounds reads lower and upper.
func (l *loader) bounds(c *Column, n *node) {
	lo, hi, ok := l.both(n, "lower", "upper")
	if !ok {
		return
	}
	if !c.Type.IsNumeric() && !c.Type.IsTemporal() {
		l.refuse("D091", lo.key.Join(hi.value), "a column of type %s has no bounds", c.Type).
			Because("bounds are for numbers, dates and times").Try("remove them")
		return
	}
	lower, okLower := l.value("D091", lo, c.Type)
	upper, okUpper := l.value("D091", hi, c.Type)
	if !okLower || !okUpper {
		return
	}
	if sqltype.Compare(lower, upper) > 0 {
		l.refuse("D091", lo.value, "lower bound %s is above upper bound %s", sqltype.Format(lower), sqltype.Format(upper))
		return
	}
	c.Lower, c.Upper = lower, upper
}

// sumBounds reads sum_lower and sum_upper.
func (l *loader) sumBounds(c *Column, n *node) {
	lo, hi, ok := l.both(n, "sum_lower", "sum_upper")
	switch {
	case !ok:
		return
	case !c.Type.IsNumeric():
		l.refuse("D091", lo.key.Join(hi.value), "a column of type %s has no sums", c.Type).Try("remove sum_lower and sum_upper")
		return
	case n.field("lower") == nil && n.field("upper") == nil:
		l.refuse("D091", lo.key.Join(hi.value), "a column with bounds on its sums needs bounds on its values").
			Because("the values are added in fixed point, and lower and upper give its range").Try("add lower and upper")
		return
	}
	lower, okLower := l.rat("D091", lo)
	upper, okUpper := l.rat("D091", hi)
	if !okLower || !okUpper {
		return
	}
	if lower.Cmp(upper) > 0 {
		l.refuse("D091", lo.value, "sum_lower is above sum_upper")
		return
	}
	c.SumLower, c.SumUpper = lower, upper
}

// value reads a value of a column's type, in exactly the form that was written.
func (l *loader) value(code string, n *node, t sqltype.Type) (sqltype.Value, bool) {
	if l.undecided[n] {
		return nil, false
	}
	v, err := l.exact(n, t)
	if err != nil {
		l.refuse(code, n.value, "%v", err)
	}
	return v, err == nil
}

func (l *loader) exact(n *node, t sqltype.Type) (sqltype.Value, error) {
	written := l.text[n.value.Start:n.value.End]
	switch v := n.data.(type) {
	case bool:
		if t.Kind == sqltype.Boolean {
			return v, nil
		}
	case int64:
		if t.IsNumeric() {
			return sqltype.ParseValue(t, strconv.FormatInt(v, 10))
		}
	case float64:
		written = strings.ReplaceAll(written, "_", "")
		if t.IsInteger() { // 1e3 and 5.0 are whole numbers
			if r, err := numeric.ParseDecimal(written); err == nil && r.IsInt() {
				written = r.Num().String()
			}
		}
		if t.IsNumeric() {
			return sqltype.ParseValue(t, written)
		}
	case time.Time:
		if t.IsTemporal() {
			return parseTemporal(t, strings.ToUpper(written))
		}
	case string:
		switch {
		case t.Kind == sqltype.Text && strings.ContainsRune(v, 0):
			return nil, fmt.Errorf("a text cannot hold a zero byte")
		case t.Kind == sqltype.Text, t.Kind == sqltype.DecimalKind:
			// TOML has no decimals: a string holds what a float64 could not.
			return sqltype.ParseValue(t, v)
		case t.IsTemporal():
			return parseTemporal(t, v)
		}
	}
	if n.kind != scalarNode {
		return nil, fmt.Errorf("%s is not a value of type %s", n.describe(), t)
	}
	return nil, fmt.Errorf("%s is not a value of type %s", written, t)
}

func parseTemporal(t sqltype.Type, s string) (sqltype.Value, error) {
	if i := strings.IndexByte(s, '.'); i >= 0 && len(s)-i > len(".123456") {
		return nil, fmt.Errorf("%q is finer than a microsecond", s)
	}
	return sqltype.ParseValue(t, s)
}

// ratOf returns a number's exact value.
func ratOf(v sqltype.Value) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case sqltype.Date:
		return new(big.Rat).SetInt64(int64(v))
	case sqltype.Decimal:
		return v.Rat()
	}
	return nil
}
