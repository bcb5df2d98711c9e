// Kmeans finds the centers of clusters in five rounds, as in McSherry 2009 and Reed and
// Pierce 2010: in each, points are divided by the nearest center, and a center moves to
// the noisy mean of its part. A part is asked for its count and two sums at ε each, and
// parts cost what one of them does: 3ε a round, whatever the number of centers.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type point struct{ x, y float64 }

// points makes three clusters, in the square from -1 to 1, evenly filled.
func points(n int) []point {
	around := []point{{-0.5, -0.5}, {0.5, -0.3}, {0, 0.6}}
	all := make([]point, n)
	for i := range all {
		c := around[i%3]
		angle, radius := 2.39996*float64(i), 0.3*math.Sqrt(math.Mod(0.618034*float64(i), 1))
		all[i] = point{c.x + radius*math.Cos(angle), c.y + radius*math.Sin(angle)}
	}
	return all
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	total, err := privacy.ParseEpsilon("2")
	if err != nil {
		return err
	}
	tenth, err := privacy.ParseEpsilon("0.1")
	if err != nil {
		return err
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: total})
	if err != nil {
		return err
	}
	d, err := dataset.New(noise.System(), points(6000), people)
	if err != nil {
		return err
	}
	centers := []point{{-0.1, -0.1}, {0.1, -0.1}, {0, 0.1}}
	for round := range 5 {
		if centers, err = step(ctx, d, centers, tenth); err != nil {
			return err
		}
		spent, err := people.Spent(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "round %d: centers at %.2f\n", round+1, centers)
		fmt.Fprintf(out, "total cost: epsilon %v\n", spent.Epsilon)
	}
	return nil
}

// step moves each center to the middle of the points that are nearest to it. That it
// costs 3ε is verified from this source: discreet verify ./examples/kmeans.
//
//dp:adjacent bag(d) <= 1
//dp:cost 3 * epsilon
func step(ctx context.Context, d dataset.Dataset[point], centers []point, epsilon privacy.Epsilon) ([]point, error) {
	keys := make([]int, len(centers))
	for i := range keys {
		keys[i] = i
	}
	nearest := func(p point) int {
		best := 0
		for i, c := range centers {
			if math.Hypot(p.x-c.x, p.y-c.y) < math.Hypot(p.x-centers[best].x, p.y-centers[best].y) {
				best = i
			}
		}
		return best
	}
	o := dataset.SumOptions{Options: dataset.Options{Epsilon: epsilon}, Lower: -1, Upper: 1}
	moved := make([]point, len(centers))
	for i, part := range dataset.Partition(d, keys, nearest) {
		n, err := dataset.NoisyCount(ctx, noise.System(), part, o.Options)
		if err != nil {
			return nil, err
		}
		x, err := dataset.NoisySum(ctx, noise.System(), part, func(p point) float64 { return p.x }, o)
		if err != nil {
			return nil, err
		}
		y, err := dataset.NoisySum(ctx, noise.System(), part, func(p point) float64 { return p.y }, o)
		if err != nil {
			return nil, err
		}
		among := math.Max(1, float64(n.Value))
		moved[i] = point{x.Value / among, y.Value / among}
	}
	return moved, nil
}
