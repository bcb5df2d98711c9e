package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/sqltype"
)

// maxField bounds, in bytes, a text that is read from PostgreSQL, which keeps up to a
// gigabyte: functions of such a text fail for want of memory. A longer one is NULL.
const maxField = 1 << 20

// natives are the types of PostgreSQL that can be read, and what they are here. A numeric
// has any number of digits: see PostgresField.
var natives = map[string]sqltype.Kind{
	"bool": sqltype.Boolean, "int2": sqltype.Smallint, "int4": sqltype.Integer, "int8": sqltype.Bigint, "float4": sqltype.Real, "float8": sqltype.Double,
	"numeric": sqltype.DecimalKind, "text": sqltype.Text, "varchar": sqltype.Text, "bpchar": sqltype.Text, "name": sqltype.Text, "uuid": sqltype.Text,
	"enum": sqltype.Text, "date": sqltype.DateKind, "time": sqltype.TimeKind, "timestamp": sqltype.TimestampKind, "timestamptz": sqltype.TimestampKind,
	"interval": sqltype.IntervalKind,
}

// PostgresField prints the reading of a column of PostgreSQL, of a native type by its name in
// pg_type ("enum" for any enumeration), as a type of ours, totally and in canonical form: −0 is 0;
// NaN, infinities, infinite dates, timestamps that 64 bits do not count, texts of more than a
// mebibyte, and what does not fit are NULL. Its second result is false where there is no
// reading. Timestamps with a zone are read in UTC.
func PostgresField(column, native string, t sqltype.Type) (string, bool) {
	kind, ok := natives[native]
	if !ok {
		return "", false
	}
	r := &renderer{dialect: postgres{}}
	s, d := r.scope(nil), postgres{}
	x, from := column, sqltype.Of(kind)
	switch kind {
	case sqltype.Boolean, sqltype.Smallint, sqltype.Integer, sqltype.Bigint, sqltype.TimeKind:
		x = fmt.Sprintf("CAST(%s AS %s)", x, d.typeName(from)) // of a domain, too
	case sqltype.Real, sqltype.Double:
		most := "CAST('1.7976931348623157e308' AS DOUBLE PRECISION)"
		if kind == sqltype.Real {
			most = "CAST('3.4028235e38' AS REAL)"
		}
		x = d.finite(s, fmt.Sprintf("CASE WHEN abs(%s) <= %s THEN CAST(%s AS %s) END", x, most, x, d.typeName(from)), from)
	case sqltype.DecimalKind: // NaN is above infinity
		x = fmt.Sprintf("CASE WHEN %s > '-Infinity' AND %s < 'Infinity' THEN CAST(%s AS NUMERIC) END", x, x, x)
		switch {
		case t.IsInteger() || t.Kind == sqltype.DecimalKind:
			return d.narrow(s, x, t), true
		case t.IsFloat():
			return d.float(s, x, t), true
		case t.Kind == sqltype.Text:
			return fmt.Sprintf("(CAST(%s AS TEXT)%s)", x, bytewise), true
		}
		return "", false
	case sqltype.Text:
		x = fmt.Sprintf("(CAST(%s AS TEXT)%s)", x, bytewise)
		if native == "text" || native == "varchar" || native == "bpchar" {
			x = fmt.Sprintf("(CASE WHEN octet_length(%s) <= %d THEN CAST(%s AS TEXT) END%s)", column, maxField, column, bytewise)
		}
	case sqltype.DateKind, sqltype.IntervalKind:
		x = fmt.Sprintf("CASE WHEN isfinite(%s) THEN CAST(%s AS %s) END", x, x, d.typeName(from))
	case sqltype.TimestampKind:
		value, last := fmt.Sprintf("CAST(%s AS TIMESTAMP)", x), "294247-01-10 04:00:54.775806"
		if native == "timestamptz" {
			value, last = fmt.Sprintf("(%s AT TIME ZONE 'UTC')", x), last+"+00"
		}
		x = fmt.Sprintf("CASE WHEN %s > '-infinity' AND %s <= '%s' THEN %s END", x, x, last, value)
	}
	out := d.convert(s, x, from, t)
	if from != t && t.IsFloat() {
		out = d.finite(s, out, t)
	}
	return out, r.err == nil
}

// float rounds a numeric of any size: the number is exact, so that what overflows and what
// becomes zero is seen before.
func (d postgres) float(s scope, n string, to sqltype.Type) string {
	least, beyond := "CAST('2.4703282292062328e-324' AS NUMERIC)", "CAST('1.797693134862315807e308' AS NUMERIC)"
	if to.Kind == sqltype.Real {
		least, beyond = "CAST('7.006492321624086e-46' AS NUMERIC)", "CAST('3.4028235677973366e38' AS NUMERIC)"
	}
	return s.once(n, func(n string) string {
		return d.finite(s, fmt.Sprintf("CASE WHEN abs(%s) < %s THEN CAST(0 AS %s) WHEN abs(%s) < %s THEN CAST(%s AS %s) END", n, least, d.typeName(to), n, beyond, n, d.typeName(to)), to)
	})
}

// PostgresNull prints NULL as a value of a type of ours.
func PostgresNull(t sqltype.Type) string {
	text, _ := postgres{}.literal(nil, t) // of NULL there is no error
	return text
}
