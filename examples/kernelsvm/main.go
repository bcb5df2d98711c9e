// Kernelsvm tells the inside of a ring from the outside by a support vector machine with a Gaussian kernel:
// a line cannot. Its weights are released with noise for what one person can move them by, which a theorem
// says. It prints the share of a test set that is right.
//
// Then it estimates that sensitivity by sampling, as the Sherpa.ai framework does, for a small machine over
// two kinds of people, and shows two neighbouring databases that lie farther apart than any that were drawn:
// noise for the estimate hides nobody who is unlike the rest.
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/noise"
)

// ring makes people in a square, of whom those near its middle are of class −1; one in twenty is not.
func ring(n int, seed uint64) (points [][]float64, labels []float64) {
	r := round.Make(seed<<8 + 9)
	for range n {
		x, y, label := 4*r.Uniform()-2, 4*r.Uniform()-2, 1.0
		if math.Hypot(x, y) < 1.5 != (r.Below(20) == 0) {
			label = -1
		}
		points, labels = append(points, []float64{x, y}), append(labels, label)
	}
	return points, labels
}

func right(w []float64, points [][]float64, labels []float64) float64 {
	n := 0.0
	for i, x := range points {
		if labels[i]*dot(w, x) > 0 {
			n++
		}
	}
	return n / float64(len(points))
}

func main() { round.Main(run) }

func run(_ context.Context, out io.Writer) error {
	const n = 4000
	x, y := ring(n, 1)
	tx, ty := ring(2000, 2)
	kernel := newFeatures(2, 40, 1.2)
	mapped := func(all [][]float64, to func([]float64) []float64) (m [][]float64) {
		for _, p := range all {
			m = append(m, to(p))
		}
		return m
	}
	line := func(p []float64) []float64 { return []float64{p[0] / 3, p[1] / 3, 1.0 / 3} }
	machine := svm{lambda: 0.01, h: 0.5, steps: 2500}
	fmt.Fprintf(out, "%-32s %.3f\n", "a line, without a guarantee", right(machine.train(mapped(x, line), y), mapped(tx, line), ty))
	w, test := machine.train(mapped(x, kernel.of), y), mapped(tx, kernel.of)
	fmt.Fprintf(out, "%-32s %.3f\n", "a kernel, without a guarantee", right(w, test, ty))
	for _, epsilon := range []string{"4", "2", "1"} {
		noisy, err := machine.release(w, n, epsilon)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-32s %.3f\n", "a kernel, persons at epsilon "+epsilon, right(noisy, test, ty))
	}
	return sampled(out)
}

// sampled compares the sensitivities of a machine over 50 people. A record is a person's number, with the
// class as its sign: the one class is near 3, the other near 1.
func sampled(out io.Writer) error {
	const n = 50
	small, kernel := svm{lambda: 0.1, h: 0.5, steps: 300}, newFeatures(1, 10, 1)
	query := func(records []float64) []float64 {
		var x [][]float64
		var y []float64
		for _, r := range records {
			x, y = append(x, kernel.of([]float64{math.Abs(r)})), append(y, math.Copysign(1, r))
		}
		return small.train(x, y)
	}
	e, err := datanode.EstimateSensitivity(noise.System(), datanode.EstimateOptions{
		Query: query, Norm: datanode.L2Norm, Records: n, Samples: 100,
		Oracle: datanode.Mixture{Weights: []float64{1, 1}, Parts: []datanode.Normal{{Mean: 3, Deviation: 0.3}, {Mean: -1, Deviation: 0.3}}},
	})
	if err != nil {
		return err
	}
	usual, odd := make([]float64, n), make([]float64, n)
	for i := range usual {
		usual[i] = []float64{3, -1}[i%2]
	}
	copy(odd, usual)
	usual[0], odd[0] = 12, -12 // somebody unlike all others, of the one class or the other
	fmt.Fprintf(out, "\nhow far one of %d people moves the weights\n", n)
	fmt.Fprintf(out, "%-32s %.3f\n", "the most of 100 drawn pairs", e.Largest)
	fmt.Fprintf(out, "%-32s %.3f\n", "a pair that is not drawn", datanode.L2Norm(query(usual), query(odd)))
	fmt.Fprintf(out, "%-32s %.3f\n", "by the theorem, at most", small.sensitivity(n))
	return nil
}
