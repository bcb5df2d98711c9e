package bind_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// parameterized has statements whose every constant in quotes is to be a parameter.
var parameterized = []string{
	"SELECT count(*) FROM visits WHERE department = '3' AND age > '40'",
	"SELECT department, sum(cost + '2.5') FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-02-01' GROUP BY department",
	"SELECT count(*) FROM visits WHERE department LIKE 'car%' OR department IN ('a', 'b') LIMIT '3' OFFSET '1'",
	"SELECT CASE WHEN age > '18' THEN 'old' ELSE 'young' END AS k, avg(age) FROM visits GROUP BY 1",
	"SELECT coalesce(department, 'none') AS d, count(*) FROM visits GROUP BY 1 HAVING count(*) > '10'",
	"SELECT CAST('12' AS integer) + age AS a FROM visits",
	"SELECT paid * '2' AS p, ratio / '4' AS r, urgent = 'true' AS u FROM visits",
	"SELECT date_trunc('month', seen_at) AS m FROM visits WHERE seen_at >= '2025-01-01 10:00:00'",
	"SELECT x FROM (VALUES ('1'), ('2')) AS v (x)",
	"SELECT nullif(department, 'x') AS d, greatest(age, '3') AS g, round(paid, '1') AS r, 'text' AS t FROM visits",
	"SELECT left(department, '2') AS l, department || 'x' AS c, -'2' AS n FROM visits",
	"SELECT width_bucket(age, '0', '120', '12') AS b, width_bucket(age, '1', 100, '12') AS c, width_bucket(age, 0, '1', 12) AS d FROM visits",
	"SELECT date_part('hour', seen_at) AS h, date_part('week', day) AS w, to_char(day, 'YYYY-MM') AS c, to_date(department, 'DD.MM.YYYY') AS d FROM visits",
	"SELECT regexp_replace(department, 'a', 'b', 'g') AS r, trim(department, 'xy') AS t, replace(department, 'a', 'b') AS p FROM visits",
	"SELECT translate(department, 'ab', 'c') AS t, lpad(department, '3', '0') AS l, split_part(department, ' ', '1') AS s, age % '2' AS m FROM visits",
}

// TestParametersAreConstants: a statement whose constants come beside it is the
// statement that has them in its text, and is described with the same types.
func TestParametersAreConstants(t *testing.T) {
	quoted := regexp.MustCompile(`'([^']*)'`)
	cat := clinic(t)
	for _, sql := range parameterized {
		var p bind.Parameters
		with := quoted.ReplaceAllStringFunc(sql, func(s string) string {
			text := strings.Trim(s, "'")
			p.Values = append(p.Values, &text)
			return fmt.Sprintf("$%d", len(p.Values))
		})
		q, err := sqlparse.Parse(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		want, err := bind.Bind(q, cat)
		if err != nil {
			t.Fatal(sql, err)
		}
		if q, err = sqlparse.Parameterized(with); err != nil {
			t.Fatal(with, err)
		}
		got, err := bind.Statement(q, cat, p, nil)
		if err != nil {
			t.Errorf("%s: %v", with, err)
			continue
		}
		if plan.Format(got) != plan.Format(want) {
			t.Errorf("%s: bound as\n%swant\n%s", with, plan.Format(got), plan.Format(want))
		}
		described, types, err := bind.Describe(q, cat, nil, nil)
		if err != nil {
			t.Errorf("%s: describe: %v", with, err)
			continue
		}
		if len(types) != len(p.Values) {
			t.Errorf("%s: %d types of %d parameters", with, len(types), len(p.Values))
		}
		for i, c := range described.Columns() {
			if w := want.Columns()[i]; c.Type != w.Type || c.Name != w.Name {
				t.Errorf("%s: column %d is described as %s %v, and is %s %v", with, i, c.Name, c.Type, w.Name, w.Type)
			}
		}
		if again, declared, err := bind.Describe(q, cat, types, nil); err != nil || fmt.Sprint(declared) != fmt.Sprint(types) || fmt.Sprint(again.Columns()) != fmt.Sprint(described.Columns()) {
			t.Errorf("%s: described with the types %v: %v", with, types, err)
		}
		// With the types that it was told, a client's values are the same constants.
		p.Types = types
		if got, err = bind.Statement(q, cat, p, nil); err != nil || plan.Format(got) != plan.Format(want) {
			t.Errorf("%s: with types %v: %v", with, types, err)
		}
	}
}

// TestParameterTypes: what a context decides, and what a client declares.
func TestParameterTypes(t *testing.T) {
	cat := clinic(t)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM visits WHERE age > $1":                     "[{integer false}]",
		"SELECT count(*) FROM visits WHERE day > $2 AND department = $1": "[{text false} {date false}]",
		"SELECT count(*) FROM visits WHERE paid > $1 LIMIT $2":           "[{decimal(10,2) false} {bigint false}]",
		"SELECT $1 AS x":                    "[{text false}]",
		"SELECT $2::date AS x FROM visits":  "[{text false} {date false}]",
		"SELECT cost * $1 AS x FROM visits": "[{double false}]",
	} {
		q, err := sqlparse.Parameterized(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, types, err := bind.Describe(q, cat, nil, nil); err != nil || fmt.Sprint(types) != want {
			t.Errorf("%s: types %v, want %s (%v)", sql, types, want, err)
		}
	}
	q, _ := sqlparse.Parameterized("SELECT age + $1 AS x FROM visits")
	n, types, err := bind.Describe(q, cat, []bind.ParameterType{{Type: sqltype.Of(sqltype.Double)}}, nil)
	if err != nil || types[0].Type.Kind != sqltype.Double || n.Columns()[0].Type.Kind != sqltype.Double {
		t.Errorf("a declared double is %v, the sum %v: %v", types, n.Columns(), err)
	}
}

// TestParameterRefusals: a value that is missing, or that its type does not have.
func TestParameterRefusals(t *testing.T) {
	cat := clinic(t)
	text := func(s string) []*string { return []*string{&s} }
	for sql, c := range map[string]struct {
		values []*string
		want   string
	}{
		"SELECT count(*) FROM visits WHERE age > $1":          {nil, "no value for parameter $1"},
		"SELECT count(*) FROM visits WHERE age > $2":          {text("1"), "no value for parameter $2"},
		"SELECT count(*) FROM visits WHERE age >= $1":         {text("1 OR 1=1"), "not an integer"},
		"SELECT count(*) FROM visits LIMIT $1":                {text("-1"), "LIMIT must be"},
		"SELECT department, count(*) FROM visits GROUP BY $1": {text("1"), "a constant cannot be a key"},
		"SELECT department FROM visits ORDER BY $1":           {text("1"), "a constant cannot be a key"},
		"SELECT count(*) FROM visits WHERE day = $1":          {text("2025-02-30"), "not a date"},
	} {
		q, err := sqlparse.Parameterized(sql)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bind.Statement(q, cat, bind.Parameters{Values: c.values}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", sql, err, c.want)
		}
	}
	q, _ := sqlparse.Parameterized("SELECT count(*) FROM visits WHERE age > $1")
	if _, err := bind.Bind(q, cat); err == nil {
		t.Error("a statement without values was bound")
	}
}
