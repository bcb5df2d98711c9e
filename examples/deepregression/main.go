// Deepregression predicts the price of a house from four numbers by a network with a hidden layer, over
// five nodes: without a guarantee, and at two values of epsilon for each person, who has one house.
// Beside it stands what a straight line achieves: prices are no line. It prints errors in thousands, of
// prices between 0 and 500.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

const nodes = 5

// half a range of prices is 1, around its middle.
const thousands = 250.0

// houses are made: near the middle of the town (of the first two numbers) the third counts for more.
func houses(n int, seed uint64) *example.Set {
	r := round.Make(seed<<8 + 11)
	s := &example.Set{Width: 4, Outputs: 1}
	for range n {
		x := []float32{2*float32(r.Uniform()) - 1, 2*float32(r.Uniform()) - 1, 2*float32(r.Uniform()) - 1, 2*float32(r.Uniform()) - 1}
		near := math.Exp(-3 * float64(x[0]*x[0]+x[1]*x[1]))
		price := 1.2*near*float64(1+x[2]) - 0.6 + 0.2*float64(x[3]) + 0.05*r.Normal()
		s.Features = append(s.Features, x...)
		s.Targets = append(s.Targets, float32(min(max(price, -1), 1)))
	}
	return s
}

func plan() federated.Plan {
	return federated.Plan{
		Data: "houses", Seed: 5, Unit: federated.Node, Rounds: 30, Nodes: federated.Nodes{Minimum: nodes, Seconds: 1},
		Network: network.Spec{Input: []int{4}, Loss: network.Squared, Layers: []network.Layer{
			{Type: "linear", Width: 24}, {Type: "tanh"}, {Type: "linear", Width: 1},
		}},
		Local: federated.Local{Epochs: 4, Batch: 16, Rate: 0.1}, Server: optimizer.Spec{Rate: 1},
	}
}

func main() { round.Main(run) }

func run(ctx context.Context, out io.Writer) error {
	parts, test := round.Deal(houses(5000, 1), nodes), houses(2000, 2)
	line := plan()
	line.Rounds, line.Network.Layers = 10, []network.Layer{{Type: "linear", Width: 1}}
	type row struct {
		name string
		plan federated.Plan
	}
	rows := []row{{"a line, without a guarantee", line}, {"without a guarantee", plan()}}
	for _, epsilon := range []string{"8", "0.25"} {
		p := plan()
		p.Rounds, p.Server = 80, optimizer.Spec{Kind: optimizer.Adam, Rate: 0.1}
		p, err := round.Persons(p, epsilon)
		if err != nil {
			return err
		}
		p.Privacy.Clip = 0.3 // few houses move the weights by more, and noise is in proportion to it
		rows = append(rows, row{"persons at epsilon " + epsilon, p})
	}
	for _, c := range rows {
		net, err := round.Learn(ctx, c.plan, parts)
		if err != nil {
			return err
		}
		off, err := round.Off(net, test)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-28s %.1f\n", c.name, off*thousands)
	}
	return nil
}
