package learn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/bayes"
	"github.com/discreet-dp/discreet/learn/convex"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/ftrl"
	"github.com/discreet-dp/discreet/learn/internal/learntest"
	"github.com/discreet-dp/discreet/learn/kmeans"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pca"
	"github.com/discreet-dp/discreet/learn/tree"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// learners are all that learn from private examples: each trains on a set and returns
// the numbers that it releases.
func learners(classes int) map[string]func(*testing.T, *example.Set) (any, error) {
	loss, outputs := network.Squared, 1
	switch {
	case classes == 2:
		loss = network.Logistic
	case classes > 2:
		loss, outputs = network.CrossEntropy, classes
	}
	spec := network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 3}, {Type: "tanh"}, {Type: "linear", Width: outputs}}, Loss: loss}
	features := []feature.Feature{{Name: "a", At: 0, Lower: -1, Upper: 1}, {Name: "b", At: 1, Lower: -1, Upper: 1}}
	purse := func(t *testing.T) *budget.InMemory { return learntest.Purse(t, filter.Approx, privacy.AddRemove) }
	all := map[string]func(*testing.T, *example.Set) (any, error){
		"tree": func(t *testing.T, s *example.Set) (any, error) {
			return tree.Train(t.Context(), noise.System(), purse(t), s, tree.Options{Options: learntest.Approx(t, "1", "1e-6"), Features: features, Lower: -1, Upper: 1, Rounds: 2})
		},
		"kmeans": func(t *testing.T, s *example.Set) (any, error) {
			return kmeans.Train(t.Context(), noise.System(), purse(t), s, kmeans.Options{Options: learntest.Approx(t, "1", "1e-6"), Clusters: 3, Norm: 1})
		},
		"pca": func(t *testing.T, s *example.Set) (any, error) {
			return pca.Train(t.Context(), noise.System(), purse(t), s, pca.Options{Options: learntest.Approx(t, "1", "1e-6"), Components: 2, Norm: 1, Center: true})
		},
		"ftrl": func(t *testing.T, s *example.Set) (any, error) {
			net, err := network.New(spec)
			if err != nil {
				return nil, err
			}
			net.Initialize(1)
			return ftrl.Train(t.Context(), noise.System(), purse(t), net, s, ftrl.Options{Options: learntest.Approx(t, "1", "1e-6"), Rate: 0.1, Steps: 4})
		},
		"dp-sgd": func(t *testing.T, s *example.Set) (any, error) {
			run, err := learn.Start(t.Context(), learn.Options{Network: spec, Data: s, Budget: purse(t), Plan: learn.Plan{
				Population: learn.Population{Units: 40, Basis: learn.Declared}, Batch: 20, Steps: 5, Clip: learn.Clip{Norm: 1},
				Noise: learn.Noise{Multiplier: 1}, Optimizer: optimizer.Spec{Rate: 0.1}, Delta: learntest.Delta(t, "1e-6")}})
			if err != nil {
				return nil, err
			}
			return run.Network().Parameters(), run.Train(t.Context())
		},
		"count": func(t *testing.T, s *example.Set) (any, error) {
			return learn.CountUnits(t.Context(), purse(t), s, learn.Units{}, learntest.Epsilon(t, "1"))
		},
	}
	for _, m := range []convex.Method{convex.Output, convex.Objective, convex.Gradient, convex.Statistics} {
		if m == convex.Statistics && classes > 0 {
			continue
		}
		all[m.String()] = func(t *testing.T, s *example.Set) (any, error) {
			return convex.Train(t.Context(), noise.System(), purse(t), s, convex.Options{Options: learntest.Approx(t, "1", "1e-6"), Method: m, Norm: 1, Lower: -1, Upper: 1, Steps: 3, Regularization: 1})
		}
	}
	if classes > 0 {
		all["bayes"] = func(t *testing.T, s *example.Set) (any, error) {
			return bayes.Train(t.Context(), noise.System(), purse(t), s, bayes.Options{Options: learntest.Approx(t, "1", "1e-6"), Features: features})
		}
	}
	if classes > 2 {
		all["pate"] = func(t *testing.T, s *example.Set) (any, error) {
			e, err := pate.Train(t.Context(), s, pate.EnsembleOptions{Teachers: 3, Learner: &pate.Network{Spec: spec, Epochs: 2, Optimizer: optimizer.Spec{Kind: optimizer.SGD, Rate: 0.1}}})
			if err != nil {
				return nil, err
			}
			return e.Votes(t.Context(), s)
		}
	}
	return all
}

// Nothing in the data makes a learner fail, or what it releases no number: labels that
// are none of the classes, features and targets that are not finite, are tiny or are as
// large as there are; all of them, some of them, or none at all.
func TestNothingInTheDataIsAnError(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	odd := []float32{nan, inf, -inf, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), 1e30}
	none := []int32{-1, math.MinInt32, 2, 3, 7, math.MaxInt32}
	for _, classes := range []int{0, 2, 3} {
		set := func(good int, hostile bool) *example.Set {
			s := &example.Set{Width: 2, Outputs: 1, Classes: classes}
			add := func(a, b float32, label int32, target float32) {
				s.Features = append(s.Features, a, b)
				if classes > 0 {
					s.Labels = append(s.Labels, label)
				} else {
					s.Targets = append(s.Targets, target)
				}
			}
			for i := range good {
				add(float32(i%7)/7, float32(i%5)/5, int32(i%max(classes, 1)), float32(i%3)-1)
			}
			if hostile {
				for i, x := range odd {
					add(x, 0.5, int32(i%2), 0.5)
					add(0.5, x, int32(i%2), x)
					add(x, odd[(i+1)%len(odd)], none[i%len(none)], odd[(i+3)%len(odd)])
				}
				for _, l := range none {
					add(0.5, 0.5, l, 1)
				}
			}
			return s
		}
		for name, train := range learners(classes) {
			t.Run(fmt.Sprintf("%s/%d classes", name, classes), func(t *testing.T) {
				t.Parallel()
				for _, s := range []*example.Set{set(40, true), set(0, true), set(0, false)} {
					made, err := train(t, s)
					if err != nil {
						t.Fatalf("%d examples: %v", s.Len(), err)
					}
					if _, err := json.Marshal(made); err != nil { // as it would of NaN
						t.Errorf("%d examples: what is released: %v", s.Len(), err)
					}
				}
			})
		}
	}
}
