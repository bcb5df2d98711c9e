// Package bench measures private aggregation of teachers.
package bench

import (
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/learn/scatter"
	"github.com/discreet-dp/discreet/privacy"
)

// What is measured, of Papernot et al. 2018 but for the teachers: 250 of them on 240
// training images of MNIST each, 9,000 test images as public examples without labels of
// which the first are asked about, the last 1,000 test images as the student's test.
const (
	pateTeachers = 250
	patePublic   = 9000
	pateDelta    = 1e-5
	pateSide     = 28
)

// A pateRun says how labels are released. With an epsilon, the run stops where these
// cost so much for any votes; without, all queries are asked.
type pateRun struct {
	name                 string
	sigma, at, testSigma int64
	queries              int
	epsilon              string
}

// BenchmarkPATE trains teachers, releases labels and trains students, once for each
// seed: another assignment of images to teachers, other noise, other initial weights.
//
// Teachers are linear on scattering coefficients, which were learned from nobody. The
// student is a convolutional network on moved images, which labels the rest by itself
// where it is sure, and leaves out released labels that it doubts.
func BenchmarkPATE(b *testing.B) {
	d := loadPATE(b)
	for _, r := range []pateRun{
		{"paper's 640 queries", 40, 200, 150, 640, ""},
		{"confident", 40, 200, 150, 1100, ""},
		{"any votes, epsilon 2", 40, 200, 150, 1100, "2"},
	} {
		b.Run(r.name, func(b *testing.B) {
			for seed := uint64(1); b.Loop(); seed++ {
				r.once(b, d, seed)
			}
		})
	}
}

// A pateData is the images, and their scattering coefficients.
type pateData struct {
	private, public, test *example.Set // images
	features, ideas       *example.Set // coefficients of the private and the public ones
}

