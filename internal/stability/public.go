package stability

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// Public has values of columns of public tables, by column: distinct, ascending, without NULL.
//
// Where a key's domain is such a column, its values stand as constants in the statement that reads private rows. Theorem: none but those of
// listed domains. The values are public, and read before anything is charged; rows with other keys are dropped before any bound is applied, by these constants, whatever
// the table holds by then. So groups, noise and cost are a function of the statement, the catalog and values that are public.
type Public map[*catalog.Column][]sqltype.Value

// mostText bounds the texts of a public column, in bytes, that stand in a statement. As constants they are written several times, and an
// engine bounds a statement's text.
const mostText = 256 << 10

// A typedColumn is a column whose values are read as those of a type.
type typedColumn struct {
	column *catalog.Column
	t      sqltype.Type
}

// tableDomain is the domain that a column of a public table lists, as values of a type: these, where they are known and few enough to be constants;
// else the table, as it is when the statement is compiled and when it runs.
func (f *facts) tableDomain(t *catalog.Table, c *catalog.Column, as sqltype.Type) *catalog.PublicDomain {
	at := typedColumn{c, as}
	d, ok := f.listed[at]
	if !ok {
		d = &catalog.PublicDomain{FromTable: t, FromColumn: c}
		if values := OfType(f.public[c], as); areConstants(values, as) {
			d = &catalog.PublicDomain{Values: values}
		}
		f.listed[at] = d
	}
	return d
}

// declaredDomain is the one that a column is declared to have.
func (f *facts) declaredDomain(c *catalog.Column) *catalog.PublicDomain {
	if d := c.Domain; d == nil || d.FromTable == nil {
		return d
	}
	return f.tableDomain(c.Domain.FromTable, c.Domain.FromColumn, c.Type)
}

// need notes a domain that would be known better if its public column were read.
func (f *facts) need(d *catalog.PublicDomain) {
	if d.FromTable == nil {
		return
	}
	if _, known := f.public[d.FromColumn]; known || slices.ContainsFunc(f.unread, func(u *catalog.PublicDomain) bool { return u.FromColumn == d.FromColumn }) {
		return
	}
	f.unread = append(f.unread, d)
}

// areConstants reports whether values are few and short enough to stand in a statement, and can: not where there are none, nor as floating numbers of single
// precision, which compare as wider ones, nor as texts with a zero byte.
func areConstants(values []sqltype.Value, t sqltype.Type) bool {
	if len(values) == 0 || len(values) > MostDerived || t.Kind == sqltype.Real || t.Kind == sqltype.IntervalKind {
		return false
	}
	size := 0
	for _, v := range values {
		if text, ok := v.(string); ok {
			if size += len(text); strings.Contains(text, "\x00") {
				return false
			}
		}
	}
	return size <= mostText
}

// OfType are the values of a public column that a key of a type can have: a table's bigint can be larger than any integer.
func OfType(values []sqltype.Value, t sqltype.Type) []sqltype.Value {
	if !t.IsInteger() {
		return values
	}
	return slices.DeleteFunc(slices.Clone(values), func(v sqltype.Value) bool {
		_, err := sqltype.ParseValue(t, sqltype.Format(v))
		return err != nil
	})
}
