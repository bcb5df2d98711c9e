package process_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/collect/shuffle/process"
)

// The profile is data: who takes part, and what people may change.
func Example() {
	p := process.Profile()
	members, err := p.Members(map[string]string{"kind": "histogram", "answers": "4", "epsilon": "3", "fakes": "0", "delta": "1e-6",
		"batch": "500", "colluders": "50", "crowd-threshold": "0"})
	if err != nil {
		panic(err)
	}
	for _, m := range members {
		fmt.Println(m.Name, "asks", m.Peers)
	}
	// Output:
	// issuer asks [hop-1 hop-2 analyzer]
	// analyzer asks []
	// hop-2 asks [issuer analyzer]
	// hop-1 asks [issuer hop-2]
	// client asks [issuer hop-1 hop-2 analyzer]
	// owner asks [issuer hop-1 hop-2 analyzer]
}
