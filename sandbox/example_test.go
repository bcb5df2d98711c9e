package sandbox_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sqltype"
)

// Costs by age group, by code that nobody has to trust.
func ExampleJob() {
	ctx := context.Background()
	code, err := os.ReadFile("testdata/c/mapper.wasm")
	if err != nil {
		log.Fatal(err)
	}
	mapper, err := sandbox.Load(ctx, code, sandbox.Options{
		Columns: []sandbox.Column{{Name: "age", Type: sqltype.Of(sqltype.Integer)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}},
		Keys:    []string{"0-24", "25-49", "50-74", "75+"},
		Lower:   0, Upper: 1000,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mapper.Close(ctx)

	epsilon, err := privacy.ParseEpsilon("3")
	if err != nil {
		log.Fatal(err)
	}
	patients, err := budget.NewInMemory("patients", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	var visits [][][]sqltype.Value // of each patient
	for i := range 50_000 {
		visits = append(visits, [][]sqltype.Value{{int64(i % 100), 200.0}})
	}
	job := sandbox.Job{Mapper: mapper, Units: slices.Values(visits), Budget: patients}
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	sums, err := job.Sum(ctx, noise.System(), sandbox.Cost{Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sums {
		fmt.Printf("%s: %.1f million\n", s.Key, s.Value/1e6) // the noise is of scale 1,000: e^-50 that it shows
	}
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		log.Fatal(err)
	}
	means, err := job.Mean(ctx, noise.System(), sandbox.Cost{Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	counts, err := job.Count(ctx, noise.System(), sandbox.Cost{Epsilon: half})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(means), "means,", len(counts), "counts")
	left, err := patients.Left(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("left: epsilon", left.Epsilon)
	// Output:
	// 0-24: 2.5 million
	// 25-49: 2.5 million
	// 50-74: 2.5 million
	// 75+: 2.5 million
	// 4 means, 4 counts
	// left: epsilon 0.5
}
