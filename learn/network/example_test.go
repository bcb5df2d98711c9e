package network_test

import (
	"fmt"
	"log"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// Two examples, of which one would move the model a hundred times as far as the other:
// neither adds more than the bound.
func ExamplePass_Clipped() {
	net, err := network.New(network.Spec{
		Input:  []int{1},
		Layers: []network.Layer{{Type: "linear", Width: 1}},
		Loss:   network.Squared,
	})
	if err != nil {
		log.Fatal(err)
	}
	set := &example.Set{Width: 1, Features: []float32{1, 1}, Outputs: 1, Targets: []float32{1, 100}}
	pass := net.NewPass(network.PassOptions{Workers: 1})
	sum := make([]float32, len(net.Parameters()))
	for _, clipped := range []bool{false, true} {
		if clipped {
			_, err = pass.Clipped(set, []int{0, 1}, network.Clip(0.5), sum)
		} else {
			_, err = pass.Gradient(set, []int{0, 1}, sum)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("clipped: %v, norm of the sum: %.1f\n", clipped, math.Hypot(float64(sum[0]), float64(sum[1])))
	}
	// Output:
	// clipped: false, norm of the sum: 142.8
	// clipped: true, norm of the sum: 1.0
}
