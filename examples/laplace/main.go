// Laplace publishes the mean height of 1,000 people with Laplace noise: how far off it
// is, for what guarantee. Heights are clamped to 1.40 to 2.10 m, so that replacing one
// person moves the mean by 0.70/1000 at most.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/internal/plot"
)

const (
	people       = 1000
	lower, upper = 1.40, 2.10
	beta         = 0.05
)

func main() { program.Main(run) }

var epsilons = []string{"0.01", "0.03", "0.1", "0.3", "1"}

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	mean := 0.0
	for _, h := range heights(people) {
		mean += h / people
	}
	fmt.Fprintf(out, "mean height of %d people, clamped to [%.2f, %.2f] m\n\nepsilon  noise scale  within, 95 %%\n", people, lower, upper)
	for _, text := range epsilons {
		e := program.Epsilon(text).Float64()
		fmt.Fprintf(out, "%7s  %9.5f m  %10.5f m\n", text, scale(people, e), within(people, e))
	}

	fmt.Fprintf(out, "\n%s of a mean of %.4f m\n", program.Drawn, mean)
	for _, text := range epsilons {
		a, err := measure(ctx, text)
		if err != nil {
			return plot.Plot{}, err
		}
		fmt.Fprintf(out, "%7s  %.4f m\n", text, a)
	}
	return errors(), nil
}

// heights makes some up, in the shape of a bell.
func heights(n int) []float64 {
	h := make([]float64, n)
	for i := range h {
		h[i] = 1.70 + 0.09*math.Sqrt2*math.Erfinv(2*(float64(i)+0.5)/float64(n)-1)
	}
	return h
}

// scale is that of the noise on the mean: Δ/ε, Δ = (upper−lower)/n.
func scale(n int, epsilon float64) float64 { return (upper - lower) / float64(n) / epsilon }

// within is what the noise exceeds with probability beta only: Laplace noise of scale b
// exceeds b·ln(1/β) with probability β.
func within(n int, epsilon float64) float64 { return scale(n, epsilon) * math.Log(1/beta) }

func measure(ctx context.Context, epsilon string) (float64, error) {
	node, err := program.Node(heights(people))
	if err != nil {
		return 0, err
	}
	mean := datanode.Laplace{Query: datanode.Mean{Lower: lower, Upper: upper}, Epsilon: program.Epsilon(epsilon)}
	if err := node.Configure(ctx, "x", mean); err != nil {
		return 0, err
	}
	a, err := node.Query(ctx, "x")
	return a.Value(), err
}

func errors() plot.Plot {
	p := plot.Plot{
		Title: "Mean height with Laplace noise: error, 95 % confidence",
		X:     plot.Axis{Label: "epsilon", Log: true}, Y: plot.Axis{Label: "error in m", Log: true},
	}
	for _, n := range []int{100, 1000, 10_000} {
		line := plot.Line{Name: fmt.Sprintf("%d people", n)}
		for i := -20; i <= 10; i++ {
			e := math.Pow(10, float64(i)/10)
			line.Points = append(line.Points, plot.Point{X: e, Y: within(n, e)})
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}
