package learner_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/learner"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A learner is found by its name, planned, paid for, and run.
func ExampleLearner_Plan() {
	ctx := context.Background()
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	declared := &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Upper: 100}}}
	form := &example.Set{Width: declared.Width(), Features: []float32{}, Classes: 2, Outputs: 1, Labels: []int32{}}

	bayes, _ := learner.Find("bayes", "")
	run, err := bayes.Plan(people, learner.Form{Set: form, Features: feature.Of(declared)}, learner.Settings{}, cost.Options{Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	event, err := run.Charge(ctx)
	if err != nil {
		log.Fatal(err)
	}
	set := &example.Set{Width: 2, Features: []float32{-0.5, 0, 0.5, 0}, Classes: 2, Outputs: 1, Labels: []int32{0, 1}}
	release := budget.Release{Statement: "classes by age", Events: []privacy.Event{event}}
	model, err := budget.Spend(ctx, people, release, func() (learner.Model, error) {
		return run.Fit(ctx, noise.System(), set)
	})
	if err != nil {
		log.Fatal(err)
	}
	logit := make([]float32, 1)
	model.Outputs([]float32{0.5, 0}, logit)
	left, err := people.Left(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("charged", event, "left", left.Epsilon)
	// Output: charged pure(1) left 0
}
