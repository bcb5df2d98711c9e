package noise_test

import (
	"fmt"
	"log"
	"math/big"

	"github.com/discreet-dp/discreet/noise"
)

// Exact noise is drawn as an integer. Its tail is known before it is drawn.
func ExampleDiscreteLaplace() {
	d, err := noise.NewDiscreteLaplace(big.NewRat(2, 1))
	if err != nil {
		log.Fatal(err)
	}
	k, err := d.Sample(noise.System())
	if err != nil {
		log.Fatal(err)
	}
	beyond, err := d.Bound(big.NewRat(1, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("drawn:", k != nil)
	fmt.Println("beyond in at most 1 of 20 draws:", beyond)
	// Output:
	// drawn: true
	// beyond in at most 1 of 20 draws: 6
}

// A program that is written plainly draws float64s, and turns a failure into an error
// at its end.
func ExampleSource() {
	s := noise.NewSource(noise.System())
	_, err := noise.Try(func() float64 {
		return s.Round(36.6, 0.5) + s.Laplace(0.5)
	})
	fmt.Println(err)
	_, err = noise.Try(func() float64 { return s.Laplace(-1) })
	fmt.Println(err)
	// Output:
	// <nil>
	// bad noise parameter: the scale is not from 2^-900 to below 2^40
}
