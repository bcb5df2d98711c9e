package feature_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
)

// Where the columns of a record lie among the features of an example, and in which part
// of its declared range a number is.
func ExampleOf() {
	all := feature.Of(&example.Encoding{Columns: []example.Column{
		{Name: "age", Type: "integer", Upper: 100},
		{Name: "ward", Type: "text", Values: []string{"ER", "ICU"}},
	}})
	for _, f := range all {
		fmt.Println(f.Name, "at", f.At, "of", f.Values, "values")
	}
	tenths := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	young := []float32{-0.5, 0, 0, 1, 0} // 25 years old, in the ICU
	fmt.Println("bin", all[0].Bin(young, tenths), "of", all[0].Bins(tenths))
	// Output:
	// age at 0 of 0 values
	// ward at 2 of 3 values
	// bin 2 of 11
}
