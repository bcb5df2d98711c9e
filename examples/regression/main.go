// Regression answers what the tutorials of models ask: a line through what people earn, again and again
// at one epsilon under one budget, until it is spent; and who buys, by a logistic line, at several values of epsilon,
// each for every person. The people are at five nodes. It prints how far off the line is, and what share is right.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

const nodes = 5

// earners have an income between −1 and 1, by three numbers and what nobody knows.
func earners(n int, seed uint64) *example.Set {
	r := round.Make(seed<<8 + 7)
	s := &example.Set{Width: 3, Outputs: 1}
	for range n {
		x := []float64{2*r.Uniform() - 1, 2*r.Uniform() - 1, 2*r.Uniform() - 1}
		income := 0.4*x[0] - 0.3*x[1] + 0.1*x[2] + 0.05*r.Normal()
		s.Features = append(s.Features, float32(x[0]), float32(x[1]), float32(x[2]))
		s.Targets = append(s.Targets, float32(min(max(income, -1), 1)))
	}
	return s
}

// buyers are of class 1 above a line, but for one in ten.
func buyers(n int, seed uint64) *example.Set {
	r := round.Make(seed<<8 + 8)
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	for range n {
		x, y := 2*r.Uniform()-1, 2*r.Uniform()-1
		label := int32(0)
		if x+y/2 > 0.1 != (r.Below(10) == 0) {
			label = 1
		}
		s.Features, s.Labels = append(s.Features, float32(x), float32(y)), append(s.Labels, label)
	}
	return s
}

func line(inputs int, loss string) federated.Plan {
	return federated.Plan{
		Data: "people", Unit: federated.Node, Rounds: 30, Nodes: federated.Nodes{Minimum: nodes, Seconds: 1},
		Network: network.Spec{Input: []int{inputs}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: loss},
		Local:   federated.Local{Rate: 0.3}, Server: optimizer.Spec{Rate: 1},
	}
}

// persons is the plan with a guarantee for each person.
func persons(p federated.Plan, rate float64, epsilon string) (federated.Plan, error) {
	p.Server.Rate = rate
	return round.Persons(p, epsilon)
}

func main() { round.Main(run) }

func run(ctx context.Context, out io.Writer) error {
	if err := incomes(ctx, out); err != nil {
		return err
	}
	parts, test := round.Deal(buyers(4000, 1), nodes), buyers(2000, 2)
	plans := []federated.Plan{line(2, network.Logistic)}
	names := []string{"who buys, without a guarantee"}
	for _, epsilon := range []string{"4", "1", "0.25"} {
		p, err := persons(plans[0], 4, epsilon)
		if err != nil {
			return err
		}
		plans, names = append(plans, p), append(names, "who buys, persons at epsilon "+epsilon)
	}
	for i, p := range plans {
		net, err := round.Learn(ctx, p, parts)
		if err != nil {
			return err
		}
		share, err := round.Right(net, test)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-34s %.3f\n", names[i], share)
	}
	return nil
}

// incomes asks for the same line until the budget refuses: of an epsilon of 2, in answers of 1 each. They
// add up in rho, so that there are more than two.
func incomes(ctx context.Context, out io.Writer) error {
	parts, test := round.Deal(earners(4000, 1), nodes), earners(2000, 2)
	learn := func(p federated.Plan) (float64, error) {
		net, err := round.Learn(ctx, p, parts)
		if err != nil {
			return 0, err
		}
		return round.Off(net, test)
	}
	off, err := learn(line(3, network.Squared))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-34s %.3f\n", "incomes, without a guarantee", off)
	p, err := persons(line(3, network.Squared), 1, "1")
	if err != nil {
		return err
	}
	event, err := p.Event(privacy.AddRemove)
	if err != nil {
		return err
	}
	whole, err := privacy.ParseEpsilon("2")
	if err != nil {
		return err
	}
	b, err := budget.NewInMemory("person", filter.Budget{Measure: filter.ZCDP, Epsilon: whole, Delta: p.Privacy.Delta, Neighbours: privacy.AddRemove})
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		// The charge comes first: what is refused is not learned.
		off, err := budget.Spend(ctx, b, budget.Release{Events: []privacy.Event{event}}, func() (float64, error) { return learn(p) })
		if errors.Is(err, budget.ErrExceeded) {
			fmt.Fprintf(out, "%-34s %d\n", "incomes, answers until refused", i-1)
			return nil
		} else if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-34s %.3f\n", fmt.Sprintf("incomes, answer %d at epsilon 1", i), off)
	}
}
