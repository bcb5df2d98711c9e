// Subsampling answers from a sample of 1,000 people that is drawn anew each time: what it
// saves of a budget, and what it costs in accuracy.
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
	"github.com/discreet-dp/discreet/privacy"
)

const (
	people = 1000
	whole  = "2" // the budget
	each   = "1" // epsilon on the sample
)

func main() { program.Main(run) }

var sizes = []int64{1000, 500, 200, 100, 50, 10}

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	fmt.Fprintf(out, "%d people, epsilon %s on the sample, budget %s\n\nsample  epsilon of all  answers  error of a mean of numbers from 0 to 1\n", people, each, whole)
	for _, m := range sizes {
		e, err := amplified(m, people, program.Epsilon(each))
		if err != nil {
			return plot.Plot{}, err
		}
		n, err := filter.Admitted(filter.Pure, privacy.Pure{Epsilon: e}, program.Epsilon(whole), program.Delta("0"), privacy.ReplaceOne)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%6d  %14.6f  %7d  %38.4f\n", m, e.Float64(), n, spread(m))
	}

	fmt.Fprintf(out, "\n%s the mean by as many answers as the budget admits\n", program.Drawn)
	for _, m := range sizes {
		n, mean, err := spend(ctx, m)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%6d  %7d  %.4f\n", m, n, mean)
	}
	return curves()
}

// amplified is the epsilon of an epsilon-DP answer on m of n people, drawn without
// replacement: ln(1 + m/n·(e^ε−1)) (Balle, Barthe and Gaboardi 2018, Theorem 9).
func amplified(m, n int64, eps privacy.Epsilon) (privacy.Epsilon, error) {
	f, err := filter.New(filter.Budget{Measure: filter.Pure, Epsilon: eps, Neighbours: privacy.ReplaceOne})
	if err != nil {
		return privacy.Epsilon{}, err
	}
	sampled := privacy.WithoutReplacement{M: m, N: n, Event: privacy.Pure{Epsilon: eps}}
	e, err := accountant.Guarantee(context.Background(), sampled, f, privacy.Delta{}, accountant.Options{Neighbours: privacy.ReplaceOne})
	if err != nil {
		return privacy.Epsilon{}, err
	}
	return e.(privacy.Pure).Epsilon, nil
}

// values are as many zeros as ones, which spread most.
func values() []float64 {
	x := make([]float64, people)
	for i := range x {
		x[i] = float64(i % 2)
	}
	return x
}

// spread is the standard deviation of one answer: that of a sample's mean, √(¼/m ·
// (n−m)/(n−1)), and of Laplace noise, √2/(mε).
func spread(m int64) float64 {
	e := program.Epsilon(each).Float64()
	sampling := 0.25 / float64(m) * float64(people-m) / (people - 1)
	return math.Sqrt(sampling + 2/math.Pow(float64(m)*e, 2))
}

// spend asks until the budget is spent, and returns the mean of the answers.
func spend(ctx context.Context, m int64) (n int, mean float64, err error) {
	node, err := program.Node(values())
	if err != nil {
		return 0, 0, err
	}
	b, err := budget.NewInMemory("study", filter.Budget{Measure: filter.Pure, Epsilon: program.Epsilon(whole), Neighbours: privacy.ReplaceOne})
	if err != nil {
		return 0, 0, err
	}
	sampled := datanode.Subsampled{
		Mechanism: datanode.Laplace{Query: datanode.Mean{Upper: 1}, Epsilon: program.Epsilon(each)},
		Size:      m, Of: people,
	}
	if err := node.Configure(ctx, "x", datanode.Adaptive{Budget: b, Mechanism: sampled}); err != nil {
		return 0, 0, err
	}
	sum := 0.0
	for ; ; n++ {
		a, err := node.Query(ctx, "x")
		if errors.Is(err, datanode.ErrBudgetExceeded) {
			return n, sum / float64(n), nil
		}
		if err != nil {
			return n, 0, err
		}
		sum += a.Value()
	}
}

func curves() (plot.Plot, error) {
	p := plot.Plot{
		Title: "Privacy of a sample drawn without replacement",
		X:     plot.Axis{Label: "share that is drawn"}, Y: plot.Axis{Label: "epsilon of all"},
	}
	for _, text := range []string{"0.5", "1", "2", "4"} {
		line := plot.Line{Name: "epsilon " + text + " on the sample"}
		for m := int64(1); m <= 100; m++ {
			e, err := amplified(m, 100, program.Epsilon(text))
			if err != nil {
				return p, err
			}
			line.Points = append(line.Points, plot.Point{X: float64(m) / 100, Y: e.Float64()})
		}
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}
