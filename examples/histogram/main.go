// Histogram counts people by age, the first example of Reed and Pierce 2010 ("Distance
// Makes the Types Grow Stronger"). One person is in one bucket, so that all buckets
// together cost what one of them does.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type person struct{ age int }

// people makes some up.
func people(n int) []person {
	all := make([]person, n)
	for i := range all {
		all[i].age = (i*i*7 + i*13) % 61 * (i % 2) // half of them children of age 0
		all[i].age += 18 * (i % 3)
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
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		return err
	}
	purse, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: total})
	if err != nil {
		return err
	}
	d, err := dataset.New(noise.System(), people(1000), purse)
	if err != nil {
		return err
	}
	decades := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	decade := func(p person) int { return p.age / 10 }

	counts, err := dataset.NoisyHistogram(ctx, noise.System(), d, decades, decade, dataset.Options{Epsilon: half})
	if err != nil {
		return err
	}
	for i, n := range counts.Value {
		fmt.Fprintf(out, "%2d to %2d  %5d  in %d to %d  %s\n", 10*i, 10*i+9, n, counts.Low[i], counts.High[i], strings.Repeat("#", max(0, int(n))/10))
	}
	if err := spent(ctx, out, "ten buckets in one release", purse); err != nil {
		return err
	}

	// The same by hand: parts pay the most of all parts.
	for _, part := range dataset.Partition(d, decades, decade) {
		if _, err := dataset.NoisyCount(ctx, noise.System(), part, dataset.Options{Epsilon: half}); err != nil {
			return err
		}
	}
	return spent(ctx, out, "and ten counts of parts", purse)
}

func spent(ctx context.Context, out io.Writer, what string, purse *budget.InMemory) error {
	s, err := purse.Spent(ctx)
	fmt.Fprintf(out, "total cost with %s: epsilon %v\n", what, s.Epsilon)
	return err
}
