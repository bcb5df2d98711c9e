package engine_test

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// An adapter returns exact aggregates as Exact, which no format, log or encoding shows.
func ExampleExact() {
	exact := engine.NewExact([][]sqltype.Value{{"ICU", int64(4711)}})
	fmt.Println(exact)
	fmt.Printf("%+v %#v\n", exact, exact)
	text, err := json.Marshal(exact)
	fmt.Println(string(text), err)
	// Output:
	// [exact values withheld]
	// [exact values withheld] [exact values withheld]
	//  json: error calling MarshalJSON for type *engine.Exact: exact values are not marshalled
}

// What goes wrong in a database is one constant error to analysts. The cause, which may
// quote private values, is kept for the owner.
func ExampleFail() {
	err := engine.Fail(fmt.Errorf("cannot cast 'Jane Doe' to integer"))
	fmt.Println(err)
	// Output: the engine ran out of resources or failed
}
