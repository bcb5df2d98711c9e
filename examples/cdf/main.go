// Cdf answers how many people earn less than each of ten amounts, three ways. One count
// for each amount costs ten times ε (Reed and Pierce 2010, section 4). Counts of
// intervals cost ε once, because one person is in one of them, and add up; so do counts
// of the intervals of a tree, at ε for each of its levels, of which few add up for any
// amount (McSherry 2009, "Privacy Integrated Queries").
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

const edges = 16 // incomes are below edges thousands

// incomes makes some up.
func incomes(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64((i*i*31+i*17)%1600) / 100 * float64(1+i%4) / 4
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
	total, err := privacy.ParseEpsilon("10")
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
	d, err := dataset.New(noise.System(), incomes(5000), people)
	if err != nil {
		return err
	}
	o := dataset.Options{Epsilon: tenth}

	// A count below each edge.
	var counts [edges]int64
	for i := range counts {
		below := dataset.Where(d, func(x float64) bool { return x < float64(i+1) })
		n, err := dataset.NoisyCount(ctx, noise.System(), below, o)
		if err != nil {
			return err
		}
		counts[i] = n.Value
	}
	if err := spent(ctx, out, "a count for each amount", people); err != nil {
		return err
	}

	// A count of each interval, added up.
	keys := make([]int, edges)
	for i := range keys {
		keys[i] = i
	}
	intervals, err := dataset.NoisyHistogram(ctx, noise.System(), d, keys, func(x float64) int { return int(x) }, o)
	if err != nil {
		return err
	}
	var sums [edges]int64
	for i, n := range intervals.Value {
		sums[i] = n
		if i > 0 {
			sums[i] += sums[i-1]
		}
	}
	if err := spent(ctx, out, "and a count of each interval", people); err != nil {
		return err
	}

	// A count of each node of a tree of five levels, of each of which an edge needs one at
	// most.
	var tree [edges]int64
	if err := descend(ctx, d, 0, edges, o, 0, &tree); err != nil {
		return err
	}
	if err := spent(ctx, out, "and a count of each node of a tree", people); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n below  counted  intervals  tree")
	for i := range counts {
		fmt.Fprintf(out, "%6d  %7d  %9d  %4d\n", i+1, counts[i], sums[i], tree[i])
	}
	return nil
}

// descend counts those below the middle, of people between two edges, and goes on with
// both halves. Before are those below the lower edge.
func descend(ctx context.Context, d dataset.Dataset[float64], from, to int, o dataset.Options, before int64, tree *[edges]int64) error {
	middle := (from + to) / 2
	halves := dataset.Partition(d, []bool{true, false}, func(x float64) bool { return x < float64(middle) })
	lower := halves[0]
	if to-from == 1 {
		lower = d
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), lower, o)
	if err != nil {
		return err
	}
	if to-from == 1 {
		tree[from] = before + n.Value
		return nil
	}
	if err := descend(ctx, halves[0], from, middle, o, before, tree); err != nil {
		return err
	}
	return descend(ctx, halves[1], middle, to, o, before+n.Value, tree)
}

func spent(ctx context.Context, out io.Writer, what string, b *budget.InMemory) error {
	s, err := b.Spent(ctx)
	fmt.Fprintf(out, "total cost with %s: epsilon %v\n", what, s.Epsilon)
	return err
}
