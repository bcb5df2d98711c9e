//go:build cgo

package duckdb_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// Texts are equal if their bytes are, whatever the collation that their owner gave a column: two units that
// only a collation takes for one are two, in what is grouped and compared as in what is hashed.
func TestNoCollationOfASource(t *testing.T) {
	declared := ""
	for _, name := range []string{"plain", "nocase", "accent", "twice"} {
		declared += fmt.Sprintf("[tables.%s]\nsource = \"clinic.duckdb#%s\"\npublic = true\n[tables.%s.columns]\nu = { type = \"text\" }\n", name, name, name)
	}
	_, c := write(t, map[string]string{"discreet.toml": declared}, "ATTACH '%/clinic.duckdb' AS f",
		"CREATE TABLE f.plain(u VARCHAR)", "CREATE TABLE f.nocase(u VARCHAR COLLATE NOCASE)", "CREATE TABLE f.accent(u VARCHAR COLLATE NOACCENT)", "CREATE TABLE f.twice(u VARCHAR COLLATE NOCASE.NOACCENT)",
		"INSERT INTO f.plain VALUES ('a'), ('A'), ('ä'), ('a')", "INSERT INTO f.nocase FROM f.plain", "INSERT INTO f.accent FROM f.plain", "INSERT INTO f.twice FROM f.plain", "DETACH f")
	e := open(t, c, duckdb.Options{})
	for _, name := range []string{"plain", "nocase", "accent", "twice"} {
		for text, want := range map[string]int64{
			"SELECT count(*) AS x0 FROM (SELECT u FROM %s GROUP BY u) AS t":                                                3,
			"SELECT count(DISTINCT u) AS x0 FROM %s":                                                                       3,
			"SELECT count(*) AS x0 FROM %s WHERE u = 'a'":                                                                  2,
			"SELECT count(*) AS x0 FROM %s WHERE u IN ('A', 'b')":                                                          1,
			"SELECT max(d) AS x0 FROM (SELECT dense_rank() OVER (ORDER BY u) AS d FROM %s) AS t":                           3,
			"SELECT max(r) AS x0 FROM (SELECT row_number() OVER (PARTITION BY u) AS r FROM %s) AS t":                       2,
			"SELECT count(*) AS x0 FROM %[1]s AS a JOIN plain AS b ON a.u = b.u":                                           6,
			"SELECT count(*) AS x0 FROM %[1]s AS a SEMI JOIN (SELECT 'A' AS u) AS b USING (u)":                             1,
			"SELECT count(*) AS x0 FROM (SELECT DISTINCT u FROM %s) AS t WHERE CASE WHEN u < 'B' THEN true ELSE false END": 1,
		} {
			x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT CAST(x0 AS HUGEINT) AS x0 FROM (" + fmt.Sprintf(text, name) + ") AS t", Tables: []string{name, "plain"}, Values: 1})
			if err != nil {
				t.Errorf("%s: %v", name, err.(*engine.Failure).Cause())
				continue
			}
			if got := x.RevealExact()[0][0].(sqltype.Decimal).Unscaled.Int64(); got != want {
				t.Errorf("%s: %s is %d, not %d", name, text, got, want)
			}
		}
	}
}
