package main

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "subsampling", run, *rewrite) }

func TestAmplification(t *testing.T) {
	for _, test := range []struct {
		m    int64
		eps  string
		want float64
	}{{50, "1", 0.6201145069582775}, {10, "0.5", 0.06285472347373035}, {100, "1", 1}} { // accountant/internal/subsample/testdata/without_replacement.json, sherpa
		e, err := amplified(test.m, 100, program.Epsilon(test.eps))
		if err != nil || math.Abs(e.Float64()-test.want) > 1e-12 || e.Float64() < test.want*(1-1e-15) {
			t.Errorf("%d of 100, epsilon %s: %v, %v", test.m, test.eps, e, err)
		}
	}
}

// A node answers as often as the formula's charge fits the budget. Means of so many answers have a deviation of 0.02, by spread.
func TestAnswers(t *testing.T) {
	for _, m := range []int64{500, 100} {
		e, err := amplified(m, people, program.Epsilon(each))
		if err != nil {
			t.Fatal(err)
		}
		want, err := filter.Admitted(filter.Pure, privacy.Pure{Epsilon: e}, program.Epsilon(whole), program.Delta("0"), privacy.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		if n, mean, err := spend(context.Background(), m); err != nil || int64(n) != want.Int64() || math.Abs(mean-0.5) > 0.3 {
			t.Errorf("sample of %d: %d answers with mean %v, %v; want %v", m, n, mean, err, want)
		}
	}
}
