package privacy_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// An amount is the decimal that was written: ten times 0.1 is 1.
func ExampleParseEpsilon() {
	tenth, err := privacy.ParseEpsilon("0.1")
	if err != nil {
		log.Fatal(err)
	}
	var sum privacy.Epsilon
	for range 10 {
		sum = sum.Add(tenth)
	}
	fmt.Println(sum)
	_, err = privacy.ParseEpsilon("-1")
	fmt.Println(err)
	// Output:
	// 1
	// epsilon is negative
}

// An event says what a release reveals, in two forms that read back as the same event.
func ExampleEvent() {
	release := privacy.Gaussian{Variance: big.NewRat(2, 1), SensitivitySquared: big.NewRat(1, 1)}
	fmt.Println(release)
	text, err := json.Marshal(release)
	if err != nil {
		log.Fatal(err)
	}
	again, err := plan.UnmarshalEvent(text)
	fmt.Println(string(text), err)
	fmt.Println(again)
	// Output:
	// gaussian(sqrt(2), sensitivity=1)
	// {"gaussian":{"sigma":"sqrt(2)","sensitivity":1}} <nil>
	// gaussian(sqrt(2), sensitivity=1)
}

// A literal shares its numbers with whoever made it; what New returns is nobody else's, and
// means something.
func ExampleNew() {
	variance := big.NewRat(4, 1)
	release, err := privacy.New(privacy.Gaussian{Variance: variance, SensitivitySquared: big.NewRat(1, 1)})
	variance.SetInt64(400)
	fmt.Println(release, err)
	_, err = privacy.New(privacy.Gaussian{Variance: big.NewRat(-4, 1), SensitivitySquared: big.NewRat(1, 1)})
	fmt.Println(err)
	// Output:
	// gaussian(2, sensitivity=1) <nil>
	// gaussian: noise is missing or not positive
}
