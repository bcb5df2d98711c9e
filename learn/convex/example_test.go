package convex_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/convex"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Which of two measurements is larger, from four thousand people of one example each.
func Example() {
	set := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	for i := range 4000 {
		a, b := float32(i%61)/60, float32(i%53)/52
		set.Features = append(set.Features, a, b)
		label := int32(0)
		if a > b {
			label = 1
		}
		set.Labels = append(set.Labels, label)
	}
	epsilon, _ := privacy.ParseEpsilon("1")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := convex.Train(context.Background(), noise.System(), people, set, convex.Options{
		Options: cost.Options{Epsilon: epsilon},
		Method:  convex.Objective,
		Norm:    1.5,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Class([]float32{0.9, 0.1}), model.Class([]float32{0.1, 0.9}))
	left, _ := people.Left(context.Background())
	fmt.Println("epsilon left:", left.Epsilon)
	// Output:
	// 1 0
	// epsilon left: 0
}
