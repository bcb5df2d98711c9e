package stability_test

import (
	"strings"
	"testing"

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
