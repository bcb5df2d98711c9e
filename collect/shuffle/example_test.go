package shuffle_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/privacy"
)

// What is guaranteed is known before anybody is asked.
func Example() {
	epsilon, err := privacy.ParseEpsilon("4")
	if err != nil {
		panic(err)
	}
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		panic(err)
	}
	p, err := shuffle.New(shuffle.Question{Kind: shuffle.Histogram, Answers: 2, Epsilon: epsilon, Delta: delta, Batch: 10_000, Colluders: 500, Tokens: true})
	if err != nil {
		panic(err)
	}
	c, err := p.Certify(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("by itself %v; if %s, and %d of %d are: %.3f, and no less than %.3f\n", c.Local, c.Claims[0].If, c.Honest, c.Respondents, c.Claims[0].Epsilon, c.Claims[0].AtLeast)
	// Output: by itself 4; if the issuer, whoever enrols respondents and any one shuffler are honest, and 9500 of 10000 are: 0.423, and no less than 0.324
}
