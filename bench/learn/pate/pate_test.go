// Package bench measures private aggregation of teachers.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/privacy"
)

// What is measured, of Papernot et al. 2018 but for the learners: 250 teachers on 240
// training images of MNIST each, 9,000 test images as public examples without labels, of
// which some are asked about, the last 1,000 test images as the student's test.
//
// How it was chosen: features by teachers on training images that these had not; learning
// by students on 10,000 training images, which students had not seen, but of which
// teachers had parts. The test's noise and the number of queries were compared with a look
// at how many answers about public images were right as well, so at the labels of these.
// The last 1,000 test images decided nothing. Steps are as few as a busy machine allowed.
const (
	pateTeachers = 250
	patePublic   = 9000
	pateDelta    = 1e-5
	pateSide     = 28
	pateSeeds    = 5
)

// A pateRun says how labels are released. With an epsilon, the run stops where these
// cost so much for any votes; without, all queries are asked.
type pateRun struct {
	name                 string
	sigma, at, testSigma int64
	queries              int
	epsilon              string
}

// BenchmarkPATE trains encoders, teachers and students, once for each of five seeds:
// another assignment of images to teachers, other queries, other noise, other weights,
// other distortions.
//
// Teachers are linear on features that an encoder learned from the public images alone.
// Asked is about those in the middle of clusters by these features. The student is the
// encoder and a layer more, which learn from the released labels, and, of other public
// images, from what they are sure of themselves.
func BenchmarkPATE(b *testing.B) {
	d := loadPATE(b)
	for _, r := range []pateRun{
		{"sharper test", 40, 200, 100, 800, ""},
		{"paper's noise", 40, 200, 150, 1000, ""},
		{"any votes, epsilon 2", 40, 200, 150, 400, "2"},
	} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				r.seeds(b, d)
			}
		})
	}
}

