// Exponential chooses by the exponential mechanism: the price of an auction (McSherry and
// Talwar 2007), and, as special cases, randomized response and Laplace noise.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/mechanism"
)

// Three bid 1.00 and one 3.01: at 1.00 four buy, at 3.01 one, at 3.02 none.
var (
	bids   = []float64{1, 1, 1, 3.01}
	prices = []float64{1, 1.01, 2, 3.01, 3.02}
)

func main() { program.Main(run) }

var epsilons = []string{"0.1", "1", "5", "20"}

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	fmt.Fprint(out, "how often a price is chosen\n\n   price  revenue")
	for _, text := range epsilons {
		fmt.Fprintf(out, "  %12s", "epsilon "+text)
	}
	fmt.Fprintln(out)
	for i, price := range prices {
		fmt.Fprintf(out, "%8.2f  %7.2f", price, revenues()[i])
		for _, text := range epsilons {
			fmt.Fprintf(out, "  %12.4f", auction(program.Epsilon(text).Float64())[i])
		}
		fmt.Fprintln(out)
	}

	fmt.Fprint(out, "\nrandomized response is the choice of the answer with score 1 if it is true, else 0\n\nepsilon of the response  its truth  the choice's, at twice that epsilon\n")
	for _, text := range []string{"0.5", "1", "2"} {
		r, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Epsilon: program.Epsilon(text)})
		if err != nil {
			return plot.Plot{}, err
		}
		truth, _ := r.Truth().Float64()
		fmt.Fprintf(out, "%23s  %9.6f  %35.6f\n", text, truth, choice([]float64{1, 0}, 1, 2*program.Epsilon(text).Float64(), false)[0])
	}

	fmt.Fprint(out, "\nLaplace noise at epsilon 1 is the choice of a number with score -|its distance|, at epsilon 2\n\ndistance    noise   choice\n")
	noise, chosen := laplace(1), distances(2)
	for d := range 4 {
		fmt.Fprintf(out, "%8d  %7.5f  %7.5f\n", d, noise(d), chosen(d))
	}

	fmt.Fprintf(out, "\n%s ten prices at each epsilon\n", program.Drawn)
	for _, text := range epsilons {
		fmt.Fprintf(out, "%4s ", text)
		for range 10 {
			price, err := sell(ctx, text)
			if err != nil {
				return plot.Plot{}, err
			}
			fmt.Fprintf(out, "  %.2f", price)
		}
		fmt.Fprintln(out)
	}
	return curves(), nil
}

func revenues() []float64 {
	r := make([]float64, len(prices))
	for i, price := range prices {
		for _, bid := range bids {
			if bid >= price {
				r[i] += price
			}
		}
	}
	return r
}

// choice returns the probabilities of candidates with such scores: exp(ε·score/2Δ), or
// exp(ε·score/Δ) for scores that all move one way, over their sum.
func choice(scores []float64, sensitivity, epsilon float64, monotone bool) []float64 {
	factor := epsilon / 2 / sensitivity
	if monotone {
		factor *= 2
	}
	p, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		p[i] = math.Exp(factor * s)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// auction returns the probabilities of the prices. A bidder who is replaced moves scores
// by the highest price at most.
func auction(epsilon float64) []float64 { return choice(revenues(), 3.02, epsilon, false) }

// laplace returns the probabilities of discrete Laplace noise of scale 1/ε.
func laplace(epsilon float64) func(int) float64 {
	q := math.Exp(-epsilon)
	return func(d int) float64 { return (1 - q) / (1 + q) * math.Pow(q, float64(d)) }
}

// distances returns the probabilities of the numbers at a distance among those up to 100,
// beyond which there are less than e^-100.
func distances(epsilon float64) func(int) float64 {
	const far = 100
	scores := make([]float64, 2*far+1)
	for i := range scores {
		scores[i] = -math.Abs(float64(i - far))
	}
	p := choice(scores, 1, epsilon, false)
	return func(d int) float64 { return p[far+d] }
}

// sell has a node choose one price.
func sell(ctx context.Context, epsilon string) (float64, error) {
	node, err := program.Node(bids)
	if err != nil {
		return 0, err
	}
	if err := node.Configure(ctx, "x", datanode.Choice{Utility: datanode.Revenue{Prices: prices}, Epsilon: program.Epsilon(epsilon)}); err != nil {
		return 0, err
	}
	a, err := node.Query(ctx, "x")
	return a.Value(), err
}

func curves() plot.Plot {
	p := plot.Plot{
		Title: "An auction by the exponential mechanism",
		X:     plot.Axis{Label: "epsilon", Log: true}, Y: plot.Axis{Label: "probability of the price"},
	}
	for i, price := range prices {
		line := plot.Line{Name: fmt.Sprintf("%.2f, revenue %.2f", price, revenues()[i])}
		for k := -10; k <= 20; k++ {
			e := math.Pow(10, float64(k)/10)
			line.Points = append(line.Points, plot.Point{X: e, Y: auction(e)[i]})
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}
