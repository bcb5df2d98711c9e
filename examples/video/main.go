// Video learns over six nodes in which of four directions a spot moves, from films of five frames of
// 36 noisy points: first without a guarantee, then with one for each person, who has one film. A frame
// alone does not say it, so that who looks at the last one is right by chance. It prints what share of
// a test set is right.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

const nodes, frames, side = 6, 5, 6

// films are made: the spot begins anywhere, and goes on behind the opposite edge.
func films(n int, seed uint64) *example.Set {
	r := round.Make(seed<<8 + 7)
	s := &example.Set{Width: frames * side * side, Classes: 4, Outputs: 1}
	for range n {
		x, y, way := r.Below(side), r.Below(side), r.Below(4)
		for range frames {
			frame := make([]float32, side*side)
			for i := range frame {
				frame[i] = float32(r.Uniform()) / 4
			}
			frame[y*side+x] = 1
			s.Features = append(s.Features, frame...)
			x, y = (x+[]int{1, side - 1, 0, 0}[way])%side, (y+[]int{0, 0, 1, side - 1}[way])%side
		}
		s.Labels = append(s.Labels, int32(way))
	}
	return s
}

// plan reads a film as a sequence of frames: each two that follow each other are compared in the same way.
func plan() federated.Plan {
	return federated.Plan{
		Data: "films", Seed: 1, Unit: federated.Node, Rounds: 20, Nodes: federated.Nodes{Minimum: nodes, Seconds: 1},
		Network: network.Spec{Input: []int{frames, side * side}, Loss: network.CrossEntropy, Layers: []network.Layer{
			{Type: "conv1d", Kernel: []int{2}, Width: 24}, {Type: "relu"}, {Type: "flatten"}, {Type: "linear", Width: 4},
		}},
		Local: federated.Local{Epochs: 2, Batch: 16, Rate: 0.3}, Server: optimizer.Spec{Rate: 1},
	}
}

func main() { round.Main(run) }

func run(ctx context.Context, out io.Writer) error {
	parts, test := round.Deal(films(4200, 1), nodes), films(1000, 2)
	persons := plan()
	persons.Rounds, persons.Server = 40, optimizer.Spec{Kind: optimizer.Momentum, Rate: 2}
	persons, err := round.Persons(persons, "8")
	if err != nil {
		return err
	}
	last := plan()
	last.Network.Layers = append([]network.Layer{{Type: "last"}}, last.Network.Layers[3:]...)
	for _, c := range []struct {
		name string
		plan federated.Plan
	}{{"by the last frame alone", last}, {"without a guarantee", plan()}, {"persons at epsilon 8", persons}} {
		net, err := round.Learn(ctx, c.plan, parts)
		if err != nil {
			return err
		}
		share, err := round.Right(net, test)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-24s %.3f\n", c.name, share)
	}
	return nil
}
