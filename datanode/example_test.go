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
