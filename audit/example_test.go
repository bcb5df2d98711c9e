package audit_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/audit"
)

// A mean moves most without the record that is furthest from it. That is a lower
// bound: a database with a richer person moves it more.
func ExampleSensitivity() {
	incomes := []float64{20, 30, 40, 110}
	mean := func(x []float64) []float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return []float64{sum / float64(len(x))}
	}
	s, err := audit.Sensitivity(context.Background(), incomes, mean, audit.L1)
	fmt.Println(s.LowerBound, s.Witness, s.With, s.Without, err)
	// Output: 20 3 [50] [30] <nil>
}

// An attack that is right 100 times of 1000 where the bit is set and never where it is
// not proves epsilon 3.1.
func ExampleCounts_EpsilonLowerBound() {
	c := audit.Counts{Members: 1000, TruePositives: 100, Others: 1000}
	epsilon, err := c.EpsilonLowerBound(0, 0.95)
	fmt.Printf("%.2f %v\n", epsilon, err)
	// Output: 3.10 <nil>
}
