// Command pate measures private aggregation of teachers on MNIST, as in Papernot et al.
// 2018: 250 teachers on 240 training images each, 9,000 test images as public examples
// without labels, the last 1,000 of the test images as the student's test.
//
// Teachers are linear on scattering coefficients, which were learned from nobody; so is
// the first student, which labels what it is sure of, and a convolutional one learns
// from these on shifted images. A seed is another assignment of images to teachers,
// other noise, other initial weights.
//
//	DISCREET_DATA=... go run ./bench/learn/pate -seeds 5
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

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

var (
	seeds    = flag.Int("seeds", 1, "runs")
	queries  = flag.Int("queries", 640, "public examples that are asked about")
	teachers = flag.Int("teachers", 250, "teachers")
	sigma    = flag.Int64("sigma", 40, "noise on votes")
	at       = flag.Int64("threshold", 200, "votes that an answer needs")
	test     = flag.Int64("sigma-threshold", 150, "noise on these")
	epsilon  = flag.String("epsilon", "0", "if above 0: stop when labels have cost so much for any votes, at delta 1e-5")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	delta  = 1e-5
	public = 9000
	side   = 28
)

// data are the images, and their scattering coefficients.
type data struct {
	private, public, test    *example.Set // images
	features, ideas, answers *example.Set // their coefficients, in the same order
}

func load(ctx context.Context) (*data, error) {
	folder := os.Getenv("DISCREET_DATA")
	if folder == "" {
		return nil, errors.New("DISCREET_DATA is not set")
	}
	read := func(part string) (*example.Set, error) {
		set, _, err := example.IDX(example.IDXOptions{
			Images: filepath.Join(folder, "mnist", part+"-images-idx3-ubyte.gz"),
			Labels: filepath.Join(folder, "mnist", part+"-labels-idx1-ubyte.gz"), Shape: []int{side, side}, Unit: true,
		})
		return set, err
	}
	d := &data{}
	var err error
	if d.private, err = read("train"); err != nil {
		return nil, err
	}
	rest, err := read("t10k")
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range rest.Len() {
		rows = append(rows, i)
	}
	d.public, d.test = rest.Pick(rows[:public]), rest.Pick(rows[public:])
	transform, err := scatter.New(scatter.Options{Height: side, Width: side, Scale: 2})
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		from *example.Set
		to   **example.Set
	}{{d.private, &d.features}, {d.public, &d.ideas}, {d.test, &d.answers}} {
		if *s.to, err = transform.Set(ctx, s.from); err != nil {
			return nil, err
		}
	}
	scale(d.ideas, d.features, d.ideas, d.answers)
	return d, nil
}

