package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type point struct{ x, y float64 }

func nearest(p point, centers []point) int {
	best, least := 0, math.Inf(1)
	for i, c := range centers {
		if d := (p.x-c.x)*(p.x-c.x) + (p.y-c.y)*(p.y-c.y); d < least {
			best, least = i, d
		}
	}
	return best
}

// BenchmarkKMeans is a round of k-means over a million points and ten centers: the
// points divided by the nearest center, each part counted and added up. Reported is the
// time beside that of the same without noise, in one pass, in the same run.
func BenchmarkKMeans(b *testing.B) {
	const n, k = 1_000_000, 10
	points := make([]point, n)
	for i := range points {
		points[i] = point{2*math.Mod(0.618034*float64(i), 1) - 1, 2*math.Mod(0.754878*float64(i), 1) - 1}
	}
	start, keys := make([]point, k), make([]int, k)
	for i := range start {
		start[i], keys[i] = points[i], i
	}
	million, err := privacy.ParseEpsilon("1000000")
	if err != nil {
		b.Fatal(err)
	}
	tenth, err := privacy.ParseEpsilon("0.1")
	if err != nil {
		b.Fatal(err)
	}
	people, err := budget.NewInMemory("people", filter.Budget{Measure: filter.Pure, Epsilon: million})
	if err != nil {
		b.Fatal(err)
	}
	d, err := dataset.New(noise.System(), points, people)
	if err != nil {
		b.Fatal(err)
	}

	plain := func() []point {
		var sums [k]point
		var counts [k]float64
		for _, p := range points {
			i := nearest(p, start)
			counts[i]++
			sums[i].x += p.x
			sums[i].y += p.y
		}
		moved := make([]point, k)
		for i, s := range sums {
			moved[i] = point{s.x / max(1, counts[i]), s.y / max(1, counts[i])}
		}
		return moved
	}
	ctx := context.Background()
	o := dataset.SumOptions{Options: dataset.Options{Epsilon: tenth}, Lower: -1, Upper: 1}
	private := func() []point {
		moved := make([]point, k)
		for i, part := range dataset.Partition(d, keys, func(p point) int { return nearest(p, start) }) {
			n, err := dataset.NoisyCount(ctx, noise.System(), part, o.Options)
			if err != nil {
				b.Fatal(err)
			}
			x, err := dataset.NoisySum(ctx, noise.System(), part, func(p point) float64 { return p.x }, o)
			if err != nil {
				b.Fatal(err)
			}
			y, err := dataset.NoisySum(ctx, noise.System(), part, func(p point) float64 { return p.y }, o)
			if err != nil {
				b.Fatal(err)
			}
			among := max(1, float64(n.Value))
			moved[i] = point{x.Value / among, y.Value / among}
		}
		return moved
	}

	var without, with time.Duration
	for b.Loop() {
		begin := time.Now()
		want := plain()
		middle := time.Now()
		got := private()
		without, with = without+middle.Sub(begin), with+time.Since(middle)
		for i := range want {
			if math.Hypot(got[i].x-want[i].x, got[i].y-want[i].y) > 0.05 {
				b.Fatalf("center %d is at %v with noise, at %v without", i, got[i], want[i])
			}
		}
	}
	b.ReportMetric(float64(without.Milliseconds())/float64(b.N), "plain-ms/op")
	b.ReportMetric(float64(with.Milliseconds())/float64(b.N), "private-ms/op")
	b.ReportMetric(with.Seconds()/without.Seconds(), "ratio")
}
