package prio_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
)

// A vote is split for two aggregators; what they have of it adds up to it.
func Example() {
	c := prio.Circuit{Kind: prio.Histogram, Length: 3, Chunk: 2}
	p, err := prio.New(c, 2, []byte("the task"))
	if err != nil {
		fmt.Println(err)
		return
	}
	vote, err := p.Shard([]uint64{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	shares, err := prepare(p, prio.Key{}, vote)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Field().Unshard(shares))
	// Output: [0 1 0] <nil>
}
