package learn

import (
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// Steps of 784-256-10 at a batch of 256, side by side: descent without privacy, and the
// plan's steps, with sampling from 60,000, noise and figures.
func BenchmarkStep(b *testing.B) {
	const n = 60_000
	set := &example.Set{Width: 784, Classes: 10, Outputs: 1, Features: make([]float32, n*784), Labels: make([]int32, n)}
	for i := range set.Features {
		set.Features[i] = float32(i*2654435761%1009)/504 - 1
	}
	for i := range set.Labels {
		set.Labels[i] = int32(i % 10)
	}
	spec := network.Spec{Input: []int{784}, Layers: []network.Layer{{Type: "linear", Width: 256}, {Type: "relu"}, {Type: "linear", Width: 10}}, Loss: network.CrossEntropy}
	p := mnist()
	p.Batch, p.Steps = 256, 1e6
	p.Optimizer.Rate = 0.01
	b.Run("plain", func(b *testing.B) {
		tr := makeTrainer(b, p, set, spec)
		descent := must(optimizer.New(p.Optimizer, len(tr.sum), p.Steps))
		at := 0
		for b.Loop() {
			rows := make([]int, 256)
			for i := range rows {
				rows[i] = (at + i*101) % n
			}
			at += 7
			if _, err := tr.pass.Gradient(set, rows, tr.sum); err != nil {
				b.Fatal(err)
			}
			descent.StepMean(tr.net.Parameters(), tr.sum, 256)
		}
	})
	for _, sampler := range []Sampler{Fast, Exact} {
		b.Run(string(sampler), func(b *testing.B) {
			p.Noise.Sampler = sampler
			tr := makeTrainer(b, p, set, spec)
			for b.Loop() {
				if _, err := tr.step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("without-noise", func(b *testing.B) {
		tr := makeTrainer(b, p, set, spec)
		tr.stages.blur = func([]float32, float64) error { return nil }
		for b.Loop() {
			if _, err := tr.step(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
