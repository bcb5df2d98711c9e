// Sampling deals people out to nodes in the ways that the tutorials of federated learning do: equally, by
// weights, so that a person may be at several nodes, and so that a node has people of two kinds alone. Then it
// compares what a node's own model gets right with what the global one does, on the node's test data and
// on everybody's, and begins from a model of earlier, public data. It prints shares of test sets.
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

const nodes = 6

// people are points around the corners of a square, of four kinds.
func people(n int, seed uint64) *example.Set {
	r := round.Make(seed<<8 + 5)
	s := &example.Set{Width: 2, Classes: 4, Outputs: 1}
	for range n {
		kind := r.Below(4)
		x, y := float64(kind%2)-0.5, float64(kind/2)-0.5
		s.Features = append(s.Features, float32(x+0.35*r.Normal()), float32(y+0.35*r.Normal()))
		s.Labels = append(s.Labels, int32(kind))
	}
	return s
}

func plan(rounds int) federated.Plan {
	return federated.Plan{
		Data: "people", Seed: 5, Unit: federated.Node, Rounds: rounds, Nodes: federated.Nodes{Minimum: nodes, Seconds: 1},
		Network: network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 4}}, Loss: network.CrossEntropy},
		Local:   federated.Local{Epochs: 2, Batch: 16, Rate: 0.05}, Server: optimizer.Spec{Rate: 1},
	}
}

// weighted deals people to nodes in proportion to 1, 2, 3, ...: each to one node, or to every node
// with the node's probability, so that some are at several nodes and some at none.
func weighted(all *example.Set, several bool) (parts []*example.Set) {
	r := round.Make(77)
	rows := make([][]int, nodes)
	const whole = nodes * (nodes + 1) / 2
	for row := range all.Len() {
		if several {
			for n := range rows {
				if r.Below(whole) <= n {
					rows[n] = append(rows[n], row)
				}
			}
			continue
		}
		at, n := r.Below(whole), 0
		for at >= n+1 {
			at -= n + 1
			n++
		}
		rows[n] = append(rows[n], row)
	}
	for _, r := range rows {
		parts = append(parts, all.Pick(r))
	}
	return parts
}

// kinds gives each node people of two kinds alone.
func kinds(all *example.Set) (parts []*example.Set) {
	rows, next := make([][]int, nodes), [4]int{}
	for row, kind := range all.Labels {
		of := [4][3]int{{0, 1, 2}, {0, 3, 4}, {1, 3, 5}, {2, 4, 5}}[kind] // every two kinds are at one node
		n := of[next[kind]%3]
		next[kind]++
		rows[n] = append(rows[n], row)
	}
	for _, r := range rows {
		parts = append(parts, all.Pick(r))
	}
	return parts
}

func main() { round.Main(run) }

func run(ctx context.Context, out io.Writer) error {
	all, test := people(3000, 1), people(2000, 2)
	say := func(name string, share float64) { fmt.Fprintf(out, "%-46s %.3f\n", name, share) }
	two := kinds(all)
	byExamples := plan(10)
	byExamples.Join.Weighing = federated.Declared
	for _, c := range []struct {
		name string
		plan federated.Plan
		sets []*example.Set
	}{
		{"dealt out equally", plan(10), round.Deal(all, nodes)}, {"by weights, each at one node", byExamples, weighted(all, false)},
		{"by weights, some at several nodes", byExamples, weighted(all, true)}, {"two kinds at a node", plan(10), two},
	} {
		net, err := round.Learn(ctx, c.plan, c.sets)
		if err != nil {
			return err
		}
		share, err := round.Right(net, test)
		if err != nil {
			return err
		}
		say(c.name, share)
	}
	// A node of two kinds, alone and in the federation.
	alone := plan(10)
	alone.Nodes.Minimum = 1
	own, err := round.Learn(ctx, alone, two[:1])
	if err != nil {
		return err
	}
	global, err := round.Learn(ctx, plan(10), two)
	if err != nil {
		return err
	}
	local := kinds(test)[0]
	for _, c := range []struct {
		name string
		net  *network.Network
		set  *example.Set
	}{
		{"a node's own model, its own test data", own, local}, {"a node's own model, everybody's test data", own, test},
		{"the global model, the node's test data", global, local}, {"the global model, everybody's test data", global, test},
	} {
		share, err := round.Right(c.net, c.set)
		if err != nil {
			return err
		}
		say(c.name, share)
	}
	// One round, from nothing and from a model of 200 people whose data are public.
	public, err := round.Learn(ctx, alone, []*example.Set{people(200, 3)})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		start []float32
	}{{"one round, from nothing", nil}, {"one round, from a public model", public.Parameters()}} {
		p := plan(1)
		p.Local.Rate = 0.01
		net, err := round.LearnFrom(ctx, p, round.Deal(all, nodes), c.start)
		if err != nil {
			return err
		}
		share, err := round.Right(net, test)
		if err != nil {
			return err
		}
		say(c.name, share)
	}
	return nil
}
