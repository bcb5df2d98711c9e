package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/check"
)

var rewrite = flag.Bool("rewrite", false, "renew the golden files")

// An owner is the handle that the command line opens.
type owner struct{ engine.Owner }

func open(t *testing.T) owner {
	t.Helper()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return owner{o}
}

func (o owner) do(t *testing.T, text string) {
	t.Helper()
	if _, _, err := o.Rows(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run checks a catalog whose files lie in dir.
func run(t *testing.T, o owner, dir, text string) *check.Report {
	t.Helper()
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Run(t.Context(), c, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Catalog = "discreet.toml"
	return r
}

const clinic = `
[domains.patient]
measure = "approx"
epsilon = 1
delta = 0.05

[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 2
max_rows_per_group = 2
[tables.visits.columns]
patient_id = { type = "bigint" }
visit = { type = "integer" }
department = { type = "text", domain = { from = "departments.name" } }
age = { type = "integer", lower = 0, upper = 100, step = 10 }
cost = { type = "double", lower = 0, upper = 100, sum_lower = 0, sum_upper = 150 }
rating = { type = "decimal(3,1)", lower = 0, upper = 5, step = 0.5 }
day = { type = "date", lower = "2025-01-01", upper = "2025-12-31" }
gone = { type = "text" }

[tables.bills]
source = "bills.jsonl"
domain = "patient"
unit = { column = "visit", references = "visits.visit" }
[tables.bills.columns]
visit = { type = "integer" }
amount = { type = "decimal(10,2)", lower = 0, upper = 10 }
missing = { type = "text" }

[tables.stays]
source = "clinic.duckdb#Stays"
domain = "patient"
unit = "row"
columns.days = { type = "integer", lower = 0, upper = 30 }
columns.kind = { type = "boolean" }
columns.ward = { type = "integer" }

[tables.rooms]
source = "rooms.parquet"
domain = "patient"
unit = "who"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.who = { type = "integer" }
columns.seen = { type = "timestamp" }

[tables.departments]
source = "departments.csv"
public = true
columns.name = { type = "text" }

[tables.lost]
source = "lost.parquet"
domain = "patient"
unit = "row"
columns.a = { type = "text" }
`

// clinicFiles writes data with one fault of each sort.
func clinicFiles(t *testing.T, o owner, dir string) {
	write(t, dir, "visits.csv", "\ufeffpatient_id,visit,department,age,cost,rating,day\r\n"+
		"1,10,ER,30,50,4.5,2025-02-01\r\n"+
		"1,11,ER,30,50,4.5,2025-02-02\r\n"+
		"1,12,ER,35,250,4.7,2024-02-03\r\n"+ // age off its steps, cost and day outside, rating off its steps
		"1,13,ICU,30,10,5.0,2025-02-04\r\n"+
		"1,14,\"Surgery\",30,10,,2025-02-05\r\n"+
		"2,15,ER,130,nan,9.5,2025-02-06\r\n"+ // age above, cost unreadable, rating above
		"2,15,Sugery,x,-5,1,soon\r\n"+ // visit twice, department outside, age and day unreadable, cost below
		",16,ER,20,1,1,2025-02-08\r\n"+ // no unit
		"3,17,ER\r\n"+ // too short
		"4,18,ER,20,1,1,2025-01-01,extra\r\n") // too long
	write(t, dir, "bills.jsonl", `{"visit": 10, "amount": 1.25}
{"visit": 15, "amount": 20}
{"visit": 99, "amount": "9.99"}
{"visit": null, "amount": 1}

[1, 2]
{"visit": 11, "amount": 0.001, "other": {"x": 1}}
`)
	write(t, dir, "departments.csv", "name\nER\nICU\nSurgery\nER\n\"\"\n")
	o.do(t, `ATTACH '`+filepath.Join(dir, "clinic.duckdb")+`' AS c`)
	o.do(t, `CREATE TABLE c."Stays" AS SELECT i::SMALLINT AS days, i % 2 = 0 AS "KIND", 'w' || i AS ward FROM range(40) t(i)`)
	o.do(t, `DETACH c`)
	o.do(t, `COPY (SELECT i // 4 AS who, TIMESTAMPTZ '2025-01-01 00:00:00+00' AS seen FROM range(12) t(i)) TO '`+
		filepath.Join(dir, "rooms.parquet")+`' (FORMAT parquet)`)
}

func TestReport(t *testing.T) {
	o, dir := open(t), t.TempDir()
	clinicFiles(t, o, dir)
	r := run(t, o, dir, clinic)
	if r.Sound() {
		t.Error("a catalog with a missing file is sound")
	}
	structured, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := append(structured, '\n')
	const path = "testdata/report.json" // internal/cli/owner prints it
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
		t.Errorf("%s differs (%v):\n%s", path, err, got)
	}
}

// Who watches a check is told of each table in turn, of each file's bytes from some to all,
// and of steps that are not more than there are.
func TestProgress(t *testing.T) {
	o, dir := open(t), t.TempDir()
	clinicFiles(t, o, dir)
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), clinic)
	if err != nil {
		t.Fatal(err)
	}
	tables, read := []string{}, map[string]bool{}
	var last check.Progress
	watch := func(p check.Progress) {
		if p.Table != last.Table {
			tables = append(tables, p.Table)
		} else if p.Doing == last.Doing && p.Done <= last.Done {
			t.Errorf("%+v after %+v", p, last)
		}
		if p.Tables != len(c.Tables) || p.At != len(tables) || p.Done > p.All || p.Doing == "" {
			t.Errorf("%+v of %d tables", p, len(c.Tables))
		}
		if p.Bytes && p.Done == p.All {
			read[p.Doing] = true
			read[p.Table+", "+p.Doing] = true
		}
		last = p
	}
	if _, err := check.Run(t.Context(), c, o, watch); err != nil {
		t.Fatal(err)
	}
	if want := []string{"visits", "bills", "stays", "rooms", "departments"}; !slices.Equal(tables, want) { // the last is not there
		t.Errorf("tables %v", tables)
	}
	for _, told := range []string{"visits, looking for malformed records", "visits, reading", "bills, reading", "reading (departments)"} {
		if !read[told] {
			t.Errorf("%s: not to its end: %v", told, read)
		}
	}
}

