package coordinator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A coordinator without nodes: what nobody answers fails, and says so.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "coordinator")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, err := coordinator.New(ctx, coordinator.Options{Dir: dir, Bits: noise.System(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	epsilon, _ := privacy.ParseEpsilon("0.5")
	p, err := c.Propose("analyst", coordinator.Proposal{ID: "how-many", Reason: "beds", Query: &node.Query{Data: "patients", Of: "count", Epsilon: epsilon}})
	for err == nil && p.Phase != coordinator.Failed {
		time.Sleep(time.Millisecond)
		p, err = c.Progress("analyst", "how-many")
	}
	fmt.Println(p.Phase, p.Why, err)
	// Output: failed too few nodes take part: 0 of at least 1 approved <nil>
}
