//go:build cgo && unix

package discreet

import (
	"context"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

const truthCatalog = `[domains.person]
measure = "zcdp"
epsilon = 1e6
delta = 0.9
[tables.people]
source = "people.csv"
domain = "person"
unit = "id"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.id = { type = "bigint" }
columns.sex = { type = "text", domain = ["F", "M"] }
columns.born = { type = "integer", lower = 1940, upper = 2005 }
columns.premium = { type = "boolean" }
columns.city = { type = "text", domain = { from = "cities.name" } }
columns.height = { type = "real", lower = 140, upper = 210 }
[tables.visits]
source = "visits.csv"
domain = "person"
unit = "person"
max_groups_per_unit = 8
max_rows_per_group = 8
columns.visit = { type = "bigint" }
columns.person = { type = "bigint" }
columns.dept = { type = "text", domain = ["ER", "ICU", "Surgery", "Eye"] }
columns.age = { type = "integer", lower = 0, upper = 99 }
columns.cost = { type = "double", lower = 0, upper = 1000 }
columns.bill = { type = "decimal(10,2)", lower = 0, upper = 2000 }
columns.day = { type = "date", lower = "2025-01-01", upper = "2025-12-31" }
columns.seen = { type = "timestamp", lower = "2025-01-01", upper = "2026-01-01" }
columns.note = { type = "text" }
columns.urgent = { type = "boolean" }
columns.score = { type = "smallint", lower = -10, upper = 10 }
[tables.items]
source = "items.csv"
domain = "person"
unit = { column = "visit", references = "visits.visit" }
max_groups_per_unit = 24
max_rows_per_group = 24
columns.visit = { type = "bigint" }
columns.drug = { type = "text", domain = ["a", "b", "c", "d"] }
columns.dose = { type = "double", lower = -50, upper = 50 }
columns.n = { type = "smallint", lower = 0, upper = 9 }
[tables.survey]
source = "survey.csv"
domain = "person"
unit = "row"
columns.mark = { type = "integer", lower = 0, upper = 10 }
columns.town = { type = "text", domain = ["Oslo", "Rome"] }
[tables.cities]
source = "cities.csv"
public = true
columns.name = { type = "text" }
columns.country = { type = "text" }
columns.people = { type = "integer" }
[tables.depts]
source = "depts.csv"
public = true
columns.name = { type = "text" }
columns.floor = { type = "integer" }
columns.beds = { type = "integer", lower = 0, upper = 100 }
`

// truthTables are the records of the catalog's tables. No bound cuts anything off.
func truthTables() map[string]string {
	r := mathrand.New(mathrand.NewPCG(1, 2))
	maybe := func(p float64, s string) string {
		if r.Float64() < p {
			return ""
		}
		return s
	}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var people, visits, items, survey strings.Builder
	people.WriteString("id,sex,born,premium,city,height\n")
	visits.WriteString("visit,person,dept,age,cost,bill,day,seen,note,urgent,score\n")
	items.WriteString("visit,drug,dose,n\n")
	survey.WriteString("mark,town\n")
	visit := 0
	for id := range 400 {
		fmt.Fprintf(&people, "%d,%s,%d,%s,%s,%s\n", id, pick("F", "M", "M"), 1940+r.IntN(66), maybe(0.1, pick("true", "false")), pick("Oslo", "Rome", "Rome", "Bern"), maybe(0.05, fmt.Sprintf("%.1f", 150+r.Float64()*50)))
		for range r.IntN(9) {
			visit++
			day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(365))
			cost := 1000 * r.Float64() * r.Float64()
			fmt.Fprintf(&visits, "%d,%d,%s,%d,%s,%.2f,%s,%s,%s,%s,%s\n", visit, id, pick("ER", "ER", "ER", "ICU", "Surgery", "Eye"), 20+r.IntN(60), maybe(0.05, fmt.Sprintf("%.3f", cost)), 2*cost,
				day.Format(time.DateOnly), day.Add(time.Duration(r.IntN(86400))*time.Second).Format(time.DateTime), maybe(0.1, pick("fever", "pain", "x-ray 12", "Cold", "check")), pick("true", "false", "false"), maybe(0.1, strconv.Itoa(r.IntN(21)-10)))
			for range r.IntN(4) {
				fmt.Fprintf(&items, "%d,%s,%.2f,%d\n", visit, pick("a", "a", "b", "c"), r.Float64()*100-50, r.IntN(10))
			}
		}
	}
	for range 500 {
		fmt.Fprintf(&survey, "%d,%s\n", r.IntN(11), pick("Oslo", "Rome"))
	}
	return map[string]string{"people": people.String(), "visits": visits.String(), "items": items.String(), "survey": survey.String(),
		"cities": "name,country,people\nOslo,Norway,700\nRome,Italy,2800\nBern,Switzerland,134\nParis,France,2100\n",
		"depts":  "name,floor,beds\nER,0,30\nICU,1,12\nSurgery,1,40\nEye,2,8\n"}
}

