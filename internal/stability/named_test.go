package stability_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
)

// Public rows are numbered by the engine and in a scratch instance: by conditions of which both make the same. An engine's letters
// in upper case are its own, and one row more or less would give each group the name of another.
func TestNumberedRowsAreThoseOfEveryEngine(t *testing.T) {
	c := load(t)
	const above = "SELECT count(*) FROM visits v JOIN %d d ON d.name = v.department WHERE %c AND v.cost > (SELECT avg(cost) FROM visits w WHERE w.note = d.name)"
	for _, test := range []struct {
		departments, condition string
		numbered               bool
		kept                   string
	}{
		{"departments", "upper(d.name) <> 'É' AND d.floor < 3", true, "filter <(floor$1, 3::integer)"},
		{"departments", "d.name LIKE 'a%' AND d.floor + 1 < 3", true, "filter like("},
		{"(SELECT name FROM departments WHERE lower(name) <> 'é' AND floor = 2)", "true", true, "filter =(floor$1, 2::integer)"},
		{"(SELECT lower(name) AS name FROM departments)", "true", false, ""},
		{"(SELECT name FROM departments ORDER BY lower(name) LIMIT 3)", "true", false, ""},
	} {
		sql := strings.NewReplacer("%d", test.departments, "%c", test.condition).Replace(above)
		certificate, err := analyze(c, sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		r := certificate.Releases[0]
		numbered := len(r.Keys) == 1 && r.Keys[0].Numbered != nil
		if numbered != test.numbered {
			t.Errorf("%s: groups are numbered: %t, want %t", sql, numbered, test.numbered)
			continue
		}
		if !numbered {
			continue
		}
		if text := plan.Format(certificate.Stages[r.Keys[0].Numbered.Index].Plan); !strings.Contains(text, test.kept) || strings.Contains(text, "lower") || strings.Contains(text, "upper") || strings.Contains(text, "+(") {
			t.Errorf("%s: what is numbered is\n%s", sql, text)
		}
	}
}

// A semi-join of the public rows is made before they name groups, and one that looks at what is released is not.
func TestNamesAreSifted(t *testing.T) {
	c, err := catalog.Parse("catalog.toml", `
[domains.d]
measure = "zcdp"
epsilon = 1
delta = 1e-7
[tables.p]
source = "p.csv"
public = true
columns.j = { type = "integer" }
columns.k = { type = "integer" }
columns.floor = { type = "integer" }
[tables.t]
source = "t.csv"
domain = "d"
unit = "u"
max_groups_per_unit = 2
max_rows_per_group = 2
columns.u = { type = "bigint" }
columns.x = { type = "integer", lower = 0, upper = 9 }
columns.j = { type = "integer", domain = { from = "p.j" } }
columns.k = { type = "integer", domain = { from = "p.k" } }
`)
	if err != nil {
		t.Fatal(err)
	}
	const above = "SELECT j FROM p WHERE floor > (SELECT avg(x) FROM t WHERE t.j = p.j AND t.k = p.k) AND "
	for condition, sifted := range map[string]bool{
		"j IN (SELECT e.j FROM p AS e WHERE e.floor < 3)":                                      true,
		"EXISTS (SELECT 1 FROM p AS e WHERE e.j = p.k AND e.floor < 3)":                        true,
		"NOT EXISTS (SELECT 1 FROM p AS e WHERE e.j = p.j AND e.floor < 3)":                    false,
		"(SELECT avg(x) FROM t WHERE t.j = p.j AND t.k = p.k) IN (SELECT e.floor FROM p AS e)": false,
	} {
		certificate, err := analyze(c, above+condition)
		if err != nil {
			t.Errorf("%s\n%v", condition, err)
			continue
		}
		text := ""
		for _, s := range certificate.Stages {
			text += plan.Format(s.Plan)
		}
		if len(certificate.Stages) == 0 || strings.Contains(text, "semi join") != sifted {
			t.Errorf("%s: groups are named by\n%s", condition, text)
		}
	}
}
