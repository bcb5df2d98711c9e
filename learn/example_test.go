package learn_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// A logistic regression over 10,000 people, at ε = 1 and δ = 1e-6.
func Example() {
	people := &example.Set{Width: 1, Classes: 2, Outputs: 1}
	for i := range 10_000 {
		x := float32(i%200)/100 - 1
		people.Features = append(people.Features, x)
		if x > 0.2 {
			people.Labels = append(people.Labels, 1)
		} else {
			people.Labels = append(people.Labels, 0)
		}
	}

	epsilon, _ := privacy.ParseEpsilon("1")
	delta, _ := privacy.ParseDelta("1e-6")
	pays, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := learn.Plan{
		Population: learn.Population{Units: 10_000, Basis: learn.Declared},
		Batch:      500,
		Steps:      200,
		Clip:       learn.Clip{Norm: 0.5},
		Optimizer:  optimizer.Spec{Rate: 2},
		Delta:      delta,
	}.Calibrate(epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("noise:", plan.Noise.Multiplier)

	ctx := context.Background()
	run, err := learn.Start(ctx, learn.Options{
		Plan:      plan,
		Network:   network.Spec{Input: []int{1}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Data:      people,
		Budget:    pays,
		Statement: "who is above 0.2",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Train(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Guarantee().Event)
	if _, err := learn.Start(ctx, learn.Options{Plan: plan, Network: run.Network().Spec(), Data: people, Budget: pays}); err != nil {
		fmt.Println("a second run is refused")
	}
	// Output:
	// noise: 3.1959
	// 200*poisson(0.05, gaussian(3.1959, sensitivity=1))
	// a second run is refused
}
