package verify_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/verify"
)

// The stored proofs of a package are replayed: no solver is needed for that.
func ExampleRun() {
	r, err := verify.Run(context.Background(), verify.Options{Patterns: []string{"./testdata/right"}, Check: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Results[:2] {
		fmt.Printf("%s: %s\n", f.Function, f.Verdict)
	}
	fmt.Println("all proved:", r.Proved())
	// Output:
	// RandomizedResponse: proved
	// TwoCoins: proved
	// all proved: true
}
