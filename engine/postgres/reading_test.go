//go:build cgo && unix

package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
)

// reading holds what a table has against what its columns hold: values as they are, and in
// canonical form; what is none of the declared type is NULL, and nothing raises.
func (s *server) reading(t *testing.T) {
	schema := s.schema(t)
	s.exec(t, "CREATE TYPE %[1]s.mood AS ENUM ('sad', 'ok'); CREATE DOMAIN %[1]s.positive AS integer CHECK (VALUE > 0); CREATE DOMAIN %[1]s.more AS %[1]s.positive; "+
		"CREATE COLLATION %[1]s.blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)", schema)
	for _, c := range []struct {
		native, declared string
		values, want     []string // SQL, and what is read; "~" is NULL
	}{
		{"boolean", "boolean", []string{"true", "false", "NULL"}, []string{"true", "false", "~"}},
		{"boolean", "integer", []string{"true"}, []string{"1"}},
		{"smallint", "smallint", []string{"-32768", "32767"}, []string{"-32768", "32767"}},
		{"bigint", "smallint", []string{"32768", "-32769", "7"}, []string{"~", "~", "7"}},
		{"bigint", "bigint", []string{"-9223372036854775808"}, []string{"-9223372036854775808"}},
		{"bigint", "double", []string{"9007199254740993"}, []string{"9.007199254740992e+15"}},
		{"real", "real", []string{"0.1", "'-0'", "'NaN'", "'Infinity'", "'-Infinity'", "1e-45", "3.4028235e38"}, []string{"0.10000000149011612", "0", "~", "~", "~", "1.401298464324817e-45", "3.4028234663852886e+38"}},
		{"double precision", "double", []string{"0.1", "'-0'", "'NaN'", "'-Infinity'", "5e-324", "1.7976931348623157e308"}, []string{"0.1", "0", "~", "~", "5e-324", "1.7976931348623157e+308"}},
		{"double precision", "real", []string{"1e39", "1e-60", "0.1"}, []string{"~", "0", "0.10000000149011612"}},
		{"double precision", "bigint", []string{"2.5", "3.5", "-2.5", "9.3e18", "1e300"}, []string{"2", "4", "-2", "~", "~"}},
		{"numeric", "decimal(5,2)", []string{"1.005", "-1.005", "999.994", "999.995", "'NaN'", "'Infinity'", "1e1000"}, []string{"1.01", "-1.01", "999.99", "~", "~", "~", "~"}},
		{"numeric(8,2)", "decimal(8,2)", []string{"-0.00", "123456.78"}, []string{"0.00", "123456.78"}},
		{"numeric", "double", []string{"1e400", "1e-400", "0.1"}, []string{"~", "0", "0.1"}},
		{"text", "text", []string{"''", "'a '", "'é😀'", "repeat('x', 1048577)"}, []string{"''", "'a '", "'é😀'", "~"}},
		{"character(4)", "text", []string{"'a'"}, []string{"'a'"}},
		{"varchar(9)", "integer", []string{"' 12 '", "'12x'", "'1e3'", "''"}, []string{"12", "~", "~", "~"}},
		{"varchar(12)", "date", []string{"'2024-02-29'", "'2023-02-29'", "'infinity'", "'now'", "'today'"}, []string{"2024-02-29", "~", "~", "~", "~"}},
		{`text COLLATE "%[1]s".blind`, "text", []string{"'A'", "'a'"}, []string{"'A'", "'a'"}},
		{"uuid", "text", []string{"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"}, []string{"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"}},
		{"%[1]s.mood", "text", []string{"'sad'", "'ok'"}, []string{"'sad'", "'ok'"}},
		{"%[1]s.more", "bigint", []string{"7", "NULL"}, []string{"7", "~"}},
		{"date", "date", []string{"'infinity'", "'-infinity'", "'0001-01-01'", "'9999-12-31'"}, []string{"~", "~", "0001-01-01", "9999-12-31"}},
		{"date", "timestamp", []string{"'2024-02-29'", "'5874897-12-31'"}, []string{"2024-02-29 00:00:00", "~"}},
		{"time", "time", []string{"'24:00'", "'23:59:59.999999'"}, []string{"24:00:00", "23:59:59.999999"}},
		{"timestamp", "timestamp", []string{"'infinity'", "'2024-02-29 12:00:00.000001'"}, []string{"~", "2024-02-29 12:00:00.000001"}},
		{"timestamptz", "timestamp", []string{"'2024-07-01 12:00+02'", "'-infinity'"}, []string{"2024-07-01 10:00:00", "~"}},
		{"timestamptz", "date", []string{"'2024-07-01 23:30-02'"}, []string{"2024-07-02"}},
		{"interval", "interval", []string{"'1 year 2 mons -3 days 04:05:06.5'", "'-300 hours'"}, []string{"1 year 2 mons -3 days 04:05:06.5", "-300:00:00"}},
	} {
		name := fmt.Sprintf("%s.r%d", schema, s.made.Add(1))
		native := c.native
		if strings.Contains(native, "%") {
			native = fmt.Sprintf(native, schema)
		}
		s.exec(t, "CREATE TABLE %s (n integer, x %s); INSERT INTO %s VALUES %s", name, native, name, strings.Join(numbered(c.values), ", "))
		role, url := s.role(t, schema, name)
		// A role's settings change no value.
		s.exec(t, "ALTER ROLE %[1]s SET \"TimeZone\" = 'Asia/Tokyo'; ALTER ROLE %[1]s SET \"DateStyle\" = 'SQL, DMY'; ALTER ROLE %[1]s SET extra_float_digits = -15; "+
			"ALTER ROLE %[1]s SET \"IntervalStyle\" = 'iso_8601'; ALTER ROLE %[1]s SET search_path = '%[2]s'; ALTER ROLE %[1]s SET bytea_output = 'escape'", role, schema)
		e, err := openAs(t, parse(t, fmt.Sprintf("[tables.t]\nsource = %q\npublic = true\ncolumns.n = { type = \"integer\" }\ncolumns.x = { type = %q }\n", name, c.declared)), url)
		if err != nil {
			t.Errorf("%s as %s: %v", c.native, c.declared, err)
			continue
		}
		_, rows, err := e.Public(t.Context(), "t")
		if err != nil {
			t.Errorf("%s as %s: %v", c.native, c.declared, cause(err))
			continue
		}
		slices.SortFunc(rows, func(a, b []sqltype.Value) int { return sqltype.Compare(a[0], b[0]) })
		var got []string
		for _, row := range rows {
			switch v := row[1].(type) {
			case nil:
				got = append(got, "~")
			case string:
				got = append(got, "'"+v+"'")
			default:
				got = append(got, sqltype.Format(v))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s as %s: %q is read, want %q", c.native, c.declared, got, c.want)
		}
	}
}

func numbered(values []string) (rows []string) {
	for i, v := range values {
		rows = append(rows, fmt.Sprintf("(%d, %s)", i, v))
	}
	return rows
}

// skipped: under the rule "skip" a record with a value that is none of its column's type is
// left out, and one with NULL is not.
func (s *server) skipped(t *testing.T) {
	schema := s.schema(t)
	s.exec(t, "CREATE TABLE %[1]s.t (n bigint, x text); INSERT INTO %[1]s.t VALUES (1, 'a'), (40000, 'b'), (NULL, 'c')", schema)
	_, url := s.role(t, schema, schema+".t")
	e, err := openAs(t, parse(t, "[tables.t]\nsource = \""+schema+".t\"\npublic = true\nmalformed = \"skip\"\ncolumns.n = { type = \"smallint\" }\ncolumns.x = { type = \"text\" }\ncolumns.twice = { type = \"integer\", is = \"n * 2\" }\ncolumns.raw = { type = \"text\", is = \"x || '!'\" }\n"), url)
	if err != nil {
		t.Fatal(err)
	}
	_, rows, err := e.Public(t.Context(), "t")
	if err != nil {
		t.Fatal(cause(err))
	}
	slices.SortFunc(rows, func(a, b []sqltype.Value) int { return sqltype.Compare(a[1], b[1]) })
	if got := fmt.Sprint(rows); got != "[[1 a 2 a!] [<nil> c <nil> c!]]" {
		t.Errorf("read %s", got)
	}
}
