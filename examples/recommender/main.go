// Recommender predicts how people rate films, from 1 to 5. The mean recommender says one number for all,
// the mean of each person's mean; the content-based one a number for each film, from what kind of film
// it is, learned over four shops with a guarantee for each person, of whom eight ratings count. It prints
// how far off they are, in stars.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

const shops, kinds, ratings = 4, 5, 8

// people are made: of each film they know how much it is of each kind, and like kinds alike, but for a taste
// of their own. A target is (stars − 3)/2.
func people(n int, seed uint64) *example.Set {
	liked := [kinds]float64{0.8, 0.4, 0, -0.4, -0.8}
	r := round.Make(seed<<8 + 5)
	s := &example.Set{Width: kinds, Outputs: 1}
	for person := range n {
		var own [kinds]float64
		for k := range own {
			own[k] = liked[k] + 0.2*r.Normal()
		}
		for range ratings {
			like := 0.1
			for k := range kinds {
				of := r.Uniform() * r.Uniform()
				like += of * own[k]
				s.Features = append(s.Features, float32(of))
			}
			stars := min(max(math.Round(3+2*like+0.4*r.Normal()), 1), 5)
			s.Targets = append(s.Targets, float32((stars-3)/2))
			s.Units = append(s.Units, int32(person))
		}
	}
	return s
}

// mean is the mean of each person's mean rating, by Laplace noise.
func mean(ctx context.Context, set *example.Set, epsilon string) (float64, error) {
	means := make([]float64, set.UnitCount())
	for row, x := range set.Targets {
		means[set.Units[row]] += (3 + 2*float64(x)) / ratings
	}
	n, err := program.Node(means)
	if err != nil {
		return 0, err
	}
	if err := n.Configure(ctx, "x", datanode.Laplace{Query: datanode.Mean{Lower: 1, Upper: 5}, Epsilon: program.Epsilon(epsilon)}); err != nil {
		return 0, err
	}
	a, err := n.Query(ctx, "x")
	if err != nil {
		return 0, err
	}
	return a.Values[0], nil
}

func plan() federated.Plan {
	return federated.Plan{
		Data: "ratings", Unit: federated.Node, Rounds: 20, Nodes: federated.Nodes{Minimum: shops, Seconds: 1},
		Network: network.Spec{Input: []int{kinds}, Loss: network.Squared, Layers: []network.Layer{{Type: "linear", Width: 1}}},
		Local:   federated.Local{Rate: 0.05}, Server: optimizer.Spec{Rate: 1},
	}
}

func main() { round.Main(run) }

func run(ctx context.Context, out io.Writer) error {
	known, test := people(4000, 1), people(1000, 2)
	for _, epsilon := range []string{"0.1", "1"} {
		said, err := mean(ctx, known, epsilon)
		if err != nil {
			return err
		}
		sum := 0.0
		for _, x := range test.Targets {
			sum += math.Pow(3+2*float64(x)-said, 2)
		}
		fmt.Fprintf(out, "%-40s %.3f\n", "mean, persons at epsilon "+epsilon, math.Sqrt(sum/float64(test.Len())))
	}
	parts := round.Deal(known, shops)
	persons := plan()
	persons.PerUnit, persons.Server = ratings, optimizer.Spec{Kind: optimizer.Momentum, Rate: 0.3}
	plans := map[string]federated.Plan{"content-based, without a guarantee": plan()}
	names := []string{"content-based, without a guarantee"}
	for _, epsilon := range []string{"0.5", "2"} {
		p, err := round.Persons(persons, epsilon)
		if err != nil {
			return err
		}
		name := "content-based, persons at epsilon " + epsilon
		names, plans[name] = append(names, name), p
	}
	for _, name := range names {
		net, err := round.Learn(ctx, plans[name], parts)
		if err != nil {
			return err
		}
		off, err := round.Off(net, test)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-40s %.3f\n", name, 2*off)
	}
	return nil
}