// Of a budget so large that noise is next to none, and of bounds that cut nothing, answers are PostgreSQL's: those without noise are
// the same, others have them in their intervals, or near where they have none. Files, copies and a PostgreSQL database are asked, and explain says of each what is answered. Of the intervals, at most 5,000 of
// confidence 1 - 1e-14, one fails in 2e10 runs.
func TestAnswersAreNearTheTruth(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Start(t)
	dir := t.TempDir()
	admin, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	path := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(path, []byte(truthCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	tables := truthTables()
	for name, text := range tables {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range c.Tables {
		var columns []string
		for _, column := range table.Columns {
			columns = append(columns, fmt.Sprintf("%q %s", column.Name, strings.ReplaceAll(column.Type.String(), "double", "double precision")))
		}
		if _, err := admin.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", table.Name, strings.Join(columns, ", "))); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.PgConn().CopyFrom(ctx, strings.NewReader(tables[table.Name]), "COPY "+table.Name+" FROM STDIN WITH (FORMAT csv, HEADER)"); err != nil {
			t.Fatal(err)
		}
	}
	engines := map[string]func(t *testing.T) (*catalog.Catalog, engine.Engine){
		"files": func(t *testing.T) (*catalog.Catalog, engine.Engine) {
			e, err := duckdb.Open(ctx, c, duckdb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return c, e
		},
		"replace-one": func(t *testing.T) (*catalog.Catalog, engine.Engine) {
			c, err := catalog.Parse(path, strings.Replace(truthCatalog, "measure = \"zcdp\"", "measure = \"approx\"\nneighbours = \"replace-one\"", 1))
			if err != nil {
				t.Fatal(err)
			}
			e, err := duckdb.Open(ctx, c, duckdb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return c, e
		},
		"copies": func(t *testing.T) (*catalog.Catalog, engine.Engine) {
			c, err := catalog.Parse(path, strings.NewReplacer("max_groups_per_unit = 8\n", "max_groups_per_unit = 8\nmax_rows_per_unit = 8\n", "unit = \"id\"\n", "unit = \"id\"\nmax_rows_per_unit = 1\n").Replace(truthCatalog))
			if err != nil {
				t.Fatal(err)
			}
			e, err := duckdb.Open(ctx, c, duckdb.Options{Copies: filepath.Join(dir, "copies")})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"people", "visits", "items", "survey"} {
				if _, err := e.MakeCopy(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if e, err = duckdb.Open(ctx, c, duckdb.Options{Copies: filepath.Join(dir, "copies")}); err != nil {
				t.Fatal(err)
			}
			return c, e
		},
		"postgres": func(t *testing.T) (*catalog.Catalog, engine.Engine) {
			text := "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n" + regexp.MustCompile(`source = "(\w+)\.csv"`).ReplaceAllString(truthCatalog, `source = "public.$1"`)
			c, err := catalog.Parse(path, text)
			if err != nil {
				t.Fatal(err)
			}
			none, err := catalog.Parse("none.toml", "")
			if err != nil {
				t.Fatal(err)
			}
			post, err := duckdb.Open(ctx, none, duckdb.Options{Threads: 1, Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			e, err := postgres.Open(ctx, c, postgres.Options{URL: url, Connections: 2, Post: post})
			if err != nil {
				t.Fatal(err)
			}
			return c, e
		},
	}
	all := truthStatements()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			c, e := open(t)
			defer e.Close()
			var db *Database
			asked := 0
			for _, s := range all {
				if name != "files" && mathrand.IntN(4) > 0 || name == "postgres" && strings.Contains(s, "stddev(cost) AS s FROM visits GROUP BY person") { // a share; D106
					continue
				}
				if measure := c.Domains[0].Measure; measure == "zcdp" || asked%25 == 0 { // else the budget is spent
					l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "l"), ledger.Options{Domains: Budgets(c), Now: time.Now()})
					if err != nil {
						t.Fatal(err)
					}
					defer l.Close()
					if db, err = Open(ctx, Config{Catalog: c, Engine: e, Ledger: l}); err != nil {
						t.Fatal(err)
					}
				}
				asked++
				nearTruth(t, db, admin, s)
			}
			if asked < 20 {
				t.Fatalf("%d statements are too few", asked)
			}
		})
	}
}

var ordered = regexp.MustCompile(`ORDER BY [^()]*$`)

// nearTruth asks a statement and compares.
func nearTruth(t *testing.T, db *Database, admin *pgx.Conn, statement string) {
	sql, truth, other := strings.Cut(statement, " -- ")
	if !other {
		truth = sql
	}
	o := &QueryOptions{Confidence: 1 - 1e-14}
	if db.config.Catalog.Domains[0].Measure == "zcdp" {
		o.Spend.Rho = must(privacy.ParseRho("990000"))
	} else {
		o.Spend.Epsilon = must(privacy.ParseEpsilon("39000"))
	}
	o.Spend.Delta = must(privacy.ParseDelta("0.01"))
	a, err := db.Query(t.Context(), sql, o)
	if err != nil {
		if o.Spend.Delta, err = privacy.ParseDelta("0"); err == nil {
			a, err = db.Query(t.Context(), sql, o)
		}
	}
	if err != nil {
		t.Errorf("%s\n%v", sql, err)
		return
	}
	if e, err := db.Explain(t.Context(), sql, o); err != nil {
		t.Errorf("%s\nis answered, and not explained: %v", sql, err)
	} else if !reflect.DeepEqual(e.Columns, a.Columns) || !reflect.DeepEqual(e.Mechanisms, a.Mechanisms) || fmt.Sprint(e.Cost) != fmt.Sprint(a.Cost) || !reflect.DeepEqual(e.Kept, a.Kept) {
		t.Errorf("%s\nis explained as %v %+v %v %v\nand answered by %v %+v %v %v", sql, e.Columns, e.Mechanisms, e.Cost, e.Kept, a.Columns, a.Mechanisms, a.Cost, a.Kept)
	} else if !slices.Equal(e.Notes, a.Notes) {
		t.Errorf("%s\nis explained with the notes %q\nand answered with %q", sql, e.Notes, a.Notes)
	}
	rows, err := admin.Query(t.Context(), truth, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s\n%v", truth, err)
	}
	var want [][]string
	for rows.Next() {
		var row []string
		for _, v := range rows.RawValues() {
			if v == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, string(v))
			}
		}
		want = append(want, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s\n%v", truth, err)
	}
	var got [][]string
	intervals := map[*string][]*Interval{}
	for i, row := range a.Rows {
		var texts []string
		for _, v := range row {
			texts = append(texts, asText(v))
		}
		got = append(got, texts)
		intervals[&texts[0]] = a.Intervals[i]
	}
	key := func(row []string) string {
		var k []string
		for i, c := range a.Columns {
			if i < len(row) && !c.Noisy {
				k = append(k, row[i])
			}
		}
		return strings.Join(k, "|")
	}
	if !ordered.MatchString(sql) {
		by := func(a, b []string) int { return strings.Compare(key(a), key(b)) }
		slices.SortStableFunc(got, by)
		slices.SortStableFunc(want, by)
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\n%s\ngot  %v\nwant %v", sql, fmt.Sprintf(format, args...), got[:min(len(got), 12)], want[:min(len(want), 12)])
	}
	// Complete domains have empty groups, too.
	known := map[string]bool{}
	for _, row := range want {
		known[key(row)] = true
	}
	got = slices.DeleteFunc(got, func(row []string) bool {
		for i, c := range a.Columns {
			if n, err := strconv.ParseFloat(row[i], 64); c.Name == "n" && (err != nil || math.Abs(n) > 0.5) {
				return false
			}
		}
		return !known[key(row)] && slices.ContainsFunc(a.Columns, func(c Column) bool { return c.Name == "n" })
	})
	if len(got) != len(want) {
		fail("%d rows, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if len(got[i]) != len(want[i]) {
			fail("%d columns, want %d", len(got[i]), len(want[i]))
			return
		}
		if key(got[i]) != key(want[i]) {
			fail("row %d is of %s, want %s", i, key(got[i]), key(want[i]))
			return
		}
		for j, c := range a.Columns {
			if !c.Noisy || got[i][j] == want[i][j] {
				continue
			}
			g, err1 := strconv.ParseFloat(got[i][j], 64)
			w, err2 := strconv.ParseFloat(want[i][j], 64)
			if err1 != nil || err2 != nil {
				fail("%s is %s, want %s", c.Name, got[i][j], want[i][j])
				return
			}
			in := intervals[&got[i][0]][j]
			if in == nil {
				if !(math.Abs(g-w) <= max(1.5, 0.03*math.Abs(w))) {
					fail("%s is %v, want %v", c.Name, g, w)
					return
				}
				continue
			}
			lo, hi := math.Inf(-1), math.Inf(1)
			if in.Lower != nil {
				lo = decimal(in.Lower)
			}
			if in.Upper != nil {
				hi = decimal(in.Upper)
			}
			if slack := 1e-6 * (1 + math.Abs(w)); !(lo-slack <= w && w <= hi+slack && lo <= g && g <= hi) {
				fail("%s is %v in [%v, %v], want %v", c.Name, g, lo, hi, w)
				return
			}
		}
	}
}

func asText(v sqltype.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return map[bool]string{true: "t", false: "f"}[v]
	}
	return sqltype.Format(v)
}
