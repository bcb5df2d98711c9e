package pca_test

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/pca"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func Example() {
	set := &example.Set{Width: 2, Classes: 1, Outputs: 1}
	for i := range 8000 {
		along := math.Sin(float64(i))
		set.Features = append(set.Features, float32(0.6*along), float32(0.8*along))
	}
	epsilon, _ := privacy.ParseEpsilon("1")
	delta, _ := privacy.ParseDelta("0.00001")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := pca.Train(context.Background(), noise.System(), people, set, pca.Options{
		Options:    cost.Options{Epsilon: epsilon, Delta: delta},
		Components: 1,
		Norm:       1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := model.Components[0]
	fmt.Printf("slope %.1f, explained %.1f\n", math.Abs(c[1]/c[0]), model.Variances[0]/model.Total)
	// Output: slope 1.3, explained 1.0
}
