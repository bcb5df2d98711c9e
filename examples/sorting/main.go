// Sorting shows what may be seen of a sorted list of incomes. In Reed and Pierce 2010
// sorting numbers is 1-sensitive, place by place, because a list there has a fixed
// length. Here a person may be missing, which moves every place behind: what can be told
// well is who stands about where. Nine places at equal distances, chosen together, cost
// ε; ten places asked for one by one cost ε each.
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

// incomes makes some up, in thousands.
func incomes(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		x := float64((i*i*31+i*17)%1000) / 1000
		all[i] = 10 + 90*x*x
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
	total, err := privacy.ParseEpsilon("3")
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
	d, err := dataset.New(noise.System(), incomes(2000), b)
	if err != nil {
		return err
	}
	o := dataset.QuantileOptions{Options: dataset.Options{Epsilon: fifth}, Lower: 0, Upper: 100, Step: 0.5}
	income := func(x float64) float64 { return x }

	deciles, err := dataset.NoisyQuantiles(ctx, noise.System(), d, income, []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "after each tenth of the list: %.1f\n", deciles.Value)
	if err := spent(ctx, out, b); err != nil {
		return err
	}
	for k := int64(1); k <= 10; k++ {
		x, err := dataset.NoisyOrderStatistic(ctx, noise.System(), d, income, k*200, o)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "place %d: %.1f\n", k*200, x.Value)
	}
	return spent(ctx, out, b)
}

func spent(ctx context.Context, out io.Writer, b *budget.InMemory) error {
	s, err := b.Spent(ctx)
	fmt.Fprintf(out, "total cost: epsilon %v\n", s.Epsilon)
	return err
}
