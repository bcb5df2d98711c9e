//go:build cgo

package discreet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// What the owner declares: whose the rows are, what one patient may add to an answer, and
// what may be learnt of patients in all.
const declared = `
[domains.patient]
neighbours = "add-remove"
measure    = "zcdp"
epsilon    = 3.0
delta      = 1e-7

[defaults]
rho = 0.01

[tables.visits]
source = "visits.csv"
domain = "patient"
unit   = "patient_id"
max_groups_per_unit = 2
max_rows_per_group  = 3

[tables.visits.columns]
patient_id = { type = "bigint" }
department = { type = "text", domain = ["ER", "ICU"] }
age        = { type = "integer", lower = 0, upper = 110 }
`

const visits = `patient_id,department,age
1,ER,36
1,ICU,36
2,ER,81
`

// A Database is made of a catalog, an engine over its files, and the ledger of
// its budgets. The owner creates the ledger once; afterwards it is opened.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "discreet.toml")
	for name, text := range map[string]string{path: declared, filepath.Join(dir, "visits.csv"): visits} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	c, err := catalog.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"),
		ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l})
	if err != nil {
		log.Fatal(err)
	}
	a, err := db.Query(ctx, "SELECT count(*) AS visits FROM visits", nil) // at the catalog's default cost
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cost: rho", a.Cost.Rho)
	// Output:
	// cost: rho 0.01
}

// An answer has noisy values, an interval for each, and what it cost.
func ExampleDatabase_Query() {
	db, done := openClinic()
	defer done()
	rho, err := privacy.ParseRho("0.02")
	if err != nil {
		log.Fatal(err)
	}
	a, err := db.Query(context.Background(),
		"SELECT department, count(*) AS visits FROM visits GROUP BY department",
		&discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}, Analyst: "ada"})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range a.Columns {
		fmt.Printf("%s %v, noisy: %v\n", c.Name, c.Type, c.Noisy)
	}
	department, visits := a.Rows[0][0], a.Rows[0][1].(int64)
	interval := a.Intervals[0][1]
	fmt.Println(len(a.Rows), "rows, the first of", department)
	fmt.Println("its interval reaches as far down as up:", visits-interval.Lower.(int64) == interval.Upper.(int64)-visits)
	fmt.Println("cost: rho", a.Cost.Rho)
	// Output:
	// department text, noisy: false
	// visits bigint, noisy: true
	// 2 rows, the first of ER
	// its interval reaches as far down as up: true
	// cost: rho 0.02
}

// Explaining is free: it reads the catalog and no private data.
func ExampleDatabase_Explain() {
	db, done := openClinic()
	defer done()
	e, err := db.Explain(context.Background(), "SELECT department, avg(age) AS age FROM visits GROUP BY department", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("protects", e.Certificate.Domain)
	fmt.Println("cost: rho", e.Cost.Rho)
	for _, m := range e.Mechanisms {
		fmt.Printf("%s %s: %s of scale %.1f\n", m.Column, m.Part, m.Mechanism, m.Scale)
	}
	for _, x := range e.ExpectedError {
		fmt.Printf("%s: at most %.1f off, in a group of %d\n", x.Column, x.Error, x.AssumedCount)
	}
	// Output:
	// protects patient
	// cost: rho 0.01
	// age count: discrete_gaussian of scale 42.4
	// age sum: discrete_gaussian of scale 2333.5
	// age: at most 5.8 off, in a group of 1000
}

// What is not provably safe is refused, with the place and a way out.
func ExampleRefusal() {
	db, done := openClinic()
	defer done()
	_, err := db.Query(context.Background(), "SELECT bool_or(age > 100) FROM visits", nil)
	refusal := err.(*discreet.Refusal) // or errors.As
	if err := refusal.Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// error[D047]: bool_or cannot be released
	//   query:1:8
	//   1 | SELECT bool_or(age > 100) FROM visits
	//     |        ^^^^^^^^^^^^^^^^^^
	//   why:  a single row may decide it
	//   hint: count the rows for which it is true, with FILTER (WHERE ...)
	//   more: discreet help D047
}

// openClinic opens the data with a fresh ledger, as ExampleOpen does.
func openClinic() (db *discreet.Database, done func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "visits.csv"), []byte(visits), 0o600); err != nil {
		log.Fatal(err)
	}
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), declared)
	if err != nil {
		log.Fatal(err)
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	if db, err = discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l}); err != nil {
		log.Fatal(err)
	}
	return db, func() {
		l.Close()
		e.Close()
		os.RemoveAll(dir)
	}
}