// A catalog that its files bear out gives no findings.
func TestCleanReport(t *testing.T) {
	o, dir := open(t), t.TempDir()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d\n", i/3, i%10)
	}
	write(t, dir, "a.csv", "unit,n\n"+b.String())
	r := run(t, o, dir, `
[domains.p]
measure = "pure"
epsilon = 1
[tables.a]
source = "a.csv"
domain = "p"
unit = "unit"
max_groups_per_unit = 2
max_rows_per_group = 3
columns.unit = { type = "text" }
columns.n = { type = "integer", lower = 0, upper = 9, step = 1 }
`)
	a := r.Tables[0]
	if !r.Sound() || len(a.Findings) != 0 {
		t.Errorf("findings: %v", a.Findings)
	}
	if a.Rows != 300 || a.Units.Units != 100 || a.Units.PerUnit != (check.Quantiles{3, 3, 3, 3}) {
		t.Errorf("%d rows, %+v", a.Rows, a.Units)
	}
	// Each unit has three groups of one row and keeps two of them.
	byN := a.Units.Groupings[1]
	if byN.By != "n" || *byN.DroppedByRows != 0 || math.Abs(*byN.DroppedByGroups-1.0/3) > 1e-12 {
		t.Errorf("grouping %+v", byN)
	}
}

func TestCancelled(t *testing.T) {
	o, dir := open(t), t.TempDir()
	clinicFiles(t, o, dir)
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), clinic)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := check.Run(ctx, c, o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a cancelled context: %v", err)
	}
}

// The data sets that this project is measured with, under a plausible catalog.
func TestRealData(t *testing.T) {
	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		t.Skip("DISCREET_DATA does not name the folder with the real data sets")
	}
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, open(t), data, `
[domains.person]
measure = "pure"
epsilon = 1
[domains.visitor]
measure = "zcdp"
epsilon = 1
delta = 1e-6
[tables.adult]
source = "adult-train.csv"
domain = "person"
unit = "row"
columns.age = { type = "integer", lower = 18, upper = 80, step = 1 }
columns.workclass = { type = "text" }
[tables.restaurant]
source = "restaurant-visits.csv"
domain = "visitor"
unit = "VisitorId"
max_groups_per_unit = 3
max_rows_per_group = 1
columns.VisitorId = { type = "bigint" }
columns."Time entered" = { type = "time" }
columns."Money spent (euros)" = { type = "integer", lower = 0, upper = 50 }
columns.Day = { type = "smallint", lower = 1, upper = 7, step = 1 }
`)
	adult, restaurant := r.Tables[0], r.Tables[1]
	if adult.Rows != 32_561 || adult.Units.Units != adult.Rows || adult.Columns[0].Below == 0 || adult.Malformed != 0 {
		t.Errorf("adult: %+v %+v %+v", adult, adult.Units, adult.Columns[0])
	}
	byDay := restaurant.Units.Groupings[1]
	if restaurant.Rows != 2_850 || byDay.By != "Day" || byDay.GroupsPerUnit.Max != 6 || *byDay.DroppedByGroups <= 0 {
		t.Errorf("restaurant: %+v %+v", restaurant, byDay)
	}
	// "9:27AM" is no time.
	if time := restaurant.Columns[1]; time.Unreadable != restaurant.Rows-time.Null {
		t.Errorf("times: %+v", time)
	}
}

// Text in Parquet that is not UTF-8 is found, in the column where it stands.
func TestParquetNotUTF8(t *testing.T) {
	dir, o := t.TempDir(), open(t)
	file := filepath.Join(dir, "t.parquet")
	o.do(t, "COPY (SELECT i AS id, 'good' || i AS good, 'letter' || i AS bad FROM range(10) AS r(i)) TO '"+file+"' (FORMAT parquet, COMPRESSION uncompressed)")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if data = bytes.Replace(data, []byte("letter3"), []byte("le\xffter3"), 1); os.WriteFile(file, data, 0o600) != nil {
		t.Fatal("cannot write")
	}
	r := run(t, o, dir, "[tables.t]\nsource = \"t.parquet\"\npublic = true\n[tables.t.columns]\nid = { type = \"bigint\" }\ngood = { type = \"text\" }\nbad = { type = \"text\" }\n")
	var problems []string
	for _, f := range r.Tables[0].Findings {
		if f.Severity == check.Problem {
			problems = append(problems, f.Column+": "+f.Message)
		}
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "bad: ") || !strings.Contains(problems[0], "not UTF-8") {
		t.Errorf("found %q", problems)
	}
}
