package cost_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A learner of one's own, which counts the examples of each class. What it reveals is fixed
// before it looks at an example.
func Example() {
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	set := &example.Set{Width: 1, Features: []float32{0, 0, 0}, Classes: 2, Outputs: 1, Labels: []int32{1, 0, 1}}

	plan, err := cost.New(people, set, cost.Options{Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	one := big.NewRat(1, 1) // an example moves one of the counts by one
	hide, err := plan.Noise(one, 1, cost.Sensitivity{L1: one, L2Squared: one})
	if err != nil {
		log.Fatal(err)
	}
	run := cost.NewRun(plan, "examples of each class", func(_ context.Context, bits noise.Bits) ([]float64, error) {
		counts := make([]int64, plan.Set().Classes)
		for _, row := range plan.Rows(true) {
			counts[plan.Set().Label(row)]++
		}
		return hide.Add(bits, counts, 0)
	})
	fmt.Println("it will reveal", run.Event())
	counts, err := run.Train(context.Background(), noise.System())
	fmt.Println(len(counts), "noisy counts", err)
	_, err = run.Train(context.Background(), noise.System())
	fmt.Println(err)
	// Output:
	// it will reveal discrete_laplace(1, sensitivity=1)
	// 2 noisy counts <nil>
	// examples of each class: the privacy budget does not suffice: budget "people" was asked for epsilon 1 and has epsilon 0 left
}
