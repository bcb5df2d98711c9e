package main

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "randomizedresponse", run, *rewrite) }

// The bound fails with probability 0.05 at most. Of 300 estimates more than 71 are off
// with probability exp(-2·300·(71/300-0.05)²) < 1e-9 (Hoeffding 1963); estimates that take
// the responses for the truth are off nearly always.
func TestEstimatesAreWithinTheBound(t *testing.T) {
	const n, runs = 400, 300
	r, err := response("1")
	if err != nil {
		t.Fatal(err)
	}
	within, err := r.Bound(n, program.Rat("0.05"))
	if err != nil {
		t.Fatal(err)
	}
	off := 0
	for range runs {
		share, err := estimate(context.Background(), "1", n)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(share.Raw-float64(yes)/people) > within {
			off++
		}
	}
	if off > 71 {
		t.Errorf("%d of %d estimates are off", off, runs)
	}
}
