//go:build cgo && unix

package trino_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// A table in buckets of its unit is said to be laid out by it, whatever rows it has, and the plan of
// a release's query moves none of them; other tables are not, nor one that several queries read. What
// comes is the same.
func layout(t *testing.T, c *cluster) {
	schema, catalog := c.Schema(t), people
	for name, with := range map[string]string{"bucketed": "WITH (partitioning = ARRAY['bucket(u, 4)'])", "empty": "WITH (partitioning = ARRAY['bucket(u, 4)'])",
		"apart": "WITH (partitioning = ARRAY['bucket(g, 4)'])", "anyhow": "", "narrow": "WITH (partitioning = ARRAY['bucket(u, 4)'])"} {
		typ := "BIGINT"
		if name == "narrow" { // its unit is declared a bigint
			typ = "INTEGER"
		}
		c.Exec(t, "CREATE TABLE "+schema+"."+name+" "+with+" AS SELECT CAST(n % 7 AS "+typ+") AS u, CAST(n % 3 AS BIGINT) AS g FROM UNNEST(sequence(1, 60)) AS s(n) WHERE '"+name+"' <> 'empty'")
		catalog += "[tables." + name + "]\nsource = \"" + schema + "." + name + "\"\nunit = \"u\"\ndomain = \"people\"\nmax_groups_per_unit = 2\nmax_rows_per_group = 2\n[tables." + name + ".columns]\nu = { type = \"bigint\" }\ng = { type = \"bigint\" }\n"
	}
	e, err := c.openAs(t, accepting(parse(t, catalog)), "owner")
	if err != nil {
		t.Fatal(err)
	}
	asks := func(name string) engine.Query {
		return engine.Query{SQL: `SELECT CAST(sum(n) AS DECIMAL(38,0)) FROM (SELECT cardinality(array_agg(g)) AS n FROM "` + name + `" WHERE u IS NOT NULL GROUP BY u) AS t`, Tables: []string{name}, Values: 1}
	}
	for name, laid := range map[string]bool{"bucketed": true, "empty": true, "apart": false, "anyhow": false, "narrow": false} {
		q := asks(name)
		notes, err := e.Layout(t.Context(), []engine.Query{q})
		if err != nil {
			t.Fatal(cause(err))
		}
		if said := len(notes) == 1 && strings.HasPrefix(notes[0], name+": laid out by its unit"); said != laid || !laid && len(notes) > 0 {
			t.Errorf("of %s is said: %q", name, notes)
		}
		if notes, err := e.Layout(t.Context(), []engine.Query{q, q}); err != nil || len(notes) > 0 {
			t.Errorf("of two queries of %s is said: %q, %v", name, notes, err)
		}
		x, err := e.Exact(t.Context(), q)
		if err != nil {
			t.Fatal(cause(err))
		}
		if got, want := x.RevealExact()[0][0], "60"; name != "empty" && sqltype.Format(got) != want {
			t.Errorf("%s: %v, not %s", name, got, want)
		}
		asked := c.Exec(t, `SELECT query FROM system.runtime.queries WHERE query LIKE '%cardinality(array_agg(g))%"`+name+`"%' AND query NOT LIKE '%runtime%' ORDER BY created DESC LIMIT 1`)
		plan := c.Exec(t, "EXPLAIN "+*asked[0][0])
		if moves := slices.ContainsFunc(plan, func(row []*string) bool { return strings.Contains(*row[0], "Output partitioning: HASH") }); moves == laid {
			t.Errorf("%s: laid out is %v, and its plan:\n%s", name, laid, *plan[0][0])
		}
	}
}
