package budget_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A release is charged before its answer is computed, to a quota and to the budget
// above it. One that does not fit is refused, and its answer is never computed.
func Example() {
	ctx := context.Background()
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		log.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	ada, err := budget.NewQuota(people, "ada", filter.Budget{Measure: filter.Pure, Epsilon: half})
	if err != nil {
		log.Fatal(err)
	}
	count := budget.Release{Statement: "count", Events: []privacy.Event{privacy.Pure{Epsilon: half}}}
	answer := func() (string, error) { return "a noisy count", nil }
	for range 2 {
		a, err := budget.Spend(ctx, ada, count, answer)
		fmt.Printf("%q %v\n", a, errors.Is(err, budget.ErrExceeded))
	}
	left, err := people.Left(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("left of all:", left.Epsilon)
	// Output:
	// "a noisy count" false
	// "" true
	// left of all: 0.5
}
