// Command mnist trains on MNIST with a guarantee and prints what test accuracy comes of
// it: mean and spread over initial weights.
//
//	DISCREET_DATA=... go run ./bench/learn/mnist --seeds 5
//	DISCREET_DATA=... go run ./bench/learn/mnist --model scatter --seeds 5
//
// The network cnn is the usual small one for private MNIST: two convolutions, tanh, two
// linear layers, 26,000 weights; scatter is one linear layer over scattering
// coefficients. Batches, clips and rates were found on this data set, from those of
// Tramèr and Boneh 2021 (arXiv 2011.11660) on; that search is in no guarantee. Every
// seed is a run of its own with a budget of its own; a figure over several of them is
// not private at their epsilon. Accuracy is on the 10,000 test images, which are in no
// training set.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/scatter"
	"github.com/discreet-dp/discreet/privacy"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func cnn() network.Spec {
	return network.Spec{
		Input: []int{28, 28, 1},
		Layers: []network.Layer{
			{Type: "conv2d", Width: 16, Kernel: []int{8, 8}, Stride: []int{2, 2}, Padding: []int{3, 3}},
			{Type: "tanh"},
			{Type: "maxpool", Kernel: []int{2, 2}, Stride: []int{1, 1}},
			{Type: "conv2d", Width: 32, Kernel: []int{4, 4}, Stride: []int{2, 2}},
			{Type: "tanh"},
			{Type: "maxpool", Kernel: []int{2, 2}, Stride: []int{1, 1}},
			{Type: "flatten"},
			{Type: "linear", Width: 32},
			{Type: "tanh"},
			{Type: "linear", Width: 10},
		},
		Loss: network.CrossEntropy,
	}
}

// linear is of scattering coefficients: 81 channels of 7 × 7.
func linear() network.Spec {
	return network.Spec{Input: []int{81 * 7 * 7}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy}
}

func run() error {
	model := flag.String("model", "cnn", "cnn or scatter")
	epsilon := flag.String("epsilon", "2.93", "the target, at delta 1e-5")
	epochs := flag.Float64("epochs", 0, "steps in terms of the set (50, with scatter 40)")
	batch := flag.Int64("batch", 0, "expected batch (2048, with scatter 8192)")
	rate := flag.Float64("rate", 0, "of descent (2, with scatter 16)")
	clip := flag.Float64("clip", 0.1, "of a gradient's norm")
	kind := flag.String("optimizer", "momentum", "sgd, momentum or adam")
	final := flag.Float64("final", 1, "the rate at the end in terms of that at the start, along a cosine")
	seeds := flag.Int("seeds", 5, "how many initial weights")
	steps := flag.Int("steps", 0, "stop after so many steps, to measure time")
	flag.Parse()
	spec := cnn()
	usual := struct {
		batch        int64
		rate, epochs float64
	}{2048, 2, 50}
	switch *model {
	case "cnn":
	case "scatter":
		spec, usual.batch, usual.rate, usual.epochs = linear(), 8192, 16, 40
	default:
		return fmt.Errorf("no model %q: there are cnn and scatter", *model)
	}
	*batch, *rate, *epochs = cmp.Or(*batch, usual.batch), cmp.Or(*rate, usual.rate), cmp.Or(*epochs, usual.epochs)

	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		return fmt.Errorf("DISCREET_DATA is not set")
	}
	train, err := mnist(data, "train")
	if err != nil {
		return err
	}
	test, err := mnist(data, "t10k")
	if err != nil {
		return err
	}
	if *model == "scatter" {
		if train, test, err = scattered(train, test); err != nil {
			return err
		}
	}
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		return err
	}
	target, err := privacy.ParseEpsilon(*epsilon)
	if err != nil {
		return err
	}
	plan := learn.Plan{
		Population: learn.Population{Units: 60000, Basis: learn.Public}, Batch: *batch,
		Steps: int(*epochs * 60000 / float64(*batch)),
		Clip:  learn.Clip{Norm: *clip}, Noise: learn.Noise{Multiplier: 1},
		Optimizer: optimizer.Spec{Kind: optimizer.Kind(*kind), Rate: *rate},
		Delta:     delta,
	}
	if *final != 1 {
		plan.Optimizer.Schedule = optimizer.Schedule{Shape: optimizer.Cosine, Final: *final}
	}
	if plan, err = plan.Calibrate(target); err != nil {
		return err
	}
	g, err := plan.Guarantee()
	if err != nil {
		return err
	}
	fmt.Printf("%s: epsilon %.4f by pld, %.4f by rdp, at delta 1e-5\n", g.Event, *g.PLD, *g.RDP)
	var sum, squares float64
	for seed := range *seeds {
		accuracy, took, err := one(plan, spec, uint64(seed), train, test, target, *steps)
		if err != nil {
			return err
		}
		fmt.Printf("seed %d: %.2f %% in %v\n", seed, 100*accuracy, took.Round(time.Second))
		sum += accuracy
		squares += accuracy * accuracy
	}
	n := float64(*seeds)
	spread := math.Sqrt(max(0, squares/n-sum*sum/n/n) * n / max(n-1, 1))
	fmt.Printf("mean %.2f %%, standard deviation %.2f %%\n", 100*sum/n, 100*spread)
	return nil
}

