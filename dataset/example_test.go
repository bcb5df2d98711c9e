package dataset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type visit struct {
	patient, minutes int
	ward             string
}

// How many patients were longer than an hour in each ward, of whom each may be counted
// in two wards.
func Example() {
	ctx := context.Background()
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	quarter, err := privacy.ParseEpsilon("0.25")
	if err != nil {
		log.Fatal(err)
	}
	patients, err := budget.NewInMemory("patients", filter.Budget{Measure: filter.Pure, Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	visits := []visit{{1, 30, "ER"}, {1, 50, "ER"}, {2, 90, "ICU"}, {2, 20, "ER"}, {3, 75, "ER"}}
	units, err := dataset.NewUnits(noise.System(), visits, patients, func(v visit) int { return v.patient })
	if err != nil {
		log.Fatal(err)
	}
	long := dataset.SelectMany(units, 2, func(p dataset.Group[int, visit]) []string {
		minutes := map[string]int{}
		for _, v := range p.Records {
			minutes[v.ward] += v.minutes
		}
		var wards []string
		for _, ward := range []string{"ER", "ICU"} {
			if minutes[ward] > 60 {
				wards = append(wards, ward)
			}
		}
		return wards
	})
	counts, err := dataset.NoisyHistogram(ctx, noise.System(), long, []string{"ER", "ICU"},
		func(ward string) string { return ward }, dataset.Options{Epsilon: quarter})
	if err != nil {
		log.Fatal(err)
	}
	left, err := patients.Left(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(counts.Value), "counts, epsilon", left.Epsilon, "left of", long)
	// Output: 2 counts, epsilon 0.75 left of [private records]
}

// Two sources with a budget each are joined on a key: both pay, by what the join does
// to each.
func ExampleJoin() {
	ctx := context.Background()
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	tenth, err := privacy.ParseEpsilon("0.1")
	if err != nil {
		log.Fatal(err)
	}
	var budgets []*budget.InMemory
	var sources []dataset.Dataset[string]
	for name, towns := range map[string][]string{"doctors": {"Ulm", "Ulm", "Bonn"}, "patients": {"Ulm", "Bonn", "Bonn", "Jena"}} {
		b, err := budget.NewInMemory(name, filter.Budget{Measure: filter.Pure, Epsilon: one})
		if err != nil {
			log.Fatal(err)
		}
		source, err := dataset.New(noise.System(), towns, b)
		if err != nil {
			log.Fatal(err)
		}
		budgets, sources = append(budgets, b), append(sources, source)
	}
	town := func(name string) string { return name }
	both := dataset.Join(sources[0], sources[1], town, town)
	many := dataset.Where(both, func(p dataset.Pair[string, []string, []string]) bool { return len(p.Left)+len(p.Right) > 2 })
	if _, err := dataset.NoisyCount(ctx, noise.System(), many, dataset.Options{Epsilon: tenth}); err != nil {
		log.Fatal(err)
	}
	for _, b := range budgets {
		left, err := b.Left(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("left:", left.Epsilon)
	}
	// Output:
	// left: 0.9
	// left: 0.9
}

// Multisets are combined like sets, and a median is chosen among declared numbers.
func ExampleNoisyMedian() {
	ctx := context.Background()
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: one})
	if err != nil {
		log.Fatal(err)
	}
	var ages []int
	for i := range 10_000 {
		ages = append(ages, 20+i%41)
	}
	all, err := dataset.New(noise.System(), ages, people)
	if err != nil {
		log.Fatal(err)
	}
	young := dataset.Where(all, func(age int) bool { return age < 30 })
	old := dataset.Where(all, func(age int) bool { return age > 50 })
	rest := dataset.Except(all, dataset.Concat(young, old))
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		log.Fatal(err)
	}
	median, err := dataset.NoisyMedian(ctx, noise.System(), rest, func(age int) float64 { return float64(age) },
		dataset.QuantileOptions{Options: dataset.Options{Epsilon: half}, Lower: 0, Upper: 100, Step: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(median.Value)
	// Output: 40
}
