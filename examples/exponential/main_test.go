package main

import (
	"context"
	"flag"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
	"math"
	"slices"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "exponential", run, *rewrite) }

// A node sells at each price as often as the formula says: of 4,000 sales the numbers
// are within 6.5 standard deviations, which fails with probability below 1e-9. With the
// factor 2 of the exponent lost, 1.00 is sold at 1,000 times more often.
func TestSales(t *testing.T) {
	const sales = 4000
	sold := make([]float64, len(prices))
	for range sales {
		price, err := sell(context.Background(), "5")
		if err != nil {
			t.Fatal(err)
		}
		sold[slices.Index(prices, price)]++
	}
	for i, p := range auction(5) {
		if math.Abs(sold[i]-sales*p) > 6.5*math.Sqrt(sales*p*(1-p)) {
			t.Errorf("%.2f is sold at %v times, want %.0f", prices[i], sold[i], sales*p)
		}
	}
}

// The special cases are exact.
func TestSpecialCases(t *testing.T) {
	for _, e := range []float64{0.1, 1, 3} {
		if got, want := choice([]float64{1, 0}, 1, 2*e, false)[0], 1/(1+math.Exp(-e)); math.Abs(got-want) > 1e-14 {
			t.Errorf("epsilon %v: %v, want %v", e, got, want)
		}
	}
	for d := range 20 {
		if got, want := distances(2)(d), laplace(1)(d); math.Abs(got-want) > 1e-14 {
			t.Errorf("distance %d: %v, want %v", d, got, want)
		}
	}
}
