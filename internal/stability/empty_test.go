package stability_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

// TestEmptied: only what has no row whatever the data are is emptied, and it keeps its columns.
func TestEmptied(t *testing.T) {
	cat := load(t)
	for _, test := range []struct {
		sql   string
		empty bool
	}{
		{"SELECT * FROM visits WHERE 1 = 0", true},
		{"SELECT * FROM visits WHERE false AND age > 3", true},
		{"SELECT age FROM visits ORDER BY age LIMIT 0", true},
		{"SELECT true AS _ FROM visits WHERE 1 <> 1 LIMIT 0", true},
		{"SELECT * FROM (SELECT age + 1 AS x FROM visits) AS q WHERE 0 = 1 LIMIT 5", true},
		{"SELECT * FROM (SELECT * FROM visits LIMIT 0) AS q", true},
		{"SELECT department, count(*) FROM visits GROUP BY department LIMIT 0", true},
		{"SELECT * FROM (SELECT department, count(*) AS n FROM visits GROUP BY department) AS q WHERE 1 = 0", true},
		{"SELECT * FROM visits LIMIT 1", false},
		{"SELECT * FROM visits OFFSET 1000000000", false},
		{"SELECT * FROM visits WHERE age <> age", false},
		{"SELECT * FROM visits WHERE 1 = 0 OR age > 3", false},
		{"SELECT count(*) FROM visits WHERE 1 = 0", false},
		{"SELECT department, count(*) FROM visits WHERE 1 = 0 GROUP BY department", false},
		{"SELECT count(*) FROM (SELECT * FROM visits LIMIT 0) AS q", false},
		{"SELECT age FROM visits WHERE 1 = 0 UNION ALL SELECT age FROM visits", false},
		{"SELECT * FROM visits AS v LEFT JOIN (SELECT * FROM visits WHERE 1 = 0) AS w ON v.patient_id = w.patient_id", false},
	} {
		q, err := sqlparse.Parse(test.sql)
		if err != nil {
			t.Fatal(err)
		}
		n, err := bind.Bind(q, cat)
		if err != nil {
			t.Fatalf("%s: %v", test.sql, err)
		}
		out := stability.Emptied(n)
		private := false
		var look func(plan.Node)
		look = func(n plan.Node) {
			_, scan := n.(*plan.Scan)
			private = private || scan
			for _, in := range n.Inputs() {
				look(in)
			}
		}
		look(out)
		if private == test.empty {
			t.Errorf("%s: emptied %v, want %v", test.sql, !private, test.empty)
		}
		was, is := n.Columns(), out.Columns()
		if len(was) != len(is) {
			t.Fatalf("%s: %v, not %v", test.sql, is, was)
		}
		for i := range was {
			if was[i] != is[i] {
				t.Errorf("%s: column %v, not %v", test.sql, is[i], was[i])
			}
		}
	}
}
