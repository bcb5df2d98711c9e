package classic

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/bayes"
	"github.com/discreet-dp/discreet/learn/convex"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/feature"
	"github.com/discreet-dp/discreet/learn/ftrl"
	"github.com/discreet-dp/discreet/learn/kmeans"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/pca"
	"github.com/discreet-dp/discreet/learn/tree"
	"github.com/discreet-dp/discreet/noise"
)

// runs is how many of each there are, each with noise of its own.
const runs = 5

// A learner is trained under a guarantee and measured on the test set.
type learner struct {
	name string
	pure bool
	run  func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64
}

// measure runs learners at ε of 1/2, 1, 4 and 10,000, with δ = 1e-5 or none, and reports means and
// standard deviations.
func measure(b *testing.B, e *example.Encoding, learners []learner) {
	train, test := data(b, e)
	for _, l := range learners {
		for _, eps := range []float64{0.5, 1, 4, 10_000} {
			name := fmt.Sprintf("%s/delta=1e-5/epsilon=%v", l.name, eps)
			c := cost.Options{Epsilon: epsilon(b, eps), Delta: delta(b, 1e-5)}
			if l.pure {
				name = fmt.Sprintf("%s/delta=0/epsilon=%v", l.name, eps)
				c = cost.Options{Epsilon: epsilon(b, eps)}
			}
			b.Run(name, func(b *testing.B) {
				for range b.N {
					results := make([]float64, runs)
					for i := range results {
						results[i] = l.run(b, c, e, train, test)
					}
					mean, deviation := moments(results)
					b.ReportMetric(100*mean, "%")
					b.ReportMetric(100*deviation, "±%")
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*runs), "s/run")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// moments are mean and standard deviation.
func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(deviation)
}

// linear is a learner of package convex; all have the defaults.
func linear(method convex.Method, pure bool) learner {
	return learner{method.String(), pure, func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
		o := convex.Options{Options: c, Method: method, Norm: norm(e)}
		if e.Target.Values == nil {
			o.Lower, o.Upper = -1, 1
		}
		m, err := convex.Train(b.Context(), noise.System(), purse(b, filter.Approx), train, o)
		if err != nil {
			b.Fatal(err)
		}
		if train.Classes == 0 {
			return explained(test, m.Value)
		}
		return accuracy(test, m.Class)
	}}
}

// trees are of package tree, with the defaults.
func trees(t testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
	m, err := tree.Train(t.Context(), noise.System(), purse(t, filter.Approx), train, tree.Options{Options: c, Features: feature.Of(e)})
	if err != nil {
		t.Fatal(err)
	}
	return accuracy(test, m.Class)
}

// What is promised of Adult: 84 % at ε = 1. Trees have 85.5 % with a standard deviation of
// 0.1 %, so that noise alone fails this with probability far below 1e-9.
func TestAdult(t *testing.T) {
	e := adult(8)
	train, test := data(t, e)
	c := cost.Options{Epsilon: epsilon(t, 1), Delta: delta(t, 1e-5)}
	if got := trees(t, c, e, train, test); got < 0.84 {
		t.Errorf("accuracy %v", got)
	}
}

// BenchmarkAdult is the accuracy on the test part of Adult of what learned from the other:
// whether somebody earns more than 50,000 dollars. The larger class has 76.4 %.
func BenchmarkAdult(b *testing.B) {
	naive := func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
		m, err := bayes.Train(b.Context(), noise.System(), purse(b, filter.Approx), train, bayes.Options{Options: c, Features: feature.Of(e), Cuts: 16})
		if err != nil {
			b.Fatal(err)
		}
		return accuracy(test, m.Class)
	}
	leader := func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
		net, err := network.New(network.Spec{Input: []int{train.Width}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic})
		if err != nil {
			b.Fatal(err)
		}
		_, err = ftrl.Train(b.Context(), noise.System(), purse(b, filter.Approx), net, train, ftrl.Options{Options: c, Rate: 0.3, Momentum: 0.9, Steps: 64, Passes: 2})
		if err != nil {
			b.Fatal(err)
		}
		return accuracy(test, func(x []float32) int {
			one := &example.Set{Width: len(x), Features: x, Classes: 2, Outputs: 1, Labels: []int32{0}}
			var out [1]float32
			if err := net.NewPass(network.PassOptions{Batch: 1, Workers: 1}).Outputs(one, []int{0}, out[:]); err != nil {
				b.Fatal(err)
			}
			if out[0] > 0 {
				return 1
			}
			return 0
		})
	}
	measure(b, adult(8), []learner{
		linear(convex.Output, true), linear(convex.Output, false),
		linear(convex.Objective, true), linear(convex.Objective, false),
		linear(convex.Gradient, false),
		{"trees", true, trees}, {"trees", false, trees},
		{"naive Bayes", true, naive}, {"naive Bayes", false, naive},
		{"DP-FTRL", false, leader},
	})
}

