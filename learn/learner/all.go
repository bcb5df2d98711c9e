package learner

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/learn/bayes"
	"github.com/discreet-dp/discreet/learn/convex"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/ftrl"
	"github.com/discreet-dp/discreet/learn/kmeans"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/pca"
	"github.com/discreet-dp/discreet/learn/tree"
)

// All returns the learners. To add one, add it here.
func All() []Learner {
	all := []Learner{
		{
			Model: "tree", Kind: "tree", Predicts: Either, Pure: true,
			About:    "a sum of small trees, a curve for each column",
			Settings: []string{"rounds", "rate"},
			plan: func(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
				// Targets are scaled to [-1, 1].
				r, err := tree.Plan(b, f.Set, tree.Options{Options: o, Features: f.Features, Lower: -1, Upper: 1, Rounds: s.Rounds, Rate: s.Rate})
				return planned(r, err, func(m *tree.Model) (Model, error) { return trees{m}, nil })
			},
			read: func(data []byte, f Form) (Model, error) {
				m := trees{&tree.Model{}}
				if err := decode(data, m.Model); err != nil {
					return nil, err
				}
				return m, fits(m.Check(f.Set.Width, f.Set.Classes))
			},
		},
		{
			Model: "bayes", Kind: "bayes", Predicts: Classes, Pure: true,
			About: "naive Bayes, of noisy histograms",
			plan: func(b budget.Budget, f Form, _ Settings, o cost.Options) (Run, error) {
				r, err := bayes.Plan(b, f.Set, bayes.Options{Options: o, Features: f.Features, Cuts: 16})
				return planned(r, err, func(m *bayes.Model) (Model, error) { return naive{m}, nil })
			},
			read: func(data []byte, f Form) (Model, error) {
				m := naive{&bayes.Model{}}
				if err := decode(data, m.Model); err != nil {
					return nil, err
				}
				return m, fits(m.Check(f.Set.Width, f.Set.Classes))
			},
		},
		{
			Model: "kmeans", Kind: "kmeans", Predicts: Nothing,
			About:    "centers of clusters",
			Settings: []string{"clusters", "rounds"},
			plan: func(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
				options := kmeans.Options{Options: o, Clusters: either(s.Clusters, 8), Norm: f.Norm, Rounds: s.Rounds}
				options.Lower, options.Upper = bounds(f)
				r, err := kmeans.Plan(b, f.Set, options)
				return planned(r, err, func(m *kmeans.Model) (Model, error) { return clusters{m}, nil })
			},
			read: func(data []byte, f Form) (Model, error) {
				m := clusters{&kmeans.Model{}}
				if err := decode(data, m.Model); err != nil {
					return nil, err
				}
				return m, fits(m.Check(f.Set.Width))
			},
		},
		{
			Model: "pca", Kind: "pca", Predicts: Nothing,
			About:    "principal components",
			Settings: []string{"components"},
			plan: func(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
				r, err := pca.Plan(b, f.Set, pca.Options{Options: o, Components: either(s.Components, min(5, f.Set.Width)), Norm: f.Norm, Center: true})
				return planned(r, err, func(m *pca.Model) (Model, error) { return components{m}, nil })
			},
			read: func(data []byte, f Form) (Model, error) {
				m := components{&pca.Model{}}
				if err := decode(data, m.Model); err != nil {
					return nil, err
				}
				return m, fits(m.Check(f.Set.Width))
			},
		},
	}
	for _, to := range []struct {
		model    string
		predicts Predicts
	}{{"logistic", Classes}, {"linear", Number}} {
		all = append(all,
			perturbation(to.model, to.predicts, convex.Objective, "objective", "a linear model: the minimum of a noisy objective", "regularization"),
			perturbation(to.model, to.predicts, convex.Output, "output", "a linear model: the minimum, with noise", "regularization"),
			perturbation(to.model, to.predicts, convex.Gradient, "gradient", "a linear model: descent along noisy gradients", "regularization", "steps"))
	}
	all = append(all, perturbation("linear", Number, convex.Statistics, "statistics", "a linear model: least squares of noisy moments", "regularization"))
	for _, model := range []string{"logistic", "linear", "mlp", "cnn", "scatter"} {
		all = append(all, leader(model))
	}
	return all
}

func either(x, other int) int {
	if x != 0 {
		return x
	}
	return other
}

