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
