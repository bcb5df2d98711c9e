package ftrl_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/ftrl"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// One pass over people who come in an order that nobody chose.
func Example() {
	set := &example.Set{Width: 1, Classes: 2, Outputs: 1}
	for i := range 4000 {
		x := float32(i%101)/50 - 1
		label := int32(0)
		if x > 0 {
			label = 1
		}
		set.Features, set.Labels = append(set.Features, x), append(set.Labels, label)
	}
	epsilon, _ := privacy.ParseEpsilon("2")
	delta, _ := privacy.ParseDelta("0.00001")
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		fmt.Println(err)
		return
	}
	net, err := network.New(network.Spec{Input: []int{1}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := ftrl.Train(context.Background(), noise.System(), people, net, set, ftrl.Options{
		Options: cost.Options{Epsilon: epsilon, Delta: delta},
		Rate:    1,
	}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(net.Parameters()[0] > 1)
	// Output: true
}
