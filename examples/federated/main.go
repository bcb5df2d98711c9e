// Federated learns over ten nodes without a guarantee, as the tutorials of federated learning
// do: with equal and with sorted data, with all nodes and with four a round, by several rules,
// and with two nodes whose labels are the other way round. Then it learns with a guarantee for
// each person. It prints what share of a test set is right.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sort"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

const nodes = 10

// people are points in a square, of which those above a line are of class 1.
func people(n, from int) *example.Set {
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	for i := from; i < from+n; i++ {
		x, y := 2*math.Mod(0.754877666*float64(i), 1)-1, 2*math.Mod(0.569840291*float64(i), 1)-1
		label := int32(0)
		if x+y/2 > 0.1 {
			label = 1
		}
		s.Features, s.Labels = append(s.Features, float32(x), float32(y)), append(s.Labels, label)
	}
	return s
}

// split deals examples out, or gives each node a piece of them sorted by class.
func split(set *example.Set, sorted bool) (parts []*example.Set) {
	order := make([]int, set.Len())
	for i := range order {
		order[i] = i
	}
	if sorted {
		sort.SliceStable(order, func(a, b int) bool { return set.Labels[order[a]] < set.Labels[order[b]] })
	}
	for n := range nodes {
		var rows []int
		for i, r := range order {
			if sorted && i*nodes/len(order) == n || !sorted && i%nodes == n {
				rows = append(rows, r)
			}
		}
		parts = append(parts, set.Pick(rows))
	}
	return parts
}

func plan() federated.Plan {
	return federated.Plan{
		Data: "people", Network: network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Unit: federated.Node, Rounds: 20, Nodes: federated.Nodes{Minimum: 4, Seconds: 1}, Local: federated.Local{Rate: 0.5}, Server: optimizer.Spec{Rate: 1},
	}
}

// learn makes the rounds of a plan, with so many nodes each, and returns the share that is right.
func learn(ctx context.Context, p federated.Plan, sets []*example.Set, each int, score bool) (float64, error) {
	s, err := p.Begin()
	if err != nil {
		return 0, err
	}
	parts := make([]*federated.Part, len(sets))
	for i, set := range sets {
		turns, err := p.Turns(noise.System(), set.UnitCount())
		if err != nil {
			return 0, err
		}
		if parts[i], err = federated.NewPart(p, fmt.Sprint(i), set, turns); err != nil {
			return 0, err
		}
	}
	test := people(1000, 50_000)
	for s.Round < p.Rounds {
		var answers []federated.Answer
		for k := range each {
			i := (s.Round*each + k) % len(parts)
			u, err := parts[i].Update(ctx, noise.System(), s.Round, s.Weights, s.Clip)
			if err != nil {
				return 0, err
			}
			a := federated.Answer{Node: fmt.Sprint(i), Declared: int64(sets[i].Len()), Update: u}
			if score {
				own := make([]float32, len(s.Weights))
				for j, x := range p.Plain(u, s.Clip) {
					own[j] = s.Weights[j] - float32(x)
				}
				if a.Score, err = right(p, own, test); err != nil {
					return 0, err
				}
			}
			answers = append(answers, a)
		}
		if err := s.Join(p, noise.System(), answers); err != nil {
			return 0, err
		}
	}
	return right(p, s.Weights, test)
}

func right(p federated.Plan, weights []float32, test *example.Set) (float64, error) {
	net, err := p.Net()
	if err != nil {
		return 0, err
	}
	copy(net.Parameters(), weights)
	rows := make([]int, test.Len())
	for i := range rows {
		rows[i] = i
	}
	s, err := net.NewPass(network.PassOptions{}).Losses(test, rows, make([]float64, len(rows)))
	return float64(s.Correct) / float64(s.Labels), err
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	all := people(3000, 0)
	dealt, sorted := split(all, false), split(all, true)
	poisoned := split(all, false)
	for _, set := range poisoned[:2] {
		for i := range set.Labels {
			set.Labels[i] = 1 - set.Labels[i]
		}
	}
	weighted, median, trimmed, ordered, persons := plan(), plan(), plan(), plan(), plan()
	weighted.Join.Weighing, median.Join.Rule, ordered.Join.Rule = federated.Declared, federated.Median, federated.Ordered
	trimmed.Join.Rule, trimmed.Join.Trim, trimmed.Nodes.Minimum = federated.Trimmed, 2, nodes
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		return err
	}
	two, err := privacy.ParseEpsilon("2")
	if err != nil {
		return err
	}
	persons.Unit, persons.Local, persons.Server.Rate = federated.Person, federated.Local{}, 4
	persons.Privacy = &federated.Privacy{Method: federated.FedAvg, Place: federated.AtCoordinator, Clip: 1, Delta: delta}
	if persons, err = persons.Calibrate(two, privacy.AddRemove); err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		plan federated.Plan
		sets []*example.Set
		each int
	}{
		{"dealt out, mean", plan(), dealt, nodes}, {"dealt out, weighted mean", weighted, dealt, nodes}, {"dealt out, four a round", plan(), dealt, 4},
		{"sorted, mean", plan(), sorted, nodes}, {"two poisoned, mean", plan(), poisoned, nodes}, {"two poisoned, median", median, poisoned, nodes},
		{"two poisoned, trimmed mean", trimmed, poisoned, nodes}, {"two poisoned, ordered", ordered, poisoned, nodes},
		{"persons at epsilon 2", persons, dealt, nodes},
	} {
		share, err := learn(ctx, c.plan, c.sets, c.each, c.plan.Join.Rule == federated.Ordered)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-27s %.3f\n", c.name, share)
	}
	return nil
}
