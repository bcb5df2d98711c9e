package bayes_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/bayes"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func Example() {
	set := &example.Set{Width: 1, Classes: 2, Outputs: 1}
	for i := range 4000 {
		label := int32(i % 2)
		set.Features = append(set.Features, float32(20+i%19+30*int(label)))
		set.Labels = append(set.Labels, label)
	}
	epsilon, _ := privacy.ParseEpsilon("1")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := bayes.Train(context.Background(), noise.System(), people, set, bayes.Options{
		Options:  cost.Options{Epsilon: epsilon},
		Features: []feature.Feature{{Name: "age", Lower: 0, Upper: 100}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Class([]float32{25}), model.Class([]float32{62}))
	// Output: 0 1
}
