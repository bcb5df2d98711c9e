package filter_test

import (
	"fmt"
	"log"

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
