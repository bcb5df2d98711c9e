// Beforespent counts how often a mechanism runs before a budget is spent, by the filter
// that guards it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/privacy"
)

// Basic composition is the filter pure; Rogers is shown because it was the first, and
// guards nothing here.
var filters = []filter.Measure{filter.Pure, filter.Rogers, filter.Whitehouse, filter.ZCDP, filter.RDP, filter.GDP}

var cases = []struct{ whole, delta, each string }{
	{"0.2", "2e-30", "0.002"},
	{"1", "1e-6", "0.01"},
	{"1", "1e-6", "0.1"},
	{"3", "1e-6", "0.01"},
	{"3", "1e-9", "0.001"},
}

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	fmt.Fprint(out, "epsilon  delta   each ")
	for _, f := range filters {
		fmt.Fprintf(out, "%11s", f)
	}
	fmt.Fprintln(out)
	for _, c := range cases {
		fmt.Fprintf(out, "%7s  %5s  %5s ", c.whole, c.delta, c.each)
		for _, f := range filters {
			n, err := admitted(f, c.whole, c.delta, c.each)
			if err != nil {
				return plot.Plot{}, err
			}
			fmt.Fprintf(out, "%11d", n)
		}
		fmt.Fprintln(out)
	}

	c := cases[0]
	fmt.Fprintf(out, "\n%s a node is asked until it refuses, in the first case\n", program.Drawn)
	for _, f := range []filter.Measure{filter.Pure, filter.Whitehouse, filter.ZCDP} {
		n, err := runs(ctx, f, c.whole, c.delta, c.each)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%s answers %d times\n", f, n)
	}
	return sweep()
}

func admitted(f filter.Measure, whole, delta, each string) (*big.Int, error) {
	return filter.Admitted(f, privacy.Pure{Epsilon: program.Epsilon(each)}, program.Epsilon(whole), program.Delta(delta), privacy.AddRemove)
}

// runs asks a node with a budget until it refuses.
func runs(ctx context.Context, f filter.Measure, whole, delta, each string) (n int, err error) {
	limit := filter.Budget{Measure: f, Epsilon: program.Epsilon(whole)}
	if f != filter.Pure {
		limit.Delta = program.Delta(delta)
	}
	b, err := budget.NewInMemory("study", limit)
	if err != nil {
		return 0, err
	}
	node, err := program.Node([]float64{1, 2, 3})
	if err != nil {
		return 0, err
	}
	count := datanode.Laplace{Query: datanode.Count{}, Epsilon: program.Epsilon(each)}
	if err := node.Configure(ctx, "x", datanode.Adaptive{Budget: b, Mechanism: count}); err != nil {
		return 0, err
	}
	for ; ; n++ {
		if _, err := node.Query(ctx, "x"); errors.Is(err, datanode.ErrBudgetExceeded) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// sweep plots runs over the epsilon of each.
func sweep() (plot.Plot, error) {
	p := plot.Plot{
		Title: "Runs before the budget is spent: epsilon 1, delta 1e-6",
		X:     plot.Axis{Label: "epsilon of a run", Log: true}, Y: plot.Axis{Label: "runs", Log: true},
	}
	for _, f := range filters {
		line := plot.Line{Name: string(f), Dashed: f == filter.Rogers}
		for _, each := range []string{"0.001", "0.002", "0.003", "0.005", "0.0075", "0.01", "0.02", "0.03", "0.05", "0.075", "0.1", "0.15", "0.2"} {
			n, err := admitted(f, "1", "1e-6", each)
			if err != nil {
				return p, err
			}
			y, _ := new(big.Float).SetInt(n).Float64()
			line.Points = append(line.Points, plot.Point{X: program.Epsilon(each).Float64(), Y: y})
		}
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}
