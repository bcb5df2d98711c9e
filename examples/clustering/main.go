// Clustering chooses three of 121 public places so that people have a short way to the
// nearest (k-medians: Gupta, Ligett, McSherry, Roth and Talwar 2010), one after the other
// by the exponential mechanism: a place is the better the shorter the ways become. Each
// choice costs ε.
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

// people makes three clusters in the square from 0 to 10.
func people(n int) []point {
	around := []point{{2, 2}, {8, 3}, {5, 8}}
	all := make([]point, n)
	for i := range all {
		c := around[i%3]
		angle, radius := 2.39996*float64(i), 1.5*math.Sqrt(math.Mod(0.618034*float64(i), 1))
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

// farthest is how long a way counts at most: one person moves a score by no more.
const farthest = 5.0

func run(ctx context.Context, out io.Writer) error {
	total, err := privacy.ParseEpsilon("1")
	if err != nil {
		return err
	}
	fifth, err := privacy.ParseEpsilon("0.2")
	if err != nil {
		return err
	}
	b, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: total})
	if err != nil {
		return err
	}
	d, err := dataset.New(noise.System(), people(1500), b)
	if err != nil {
		return err
	}
	var places []point
	for x := range 11 {
		for y := range 11 {
			places = append(places, point{float64(x), float64(y)})
		}
	}
	var chosen []point
	for range 3 {
		shorter := func(p, place point) float64 {
			way := farthest
			for _, c := range chosen {
				way = min(way, math.Hypot(p.x-c.x, p.y-c.y))
			}
			return max(0, way-math.Hypot(p.x-place.x, p.y-place.y))
		}
		i, err := dataset.Choose(ctx, noise.System(), d, places, shorter,
			dataset.ScoreOptions{Options: dataset.Options{Epsilon: fifth}, Lower: 0, Upper: farthest})
		if err != nil {
			return err
		}
		chosen = append(chosen, places[i.Value])
		spent, err := b.Spent(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "places: %v\n", chosen)
		fmt.Fprintf(out, "total cost: epsilon %v\n", spent.Epsilon)
	}
	way, err := dataset.NoisyAverage(ctx, noise.System(), d, func(p point) float64 {
		way := farthest
		for _, c := range chosen {
			way = min(way, math.Hypot(p.x-c.x, p.y-c.y))
		}
		return way
	}, dataset.SumOptions{Options: dataset.Options{Epsilon: fifth}, Lower: 0, Upper: farthest})
	if err != nil {
		return err
	}
	spent, err := b.Spent(ctx)
	fmt.Fprintf(out, "the mean way is %.2f, in %.2f to %.2f\n", way.Value, way.Low, way.High)
	fmt.Fprintf(out, "total cost: epsilon %v\n", spent.Epsilon)
	return err
}
