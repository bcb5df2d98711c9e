package mechanism_test

// The examples of docs/mechanisms, whose tests see to it that they are these.

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// must is for parameters that are constants.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func ExampleChooseSelection() {
	s := must(mechanism.ChooseSelection(mechanism.SelectionOptions{
		MaxGroups: 1, // a patient lives in one town
		Epsilon:   must(privacy.ParseEpsilon("1")),
		Delta:     must(privacy.ParseDelta("1e-6")),
	}))
	kept := must(s.Select(noise.System(), []*big.Int{big.NewInt(0), big.NewInt(30_000)}))
	fmt.Println(s.Name(), s.HalfCount(), kept, s.Events())
	// Output: truncated_geometric 14 [false true] [selection(1, 0.000001)]
}

func ExampleStabilityHistogram() {
	h := must(mechanism.NewStabilityHistogram[string](mechanism.SelectionOptions{
		MaxGroups: 1,
		Epsilon:   must(privacy.ParseEpsilon("1")),
		Delta:     must(privacy.ParseDelta("1e-6")),
	}))
	shown := must(h.Add(noise.System(), map[string]int64{"flu": 5000, "one rare disease": 1}))
	for _, s := range shown { // flu, with a count near 5000; the other with probability 1e-6 at most
		if s.Key == "flu" {
			fmt.Println(s.Key, s.Count > 4900, h.Threshold(), h.Event())
		}
	}
	// Output: flu true 15 selection(1, 0.000001)
}

func ExampleSmoothMedian() {
	m := must(mechanism.NewSmoothMedian(mechanism.SmoothMedianOptions{
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Epsilon: must(privacy.ParseEpsilon("1")),
	}))
	ages := []float64{34, 36, 36, 37, 37, 38, 38, 38, 39, 41, 45, math.NaN()}
	median := must(m.Release(noise.System(), ages))
	fmt.Println(0 <= median && median <= 120, m.Event())
	// Output: true pure(1)
}

func ExampleProposeTestRelease() {
	p := must(mechanism.NewProposeTestRelease(mechanism.ProposeTestReleaseOptions{
		Lower: big.NewRat(0, 1), Upper: big.NewRat(120, 1), Step: big.NewRat(1, 1),
		Bound:   big.NewRat(1, 1), // a patient more or less moves the median age by a year
		Epsilon: must(privacy.ParseEpsilon("2")),
		Delta:   must(privacy.ParseDelta("1e-6")),
	}))
	ages := make([]float64, 10_000)
	for i := range ages {
		ages[i] = float64(30 + i%50)
	}
	median, passed, err := p.Median(noise.System(), ages)
	fmt.Println(passed, 25 < median && median < 85, err, p.Event())
	// Output: true true <nil> approx(2, 0.000001)
}
