//go:build cgo && unix

package check_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/trinotest"
)

const everywhere = `
[domains.patient]
measure = "approx"
epsilon = 1
delta = 0.05
[tables.visits]
source = "%[1]svisits"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 2
max_rows_per_group = 3
[tables.visits.columns]
patient_id = { type = "bigint" }
visit = { type = "integer" }
department = { type = "text", domain = { from = "departments.name" } }
kind = { type = "text", domain = ["a", "b"] }
age = { type = "integer", lower = 0, upper = 100, step = 10 }
cost = { type = "double", lower = 0, upper = 100, sum_lower = 0, sum_upper = 150 }
rating = { type = "decimal(3,1)", lower = 0, upper = 5, step = 0.5 }
day = { type = "date", lower = "2025-01-01", upper = "2025-12-31" }
noon = { type = "timestamp", lower = "2025-01-01", upper = "2026-01-01" }
score = { type = "integer", from = "note" }
dear = { type = "boolean", is = "cost > 50", domain = [false, true] }
ratio = { type = "double", is = "cost / age" }
gone = { type = "text" }
[tables.bills]
source = "%[1]sbills"
domain = "patient"
unit = { column = "visit", references = "visits.visit" }
[tables.bills.columns]
visit = { type = "integer" }
amount = { type = "decimal(10,2)", lower = 0, upper = 10 }
[tables.stays]
source = "%[1]sstays"
domain = "patient"
unit = "row"
columns.days = { type = "integer", lower = 0, upper = 30 }
columns.kind = { type = "boolean" }
[tables.departments]
source = "%[1]sdepartments"
public = true
columns.name = { type = "text" }
`

// A check of Trino's tables says what one of a file with the same rows says: each count, each
// quantile, and of which columns there are findings.
func TestTrinoIsChecked(t *testing.T) {
	cluster := trinotest.Start(t)
	schema := cluster.Schema(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "clinic.duckdb")
	o := open(t)
	o.do(t, "ATTACH '"+file+"' AS clinic")
	both := func(table, columns string, types []string, rows [][]string) {
		var values []string
		for _, row := range rows {
			for i, v := range row {
				if v != "NULL" {
					v = "'" + v + "'"
				}
				row[i] = "CAST(" + v + " AS " + types[i] + ")"
			}
			values = append(values, "("+strings.Join(row, ", ")+")")
		}
		text := " AS SELECT * FROM (VALUES " + strings.Join(values, ", ") + ") AS t(" + columns + ")"
		o.do(t, "CREATE TABLE clinic."+table+text)
		cluster.Exec(t, "CREATE TABLE "+schema+"."+table+strings.ReplaceAll(text, "TIMESTAMP", "TIMESTAMP(6)"))
	}
	r := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var visits, bills, stays [][]string
	for n := range 400 {
		patient := fmt.Sprint(int(math.Sqrt(float64(r.IntN(3000)))))
		visits = append(visits, []string{one(patient, patient, patient, "7", "NULL"), fmt.Sprint(n / 2 * 2), one("ER", "ICU", "surgery", "none", "NULL"), one("a", "b", "c"), fmt.Sprint(r.IntN(130) - 5),
			one(fmt.Sprint(r.IntN(140)), "NULL", "0.5"), one("0.0", "2.5", "3.3", "5.5", "NULL"), one("2025-01-01", "2024-12-31", "2025-06-01", "2026-01-01"), one("2025-01-01 12:00:00", "2026-01-01 00:00:00.000001", "NULL"), one("3", "x", "", "NULL")})
		bills = append(bills, []string{one(fmt.Sprint(n), "NULL", "9999"), one("1.00", "12.34", "-1.00", "NULL")})
		stays = append(stays, []string{one("1", "31", "NULL"), one("true", "false")})
	}
	both("visits", "patient_id, visit, department, kind, age, cost, rating, day, noon, note", []string{"BIGINT", "INTEGER", "VARCHAR", "VARCHAR", "INTEGER", "DOUBLE", "DECIMAL(3,1)", "DATE", "TIMESTAMP", "VARCHAR"}, visits)
	both("bills", "visit, amount", []string{"INTEGER", "DECIMAL(10,2)"}, bills)
	both("stays", "days, kind", []string{"INTEGER", "BOOLEAN"}, stays)
	both("departments", "name", []string{"VARCHAR"}, [][]string{{"ER"}, {"ICU"}, {"surgery"}, {"ER"}})
	o.do(t, "DETACH clinic")

	want := run(t, o, dir, fmt.Sprintf(everywhere, "clinic.duckdb#"))
	c, err := catalog.Parse("discreet.toml", "[engine]\nkind = \"trino\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n"+fmt.Sprintf(everywhere, schema+"."))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := trino.OpenOwner(t.Context(), c, trino.Options{URL: cluster.As("owner")})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	got, err := check.Run(t.Context(), c, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plainly(t, got), plainly(t, want); got != want {
		t.Errorf("Trino's:\n%s\nthe file's:\n%s", got, want)
	}
	unread, _, err := check.FindUnread(t.Context(), c, theirs, nil)
	if err != nil || len(unread) != 0 {
		t.Errorf("unread: %v, %v", unread, err)
	}
	cluster.Exec(t, "UPDATE "+schema+".visits SET note = 'x'")
	if unread, _, err = check.FindUnread(t.Context(), c, theirs, nil); err != nil || len(unread) != 1 || unread[0].Column != "score" || unread[0].Values != 400 {
		t.Errorf("unread: %v, %v", unread, err)
	}
}

// plainly is a report without the names of sources and types; of findings, and of what was rounded
// on the way, what does not depend on them.
func plainly(t *testing.T, r *check.Report) string {
	r.Catalog = ""
	for _, table := range r.Tables {
		table.Source = ""
		for i, f := range table.Findings {
			table.Findings[i].Message, _, _ = strings.Cut(strings.NewReplacer("the table", "it", "the file", "it").Replace(f.Message), ", it has ")
		}
		round := func(f *float64) {
			if f != nil {
				*f = math.Round(*f*1e9) / 1e9
			}
		}
		for _, c := range table.Columns {
			c.FileType = ""
			round(c.ClampLoss)
		}
		if table.Units == nil {
			continue
		}
		for _, g := range table.Units.Groupings {
			round(g.DroppedByRows)
			round(g.DroppedByGroups)
		}
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