// mnist reads the images, with pixels from 0 to 1.
func mnist(data, part string) (*example.Set, error) {
	set, _, err := example.IDX(context.Background(), example.IDXOptions{
		Images:  filepath.Join(data, "mnist", part+"-images-idx3-ubyte.gz"),
		Labels:  filepath.Join(data, "mnist", part+"-labels-idx1-ubyte.gz"),
		Classes: 10, Unit: true,
	})
	return set, err
}

// scattered are the features of the images, each example's normalized by itself.
func scattered(train, test *example.Set) (_, _ *example.Set, err error) {
	transform, err := scatter.New(scatter.Options{Height: 28, Width: 28, Groups: 27})
	if err != nil {
		return nil, nil, err
	}
	begin := time.Now()
	for _, s := range []**example.Set{&train, &test} {
		if *s, err = transform.Set(context.Background(), *s); err != nil {
			return nil, nil, err
		}
	}
	fmt.Printf("features of %d images in %v\n", train.Len()+test.Len(), time.Since(begin).Round(time.Second))
	return train, test, nil
}

func one(plan learn.Plan, spec network.Spec, seed uint64, train, test *example.Set, epsilon privacy.Epsilon, stop int) (accuracy float64, took time.Duration, err error) {
	ctx := context.Background()
	pays, err := budget.NewInMemory("benchmark", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: plan.Delta})
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	r, err := learn.Start(ctx, learn.Options{
		Plan: plan, Network: spec, Seed: seed, Data: train, Budget: pays, Statement: "MNIST",
		Progress: func(p learn.Progress) {
			for _, w := range p.Warnings {
				fmt.Printf("step %d: %s\n", p.Step, w)
			}
			if p.Step%500 == 0 || p.Step == stop {
				f := p.Owner
				fmt.Printf("step %d of %d: loss %.3f, clipped %.2f, signal/noise %.3f, %v a step\n", p.Step, p.Steps, f.Loss, f.Clipped, f.SignalToNoise,
					(time.Since(begin) / time.Duration(p.Step)).Round(time.Microsecond))
			}
		},
	})
	if err != nil {
		return 0, 0, err
	}
	if seed == 0 {
		fmt.Printf("limits: %+v\n", r.Limit())
	}
	for !r.Finished() && (stop == 0 || r.Done() < stop) {
		if err := r.Step(ctx); err != nil {
			return 0, 0, err
		}
	}
	took = time.Since(begin)
	rows := make([]int, test.Len())
	for i := range rows {
		rows[i] = i
	}
	s, err := r.Network().NewPass(network.PassOptions{}).Losses(test, rows, make([]float64, len(rows)))
	return float64(s.Correct) / float64(s.Labels), took, err
}
