package kmeans_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/kmeans"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func Example() {
	set := &example.Set{Width: 2, Classes: 1, Outputs: 1}
	for i := range 6000 {
		x := float32(i%7)/10 + 4*float32(i%2) - 2
		set.Features = append(set.Features, x, float32(i%11)/20)
	}
	epsilon, _ := privacy.ParseEpsilon("1")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := kmeans.Train(context.Background(), noise.System(), people, set, kmeans.Options{
		Options:  cost.Options{Epsilon: epsilon},
		Clusters: 2,
		Norm:     3,
		Centers:  [][]float64{{-1, 0}, {1, 0}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Cluster([]float32{-1.7, 0.3}), model.Cluster([]float32{2.3, 0.3}))
	// Output: 0 1
}
