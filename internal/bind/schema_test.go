package bind_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// TestSchema: clients that write the schema of declared tables ask the same; with it, a
// table is meant and no WITH query.
func TestSchema(t *testing.T) {
	cat := clinic(t)
	bound := func(sql string) string {
		t.Helper()
		q, err := sqlparse.Parse(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		n, err := bind.Bind(q, cat)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return plan.Format(n)
	}
	for with, without := range map[string]string{
		"SELECT count(*) FROM public.visits":                                                "SELECT count(*) FROM visits",
		`SELECT "public"."visits"."age" FROM "public"."visits" WHERE public.visits.age > 3`: "SELECT age FROM visits WHERE age > 3",
		"SELECT public.visits.* FROM public.visits":                                         "SELECT * FROM visits",
		"SELECT v.age FROM public.visits AS v JOIN PUBLIC.patients USING (patient_id)":      "SELECT v.age FROM visits AS v JOIN patients USING (patient_id)",
		"WITH visits AS (SELECT 1 AS x) SELECT age FROM public.visits":                      "SELECT age FROM visits",
	} {
		if got, want := bound(with), bound(without); got != want {
			t.Errorf("%s is bound as\n%swant\n%s", with, got, want)
		}
	}
}
