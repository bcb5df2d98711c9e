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
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A Database is made of a catalog, an engine over its files, and the ledger of
// its budgets. The owner creates the ledger once; afterwards it is opened.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := clinic.Write(dir) // the demo's synthetic data, and its catalog
	if err != nil {
		log.Fatal(err)
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
	// 8 rows, the first of Cardiology
	// its interval reaches as far down as up: true
	// cost: rho 0.02
}

// Explaining is free: it reads the catalog and no private data.
func ExampleDatabase_Explain() {
	db, done := openClinic()
	defer done()
	e, err := db.Explain(context.Background(), "SELECT sex, avg(age) AS age FROM visits GROUP BY sex", nil)
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
	// age count: discrete_gaussian of scale 169.7
	// age sum: discrete_gaussian of scale 9333.8
	// age: at most 33.7 off, in a group of 1000
}

// What is not provably safe is refused, with the place and a way out.
func ExampleRefusal() {
	db, done := openClinic()
	defer done()
	_, err := db.Query(context.Background(), "SELECT max(cost) FROM visits", nil)
	refusal := err.(*discreet.Refusal) // or errors.As
	if err := refusal.Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// error[D047]: max cannot be released
	//   query:1:8
	//   1 | SELECT max(cost) FROM visits
	//     |        ^^^^^^^^^
	//   why:  a single row may decide it
	//   hint: within a unit it is free: take it in a subquery grouped by the unit, and average the results
	//   more: discreet help D047
}

// openClinic opens the demo's data with a fresh ledger, as ExampleOpen does.
func openClinic() (db *discreet.Database, done func()) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	path, err := clinic.Write(dir)
	if err != nil {
		log.Fatal(err)
	}
	c, err := catalog.Load(path)
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
