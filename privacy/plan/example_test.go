package plan_test

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/privacy/plan"
)

// A plan reads as the event that it means.
func ExampleParse() {
	p, err := plan.Parse("ceil(60*60000/256) * poisson(256/60000, gaussian(sqrt(2)))")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := p.Event()
	fmt.Println(e, err)
	// Output: 14063*poisson(8/1875, gaussian(sqrt(2), sensitivity=1)) <nil>
}

// What cannot be read is refused with its place and a way out.
func ExampleSyntaxError() {
	_, err := plan.Parse("3 * gausian(1.1)")
	var at *plan.SyntaxError
	if errors.As(err, &at) {
		fmt.Println(at.Offset, at.Length, at.Message)
		fmt.Println(at.Hint)
	}
	// Output:
	// 4 7 no event or function is named gausian
	// did you mean gaussian(sigma, sensitivity=1)?
}

// One number may stay open.
func ExamplePlan_With() {
	p, err := plan.Parse("100 * laplace(?)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Parameter().Name, p.Parameter().Increasing)
	e, err := p.With(big.NewRat(25, 2))
	fmt.Println(e, err)
	// Output:
	// b false
	// 100*laplace(12.5, sensitivity=1) <nil>
}
