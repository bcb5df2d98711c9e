package optimizer_test

import (
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/learn/optimizer"
)

// Descent along a gradient that does not change, with a rate that warms up.
func Example() {
	steps := 4
	o, err := optimizer.New(optimizer.Spec{
		Kind:     optimizer.SGD,
		Rate:     1,
		Schedule: optimizer.Schedule{WarmUp: 2},
	}, 1, steps)
	if err != nil {
		log.Fatal(err)
	}
	parameters := []float32{0}
	for range steps {
		o.Step(parameters, []float64{-1})
		fmt.Println(parameters)
	}
	// Output:
	// [0.5]
	// [1.5]
	// [2.5]
	// [3.5]
}
