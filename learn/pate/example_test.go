package pate_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/privacy"
)

// Two hundred and fifty teachers vote on a public example. The label that leaves is a
// noisy winner, and is paid for before it leaves.
func ExampleAggregator_Answer() {
	ctx := context.Background()
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	a, err := pate.NewAggregator(pate.Options{Classes: 3, Gamma: big.NewRat(1, 4), Budget: people})
	if err != nil {
		log.Fatal(err)
	}
	_, event := a.Events()
	fmt.Println("an answer reveals", event)
	votes := []int32{2, 247, 1} // wrong with a probability below 1e-24
	for range 3 {
		label, err := a.Answer(ctx, votes)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println("label", label)
	}
	// Output:
	// an answer reveals noisy_max(0.5)
	// label 1
	// label 1
	// the privacy budget does not suffice: budget "people" was asked for epsilon 0.5 and has epsilon 0 left
}