// scale brings each feature to mean 0 and variance 1 over the public examples.
func scale(by *example.Set, sets ...*example.Set) {
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

func run(ctx context.Context) error {
	start := time.Now()
	d, err := load(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("scattering: %.0f s\n", time.Since(start).Seconds())
	var students []float64
	for seed := range *seeds {
		accuracy, err := once(ctx, d, uint64(seed)+1)
		if err != nil {
			return err
		}
		students = append(students, accuracy)
	}
	mean, spread := 0.0, 0.0
	for _, a := range students {
		mean += a / float64(len(students))
	}
	for _, a := range students {
		spread += (a - mean) * (a - mean) / float64(max(len(students)-1, 1))
	}
	fmt.Printf("student: mean %.2f %%, standard deviation %.2f, least %.2f, over %d seeds\n", mean, math.Sqrt(spread), slices.Min(students), len(students))
	return nil
}

// linear is a learner of a linear model of features.
func linear(width int, seed uint64) *pate.Network {
	return &pate.Network{
		Spec:      network.Spec{Input: []int{width}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 3e-4, Decay: 0.1, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}},
		Epochs:    20, Batch: 32, Seed: seed,
	}
}

func once(ctx context.Context, d *data, seed uint64) (float64, error) {
	start := time.Now()
	e, err := pate.Train(ctx, d.features, pate.EnsembleOptions{Teachers: *teachers, Learner: linear(d.features.Width, seed)})
	if err != nil {
		return 0, err
	}
	votes, err := e.Votes(ctx, d.ideas)
	if err != nil {
		return 0, err
	}
	single, together := 0, 0
	for i, label := range d.ideas.Labels {
		row := votes.Row(i)
		single += int(row[label])
		if int(row[label]) == int(slices.Max(row)) {
			together++
		}
	}
	fmt.Printf("seed %d: %d teachers in %.0f s: one alone %.2f %%, together %.2f %%\n", seed, *teachers, time.Since(start).Seconds(),
		float64(single)/float64(*teachers*public)*100, float64(together)/public*100)

	asked := &analysis.Votes{Classes: votes.Classes, Counts: votes.Counts[:*queries*votes.Classes]}
	run, err := release(ctx, asked)
	if err != nil {
		return 0, err
	}
	labels := make([]int32, public)
	for i := range labels {
		labels[i] = pate.NoLabel
	}
	right := 0
	for i, label := range run.Labels {
		if labels[i] = label; label != pate.NoLabel && label == d.public.Labels[i] {
			right++
		}
	}
	if err := costs(asked, run); err != nil {
		return 0, err
	}
	fmt.Printf("seed %d: %d asked, %d answered, %d of them right\n", seed, run.Asked(), run.Answered, right)
	return study(ctx, d, labels, seed)
}

// release answers the queries, under a budget if one is given.
func release(ctx context.Context, votes *analysis.Votes) (*pate.Run, error) {
	spend := *epsilon
	if spend == "0" {
		spend = "100"
	}
	eps, err := privacy.ParseEpsilon(spend)
	if err != nil {
		return nil, err
	}
	d, err := privacy.DeltaFromFloat(delta)
	if err != nil {
		return nil, err
	}
	purse, err := budget.NewInMemory("labels", filter.Budget{Measure: filter.RDP, Epsilon: eps, Delta: d})
	if err != nil {
		return nil, err
	}
	a, err := pate.NewAggregator(pate.Options{Classes: votes.Classes, Sigma: big.NewRat(*sigma, 1),
		Threshold: big.NewRat(*at, 1), ThresholdSigma: big.NewRat(*test, 1), Budget: purse})
	if err != nil {
		return nil, err
	}
	run, err := a.Label(ctx, votes, nil)
	if errors.Is(err, budget.ErrExceeded) {
		err = nil
	}
	return run, err
}

// costs prints what the released labels cost.
func costs(votes *analysis.Votes, run *pate.Run) error {
	o := analysis.Options{GNMax: &analysis.GNMax{Sigma: float64(*sigma)},
		Threshold: &analysis.Threshold{At: float64(*at), Sigma: float64(*test)}, Delta: delta}
	for _, label := range run.Labels {
		o.Answered = append(o.Answered, label != pate.NoLabel)
	}
	r, err := analysis.Analyze(&analysis.Votes{Classes: votes.Classes, Counts: votes.Counts[:run.Asked()*votes.Classes]}, o)
	if err != nil {
		return err
	}
	fmt.Printf("epsilon at delta %g: for any votes %.2f (%.2f by the tighter conversion), for these %.2f (%.2f)\n", delta,
		r.Independent.Epsilon, r.Improved.Independent.Epsilon, r.Dependent.Epsilon, r.Improved.Dependent.Epsilon)
	return nil
}

// study trains the students and returns the accuracy of the last, in per cent.
func study(ctx context.Context, d *data, labels []int32, seed uint64) (float64, error) {
	start := time.Now()
	first := &pate.Pupil{Learner: linear(d.ideas.Width, seed), Rounds: 5, Sure: 0.9}
	c, err := first.Train(ctx, d.ideas, labels)
	if err != nil {
		return 0, err
	}
	accuracy, err := score(ctx, c, d.answers)
	if err != nil {
		return 0, err
	}
	fmt.Printf("seed %d: student of coefficients %.2f %%, %.0f s\n", seed, accuracy, time.Since(start).Seconds())
	own, err := c.Predict(ctx, d.ideas)
	if err != nil {
		return 0, err
	}
	// All that the first student says teaches the second, which sees it on moved images.
	net := pate.ImageNetwork(side, side, 10)
	net.Layers = append(net.Layers[:len(net.Layers)-1], network.Layer{Type: "linear", Width: 64}, network.Layer{Type: "relu"}, network.Layer{Type: "linear", Width: 10})
	second := &pate.Network{Spec: net, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 2e-3, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}},
		Epochs: 12, Batch: 64, Seed: seed, Shift: 2, Height: side, Width: side, Workers: 2}
	taught := *d.public
	taught.Labels = own
	if c, err = second.Train(ctx, &taught); err != nil {
		return 0, err
	}
	if accuracy, err = score(ctx, c, d.test); err != nil {
		return 0, err
	}
	fmt.Printf("seed %d: student of images %.2f %%, %.0f s\n", seed, accuracy, time.Since(start).Seconds())
	return accuracy, nil
}

func score(ctx context.Context, c pate.Classifier, set *example.Set) (float64, error) {
	labels, err := c.Predict(ctx, set)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, l := range labels {
		if l == set.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels)) * 100, nil
}