// BenchmarkAdultAge is linear regression: how much of the variance of age the other
// columns explain.
func BenchmarkAdultAge(b *testing.B) {
	e := adult(0)
	age := e.Columns[0]
	e.Columns, e.Target = e.Columns[1:], &age
	measure(b, e, []learner{
		linear(convex.Output, true), linear(convex.Output, false),
		linear(convex.Objective, true), linear(convex.Objective, false),
		linear(convex.Gradient, false),
		linear(convex.Statistics, true), linear(convex.Statistics, false),
	})
}

// explained is R².
func explained(s *example.Set, value func([]float32) float64) float64 {
	mean, total, left := 0.0, 0.0, 0.0
	for _, y := range s.Targets {
		mean += float64(y) / float64(len(s.Targets))
	}
	for i, y := range s.Targets {
		d := value(s.Features[i*s.Width:(i+1)*s.Width]) - float64(y)
		left += d * d
		total += (float64(y) - mean) * (float64(y) - mean)
	}
	return 1 - left/total
}

// BenchmarkAdultUnlabelled is what is found without labels: the variance of the test part
// that five components explain, and how much less eight centers leave of the
// squared distances than one.
func BenchmarkAdultUnlabelled(b *testing.B) {
	components := func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
		m, err := pca.Train(b.Context(), noise.System(), purse(b, filter.Approx), train, pca.Options{Options: c, Components: 5, Norm: norm(e), Center: true})
		if err != nil {
			b.Fatal(err)
		}
		kept, total := 0.0, 0.0
		mean := average(test)
		at := m.Project(mean)
		for i := range test.Len() {
			x := test.Features[i*test.Width : (i+1)*test.Width]
			for k, p := range m.Project(x) {
				kept += (p - at[k]) * (p - at[k])
			}
			total += distance(x, mean)
		}
		return kept / total
	}
	clusters := func(b testing.TB, c cost.Options, e *example.Encoding, train, test *example.Set) float64 {
		m, err := kmeans.Train(b.Context(), noise.System(), purse(b, filter.Approx), train, kmeans.Options{Options: c, Clusters: 8, Norm: norm(e)})
		if err != nil {
			b.Fatal(err)
		}
		left, total := 0.0, 0.0
		mean := average(test)
		for i := range test.Len() {
			x := test.Features[i*test.Width : (i+1)*test.Width]
			center := make([]float32, len(x))
			for j, v := range m.Centers[m.Cluster(x)] {
				center[j] = float32(v)
			}
			left += distance(x, center)
			total += distance(x, mean)
		}
		return 1 - left/total
	}
	measure(b, adult(0), []learner{
		{"components", true, components}, {"components", false, components},
		{"clusters", true, clusters}, {"clusters", false, clusters},
	})
}

func average(s *example.Set) []float32 {
	mean := make([]float32, s.Width)
	for i, x := range s.Features {
		mean[i%s.Width] += x / float32(s.Len())
	}
	return mean
}

func distance(x, y []float32) (d float64) {
	for j := range x {
		d += float64(x[j]-y[j]) * float64(x[j]-y[j])
	}
	return d
}
