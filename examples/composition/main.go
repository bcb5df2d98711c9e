// Composition is the experiment against an adversary with 3 and with 3,000 accesses to one
// bit, each of which is 0.05-DP and as bad as that allows (randomized response; Kairouz,
// Oh and Viswanath 2015): what the accesses amount to by each theorem, how often the
// adversary is right, and what a budget does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

const (
	each  = "0.05" // epsilon of an access
	slack = "1e-6" // delta of all together
	whole = "1"    // the budget
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	// The textbook's numbers: Dwork and Roth 2014, Theorem 3.20, which loses its factor
	// ε in many a tutorial.
	fmt.Fprint(out, "epsilon 0.5 each, delta 0.1\n\naccesses    basic  Dwork-Roth  without its factor     best\n")
	for _, k := range []int{3, 350} {
		b, err := best(k, "0.5", 0.1)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%8d  %7.4g  %10.6f  %18.6f  %7.4f\n", k, 0.5*float64(k), dworkRoth(0.5, k, 0.1), mistaken(0.5, k, 0.1), b)
	}

	admitted, err := affordable()
	if err != nil {
		return plot.Plot{}, err
	}
	fmt.Fprintf(out, "\nepsilon %s each, delta %s; a budget of %s admits %d accesses\n\naccesses  basic  Dwork-Roth     best  adversary right  at most  with the budget\n", each, slack, whole, admitted)
	for _, k := range []int{3, 30, 300, 3000} {
		b, err := best(k, each, 1e-6)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%8d  %5.4g  %10.4f  %7.4f  %15.4f  %7.4f  %15.4f\n", k, 0.05*float64(k), dworkRoth(0.05, k, 1e-6), b,
			right(k), program.Ceiling(b, 1e-6), right(min(k, admitted)))
	}

	fmt.Fprintf(out, "\n%s an adversary against 20 people\n", program.Drawn)
	for _, k := range []int{3, 3000} {
		free, err := attack(ctx, k, false)
		if err != nil {
			return plot.Plot{}, err
		}
		metered, err := attack(ctx, k, true)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%4d accesses: right %d times, with the budget %d\n", k, free, metered)
	}
	return growth(admitted)
}

// dworkRoth is Theorem 3.20: ε√(2k ln(1/δ)) + kε(e^ε−1).
func dworkRoth(eps float64, k int, delta float64) float64 {
	n := float64(k)
	return eps*math.Sqrt(2*n*math.Log(1/delta)) + n*eps*math.Expm1(eps)
}

// mistaken is what is read instead.
func mistaken(eps float64, k int, delta float64) float64 {
	n := float64(k)
	return math.Sqrt(2*n*math.Log(1/delta)) + n*eps*math.Expm1(eps)
}

// best is the least certified epsilon of k accesses that are fixed in advance.
func best(k int, eps string, delta float64) (float64, error) {
	plan := privacy.Repeat{Count: k, Event: privacy.Pure{Epsilon: program.Epsilon(eps)}}
	r, err := accountant.Epsilon(context.Background(), plan, delta, accountant.Options{Neighbours: privacy.ReplaceOne})
	if err != nil {
		return 0, err
	}
	b, _ := r.Best()
	return b.Epsilon.High, nil
}

// right is how often the adversary is who believes the majority of k answers.
func right(k int) float64 {
	eps := program.Epsilon(each).Float64()
	return program.Majority(k, 1/(1+math.Exp(-eps)))
}

// affordable is how many accesses the budget admits.
func affordable() (int, error) {
	event := privacy.Pure{Epsilon: program.Epsilon(each)}
	n, err := filter.Admitted(filter.Pure, event, program.Epsilon(whole), program.Delta("0"), privacy.ReplaceOne)
	if err != nil {
		return 0, err
	}
	return int(n.Int64()), nil
}

// attack asks 20 people k times each and returns how often the majority of the answers is
// true. A tie is a guess, right for every other person.
func attack(ctx context.Context, k int, metered bool) (rights int, err error) {
	told, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Epsilon: program.Epsilon(each)})
	if err != nil {
		return 0, err
	}
	access := datanode.RandomizedResponse{Truth: told.Truth()} // computed once
	for person := range 20 {
		bit := float64(person % 2)
		node, err := program.Node([]float64{bit})
		if err != nil {
			return 0, err
		}
		var a datanode.Access = datanode.Unmetered{Mechanism: access, Decision: datanode.Decision{By: "the example", Why: "to be attacked"}}
		if metered {
			b, err := budget.NewInMemory("person", filter.Budget{Measure: filter.Pure, Epsilon: program.Epsilon(whole), Neighbours: privacy.ReplaceOne})
			if err != nil {
				return 0, err
			}
			a = datanode.Adaptive{Budget: b, Mechanism: access}
		}
		if err := node.Configure(ctx, "x", a); err != nil {
			return 0, err
		}
		answers, ones := 0, 0.0
		for range k {
			a, err := node.Query(ctx, "x")
			if errors.Is(err, datanode.ErrBudgetExceeded) {
				break
			}
			if err != nil {
				return 0, err
			}
			answers++
			ones += a.Value()
		}
		switch share := ones / float64(answers); {
		case share == 0.5:
			rights += person / 2 % 2
		case (share > 0.5) == (bit == 1):
			rights++
		}
	}
	return rights, nil
}

func growth(admitted int) (plot.Plot, error) {
	var lines [4]plot.Line
	for i, name := range []string{"adversary without a budget", "most that the best theorem allows", "most that basic composition allows", "adversary with a budget of " + whole} {
		lines[i] = plot.Line{Name: name, Dashed: i == 1 || i == 2}
	}
	for _, k := range []int{1, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000} {
		b, err := best(k, each, 1e-6)
		if err != nil {
			return plot.Plot{}, err
		}
		for i, y := range []float64{right(k), program.Ceiling(b, 1e-6), program.Ceiling(0.05*float64(k), 0), right(min(k, admitted))} {
			lines[i].Points = append(lines[i].Points, plot.Point{X: float64(k), Y: y})
		}
	}
	return plot.Plot{
		Title: "An adversary with k accesses of epsilon " + each, X: plot.Axis{Label: "accesses", Log: true}, Y: plot.Axis{Label: "probability of being right"},
		Lines: lines[:],
	}, nil
}
