package stability_test

import (
	"fmt"
	"math/big"
	"testing"
)

// The bounds and sensitivities that the certificate states, on the catalog of
// testdata: visits has L0 = 8 and R = 4, prescriptions 20 and 2, patients 1 and 1.
func TestCertificates(t *testing.T) {
	c := load(t)
	for _, test := range []struct {
		sql            string
		groups, rows   int64
		oneRow, choose bool
		perGroup       string // of each component, in the value's unit
	}{
		{"SELECT count(*) FROM visits", 1, 4, false, false, "4"},
		{"SELECT department, count(*) FROM visits GROUP BY department", 3, 4, false, false, "4"}, // the domain has 3 groups
		{"SELECT age, count(*) FROM visits GROUP BY age", 8, 4, false, false, "4"},
		{"SELECT note, count(*) FROM visits GROUP BY note", 8, 4, false, true, "4"},
		{"SELECT count(DISTINCT patient_id) FROM visits", 1, 0, false, false, "1"},
		{"SELECT count(DISTINCT age) FROM visits", 1, 4, false, false, "4"},
		{"SELECT sum(cost) FROM visits", 1, 4, false, false, "20000"},
		{"SELECT sum(cost - 4000) FROM visits", 1, 4, false, false, "16000"}, // max(|lo|,|hi|), not hi−lo
		{"SELECT sum(-cost) FROM visits", 1, 4, false, false, "20000"},
		{"SELECT sum(bill) FROM visits", 1, 0, false, false, "8000"}, // sum_upper, without R
		{"SELECT sum(age) FROM visits", 1, 4, false, false, "480"},
		{"SELECT avg(cost) FROM visits", 1, 4, false, false, "4 10000"},
		{"SELECT avg(age) FROM visits", 1, 4, false, false, "4 240"},
		{"SELECT var_pop(age) FROM visits", 1, 4, false, false, "4 240 14400"},
		{"SELECT count(*) FROM survey", 1, 1, true, false, "1"},
		{"SELECT department, count(*) FROM survey GROUP BY department", 1, 1, true, true, "1"},
		{"SELECT sum(n) FROM (SELECT least(count(*), 20) AS n FROM visits GROUP BY patient_id) t", 1, 1, true, false, "20"},
		{"SELECT count(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id", 1, 16, false, false, "16"},
		{"SELECT count(*) FROM prescriptions p JOIN visits v ON p.visit = v.visit_id", 1, 2, false, false, "2"}, // a prescription is of one visit
		{"SELECT drug, count(*) FROM prescriptions p JOIN visits v ON p.visit = v.visit_id GROUP BY drug", 20, 2, false, true, "2"},
		{"SELECT count(*) FROM visits v JOIN prescriptions p ON v.visit_id = p.visit AND p.dose > v.age", 1, 2, false, false, "2"},
		{"SELECT count(*) FROM prescriptions p LEFT JOIN visits v ON p.visit = v.visit_id", 1, 2, false, false, "2"},
		{"SELECT count(*) FROM visits v LEFT JOIN prescriptions p ON p.visit = v.visit_id", 1, 6, false, false, "6"}, // and visits without one
		{"SELECT count(*) FROM prescriptions p RIGHT JOIN visits v ON p.visit = v.visit_id", 1, 6, false, false, "6"},
		{"SELECT count(*) FROM prescriptions p FULL JOIN visits v ON p.visit = v.visit_id", 1, 6, false, false, "6"},
		{"SELECT count(*) FROM (SELECT visit_id, patient_id FROM visits WHERE age > 60) v JOIN prescriptions p ON p.visit = v.visit_id JOIN patients c ON c.id = v.patient_id", 1, 2, false, false, "2"},
		{"SELECT count(*) FROM prescriptions p JOIN visits v ON p.visit = v.visit_id JOIN prescriptions q ON q.visit = v.visit_id", 1, 4, false, false, "4"}, // p and q of a visit meet
		// The parent may have been joined with others before: each row of the child stands beside theirs.
		{"SELECT count(*) FROM patients c, visits v, prescriptions p WHERE c.id = v.patient_id AND p.visit = v.visit_id", 1, 2, false, false, "2"},
		{"SELECT count(*) FROM visits a JOIN visits v ON a.patient_id = v.patient_id JOIN prescriptions p ON p.visit = v.visit_id", 1, 32, false, false, "32"},
		{"SELECT count(*) FROM prescriptions p JOIN prescriptions q ON p.visit = q.visit", 1, 4, false, false, "4"},
		// A row of each unit on one side keeps the other side's R, and a numbered one needs none.
		{"SELECT count(*) FROM visits v WHERE cost > (SELECT avg(cost) FROM visits w WHERE w.patient_id = v.patient_id)", 1, 4, false, false, "4"},
		{"SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY patient_id ORDER BY seen_at) AS n FROM visits) t WHERE n = 1", 1, 1, true, false, "1"},
		{"SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY patient_id ORDER BY seen_at) AS n FROM visits) t WHERE n < 4 AND age > 3", 1, 3, false, false, "3"},
		{"SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY patient_id, department ORDER BY seen_at) AS n FROM visits) t WHERE n = 1", 1, 4, false, false, "4"},
		{"SELECT count(*) FROM (SELECT *, rank() OVER (PARTITION BY patient_id ORDER BY seen_at) AS n FROM visits) t WHERE n = 1", 1, 4, false, false, "4"},
		{"SELECT count(*) FROM (SELECT patient_id FROM visits UNION ALL SELECT id FROM patients) u", 1, 5, false, false, "5"},
		{"SELECT count(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT id FROM patients) t", 1, 1, true, false, "1"},
		{"SELECT count(*) FROM survey s JOIN departments d ON s.department = d.name", 1, 1, false, false, "1"},
		{"SELECT count(*) AS a, count(*) AS b, count(age) AS c FROM visits", 1, 4, false, false, "4 4"},
	} {
		cert, err := analyze(c, test.sql)
		if err != nil {
			t.Errorf("%s: %v", test.sql, err)
			continue
		}
		r := cert.Releases[0]
		got := ""
		for _, c := range r.Components {
			f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(c.PerGroup), c.Grid).Float64()
			got += fmt.Sprintf(" %.10g", f)
		}
		if r.MaxGroups != test.groups || r.MaxRows != test.rows || r.OneRow != test.oneRow || r.Private != test.choose || got != " "+test.perGroup {
			t.Errorf("%s:\n got L0 %d, R %d, one row %t, selection %t, sensitivities%s\nwant L0 %d, R %d, one row %t, selection %t, sensitivities %s",
				test.sql, r.MaxGroups, r.MaxRows, r.OneRow, r.Private, got, test.groups, test.rows, test.oneRow, test.choose, test.perGroup)
		}
	}
}

