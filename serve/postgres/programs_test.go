//go:build cgo

package postgres_test

import "testing"

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
