package bind_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

func arrayOf(k sqltype.Kind) bind.ParameterType {
	return bind.ParameterType{Type: sqltype.Of(k), Array: true}
}

// TestArraysAreLists: x = ANY (array) is x IN the array's elements, x <> ALL (array) is NOT IN,
// whether the array comes beside the statement or stands in it, and whoever says of what type.
func TestArraysAreLists(t *testing.T) {
	cat := clinic(t)
	bound := func(sql string, p bind.Parameters) string {
		t.Helper()
		q, err := sqlparse.Parameterized(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		n, err := bind.Statement(q, cat, p, nil)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return plan.Format(n)
	}
	unknown := bind.ParameterType{}
	for _, test := range []struct {
		sql, array string
		typ        bind.ParameterType
		list       string
	}{
		{"department = ANY ($1)", `{ICU,"a b",NULL}`, unknown, "department IN ('ICU', 'a b', NULL)"},
		{"department = ANY ($1)", `{ICU}`, arrayOf(sqltype.Text), "department IN ('ICU')"},
		{"department <> ALL ($1)", `{ICU,"NULL"}`, arrayOf(sqltype.Text), "department NOT IN ('ICU', 'NULL')"},
		{"NOT department = ANY ($1)", `{ICU}`, unknown, "department NOT IN ('ICU')"},
		{"age = ANY ($1)", `{1,2}`, unknown, "age IN (1, 2)"},
		{"age = ANY ($1)", `{1,2}`, arrayOf(sqltype.Bigint), "age IN (1::bigint, 2::bigint)"},
		{"age = ANY ($1)", `{1.5,2.5}`, arrayOf(sqltype.Double), "age IN (1.5::double precision, 2.5::double precision)"},
		{"age = ANY ($1::int[])", `{1,2}`, unknown, "age IN (1::int, 2::int)"},
		{"age = ANY (CAST($1 AS bigint[]))", `{1,2}`, arrayOf(sqltype.Text), "age IN (CAST('1'::text AS bigint), CAST('2'::text AS bigint))"},
		{"paid = ANY ($1)", `{1.25,100}`, unknown, "paid IN ('1.25', '100')"},
		{"day = ANY ($1)", `{2025-01-31,2025-02-28}`, arrayOf(sqltype.DateKind), "day IN (DATE '2025-01-31', DATE '2025-02-28')"},
		{"urgent = ANY ($1)", `{t,f,NULL}`, arrayOf(sqltype.Boolean), "urgent IN (true, false, NULL)"},
		{"age = ANY ($1)", `{}`, unknown, "false"},
		{"age <> ALL ($1)", `{}`, arrayOf(sqltype.Integer), "true"},
		{"age = ANY ('{1,NULL}')", "", unknown, "age IN (1, NULL)"},
		{"age <> ALL ('{1,2}'::bigint[])", "", unknown, "age NOT IN (1::bigint, 2::bigint)"},
		{"age = ANY (ARRAY[]::integer[])", "", unknown, "false"},
		{"age <> ALL (CAST(ARRAY[] AS integer[]))", "", unknown, "true"},
		{"age = ANY (ARRAY[1, '2']::bigint[])", "", unknown, "age IN (1::bigint, 2::bigint)"},
		{"department = ANY (SELECT name FROM departments)", "", unknown, "department IN (SELECT name FROM departments)"},
		{"department <> ALL (SELECT name FROM departments)", "", unknown, "department NOT IN (SELECT name FROM departments)"},
	} {
		p := bind.Parameters{Types: []bind.ParameterType{test.typ}, Values: []*string{&test.array}}
		got := bound("SELECT count(*) FROM visits WHERE "+test.sql, p)
		if want := bound("SELECT count(*) FROM visits WHERE "+test.list, bind.Parameters{}); got != want {
			t.Errorf("%s of %s is\n%swant\n%s", test.sql, test.array, got, want)
		}
	}
	null := "CAST(NULL AS boolean)"
	for _, sql := range []string{"age = ANY ($1)", "age <> ALL ($1)", "age = ANY (NULL)", "age <> ALL (NULL::int[])"} {
		if got, want := bound("SELECT count(*) FROM visits WHERE "+sql, bind.Parameters{Values: []*string{nil}}), bound("SELECT count(*) FROM visits WHERE "+null, bind.Parameters{}); got != want {
			t.Errorf("%s of NULL is\n%swant\n%s", sql, got, want)
		}
	}
}

// TestDecimalsAreComparedExactly: a constant in quotes, or beside the statement, is compared with all
// its digits, also where the column has fewer.
func TestDecimalsAreComparedExactly(t *testing.T) {
	cat := clinic(t)
	for quoted, number := range map[string]string{
		"paid = '12.345'": "paid = 12.345", "'100000000000.5' > paid": "100000000000.5 > paid", "paid IN ('12.345', '1')": "paid IN (12.345, 1.0)",
		"paid BETWEEN '0.001' AND '1e10'": "paid BETWEEN 0.001 AND 1e10", "paid IS DISTINCT FROM '.5'": "paid IS DISTINCT FROM .5", "paid = ANY ('{12.345}')": "paid IN (12.345)",
	} {
		var formatted [2]string
		for i, sql := range []string{quoted, number} {
			q, err := sqlparse.Parse("SELECT count(*) FROM visits WHERE " + sql)
			if err != nil {
				t.Fatal(err)
			}
			n, err := bind.Bind(q, cat)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			formatted[i] = plan.Format(n)
		}
		if formatted[0] != formatted[1] {
			t.Errorf("%s is\n%swant\n%s", quoted, formatted[0], formatted[1])
		}
	}
}

// TestArrayTypes: what a client is told that its array is of.
func TestArrayTypes(t *testing.T) {
	cat := clinic(t)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM visits WHERE age = ANY ($1)":                     "{integer true}",
		"SELECT count(*) FROM visits WHERE paid <> ALL ($1)":                   "{decimal(10,2) true}",
		"SELECT count(*) FROM visits WHERE day = ANY ($1) AND department = $2": "{date true} {text false}",
		"SELECT count(*) FROM visits WHERE age = ANY ($1::bigint[])":           "{bigint true}",
		"SELECT count(*) FROM visits WHERE 'x' = ANY ($1)":                     "{text true}",
		"SELECT department FROM visits GROUP BY 1 HAVING count(*) = ANY ($1)":  "{bigint true}",
	} {
		q, err := sqlparse.Parameterized(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, types, err := bind.Describe(q, cat, nil, nil); err != nil || strings.Trim(fmt.Sprint(types), "[]") != want {
			t.Errorf("%s: types %v, want %s (%v)", sql, types, want, err)
		}
	}
	q, _ := sqlparse.Parameterized("SELECT count(*) FROM visits WHERE age = ANY ($1)")
	if _, types, err := bind.Describe(q, cat, []bind.ParameterType{arrayOf(sqltype.Bigint)}, nil); err != nil || types[0] != arrayOf(sqltype.Bigint) {
		t.Errorf("a declared array of bigint is %v (%v)", types, err)
	}
}

func TestArrayRefusals(t *testing.T) {
	cat := clinic(t)
	for _, test := range []struct {
		sql, value string
		typ        bind.ParameterType
		want       string
	}{
		{"age = ANY ($1)", "1,2", bind.ParameterType{}, "is no array"},
		{"age = ANY ($1)", "{{1},{2}}", bind.ParameterType{}, "more than one dimension"},
		{"age = ANY ($1)", "{1,x}", bind.ParameterType{}, "'x' is not an integer"},
		{"age = ANY ($1)", "{a}", arrayOf(sqltype.Text), "cannot combine"},
		{"age = ANY ($1)", "5", bind.ParameterType{Type: sqltype.Of(sqltype.Integer)}, "want an array"},
		{"age = $1", "{1}", arrayOf(sqltype.Integer), "$1 is an array"},
		{"age IN ($1, 5)", "{1}", arrayOf(sqltype.Integer), "x = ANY ($1)"},
		{"age = ANY ($2)", "{1}", bind.ParameterType{}, "no value for parameter $2"},
		{"seen_at - seen_at = ANY ($1)", "{1 day}", bind.ParameterType{}, "an interval cannot stand in"},
		{"age = ANY ($1)", "{1" + strings.Repeat(",1", 10_000) + "}", bind.ParameterType{}, "10001 elements"},
		{"age = ANY ($1::nothing[])", "{1}", bind.ParameterType{}, "unknown type nothing"},
		{"age = ANY ($1::int[][])", "{1}", bind.ParameterType{}, "unknown type integer[]"},
	} {
		q, err := sqlparse.Parameterized("SELECT count(*) FROM visits WHERE " + test.sql)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bind.Statement(q, cat, bind.Parameters{Types: []bind.ParameterType{test.typ}, Values: []*string{&test.value}}, nil)
		if d := (*diagnostic.Diagnostic)(nil); !errors.As(err, &d) || !strings.Contains(d.Message+d.Hint, test.want) {
			t.Errorf("%s of %.40s: %v, want %q", test.sql, test.value, err, test.want)
		}
	}
	// One parameter is one thing.
	for _, sql := range []string{"age = ANY ($1) AND age > $1", "age > $1 AND age = ANY ($1)"} {
		q, _ := sqlparse.Parameterized("SELECT count(*) FROM visits WHERE " + sql)
		if _, _, err := bind.Describe(q, cat, nil, nil); err == nil {
			t.Errorf("%s was described", sql)
		}
	}
}
