package main

import (
	"flag"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "composition", run, *rewrite) }

// The right numbers, and the ones that must not come out; see
// accountant/testdata/vectors.json, sherpa-wrong-3 and sherpa-wrong-350.
func TestTheorem(t *testing.T) {
	for _, test := range []struct {
		k           int
		right, slip float64
	}{{3, 2.831543, 4.690004094900031}, {350, 133.599896, 153.67357054267973}} {
		if r, s := dworkRoth(0.5, test.k, 0.1), mistaken(0.5, test.k, 0.1); math.Abs(r-test.right) > 1e-6 || math.Abs(s-test.slip) > 1e-9 {
			t.Errorf("k = %d: %v and %v", test.k, r, s)
		}
	}
}

// The adversary is never right more often than the certified guarantee allows, though
// close to it for few accesses; and with a budget never more often than that allows.
func TestAdversary(t *testing.T) {
	n, err := affordable()
	if err != nil || n != 20 {
		t.Fatalf("%d, %v", n, err)
	}
	for _, k := range []int{1, 3, 30, 300, 3000} {
		b, err := best(k, each, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if right(k) > program.Ceiling(b, 1e-6) || right(min(k, n)) > program.Ceiling(1, 0) {
			t.Errorf("k = %d: right %v, at most %v", k, right(k), program.Ceiling(b, 1e-6))
		}
		// A bound without the growth of k would be seen to fail.
		if k == 3000 && right(k) < program.Ceiling(1, 1e-6) {
			t.Error("the adversary is too weak to show anything")
		}
	}
}
