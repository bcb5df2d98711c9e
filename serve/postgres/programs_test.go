//go:build cgo

package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/gateway"
)

// TestColumnsAreFree: what programs ask to learn the columns of a private table or of a statement is answered
// with the columns and no row. It needs no amount and charges nothing.
func TestColumnsAreFree(t *testing.T) {
	s := start(t, nil)
	c := s.connect(t, nil)
	for _, sql := range []string{
		`SELECT * FROM visits WHERE 1=0`,                                    // Spark
		`SELECT * FROM "visits" AS "q01" WHERE (0 = 1)`,                     // dbplyr
		`SELECT * FROM visits WHERE 1 = 2 LIMIT 1`,                          // Excel
		`SELECT * FROM "public"."visits" LIMIT 0`,                           // Tableau
		`SELECT TRUE AS "_" FROM "public"."visits" WHERE 1 <> 1 LIMIT 0`,    // Metabase
		`SELECT * FROM (select * from visits) AS virtual_table WHERE FALSE`, // Superset
		`select * from (SELECT department, count(*) AS n FROM visits GROUP BY department) as __dbt_sbq where false limit 0`,
	} {
		rows, err := c.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		columns := len(rows.FieldDescriptions())
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n > 0 || columns == 0 {
			t.Errorf("%s: %d rows of %d columns (%v)", sql, n, columns, err)
		}
	}
	rows, err := c.Query(t.Context(), `SELECT * FROM visits WHERE 1=0`)
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	types := map[string]uint32{}
	for _, f := range rows.FieldDescriptions() {
		types[f.Name] = f.DataTypeOID
	}
	if types["patient_id"] != 20 || types["department"] != 25 || types["cost"] != 701 || types["seen_at"] != 1114 {
		t.Errorf("types %v", types)
	}
	var spent float64
	if err := c.QueryRow(t.Context(), "SELECT sum(spent)::float8 FROM discreet.budget").Scan(&spent); err != nil || spent != 0 {
		t.Errorf("spent %v (%v)", spent, err)
	}
	for _, sql := range []string{`SELECT * FROM visits LIMIT 1`, `SELECT * FROM visits WHERE age <> age`, `SELECT * FROM visits OFFSET 1000000000`} {
		if _, err := c.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
}

// TestQuestionsOfPrograms: programs that make SQL of what is clicked are answered.
func TestQuestionsOfPrograms(t *testing.T) {
	s := start(t, nil)
	c := s.connect(t, nil)
	if _, err := c.Exec(t.Context(), "SET discreet.rho = '0.001'"); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		// Superset
		`SELECT DATE_TRUNC('month', seen_at) AS seen_at, COUNT(*) AS count FROM public.visits WHERE seen_at >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
			AND seen_at < TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('month', seen_at) ORDER BY count DESC LIMIT 1000`,
		`SELECT department AS department, COUNT(*) AS count FROM (select * from visits where age > 3) AS virtual_table GROUP BY department ORDER BY count DESC LIMIT 1000`,
		// Metabase
		`SELECT "public"."visits"."department" AS "department", COUNT(*) AS "count" FROM "public"."visits" WHERE "public"."visits"."seen_at" >= timestamp with time zone '2025-01-01 00:00:00.000Z'
			GROUP BY "public"."visits"."department" ORDER BY "public"."visits"."department" ASC`,
		`SELECT FLOOR((("public"."visits"."age" - 0.0) / 10.0)) * 10.0 AS "age", COUNT(*) AS "count" FROM "public"."visits" GROUP BY FLOOR((("public"."visits"."age" - 0.0) / 10.0)) * 10.0 ORDER BY 1`,
		`SELECT SUM(CASE WHEN "public"."visits"."age" > 30 THEN 1 ELSE 0.0 END) / CAST(COUNT(*) AS DOUBLE PRECISION) AS "share" FROM "public"."visits"`,
		// Grafana
		`SELECT floor(extract(epoch from seen_at)/2592000)*2592000 AS "time", count(*) FROM visits WHERE seen_at BETWEEN '2025-01-01T00:00:00Z' AND '2025-04-01T00:00:00Z' GROUP BY 1 ORDER BY 1`,
		// Django
		`SELECT "visits"."sex" AS "sex", COUNT(*) AS "n" FROM "visits" WHERE UPPER("visits"."department"::text) LIKE UPPER('%card%') GROUP BY 1`,
		// Power BI
		`select "rows"."department" as "department", count(1) as "a0" from ( select "department" from "public"."visits" "$Table" ) "rows" group by "department" limit 1000001`,
	} {
		r := c.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, nil).Read()
		if r.Err != nil || len(r.Rows) == 0 {
			t.Errorf("%s: %d rows (%v)", sql, len(r.Rows), r.Err)
		}
	}
}

