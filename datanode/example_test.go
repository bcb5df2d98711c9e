package datanode_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The owner sets data and how they may be asked; the analyst asks until the budget is
// spent.
func Example() {
	ctx := context.Background()
	node, err := datanode.New(noise.System(), datanode.Options{Name: "clinic", Log: datanode.NewMemoryLog(), Now: time.Now})
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Set("heights", datanode.Vector([]float64{1.62, 1.75, 1.81})); err != nil {
		log.Fatal(err)
	}
	_, err = node.Query(ctx, "heights")
	fmt.Println(errors.Is(err, datanode.ErrNoAccess))

	one, _ := privacy.ParseEpsilon("1")
	study, err := budget.NewInMemory("study", filter.Budget{Measure: filter.Pure, Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Configure(ctx, "heights", datanode.Adaptive{Budget: study}); err != nil {
		log.Fatal(err)
	}
	mean := datanode.Laplace{Query: datanode.Mean{Lower: 1.40, Upper: 2.10}, Epsilon: one}
	a, err := node.QueryWith(ctx, "heights", mean)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(1.40 <= a.Value() && a.Value() <= 2.10, a.Statement)
	_, err = node.QueryWith(ctx, "heights", mean)
	fmt.Println(err)
	fmt.Println(datanode.Number(4711))
	// Output:
	// true
	// true laplace(epsilon=1) of mean("" in [1.4, 2.1])
	// query "heights": the privacy budget does not suffice: budget "study" was asked for epsilon 1 and has epsilon 0 left
	// [private data withheld]
}

// A table has an access definition as a whole: here one that answers every question
// with a histogram.
func ExampleTable() {
	ctx := context.Background()
	node, err := datanode.New(noise.System(), datanode.Options{Name: "clinic", Log: datanode.NewMemoryLog(), Now: time.Now})
	if err != nil {
		log.Fatal(err)
	}
	visits, err := datanode.Table(
		datanode.Texts("ward", []string{"ER", "ICU", "ER"}),
		datanode.Numbers("age", []float64{36, 81, 44}),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Set("visits", visits); err != nil {
		log.Fatal(err)
	}
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		log.Fatal(err)
	}
	wards := datanode.Laplace{Query: datanode.Histogram{Column: "ward", Categories: []string{"ER", "ICU"}}, Epsilon: half}
	if err := node.Configure(ctx, "visits", wards); err != nil {
		log.Fatal(err)
	}
	a, err := node.Query(ctx, "visits")
	if err != nil {
		log.Fatal(err)
	}
	again, err := node.Query(ctx, "visits")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Statement)
	fmt.Println("the same answer each time:", fmt.Sprint(a.Values) == fmt.Sprint(again.Values))
	// Output:
	// laplace(epsilon=0.5) of histogram("ward" among ["ER" "ICU"])
	// the same answer each time: true
}

// A guess at a sensitivity that nobody could derive. It is no bound.
func ExampleEstimateSensitivity() {
	e, err := datanode.EstimateSensitivity(noise.System(), datanode.EstimateOptions{
		Query: func(ages []float64) []float64 {
			sum := 0.0
			for _, a := range ages {
				sum += a
			}
			return []float64{sum / float64(len(ages))}
		},
		Norm:    datanode.L1Norm,
		Oracle:  datanode.Normal{Mean: 40, Deviation: 10},
		Records: 100,
		Samples: 1000,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Samples, 0 < e.Mean, e.Mean <= e.Largest)
	// Output: 1000 true true
}
