// Package pinq holds programs over package dataset, as McSherry 2009 has them.
package pinq

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type point struct{ x, y float64 }

// KMeans moves centers in so many rounds: 3ε each.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:requires rounds >= 0
//dp:cost 3 * float64(rounds) * epsilon
func KMeans(ctx context.Context, d dataset.Dataset[point], centers []point, rounds int, epsilon privacy.Epsilon) ([]point, error) {
	for range rounds {
		moved, err := Step(ctx, d, centers, epsilon)
		if err != nil {
			return nil, err
		}
		centers = moved
	}
	return centers, nil
}

// Step moves each center to the middle of the points that are nearest to it.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost 3 * epsilon
func Step(ctx context.Context, d dataset.Dataset[point], centers []point, epsilon privacy.Epsilon) ([]point, error) {
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

// StepCheap claims what two of its three questions cost.
//
// want: rejected: 3\*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 2 * epsilon
func StepCheap(ctx context.Context, d dataset.Dataset[point], centers []point, epsilon privacy.Epsilon) ([]point, error) {
	return Step(ctx, d, centers, epsilon)
}

// Cdf counts below each edge.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost float64(len(edges)) * epsilon
func Cdf(ctx context.Context, d dataset.Dataset[float64], edges []float64, epsilon privacy.Epsilon) ([]int64, error) {
	var counts []int64
	for _, edge := range edges {
		below := dataset.Where(d, func(x float64) bool { return x < edge })
		n, err := dataset.NoisyCount(ctx, noise.System(), below, dataset.Options{Epsilon: epsilon})
		if err != nil {
			return nil, err
		}
		counts = append(counts, n.Value)
	}
	return counts, nil
}

// Histogram is one question.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Histogram(ctx context.Context, d dataset.Dataset[int], keys []int, epsilon privacy.Epsilon) ([]int64, error) {
	h, err := dataset.NoisyHistogram(ctx, noise.System(), d, keys, func(x int) int { return x / 10 }, dataset.Options{Epsilon: epsilon})
	return h.Value, err
}

// Tree counts the nodes of a tree over 16 intervals, each half by half: five levels.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost 5 * epsilon
func Tree(ctx context.Context, d dataset.Dataset[float64], epsilon privacy.Epsilon) ([]int64, error) {
	return descend(ctx, d, 0, 16, dataset.Options{Epsilon: epsilon}, 0)
}

func descend(ctx context.Context, d dataset.Dataset[float64], from, to int, o dataset.Options, before int64) ([]int64, error) {
	middle := (from + to) / 2
	halves := dataset.Partition(d, []bool{true, false}, func(x float64) bool { return x < float64(middle) })
	lower := halves[0]
	if to-from == 1 {
		lower = d
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), lower, o)
	if err != nil {
		return nil, err
	}
	if to-from == 1 {
		return []int64{before + n.Value}, nil
	}
	left, err := descend(ctx, halves[0], from, middle, o, before)
	if err != nil {
		return nil, err
	}
	right, err := descend(ctx, halves[1], middle, to, o, before+n.Value)
	if err != nil {
		return nil, err
	}
	return append(left, right...), nil
}

// Parts differ in price: the most costly counts.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost 3 * epsilon
func Parts(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, error) {
	o := dataset.Options{Epsilon: epsilon}
	parts := dataset.Partition(d, []int{0, 1}, func(x int) int { return x % 2 })
	total := int64(0)
	for range 3 {
		n, err := dataset.NoisyCount(ctx, noise.System(), parts[0], o)
		if err != nil {
			return 0, err
		}
		total += n.Value
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), parts[1], o)
	return total + n.Value, err
}

// PartTwice asks one part twice, by an index that is not known.
//
// want: rejected: 2\*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func PartTwice(ctx context.Context, d dataset.Dataset[int], keys []int, i, j int, epsilon privacy.Epsilon) (int64, error) {
	o := dataset.Options{Epsilon: epsilon}
	parts := dataset.Partition(d, keys, func(x int) int { return x })
	n, err := dataset.NoisyCount(ctx, noise.System(), parts[i], o)
	if err != nil {
		return 0, err
	}
	m, err := dataset.NoisyCount(ctx, noise.System(), parts[j], o)
	return n.Value + m.Value, err
}

// Gaussian noise, in zCDP.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:cost zcdp(2 * rho)
func Gaussian(ctx context.Context, d dataset.Dataset[point], rho privacy.Rho) (float64, error) {
	o := dataset.SumOptions{Options: dataset.Options{Rho: rho}, Lower: 0, Upper: 1}
	x, err := dataset.NoisySum(ctx, noise.System(), d, func(p point) float64 { return p.x }, o)
	if err != nil {
		return 0, err
	}
	y, err := dataset.NoisySum(ctx, noise.System(), d, func(p point) float64 { return p.y }, o)
	return x.Value + y.Value, err
}

// Leak leaves a record in a variable.
//
// want: rejected: literal writes to
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Leak(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int, error) {
	seen := 0
	_, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool {
		seen = x
		return true
	}), dataset.Options{Epsilon: epsilon})
	return seen, err
}

// Groups is the stability of operators: a record that comes or goes replaces a group.
//
// want: accepted
//
//dp:adjacent bag(d) <= 1
//dp:sensitivity d = 6
func Groups(d dataset.Dataset[int]) dataset.Dataset[int] {
	groups := dataset.GroupBy(dataset.Where(d, func(x int) bool { return x > 0 }), func(x int) int { return x % 7 })
	return dataset.SelectMany(groups, 3, func(g dataset.Group[int, int]) []int { return g.Records })
}

// GroupsCheap forgets that one group is removed and another added.
//
// want: rejected: at most 6
//
//dp:adjacent bag(d) <= 1
//dp:sensitivity d = 3
func GroupsCheap(d dataset.Dataset[int]) dataset.Dataset[int] { return Groups(d) }

// Joined has two sides.
//
// want: accepted
//
//dp:adjacent bag(a) <= 1
//dp:adjacent bag(b) <= 1
//dp:sensitivity a = 10, b = 4
func Joined(a, b dataset.Dataset[int]) dataset.Dataset[dataset.Pair[int, int, int]] {
	key := func(x int) int { return x }
	return dataset.BoundedJoin(a, b, key, key, dataset.JoinBound{Left: 2, Right: 5})
}
