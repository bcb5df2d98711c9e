package learn

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// inspect watches a trainer for some steps and says what of DP-SGD it breaks. An honest
// one is accused with probability below 1e-9: 300 units' counts at 1e-12 each, and mean
// squares of normals whose tolerance is that of TestNoise.
func inspect(t *testing.T, plant func(*trainer)) (wrong []string) {
	t.Helper()
	const rounds, n = 300, 300
	p := small()
	p.Population.Units, p.Batch, p.Steps = n, 30, rounds
	p.Optimizer.Rate = 1e-3
	set := circles(n, 1)
	// Two units alike but for their labels, far out: one of the gradients is long,
	// whichever way the network goes.
	for i := range 2 {
		set.Features[2*i], set.Features[2*i+1] = 400, 400
		set.Labels[i] = int32(i)
	}
	tr := makeTrainer(t, p, set, mlp(16))
	plant(tr)
	var w witness
	tr.watch(&w)
	in, sizes, drawn := make([]int, n), map[int]int{}, 0
	squares, count := map[string]float64{}, map[string]int{}
	var cross, total float64
	var last []float32
	for range rounds {
		before := slices.Clone(tr.net.Parameters())
		if _, err := tr.step(); err != nil {
			t.Fatal(err)
		}
		for _, r := range w.rows {
			in[r]++
		}
		sizes[len(w.rows)]++
		drawn += len(w.rows)
		added := make([]float32, len(w.noisy))
		for i := range added {
			added[i] = w.noisy[i] - w.clipped[i]
		}
		for _, b := range tr.net.Blocks() {
			for i := b.From; i < b.To; i++ {
				squares[b.Name] += float64(added[i]) * float64(added[i])
				count[b.Name]++
				if last != nil {
					cross += float64(added[i]) * float64(last[i])
					total++
				}
			}
		}
		last = added
		for i, x := range tr.net.Parameters() {
			if want := float32(float64(before[i]) - 1e-3*float64(w.noisy[i])/30); math.Abs(float64(x-want)) > 1e-6 {
				wrong = append(wrong, "the denominator is not the expected batch")
				break
			}
		}
		// The one or the other in or out of this very step.
		for unit := range 2 {
			with, without := make([]float32, len(w.noisy)), make([]float32, len(w.noisy))
			others := slices.DeleteFunc(slices.Clone(w.rows), func(r int) bool { return r == unit })
			for sum, rows := range map[*[]float32][]int{&with: append(slices.Clone(others), unit), &without: others} {
				tr.below = make([]bool, len(rows))
				if _, err := tr.stages.add(rows, 1, *sum); err != nil {
					t.Fatal(err)
				}
			}
			for i := range with {
				with[i] -= without[i]
			}
			if norm(with) > w.sigma {
				wrong = append(wrong, "a unit moves the sum by more than its clip")
			}
		}
	}
	for u := range in {
		if deviates(in[u], rounds, 0.1) {
			wrong = append(wrong, "units are not sampled at the rate")
		}
	}
	if deviates(drawn, rounds*n, 0.1) {
		wrong = append(wrong, "units are not sampled at the rate")
	}
	if len(sizes) == 1 {
		wrong = append(wrong, "samples have one size")
	}
	for name, s := range squares {
		if v := s / float64(count[name]) / (w.sigma * w.sigma); w.sigma < 1 || math.Abs(v-1) > math.Sqrt(8*28/float64(count[name])) {
			wrong = append(wrong, "noise is missing in "+name)
		}
	}
	if math.Abs(cross/total)/(w.sigma*w.sigma) > math.Sqrt(8*28/total) {
		wrong = append(wrong, "noise is used again")
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// Trainers that are broken in the ways that are known from elsewhere are found out, each
// by what it breaks; the one that is shipped is not.
func TestPlantedFaultsFall(t *testing.T) {
	if wrong := inspect(t, func(*trainer) {}); wrong != nil {
		t.Fatalf("the trainer: %q", wrong)
	}
	for name, c := range map[string]struct {
		plant func(*trainer)
		want  string
	}{
		"no noise on one layer": {func(tr *trainer) {
			blur, b := tr.stages.blur, tr.net.Blocks()[1]
			tr.stages.blur = func(sum []float32, sigma float64) error {
				kept := slices.Clone(sum[b.From:b.To])
				err := blur(sum, sigma)
				copy(sum[b.From:b.To], kept)
				return err
			}
		}, "noise is missing in 2 linear"},
		"half the noise": {func(tr *trainer) {
			blur := tr.stages.blur
			tr.stages.blur = func(sum []float32, sigma float64) error { return blur(sum, sigma/2) }
		}, "noise is missing in 0 linear"},
		"noise reused": {func(tr *trainer) {
			blur := tr.stages.blur
			var kept []float32
			tr.stages.blur = func(sum []float32, sigma float64) error {
				if kept == nil {
					kept = make([]float32, len(sum))
					if err := blur(kept, sigma); err != nil {
						return err
					}
				}
				for i, x := range kept {
					sum[i] += x
				}
				return nil
			}
		}, "noise is used again"},
		"clipped after the sum": {func(tr *trainer) {
			tr.stages.add = func(rows []int, clip float64, sum []float32) (network.Statistics, error) {
				s, err := tr.pass.Gradient(tr.set, rows, sum)
				f := float32(min(1, clip*float64(len(rows))/norm(sum)))
				for i := range sum {
					sum[i] *= f
				}
				return s, err
			}
		}, "a unit moves the sum by more than its clip"},
		"clipped by batches": {func(tr *trainer) { // microbatches: the mean of ten is clipped, and counts ten
			tr.stages.add = func(rows []int, clip float64, sum []float32) (s network.Statistics, err error) {
				part := make([]float32, len(sum))
				for i := 0; i < len(rows); i += 10 {
					if s, err = tr.pass.Gradient(tr.set, rows[i:min(i+10, len(rows))], part); err != nil {
						return s, err
					}
					f := float32(min(10, 10*clip/norm(part)))
					for j := range sum {
						sum[j] += f * part[j]
					}
				}
				return s, nil
			}
		}, "a unit moves the sum by more than its clip"},
		"divided by the sample": {func(tr *trainer) {
			load := tr.stages.load
			tr.stages.load = func(rows []int, weights []float64) ([]int, []float64, error) {
				rows, weights, err := load(rows, weights)
				tr.stages.denominator = float64(max(len(rows), 1))
				return rows, weights, err
			}
		}, "the denominator is not the expected batch"},
		"fixed batches": {func(tr *trainer) {
			at := 0
			tr.stages.load = func(rows []int, weights []float64) ([]int, []float64, error) {
				for range 30 {
					rows, weights = append(rows, at%300), append(weights, 1)
					at++
				}
				return rows, weights, nil
			}
		}, "samples have one size"},
		"another rate": {func(tr *trainer) {
			p := tr.plan
			p.Batch *= 2
			tr.stages.load = must(newLoader(tr.set, p, noise.System())).load
		}, "units are not sampled at the rate"},
	} {
		wrong := inspect(t, c.plant)
		if !slices.Contains(wrong, c.want) {
			t.Errorf("%s: found %q, not %q", name, wrong, c.want)
		}
	}
}