// seeds reports the mean and the spread over seeds, which run beside each other.
func (r pateRun) seeds(b *testing.B, d *pateData) {
	results, errs := make([]pateResult, pateSeeds), make([]error, pateSeeds)
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range pateSeeds {
		group.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			results[i], errs[i] = r.once(b, d, uint64(i+1))
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	for _, m := range []struct {
		name string
		of   func(pateResult) float64
	}{
		{"%student", func(r pateResult) float64 { return r.student }},
		{"answered", func(r pateResult) float64 { return r.answered }},
		{"right", func(r pateResult) float64 { return r.right }},
		{"ε-any-votes", func(r pateResult) float64 { return r.cost.Independent.Epsilon }},
		{"ε-any-votes-improved", func(r pateResult) float64 { return r.cost.Improved.Independent.Epsilon }},
		{"ε-these-votes", func(r pateResult) float64 { return r.cost.Dependent.Epsilon }},
		{"ε-these-votes-improved", func(r pateResult) float64 { return r.cost.Improved.Dependent.Epsilon }},
	} {
		mean, deviation := 0.0, 0.0
		for _, one := range results {
			mean += m.of(one) / pateSeeds
		}
		for _, one := range results {
			deviation += (m.of(one) - mean) * (m.of(one) - mean) / (pateSeeds - 1)
		}
		b.Logf("%s: %.2f ± %.2f", m.name, mean, math.Sqrt(deviation))
		b.ReportMetric(mean, m.name)
	}
}

// A pateData is the images.
type pateData struct{ private, public, test *example.Set }

func loadPATE(b *testing.B) *pateData {
	folder := os.Getenv("DISCREET_DATA")
	if folder == "" {
		b.Skip("skip: DISCREET_DATA is not set")
	}
	read := func(part string) *example.Set {
		set, _, err := example.IDX(context.Background(), example.IDXOptions{
			Images: filepath.Join(folder, "mnist", part+"-images-idx3-ubyte.gz"),
			Labels: filepath.Join(folder, "mnist", part+"-labels-idx1-ubyte.gz"), Shape: []int{pateSide, pateSide}, Unit: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		return set
	}
	d := &pateData{private: read("train")}
	rest := read("t10k")
	var rows []int
	for i := range rest.Len() {
		rows = append(rows, i)
	}
	d.public, d.test = rest.Pick(rows[:patePublic]), rest.Pick(rows[patePublic:])
	return d
}

// body is the network whose outputs are features.
func body() network.Spec {
	return network.Spec{Input: []int{pateSide, pateSide, 1}, Loss: network.CrossEntropy, Layers: []network.Layer{
		{Type: "conv2d", Width: 16, Kernel: []int{5, 5}, Stride: []int{2, 2}, Padding: []int{2, 2}}, {Type: "relu"},
		{Type: "conv2d", Width: 32, Kernel: []int{3, 3}, Stride: []int{2, 2}, Padding: []int{1, 1}}, {Type: "relu"},
		{Type: "flatten"}, {Type: "linear", Width: 128},
	}}
}

// hardly and much are how far digits are distorted.
func hardly() pate.Distortion {
	return pate.Distortion{Height: pateSide, Width: pateSide, Shift: 1.5, Turn: 7, Stretch: 0.07, Slant: 0.07}
}

func much() pate.Distortion {
	return pate.Distortion{Height: pateSide, Width: pateSide, Shift: 3, Turn: 20, Stretch: 0.2, Slant: 0.2, Bend: 2, Erase: 8}
}

func adam(rate float64) optimizer.Spec {
	return optimizer.Spec{Kind: optimizer.Adam, Rate: rate, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}}
}

// A pateResult is of one seed.
type pateResult struct {
	student, answered, right float64
	cost                     *analysis.Result
}

// once does all for one seed.
func (r pateRun) once(b *testing.B, d *pateData, seed uint64) (result pateResult, err error) {
	ctx := b.Context()
	encoder, err := pate.NewEncoder(ctx, d.public, pate.EncoderOptions{Clusters: 200, Rounds: 3,
		Network: pate.Network{Spec: body(), Optimizer: adam(2e-3), Steps: 450, Batch: 128, Distortion: much(), Seed: seed}})
	if err != nil {
		return result, err
	}
	private, err := encoder.Set(ctx, d.private)
	if err != nil {
		return result, err
	}
	public, err := encoder.Set(ctx, d.public)
	if err != nil {
		return result, err
	}
	e, err := pate.Train(ctx, private, pate.EnsembleOptions{Teachers: pateTeachers, Workers: 1, Learner: &pate.Network{
		Spec:      network.Spec{Input: []int{private.Width}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy},
		Optimizer: adam(3e-2), Epochs: 30, Batch: 32, Seed: seed}})
	if err != nil {
		return result, err
	}
	votes, err := e.Votes(ctx, public)
	if err != nil {
		return result, err
	}
	single, together := 0, 0
	for i, label := range public.Labels {
		row := votes.Row(i)
		single += int(row[label])
		if row[label] == slices.Max(row) {
			together++
		}
	}
	queries, err := pate.Representatives(ctx, public, r.queries, seed)
	if err != nil {
		return result, err
	}
	run, err := r.release(ctx, votes.Rows(queries))
	if err != nil {
		return result, err
	}
	queries = queries[:run.Asked()]
	labels := slices.Repeat([]int32{pate.NoLabel}, patePublic)
	for i, l := range run.Labels {
		labels[queries[i]] = l
		if l == d.public.Labels[queries[i]] {
			result.right++
		}
	}
	result.answered = float64(run.Answered)
	if result.cost, err = r.cost(votes.Rows(queries), run); err != nil {
		return result, err
	}
	if result.student, err = study(ctx, d, encoder, labels, seed); err != nil {
		return result, err
	}
	b.Logf("seed %d: one teacher is right in %.2f %%, the most votes in %.2f %%; asked %d, answered %d, right %v; epsilon for any votes %.2f (%.2f by the tighter conversion), for these %.2f (%.2f); student %.2f %%",
		seed, float64(single)/pateTeachers/patePublic*100, float64(together)/patePublic*100, run.Asked(), run.Answered, result.right,
		result.cost.Independent.Epsilon, result.cost.Improved.Independent.Epsilon, result.cost.Dependent.Epsilon, result.cost.Improved.Dependent.Epsilon, result.student)
	return result, nil
}

// release answers the queries.
func (r pateRun) release(ctx context.Context, votes *analysis.Votes) (*pate.Run, error) {
	spend := r.epsilon
	if spend == "" {
		spend = "1000"
	}
	eps, err := privacy.ParseEpsilon(spend)
	if err != nil {
		return nil, err
	}
	delta, err := privacy.DeltaFromFloat(pateDelta)
	if err != nil {
		return nil, err
	}
	purse, err := budget.NewInMemory("labels", filter.Budget{Measure: filter.RDP, Epsilon: eps, Delta: delta})
	if err != nil {
		return nil, err
	}
	a, err := pate.NewAggregator(pate.Options{Classes: votes.Classes, Sigma: big.NewRat(r.sigma, 1),
		Threshold: big.NewRat(r.at, 1), ThresholdSigma: big.NewRat(r.testSigma, 1), Budget: purse})
	if err != nil {
		return nil, err
	}
	run, err := a.Label(ctx, votes, nil)
	if err != nil && !errors.Is(err, budget.ErrExceeded) {
		return nil, err
	}
	return run, nil
}

// cost is that of the released labels.
func (r pateRun) cost(votes *analysis.Votes, run *pate.Run) (*analysis.Result, error) {
	o := analysis.Options{GNMax: &analysis.GNMax{Sigma: float64(r.sigma)},
		Threshold: &analysis.Threshold{At: float64(r.at), Sigma: float64(r.testSigma)}, Delta: pateDelta}
	for _, label := range run.Labels {
		o.Answered = append(o.Answered, label != pate.NoLabel)
	}
	return analysis.Analyze(votes, o)
}

// study trains the student, and returns its accuracy in per cent.
func study(ctx context.Context, d *pateData, encoder *pate.Encoder, labels []int32, seed uint64) (float64, error) {
	net := body()
	net.Layers = append(net.Layers, network.Layer{Type: "relu"}, network.Layer{Type: "linear", Width: 10})
	pupil := &pate.Pupil{Learner: &pate.Consistent{Spec: net, Start: encoder, Optimizer: adam(1e-3), Steps: 800, Batch: 32,
		Weak: hardly(), Strong: much(), Doubt: 0.1, Seed: seed}}
	student, err := pupil.Train(ctx, d.public, labels)
	if err != nil {
		return 0, err
	}
	named, err := student.Predict(ctx, d.test)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, l := range named {
		if l == d.test.Labels[i] {
			right++
		}
	}
	if len(named) == 0 {
		return 0, fmt.Errorf("no image tests the student")
	}
	return float64(right) / float64(len(named)) * 100, nil
}
