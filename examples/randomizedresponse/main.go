// Randomizedresponse asks 1,000 people, 300 of whom would have to say yes, and estimates
// how many they are from answers that nobody can be held to: how accurate that is, for
// what guarantee.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/mechanism"
)

const people, yes = 1000, 300

var epsilons = []string{"0.25", "0.5", "1", "2", "4"}

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	fmt.Fprintf(out, "%d people, 95 %% confidence\n\nepsilon  truth told  share within  people for 0.05\n", people)
	for _, text := range epsilons {
		r, err := response(text)
		if err != nil {
			return plot.Plot{}, err
		}
		within, err := r.Bound(people, program.Rat("0.05"))
		if err != nil {
			return plot.Plot{}, err
		}
		needed, err := r.Respondents(program.Rat("0.05"), program.Rat("0.05"))
		if err != nil {
			return plot.Plot{}, err
		}
		truth, _ := r.Truth().Float64()
		fmt.Fprintf(out, "%7s  %10.4f  %12.4f  %15d\n", text, truth, within, needed)
	}

	fmt.Fprintf(out, "\n%s of a share of %v\n", program.Drawn, float64(yes)/people)
	for _, text := range epsilons {
		share, err := estimate(ctx, text, people)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%7s  %6.3f in [%.3f, %.3f]\n", text, share.Raw, share.Low, share.High)
	}
	return accuracy()
}

func response(epsilon string) (*mechanism.RandomizedResponse, error) {
	return mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Epsilon: program.Epsilon(epsilon)})
}

// estimate asks n people, three tenths of whom are to say yes.
func estimate(ctx context.Context, epsilon string, n int) (mechanism.Share, error) {
	x := make([]float64, n)
	for i := range n * yes / people {
		x[i] = 1
	}
	node, err := program.Node(x)
	if err != nil {
		return mechanism.Share{}, err
	}
	if err := node.Configure(ctx, "x", datanode.RandomizedResponse{Epsilon: program.Epsilon(epsilon)}); err != nil {
		return mechanism.Share{}, err
	}
	a, err := node.Query(ctx, "x")
	if err != nil {
		return mechanism.Share{}, err
	}
	counts := make([]int64, 2)
	for _, said := range a.Values {
		counts[int(said)]++
	}
	r, err := response(epsilon)
	if err != nil {
		return mechanism.Share{}, err
	}
	shares, err := r.Estimate(counts, program.Rat("0.05"))
	if err != nil {
		return mechanism.Share{}, err
	}
	return shares[1], nil
}

// accuracy plots how far off estimates are.
func accuracy() (plot.Plot, error) {
	p := plot.Plot{
		Title: "Randomized response: error of the share, 95 % confidence",
		X:     plot.Axis{Label: "epsilon of a response"}, Y: plot.Axis{Label: "error of the share", Log: true},
	}
	for _, n := range []int64{100, 1000, 10_000, 100_000} {
		line := plot.Line{Name: fmt.Sprintf("%d people", n)}
		for i := 1; i <= 50; i++ {
			r, err := response(fmt.Sprint(float64(i) / 10))
			if err != nil {
				return p, err
			}
			within, err := r.Bound(n, program.Rat("0.05"))
			if err != nil {
				return p, err
			}
			line.Points = append(line.Points, plot.Point{X: float64(i) / 10, Y: within})
		}
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}
