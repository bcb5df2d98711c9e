package main

import (
	"context"
	"flag"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
	"math"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "laplace", run, *rewrite) }

// Of 2,000 means the number that is farther off than the bound has mean 100; it is within
// 6.5 standard deviations (63) but with probability below 1e-9. Noise of half the scale
// has 5 such means.
func TestErrors(t *testing.T) {
	mean, off := 0.0, 0
	for _, h := range heights(people) {
		mean += min(max(h, lower), upper) / people
	}
	for range 2000 {
		m, err := measure(context.Background(), "1")
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m-mean) > within(people, 1) {
			off++
		}
	}
	if off < 100-63 || off > 100+63 {
		t.Errorf("%d of 2000 are off", off)
	}
}
