// Package leakage_test measures how much attacks find out of models of MNIST, and how
// long an audit with a thousand canaries takes. RESULTS.md has what was measured.
package leakage_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // written here
	}
	return x
}

// trained makes a run of a plan, paid for by a budget of the plan's own, of which
// nothing is released.
func trained(ctx context.Context, plan learn.Plan, epsilon privacy.Epsilon, spec network.Spec, set *example.Set, seed uint64, workers int) (*learn.Run, error) {
	b, err := budget.NewInMemory("bench", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: plan.Delta})
	if err != nil {
		return nil, err
	}
	return learn.Start(ctx, learn.Options{Plan: plan, Network: spec, Data: set, Budget: b, Statement: "bench", Seed: seed, Workers: workers})
}

// BenchmarkLiRA attacks networks that learn 500 of 1000 digits by heart, and their twins
// of epsilon 4: 4 targets and 16 shadow models each.
func BenchmarkLiRA(b *testing.B) {
	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		b.Skip("skip: DISCREET_DATA is not set")
	}
	set, _, err := example.IDX(context.Background(), example.IDXOptions{
		Images: filepath.Join(data, "mnist", "t10k-images-idx3-ubyte.gz"), Labels: filepath.Join(data, "mnist", "t10k-labels-idx1-ubyte.gz"),
		Shape: []int{28, 28}, Classes: 10,
	})
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]int, 1000)
	for i := range rows {
		rows[i] = i
	}
	set = set.Pick(rows)
	set.Units = nil
	spec := network.Spec{Input: []int{784}, Layers: []network.Layer{{Type: "linear", Width: 64}, {Type: "relu"}, {Type: "linear", Width: 10}}, Loss: network.CrossEntropy}
	epsilon := must(privacy.ParseEpsilon("4"))
	plan := must(learn.Plan{
		Population: learn.Population{Units: 500, Basis: learn.Public}, Batch: 100, Steps: 100, Clip: learn.Clip{Norm: 1},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.003}, Delta: must(privacy.ParseDelta("1e-5")),
	}.Calibrate(epsilon))
	var seeds atomic.Uint64
	for name, learner := range map[string]leakage.Learner{
		"plain": &leakage.Plain{Spec: spec, Set: set, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.002}, Batch: 50, Epochs: 30},
		"epsilon=4": leakage.LearnerFunc(func(ctx context.Context, rows []int) (leakage.Scorer, error) {
			run, err := trained(ctx, plan, must(privacy.ParseEpsilon("4.001")), spec, set.Pick(rows), seeds.Add(1), 1)
			if err != nil {
				return nil, err
			}
			return leakage.NewScorer(run.Network(), set), run.Train(ctx)
		}),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				g, err := leakage.Play(b.Context(), learner, learner, leakage.GameOptions{Examples: set.Len(), Shadows: 16, Targets: 4})
				if err != nil {
					b.Fatal(err)
				}
				for _, attack := range leakage.Attacks {
					roc, err := g.ROC(attack)
					if err != nil {
						b.Fatal(err)
					}
					r, err := roc.Report(attack, 0.95)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(100*r.Rates[0].TPR, attack+"-%at0.1%")
					b.ReportMetric(100*r.Rates[1].TPR, attack+"-%at1%")
					b.ReportMetric(r.AUC, attack+"-AUC")
				}
				bound, err := g.OneRun("lira-online", 0, leakage.GuessOptions{Guesses: 200, Delta: 1e-5})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(bound.Epsilon, "epsilon-proved")
			}
		})
	}
}

// BenchmarkOneRun audits a run of DP-SGD with a thousand canaries: 1000 steps, all shown.
func BenchmarkOneRun(b *testing.B) {
	const canaries = 1000
	set := leakage.Dirac(canaries)
	spec := network.Spec{Input: []int{canaries}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Squared}
	plan := learn.Plan{
		Population: learn.Population{Units: canaries, Basis: learn.Public}, Batch: 100, Steps: 1000, Clip: learn.Clip{Norm: 1},
		Noise: learn.Noise{Multiplier: 2}, Optimizer: optimizer.Spec{Rate: 1}, Delta: must(privacy.ParseDelta("1e-5")),
	}
	trainer := leakage.TrainerFunc(func(ctx context.Context, set *example.Set, rows []int, see func([]float32)) error {
		run, err := trained(ctx, plan, must(privacy.ParseEpsilon("100")), spec, set.Pick(rows), 1, 0)
		if err != nil {
			return err
		}
		for see(run.Network().Parameters()); !run.Finished(); see(run.Network().Parameters()) {
			if err := run.Step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	for b.Loop() {
		net := must(network.New(spec))
		o, err := leakage.NewGradientObserver(net, set, 0)
		if err != nil {
			b.Fatal(err)
		}
		r, err := leakage.OneRun(b.Context(), trainer, set, 0, o, nil, leakage.GuessOptions{Delta: 1e-5})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.Epsilon, "epsilon-proved")
		b.ReportMetric(float64(r.Correct)/float64(r.Guesses), "guessed")
		g, err := plan.Guarantee()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(g.Epsilon, "epsilon-claimed")
	}
}