func loadPATE(b *testing.B) *pateData {
	folder := os.Getenv("DISCREET_DATA")
	if folder == "" {
		b.Skip("skip: DISCREET_DATA is not set")
	}
	read := func(part string) *example.Set {
		set, _, err := example.IDX(example.IDXOptions{
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
	transform, err := scatter.New(scatter.Options{Height: pateSide, Width: pateSide, Scale: 2})
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range []struct {
		from *example.Set
		to   **example.Set
	}{{d.private, &d.features}, {d.public, &d.ideas}} {
		if *s.to, err = transform.Set(b.Context(), s.from); err != nil {
			b.Fatal(err)
		}
	}
	standardize(d.ideas, d.features, d.ideas)
	return d
}

// standardize brings each feature to mean 0 and variance 1 over the public examples.
func standardize(by *example.Set, sets ...*example.Set) {
	mean, square := make([]float64, by.Width), make([]float64, by.Width)
	n := float64(by.Len())
	for i, x := range by.Features {
		mean[i%by.Width] += float64(x) / n
		square[i%by.Width] += float64(x) * float64(x) / n
	}
	for j := range mean {
		square[j] = 1 / (math.Sqrt(max(0, square[j]-mean[j]*mean[j])) + 1e-3)
	}
	for _, s := range sets {
		for i, x := range s.Features {
			j := i % s.Width
			s.Features[i] = float32((float64(x) - mean[j]) * square[j])
		}
	}
}

// linear is a learner of a linear model of features.
func linear(width int, seed uint64) *pate.Network {
	return &pate.Network{
		Spec:      network.Spec{Input: []int{width}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 3e-4, Decay: 0.1, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}},
		Epochs:    20, Batch: 32, Seed: seed,
	}
}

func (r pateRun) once(b *testing.B, d *pateData, seed uint64) {
	e, err := pate.Train(b.Context(), d.features, pate.EnsembleOptions{Teachers: pateTeachers, Learner: linear(d.features.Width, seed)})
	if err != nil {
		b.Fatal(err)
	}
	votes, err := e.Votes(b.Context(), d.ideas)
	if err != nil {
		b.Fatal(err)
	}
	single, together := 0, 0
	for i, label := range d.ideas.Labels {
		row := votes.Row(i)
		single += int(row[label])
		if row[label] == slices.Max(row) {
			together++
		}
	}
	asked := &analysis.Votes{Classes: votes.Classes, Counts: votes.Counts[:r.queries*votes.Classes]}
	run := r.release(b, asked)
	labels := make([]int32, patePublic)
	right := 0
	for i := range labels {
		if labels[i] = pate.NoLabel; i < run.Asked() {
			labels[i] = run.Labels[i]
		}
		if labels[i] != pate.NoLabel && labels[i] == d.public.Labels[i] {
			right++
		}
	}
	b.Logf("seed %d: one teacher is right in %.2f %%, the most votes in %.2f %%; %d queries asked, %d answered, %d of them right", seed,
		float64(single)/pateTeachers/patePublic*100, float64(together)/patePublic*100, run.Asked(), run.Answered, right)
	r.costs(b, asked, run)
	student := study(b, d, labels, seed)
	b.ReportMetric(student, "%student")
}

// release answers the queries.
func (r pateRun) release(b *testing.B, votes *analysis.Votes) *pate.Run {
	spend := r.epsilon
	if spend == "" {
		spend = "1000"
	}
	eps, err := privacy.ParseEpsilon(spend)
	if err != nil {
		b.Fatal(err)
	}
	delta, err := privacy.DeltaFromFloat(pateDelta)
	if err != nil {
		b.Fatal(err)
	}
	purse, err := budget.NewInMemory("labels", filter.Budget{Measure: filter.RDP, Epsilon: eps, Delta: delta})
	if err != nil {
		b.Fatal(err)
	}
	a, err := pate.NewAggregator(pate.Options{Classes: votes.Classes, Sigma: big.NewRat(r.sigma, 1),
		Threshold: big.NewRat(r.at, 1), ThresholdSigma: big.NewRat(r.testSigma, 1), Budget: purse})
	if err != nil {
		b.Fatal(err)
	}
	run, err := a.Label(b.Context(), votes, nil)
	if err != nil && !errors.Is(err, budget.ErrExceeded) {
		b.Fatal(err)
	}
	return run
}

// costs reports what the released labels cost.
func (r pateRun) costs(b *testing.B, votes *analysis.Votes, run *pate.Run) {
	o := analysis.Options{GNMax: &analysis.GNMax{Sigma: float64(r.sigma)},
		Threshold: &analysis.Threshold{At: float64(r.at), Sigma: float64(r.testSigma)}, Delta: pateDelta}
	for _, label := range run.Labels {
		o.Answered = append(o.Answered, label != pate.NoLabel)
	}
	c, err := analysis.Analyze(&analysis.Votes{Classes: votes.Classes, Counts: votes.Counts[:run.Asked()*votes.Classes]}, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("epsilon at delta %g: for any votes %.2f (%.2f by the tighter conversion), for these %.2f (%.2f)", pateDelta,
		c.Independent.Epsilon, c.Improved.Independent.Epsilon, c.Dependent.Epsilon, c.Improved.Dependent.Epsilon)
	b.ReportMetric(c.Independent.Epsilon, "ε-any-votes")
	b.ReportMetric(c.Dependent.Epsilon, "ε-these-votes")
}

// study trains the student, a convolutional network that sees images moved, and returns
// its accuracy in per cent.
func study(b *testing.B, d *pateData, labels []int32, seed uint64) float64 {
	net := network.Spec{Input: []int{pateSide, pateSide, 1}, Loss: network.CrossEntropy, Layers: []network.Layer{
		{Type: "conv2d", Width: 16, Kernel: []int{5, 5}, Stride: []int{2, 2}, Padding: []int{2, 2}}, {Type: "relu"},
		{Type: "conv2d", Width: 32, Kernel: []int{3, 3}, Stride: []int{2, 2}, Padding: []int{1, 1}}, {Type: "relu"},
		{Type: "flatten"}, {Type: "linear", Width: 64}, {Type: "relu"}, {Type: "linear", Width: 10},
	}}
	learner := &pate.Network{Spec: net, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 2e-3, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}},
		Epochs: 5, Steps: 500, Batch: 32, Seed: seed, Shift: 2, Height: pateSide, Width: pateSide, Workers: 2}
	c, err := (&pate.Pupil{Learner: learner, Rounds: 10, Sure: 0.85, Doubt: 0.2}).Train(b.Context(), d.public, labels)
	if err != nil {
		b.Fatal(err)
	}
	return share(b, c, d.test)
}

func share(b *testing.B, c pate.Classifier, set *example.Set) float64 {
	labels, err := c.Predict(b.Context(), set)
	if err != nil {
		b.Fatal(err)
	}
	right := 0
	for i, l := range labels {
		if l == set.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels)) * 100
}
