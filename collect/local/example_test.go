package local_test

import (
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Each respondent tells one of four values by a hash of it; the collector sees reports alone.
func ExampleFrequency() {
	epsilon, err := privacy.ParseEpsilon("2")
	if err != nil {
		log.Fatal(err)
	}
	f, err := local.NewFrequency(local.FrequencyOptions{Protocol: local.OLH, Values: 4, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	bits, tally := noise.NewStream(noise.System()), f.NewTally()
	for i := range 20_000 {
		value := 0 // three of four
		if i%4 == 0 {
			value = 3
		}
		report, err := f.Randomize(bits, value) // on the respondent's device
		if err != nil {
			log.Fatal(err)
		}
		if err := tally.Add(report); err != nil {
			log.Fatal(err)
		}
	}
	e, err := tally.Estimate(local.EstimateOptions{Beta: big.NewRat(1, 1_000_000_000), Together: true})
	if err != nil {
		log.Fatal(err)
	}
	for value, share := range []float64{0.75, 0, 0, 0.25} {
		fmt.Println(value, e.Low[value] <= share && share <= e.High[value])
	}
	fmt.Println(f.Event())
	// Output:
	// 0 true
	// 1 true
	// 2 true
	// 3 true
	// replace_one(pure(2))
}
