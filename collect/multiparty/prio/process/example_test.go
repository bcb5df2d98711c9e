package process_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

// The profile is data: who takes part, and what people may change.
func Example() {
	p := process.Profile()
	set := cluster.Settings{}
	for _, s := range p.Settings {
		set[s.Name] = s.Default
	}
	set["aggregators"] = "3"
	members, err := p.Members(set)
	if err != nil {
		panic(err)
	}
	for _, m := range members {
		fmt.Println(m.Name, "asks", m.Peers)
	}
	// Output:
	// helper-2 asks []
	// helper-1 asks []
	// leader asks [helper-1 helper-2]
	// client asks [leader helper-1 helper-2]
	// collector asks [leader helper-1 helper-2]
}
