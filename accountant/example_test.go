package accountant_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
)

// What a hundred Gaussian releases reveal together, each of standard deviation 20.
func ExampleEpsilon() {
	release := privacy.Gaussian{Variance: big.NewRat(400, 1), SensitivitySquared: big.NewRat(1, 1)}
	plan := privacy.Repeat{Count: 100, Event: release}
	report, err := accountant.Epsilon(context.Background(), plan, 1e-6, accountant.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best, _ := report.Best()
	fmt.Printf("%s: epsilon is at most %.3f\n", best.Accountant, best.Epsilon.High)
	for _, b := range report.Bounds {
		if b.Accountant == "zcdp" || b.Accountant == "rdp" {
			fmt.Printf("%s: %.3f\n", b.Accountant, b.Epsilon.High)
		}
	}
	// Output:
	// gdp: epsilon is at most 2.254
	// zcdp: 2.419
	// rdp: 2.419
}

// The same plan at several deltas.
func ExampleEpsilonCurve() {
	plan := privacy.Gaussian{Variance: big.NewRat(4, 1), SensitivitySquared: big.NewRat(1, 1)}
	curve, err := accountant.EpsilonCurve(context.Background(), plan, []float64{1e-4, 1e-6, 1e-8}, accountant.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range curve {
		fmt.Printf("delta %.0e: epsilon %.2f\n", p.X, p.Y.High)
	}
	// Output:
	// delta 1e-04: epsilon 1.70
	// delta 1e-06: epsilon 2.25
	// delta 1e-08: epsilon 2.71
}