// TestNoTables: what names no table has PostgreSQL's answer, whoever gives it: what the catalog gives no meaning
// is the gateway's. Points in time with a zone are in UTC, and shown without one.
func TestNoTables(t *testing.T) {
	s := start(t, nil)
	c := s.connect(t, nil)
	for sql, want := range map[string]string{
		`SELECT timestamp with time zone '2025-01-01 01:00:00+02'`:                                          "2024-12-31 23:00:00",
		`SELECT '2025-01-01 00:00:00.25Z'::timestamptz`:                                                     "2025-01-01 00:00:00.25",
		`SELECT TO_TIMESTAMP('2025-01-02 03:04:05.000006', 'YYYY-MM-DD HH24:MI:SS.US')`:                     "2025-01-02 03:04:05.000006",
		`SELECT count(*) FROM departments WHERE UPPER(name) LIKE UPPER('%card%')`:                           "1",
		`SELECT count(*) FROM departments WHERE timestamptz '2025-01-01 00:00+01' < timestamp '2025-01-01'`: "8",
		`SELECT date '2024-01-31' + interval '1 month'`:                                                     "2024-02-29 00:00:00",
		`SELECT date '2024-03-01' - date '2024-02-01'`:                                                      "29",
		`SELECT date_trunc('month', timestamp '2024-05-06 01:02:03')`:                                       "2024-05-01 00:00:00",
		`SELECT to_date('01.02.2024', 'DD.MM.YYYY')`:                                                        "2024-02-01",
		`SELECT width_bucket(3.5, 0, 10, 5)`:                                                                "2",
		`SELECT sqrt(16)::int`:                                                                              "4",
		`SELECT var_pop(x)::numeric(5,2) FROM (VALUES (1), (3)) AS v (x)`:                                   "1.00",
		`WITH v AS (SELECT 1 AS x UNION ALL SELECT 3) SELECT stddev_pop(x)::int FROM v`:                     "1",
		`SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (4)) AS v (x)`:        "2",
		// the catalog's
		`SELECT 1 + 1`:                          "2",
		`SELECT current_database()`:             "discreet",
		`SELECT to_char(now(), 'YYYY') IS NULL`: "t",
		`SELECT pg_sleep(1) IS NULL`:            "t",
	} {
		for format := range int16(2) {
			r := c.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, []int16{format}).Read()
			if r.Err != nil || len(r.Rows) != 1 || format == 0 && string(r.Rows[0][0]) != want {
				t.Errorf("%s: %s, not %s (%v)", sql, r.Rows, want, r.Err)
			}
		}
	}
}

// TestCatalogInTurn: questions about the catalog wait in turn by account, as explanations do.
func TestCatalogInTurn(t *testing.T) {
	s := start(t, nil)
	c, account := s.connect(t, nil), s.SignIn(t, "anna")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var leaves []func()
	for {
		leave, err := s.Look(gone, gateway.Asker{Account: account})
		if err != nil {
			break
		}
		leaves = append(leaves, leave)
	}
	answered := make(chan error, 1)
	go func() { _, err := c.Exec(t.Context(), "SELECT count(*) FROM pg_class"); answered <- err }()
	select {
	case err := <-answered:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
		for _, leave := range leaves {
			leave()
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}
