package filter_test

import (
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// Whoever keeps the running total decides by it whether the next release is admitted.
func Example() {
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	f, err := filter.New(filter.Budget{Measure: filter.Pure, Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	var spent filter.Total
	for _, text := range []string{"0.7", "0.4", "0.3"} {
		epsilon, err := privacy.ParseEpsilon(text)
		if err != nil {
			log.Fatal(err)
		}
		charge, err := f.Charge([]privacy.Event{privacy.Pure{Epsilon: epsilon}}, privacy.Delta{})
		if err != nil {
			log.Fatal(err)
		}
		total := spent.Add(charge)
		admitted := total.Within(f.Budget())
		if admitted {
			spent = total
		}
		fmt.Println(text, admitted)
	}
	fmt.Println("spent", f.Amounts(spent).Epsilon)
	// Output:
	// 0.7 true
	// 0.4 false
	// 0.3 true
	// spent 1
}

// Each unit pays for itself: one whose own data reveal little takes part for longer.
func ExampleIndividual() {
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		log.Fatal(err)
	}
	units, err := filter.NewIndividual(filter.Budget{Measure: filter.ZCDP, Epsilon: one, Delta: delta}, 2)
	if err != nil {
		log.Fatal(err)
	}
	moves := []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 100)} // squares of what each unit moves the sum by
	took := make([]int, len(moves))
	for range 30 {
		err := units.Step(func(unit int) privacy.Event {
			return privacy.Gaussian{Variance: big.NewRat(400, 1), SensitivitySquared: moves[unit]}
		}, func(unit int) error {
			took[unit]++ // private: here for the reader, never for an analyst
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(took)
	fmt.Println(units)
	// Output:
	// [19 30]
	// filter.Individual(private)
}

// The filter of Rogers et al. admits more small releases than their epsilons, added up,
// would allow.
func ExampleRogersFilter() {
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		log.Fatal(err)
	}
	small, err := privacy.ParseEpsilon("0.01")
	if err != nil {
		log.Fatal(err)
	}
	f, err := filter.NewRogersFilter(one, delta)
	if err != nil {
		log.Fatal(err)
	}
	spent, err := filter.SumsOf([]privacy.Event{privacy.Repeat{Count: 130, Event: privacy.Pure{Epsilon: small}}}, privacy.AddRemove)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a budget of 1 admits 130 of them:", f.Admits(spent))
	// Output: a budget of 1 admits 130 of them: true
}
