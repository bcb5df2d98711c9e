package tree_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/tree"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Those in the middle of a range differ from those at its ends, which no line sees.
func Example() {
	set := &example.Set{Width: 1, Classes: 2, Outputs: 1}
	for i := range 5000 {
		age := float32(i % 100)
		label := int32(0)
		if age >= 30 && age < 60 {
			label = 1
		}
		set.Features, set.Labels = append(set.Features, age), append(set.Labels, label)
	}
	epsilon, _ := privacy.ParseEpsilon("2")
	delta, _ := privacy.ParseDelta("0.00001")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := tree.Train(context.Background(), noise.System(), people, set, tree.Options{
		Options:  cost.Options{Epsilon: epsilon, Delta: delta},
		Features: []feature.Feature{{Name: "age", Lower: 0, Upper: 100}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, age := range []float32{10, 45, 90} {
		fmt.Println(age, model.Class([]float32{age}))
	}
	// Output:
	// 10 0
	// 45 1
	// 90 0
}