// perturbation is a linear model by a method of package convex.
func perturbation(model string, predicts Predicts, method convex.Method, name, about string, settings ...string) Learner {
	return Learner{
		Model: model, Method: name, Kind: "convex", Predicts: predicts, Lines: true, About: about, Settings: settings,
		Pure: method == convex.Objective || method == convex.Output, Point: method == convex.Objective,
		plan: func(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
			r, err := convex.Plan(b, f.Set, convex.Options{Options: o, Method: method, Norm: f.Norm, Lower: -1, Upper: 1,
				Regularization: s.Regularization, Examples: s.Examples, Steps: s.Steps})
			return planned(r, err, func(m *convex.Model) (Model, error) { return linear{m}, nil })
		},
		read: func(data []byte, f Form) (Model, error) {
			m := linear{&convex.Model{}}
			if err := decode(data, m.Model); err != nil {
				return nil, err
			}
			return m, fits(m.Check(f.Set.Width, f.Set.Classes))
		},
	}
}

// leader is a network by DP-FTRL.
func leader(model string) Learner {
	return Learner{
		Model: model, Method: "dp-ftrl", Kind: "ftrl", Predicts: Either, Lines: true,
		About:    "a network that follows the regularized leader, in passes over the data",
		Settings: []string{"steps", "rounds", "rate", "clip", "initial"},
		plan: func(b budget.Budget, f Form, s Settings, o cost.Options) (Run, error) {
			net, err := network.New(f.Network)
			if err != nil {
				return nil, err
			}
			net.Initialize(s.Seed)
			rate := s.Rate
			if rate == 0 {
				rate = 0.3
			}
			r, err := ftrl.Plan(b, net, f.Set, ftrl.Options{Options: o, Clip: s.Clip, Steps: s.Steps, Passes: either(s.Rounds, 2),
				Rate: rate, Momentum: 0.9, Examples: s.Examples})
			return planned(r, err, newNet)
		},
		read: func(data []byte, f Form) (Model, error) {
			m := &ftrl.Model{}
			if err := decode(data, m); err != nil {
				return nil, err
			}
			n, err := newNet(m)
			if err != nil {
				return nil, fits(err)
			}
			return n, fits(n.(*net).net.Fits(f.Set))
		},
	}
}

// trees predict.
type trees struct{ *tree.Model }

func (m trees) Outputs(x, to []float32) { narrow(m.Scores(x), to) }
func (trees) Names() []string           { return nil }

// linear models predict. Several of them, one of a class against the rest each, are
// taken for what they say by themselves.
type linear struct{ *convex.Model }

func (m linear) Outputs(x, to []float32) {
	scores := m.Scores(x)
	if len(scores) > 1 {
		for k, s := range scores {
			scores[k] = -math.Log1p(math.Exp(-s))
			if s < -30 { // where e^-s may overflow, and 1 beside it is nothing
				scores[k] = s
			}
		}
	}
	narrow(scores, to)
}

func (linear) Names() []string { return nil }

// naive Bayes classifiers predict.
type naive struct{ *bayes.Model }

func (m naive) Outputs(x, to []float32) {
	scores := m.Scores(x)
	if len(scores) == 2 {
		scores = []float64{scores[1] - scores[0]}
	}
	narrow(scores, to)
}

func (naive) Names() []string { return nil }

// clusters tell the nearest center.
type clusters struct{ *kmeans.Model }

func (m clusters) Outputs(x, to []float32) { to[0] = float32(m.Cluster(x)) }
func (clusters) Names() []string           { return []string{"cluster"} }

// components are told of an example.
type components struct{ *pca.Model }

func (m components) Outputs(x, to []float32) { narrow(m.Project(x), to) }

func (m components) Names() (names []string) {
	for i := range m.Components {
		names = append(names, fmt.Sprint("component ", i+1))
	}
	return names
}

func narrow(from []float64, to []float32) {
	for i, x := range from {
		to[i] = float32(x)
	}
}

// bounds are those of each number of an example by its features; nil where nothing is
// known of them.
func bounds(f Form) (lower, upper []float64) {
	if len(f.Features) == 0 {
		return nil, nil
	}
	lower, upper = make([]float64, f.Set.Width), make([]float64, f.Set.Width)
	for j := range upper {
		upper[j] = 1 // the indicator of a category, of a bin, or of a missing value
	}
	for _, one := range f.Features {
		if one.Values == 0 {
			lower[one.At], upper[one.At] = one.Lower, one.Upper
		}
	}
	return lower, upper
}