// What a replaced unit moves in one group is more than what a removed one does where values lie
// on both sides of 0, as centred ones do.
func TestWidths(t *testing.T) {
	c := load(t)
	for sql, want := range map[string]string{
		"SELECT count(*), count(DISTINCT age), count(DISTINCT patient_id) FROM visits": "4 4 1",
		"SELECT sum(cost) FROM visits":        "20000",
		"SELECT sum(cost - 4000) FROM visits": "20000", // in [-16000, 4000]
		"SELECT sum(cost - 6000) FROM visits": "24000", // in [-24000, -4000], or 0
		"SELECT sum(bill) FROM visits":        "8000",
		"SELECT var_pop(age) FROM visits":     "4 480 14400",
		"SELECT avg(cost) FROM visits":        "4 20000",
		"SELECT median(age) FROM visits":      "8", // of a tree it is not used
	} {
		cert, err := analyze(c, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		got := ""
		for _, c := range cert.Releases[0].Components {
			f, _ := new(big.Rat).Mul(new(big.Rat).SetInt(c.Spread()), c.Grid).Float64()
			got += fmt.Sprintf(" %.10g", f)
		}
		if got != " "+want {
			t.Errorf("%s: widths%s, want %s", sql, got, want)
		}
	}
}

// Which statements are answered by a choice: those that show no count, over complete domains of at most 10,000 groups. Of one choice no bound
// of groups is needed, and what a unit changes a count by is R; of several, one for each value of the other key, L0 bounds in how many a unit plays a part.
func TestChoicesAreCertified(t *testing.T) {
	c := load(t)
	for sql, want := range map[string]string{
		"SELECT mode() WITHIN GROUP (ORDER BY department) FROM visits":                                                                                                         "3 groups, 4 rows, 1 of 3: [mode]",
		"SELECT mode() WITHIN GROUP (ORDER BY age) AS a FROM visits WHERE cost > 3":                                                                                            "121 groups, 4 rows, 1 of 121: [a]",
		"SELECT x || '!' FROM (SELECT mode() WITHIN GROUP (ORDER BY department) AS x FROM visits) t":                                                                           "3 groups, 4 rows, 1 of 3: [x]",
		"SELECT age / 10 AS d, mode() WITHIN GROUP (ORDER BY department) FROM visits GROUP BY 1":                                                                               "8 groups, 4 rows, 8 of 3: [d mode]",
		"SELECT mode() WITHIN GROUP (ORDER BY department), age > 9 AS old FROM visits GROUP BY old":                                                                            "6 groups, 4 rows, 2 of 3: [old mode]",
		"SELECT mode() WITHIN GROUP (ORDER BY score) FROM survey":                                                                                                              "11 groups, 1 rows, 1 of 11: [mode]",
		"SELECT mode() WITHIN GROUP (ORDER BY sex) FROM patients":                                                                                                              "2 groups, 1 rows, 1 of 2: [mode]",
		"SELECT v FROM (SELECT department AS v, row_number() OVER (ORDER BY count(*) DESC, department) AS i FROM visits GROUP BY department) t WHERE i = 1":                    "3 groups, 4 rows, 1 of 3: [v]",
		"SELECT department FROM visits GROUP BY department ORDER BY count(*) DESC LIMIT 1":                                                                                     "3 groups, 4 rows, 1 of 3: [department]",
		"SELECT department AS d FROM visits GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1":                                                                                      "3 groups, 4 rows, 1 of 3: [d]",
		"SELECT department FROM visits GROUP BY department ORDER BY count(*) LIMIT 1":                                                                                          "", // the rarest
		"SELECT department FROM visits GROUP BY department ORDER BY count(*) DESC LIMIT 2":                                                                                     "",
		"SELECT department FROM visits GROUP BY department ORDER BY count(*) DESC LIMIT 1 OFFSET 1":                                                                            "",
		"SELECT department FROM visits GROUP BY department ORDER BY department, count(*) DESC LIMIT 1":                                                                         "",
		"SELECT department FROM visits GROUP BY department ORDER BY count(age) DESC LIMIT 1":                                                                                   "",
		"SELECT department FROM visits GROUP BY department, age ORDER BY count(*) DESC LIMIT 1":                                                                                "",
		"SELECT department FROM visits GROUP BY department HAVING count(*) > 3 ORDER BY count(*) DESC LIMIT 1":                                                                 "",
		"SELECT department, count(*) FROM visits GROUP BY department ORDER BY 2 DESC LIMIT 1":                                                                                  "",
		"SELECT approx_top_count(department, 1) FROM visits":                                                                                                                   "", // shows counts
		"SELECT v, n FROM (SELECT department AS v, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, department) AS i FROM visits GROUP BY department) t WHERE i <= 1": "",
		"SELECT v FROM (SELECT department AS v, row_number() OVER (ORDER BY count(*) DESC, department) AS i FROM visits GROUP BY department) t WHERE i <= 2":                   "",
		"SELECT v FROM (SELECT department AS v, row_number() OVER (ORDER BY count(*), department) AS i FROM visits GROUP BY department) t WHERE i <= 1":                        "", // the rarest
		"SELECT mode() WITHIN GROUP (ORDER BY note) FROM visits":                                                                                                               "", // no domain
		"SELECT mode() WITHIN GROUP (ORDER BY name) FROM departments":                                                                                                          "", // public
		"SELECT mode() WITHIN GROUP (ORDER BY bill) FROM visits":                                                                                                               "", // 500,001 values
		"SELECT mode() WITHIN GROUP (ORDER BY d.name) FROM visits v JOIN departments d ON d.name = v.department":                                                               "", // a table's values are not counted here
		"SELECT note, mode() WITHIN GROUP (ORDER BY department) FROM visits GROUP BY note":                                                                                     "",
		"SELECT patient_id, mode() WITHIN GROUP (ORDER BY department) AS m FROM visits GROUP BY patient_id LIMIT 0":                                                            "refused",
	} {
		cert, err := analyze(c, sql)
		if want == "refused" {
			if err == nil {
				t.Errorf("%s is not refused", sql)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		got := ""
		for _, r := range cert.Releases {
			if r.Chosen {
				var names []string
				for _, c := range r.Columns {
					names = append(names, c.Name)
				}
				got = fmt.Sprintf("%d groups, %d rows, %d of %d: %v", r.MaxGroups, r.MaxRows, r.Choices(), r.Candidates(), names)
				if r.Private || len(r.Aggregates) > 0 || len(r.Components) != 1 || r.Components[0].PerGroup.Int64() != r.MaxRows {
					t.Errorf("%s: %+v", sql, r)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// A release that a statement asks twice is one release; two that differ are two.
func TestEqualReleasesAreOne(t *testing.T) {
	c := load(t)
	for sql, want := range map[string]int{
		"WITH r AS (SELECT count(*) AS n FROM visits) SELECT a.n, b.n FROM r a CROSS JOIN r b":                                                        1,
		"SELECT a.n, b.n FROM (SELECT count(*) AS n FROM visits WHERE age < 3) a CROSS JOIN (SELECT count(*) AS n FROM visits) b":                     2,
		"SELECT a.n, b.n FROM (SELECT count(*) AS n FROM visits WHERE note = 'a') a CROSS JOIN (SELECT count(*) AS n FROM visits WHERE note = 'b') b": 2,
	} {
		cert, err := analyze(c, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got := len(cert.Releases); got != want {
			t.Errorf("%s: %d releases, want %d", sql, got, want)
		}
	}
}

// Bounds that leave nothing to hide still get a sensitivity, and so noise.
func TestNoSensitivityOfZero(t *testing.T) {
	c := load(t)
	for _, sql := range []string{"SELECT sum(0 * cost) FROM visits", "SELECT avg(0 * age), var_pop(0 * age) FROM visits"} {
		cert, err := analyze(c, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		for _, comp := range cert.Releases[0].Components {
			if comp.PerGroup.Sign() <= 0 {
				t.Errorf("%s: component of kind %d has sensitivity %v", sql, comp.Kind, comp.PerGroup)
			}
		}
	}
}

// Grouping sets are releases of their own or sums of the finest one's noisy values, which all sets share; bounds are
// applied by the keys of all of them where these are public, and set by set elsewhere.
func TestGroupingSetCertificates(t *testing.T) {
	c := load(t)
	for _, test := range []struct {
		sql                              string
		releases, within, apart, coarser int
	}{
		{"SELECT department, age > 60, count(*), sum(cost) FROM visits GROUP BY CUBE (1, 2)", 1, 0, 0, 3},           // L0 = 6 of 6 groups: sums err less
		{"SELECT department, age > 60, avg(cost) FROM visits GROUP BY CUBE (1, 2)", 4, 3, 0, 0},                     // averages do not add up
		{"SELECT department, age, count(*) FROM visits GROUP BY ROLLUP (1, 2)", 3, 2, 0, 0},                         // sums of 121 and 363 groups err more
		{"SELECT department, age > 60, count(*) FROM visits GROUP BY GROUPING SETS ((1), (2))", 1, 0, 0, 2},         // the finest is released for its sums
		{"SELECT department, note, count(*) FROM visits GROUP BY ROLLUP (1, 2)", 3, 0, 3, 0},                        // note is private
		{"SELECT department, department = 'ER', count(*) FROM survey GROUP BY ROLLUP (1, 2)", 3, 0, 3, 0},           // so is a department here
		{"SELECT department, count(*) FROM visits GROUP BY GROUPING SETS ((department), (department))", 1, 0, 0, 0}, // released once
	} {
		cert, err := analyze(c, test.sql)
		if err != nil {
			t.Errorf("%s: %v", test.sql, err)
			continue
		}
		within, apart, coarser := 0, 0, 0
		for _, r := range cert.Releases {
			coarser += len(r.Sums)
			if r.Within != nil {
				within++
			}
			if r.Apart {
				apart++
			}
		}
		if got := [4]int{len(cert.Releases), within, apart, coarser}; got != [4]int{test.releases, test.within, test.apart, test.coarser} {
			t.Errorf("%s: releases, of them within finer groups, apart, and sets that are summed are %v", test.sql, got)
		}
	}
}
