package render

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/discreet-dp/discreet/sqltype"
)

// trinoTyped splits the name of a type of Trino from its parameters.
var trinoTyped = regexp.MustCompile(`^([a-z]+)(?:\(([0-9]+)(?:, ?([0-9]+))?\))?( with time zone)?$`)

// TrinoField prints the reading of a column of Trino, of a type by its name in
// information_schema, as a type of ours, totally and in canonical form: −0 is 0; NaN, infinities,
// what lies outside of the years 1 to 9999, texts that are not UTF-8 or have more than a mebibyte,
// and what does not fit are NULL. Its second result is false where there is no reading.
// Timestamps with a zone are read in UTC.
func TrinoField(column, native string, t sqltype.Type) (string, bool) {
	m := trinoTyped.FindStringSubmatch(native)
	if m == nil || t.Kind == sqltype.IntervalKind {
		return "", false
	}
	precision, _ := strconv.Atoi(m[2]) // of the others it is empty
	scale, _ := strconv.Atoi(m[3])
	r := &renderer{dialect: trino{}}
	s, d := r.scope(nil), trino{}
	x := column
	var from sqltype.Type
	switch name := m[1]; {
	case name == "boolean" || name == "smallint" || name == "integer" || name == "bigint":
		from = sqltype.Of(map[string]sqltype.Kind{"boolean": sqltype.Boolean, "smallint": sqltype.Smallint, "integer": sqltype.Integer, "bigint": sqltype.Bigint}[name])
		x = d.narrow(s, x, from) // an older snapshot can have another type
	case name == "tinyint":
		from, x = sqltype.Of(sqltype.Smallint), "CAST("+x+" AS SMALLINT)"
	case name == "real" || name == "double":
		from = sqltype.Of(map[string]sqltype.Kind{"real": sqltype.Real, "double": sqltype.Double}[name])
		x = d.finite(s, fmt.Sprintf("CAST(%s AS %s)", x, d.typeName(from)), from)
	case name == "decimal" && precision > 0:
		from = sqltype.DecimalOf(uint8(precision), uint8(scale))
		x = d.narrow(s, x, from)
	case name == "varchar":
		from = sqltype.Of(sqltype.Text)
		x = s.once("CAST("+x+" AS VARCHAR)", func(x string) string {
			return fmt.Sprintf("CASE WHEN length(to_utf8(%[1]s)) <= %[2]d AND to_utf8(from_utf8(to_utf8(%[1]s))) = to_utf8(%[1]s) THEN %[1]s END", x, maxField)
		})
	case name == "uuid":
		from, x = sqltype.Of(sqltype.Text), "CAST("+x+" AS VARCHAR)"
	case name == "date":
		from = sqltype.Of(sqltype.DateKind)
		x = s.inCalendar(x, from)
	case name == "timestamp" && precision <= 6:
		from = sqltype.Of(sqltype.TimestampKind)
		if m[4] != "" {
			x += " AT TIME ZONE 'UTC'"
		}
		x = s.inCalendar("CAST("+x+" AS TIMESTAMP(6))", from)
	case name == "time" && precision <= 6 && m[4] == "":
		from, x = sqltype.Of(sqltype.TimeKind), "CAST("+x+" AS TIME(6))"
	default:
		return "", false
	}
	out := d.convert(s, x, from, t)
	if from != t && t.IsFloat() {
		out = d.finite(s, out, t)
	}
	return out, r.err == nil
}

// TrinoPlain is TrinoField of a column that has the very type, an integer's, in a form of which the
// planner leaves the column alone, so that it sees by what a table is laid out. Should the owner put
// a column of another type in its place before the query is planned, its numbers are grouped as
// they are; what are none fail, whatever they say.
func TrinoPlain(column, native string, t sqltype.Type) (string, bool) {
	if !t.IsInteger() || native != t.String() {
		return "", false
	}
	return fmt.Sprintf("coalesce(%s, CAST(NULL AS %s))", column, trino{}.typeName(t)), true
}

// TrinoNull prints NULL as a value of a type of ours.
func TrinoNull(t sqltype.Type) string {
	text, _ := trino{}.literal(nil, t) // of NULL there is no error
	return text
}
