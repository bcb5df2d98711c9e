package pate

import (
	"context"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
)

// crosses are images of 4×4 in which one of two strokes stands, with a dim one beside.
func crosses(n int) *example.Set {
	s := &example.Set{Width: 16, Classes: 2, Outputs: 1, Features: make([]float32, 16*n), Labels: make([]int32, n)}
	for i := range n {
		class := i % 2
		s.Labels[i] = int32(class)
		for k := range 4 {
			at := k*4 + 1 + i/2%2 // upright
			if class == 1 {
				at = (1+i/2%2)*4 + k
			}
			s.Features[i*16+at] = 1 - 0.1*float32(i%5)
		}
	}
	return s
}

func stroke(seed uint64) *Network {
	return &Network{Spec: network.Spec{Input: []int{16}, Layers: []network.Layer{{Type: "linear", Width: 8}, {Type: "relu"}, {Type: "linear", Width: 2}}, Loss: network.CrossEntropy},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Epochs: 60, Batch: 4, Seed: seed}
}

func accuracy(t *testing.T, c Classifier, set *example.Set) float64 {
	t.Helper()
	labels, err := c.Predict(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, l := range labels {
		if l == set.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}

// From private examples to a student, by released labels alone.
func TestTeachersTeach(t *testing.T) {
	e, err := Train(t.Context(), crosses(400), EnsembleOptions{Teachers: 20, Learner: stroke(1)})
	if err != nil {
		t.Fatal(err)
	}
	public := crosses(60)
	v, err := e.Votes(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	some := &analysis.Votes{Classes: 2, Counts: v.Counts[:2*20]}
	run, err := aggregator(t, withPurse(t, Options{Classes: 2, Sigma: big.NewRat(2, 1)})).Label(t.Context(), some, nil)
	if err != nil {
		t.Fatal(err)
	}
	labels := append(run.Labels, slices.Repeat([]int32{NoLabel}, 40)...)
	var seen []int
	pupil := &Pupil{Learner: stroke(2), Rounds: 2, Progress: func(_, n int) { seen = append(seen, n) }}
	student, err := pupil.Train(t.Context(), public, labels)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, student, crosses(200)); a < 0.9 {
		t.Errorf("the student is right in %g", a)
	}
	if len(seen) != 3 || seen[0] != 20 || seen[2] <= 20 {
		t.Errorf("rounds of %v examples", seen)
	}
}

// A student sees released labels and nothing else: not the public set's own, and those
// released never change.
func TestStudentSeesReleasedLabelsOnly(t *testing.T) {
	public := crosses(40)
	labels := make([]int32, 40)
	for i := range labels {
		labels[i] = NoLabel
		if i < 10 {
			labels[i] = 1 - public.Labels[i] // all wrong
		}
	}
	var sets [][]int32
	spy := spying{stroke(3), func(s *example.Set) { sets = append(sets, slices.Clone(s.Labels)) }}
	c, err := (&Pupil{Learner: spy, Rounds: 2, Sure: 0.6}).Train(t.Context(), public, labels)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, c, public); a > 0.2 {
		t.Errorf("taught the wrong classes, right in %g", a)
	}
	for round, s := range sets {
		if !slices.Equal(s[:10], labels[:10]) {
			t.Errorf("round %d: released labels changed", round)
		}
		if round == 0 && slices.Max(s[10:]) != NoLabel {
			t.Error("the first round has labels that nobody released")
		}
	}
}

type spying struct {
	Learner
	see func(*example.Set)
}

func (s spying) Train(ctx context.Context, set *example.Set) (Classifier, error) {
	s.see(set)
	return s.Learner.Train(ctx, set)
}

// A released label that the student doubts is left out of the next round, and asked of
// nobody: here one of twelve is wrong.
func TestStudentDoubts(t *testing.T) {
	public := crosses(40)
	labels := slices.Clone(public.Labels)
	for i := 12; i < 40; i++ {
		labels[i] = NoLabel
	}
	labels[5] = 1 - labels[5]
	var sets [][]int32
	few := stroke(4)
	few.Epochs, few.Optimizer.Rate = 15, 0.01
	spy := spying{few, func(s *example.Set) { sets = append(sets, slices.Clone(s.Labels)) }}
	if _, err := (&Pupil{Learner: spy, Rounds: 1, Sure: 0.9, Doubt: 0.45}).Train(t.Context(), public, labels); err != nil {
		t.Fatal(err)
	}
	if sets[1][5] == labels[5] {
		t.Error("a wrong label is not doubted")
	}
}

func TestStudentRefusals(t *testing.T) {
	public := crosses(4)
	labels := []int32{0, 1, NoLabel, NoLabel}
	for name, test := range map[string]struct {
		p      *Pupil
		labels []int32
	}{
		"labels of another set":   {&Pupil{Learner: stroke(1)}, labels[:3]},
		"no learner":              {&Pupil{}, labels},
		"no labels":               {&Pupil{Learner: stroke(1)}, []int32{NoLabel, NoLabel, NoLabel, NoLabel}},
		"rounds without a scorer": {&Pupil{Learner: majority{}, Rounds: 1}, labels},
	} {
		if _, err := test.p.Train(t.Context(), public, test.labels); err == nil {
			t.Errorf("%s: trained", name)
		}
	}
	bad := stroke(1)
	bad.Distortion = Distortion{Shift: 1, Height: 3, Width: 3}
	if _, err := bad.Train(t.Context(), public); err == nil {
		t.Error("images of another size are shifted")
	}
}

// A training is a function of its set and its seed.
func TestNetworkIsReproducible(t *testing.T) {
	moving := stroke(7)
	moving.Distortion = Distortion{Shift: 1, Height: 4, Width: 4}
	var outs [][]float32
	for range 2 {
		c, err := moving.Train(t.Context(), crosses(30))
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.(Scorer).Probabilities(t.Context(), crosses(10))
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, p)
	}
	if !slices.Equal(outs[0], outs[1]) {
		t.Error("two trainings differ")
	}
	for i := range 10 {
		if sum := outs[0][2*i] + outs[0][2*i+1]; math.Abs(float64(sum)-1) > 1e-6 {
			t.Errorf("probabilities add up to %g", sum)
		}
	}
}

// What is written is read back, and a row is never a label.
func TestLabelsFile(t *testing.T) {
	var b strings.Builder
	w := NewLabelsWriter(&b)
	for i, l := range []int32{3, NoLabel, 0} {
		if err := w.Write(i, l); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != "row,label\n0,3\n2,0\n" {
		t.Errorf("%q", b.String())
	}
	labels, err := ReadLabels(strings.NewReader(b.String()), 4)
	if err != nil || !slices.Equal(labels, []int32{3, NoLabel, 0, NoLabel}) {
		t.Errorf("%v, %v", labels, err)
	}
	for text, want := range map[string]string{
		"":                         "line 1: there are no labels: want the header row,label",
		"0,3\n":                    "line 1: want the header row,label: without it nobody knows which is which",
		"label,row\n":              "line 1: want the header row,label: without it nobody knows which is which",
		"row,label\n3\n":           "line 2: want a row and a label, as 17,3",
		"row,label\n4,1\n":         "line 2: there is no row 4 of 4",
		"row,label\n1,1\n1,1\n":    "line 3: row 1 has a label already",
		"row,label\n-1,1\n":        "line 2: want a row and a label, as 17,3",
		"row,label\n1,-1\n":        "line 2: want a row and a label, as 17,3",
		"row,label\n1,99999999999": "line 2: want a row and a label, as 17,3",
	} {
		if _, err := ReadLabels(strings.NewReader(text), 4); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Classes that have names are written by them, whatever stands in a name, and read back.
func TestNamedLabels(t *testing.T) {
	classes := []string{"low", "a, b", "say \"no\"", "two\nlines", ""}
	var b strings.Builder
	w := NewLabelsWriter(&b)
	w.Classes = classes
	labels := []int32{4, 1, NoLabel, 3, 2, 0}
	for i, l := range labels {
		if err := w.Write(i, l); err != nil {
			t.Fatal(err)
		}
	}
	if want := "row,label\n0,\n1,\"a, b\"\n3,\"two\nlines\"\n4,\"say \"\"no\"\"\"\n5,low\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	if got, err := ReadLabels(strings.NewReader(b.String()), 6, classes...); err != nil || !slices.Equal(got, labels) {
		t.Errorf("%v, %v", got, err)
	}
	answered, err := ReadAnswered(strings.NewReader(b.String()), 6)
	if err != nil || !slices.Equal(answered, []bool{true, true, false, true, true, true}) {
		t.Errorf("%v, %v", answered, err)
	}
	for text, want := range map[string]string{
		"row,label\n0,high\n":   `line 2: "high" is none of the 5 classes`,
		"row,label\n0,a, b\n":   "line 2: want a row and a label, as 17,3",
		"row,label\n0,\"low\n":  "line 2: not CSV",
		"row,label\n0\n":        "line 2: want a row and a label, as 17,3",
		"row,label,more\n0,low": "line 1: want the header row,label: without it nobody knows which is which",
	} {
		if _, err := ReadLabels(strings.NewReader(text), 6, classes...); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a file of labels holds, a row has one label at most, and the rows that have a
// label are those that were answered.
func FuzzReadLabels(f *testing.F) {
	f.Add("row,label\n0,low\n2,\"a, b\"\n")
	f.Add("row,label\n1,3\n")
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := ReadLabels(strings.NewReader(text), 3, "low", "a, b", "")
		answered, err2 := ReadAnswered(strings.NewReader(text), 3)
		if err != nil {
			return // a name that is none of the classes is no error of answered
		}
		if err2 != nil {
			t.Fatal(err2)
		}
		for i, l := range labels {
			if (l != NoLabel) != answered[i] || l > 2 {
				t.Errorf("row %d: %d, %v", i, l, answered[i])
			}
		}
	})
}

// The recipe of docs/learn/pate.md, with fewer teachers and images.
func TestMNISTRecipe(t *testing.T) {
	data := os.Getenv("DISCREET_DATA")
	if data == "" {
		t.Skip("skip: DISCREET_DATA is not set")
	}
	read := func(part string, n int) *example.Set {
		set, _, err := example.IDX(context.Background(), example.IDXOptions{Images: filepath.Join(data, "mnist", part+"-images-idx3-ubyte.gz"),
			Labels: filepath.Join(data, "mnist", part+"-labels-idx1-ubyte.gz"), Unit: true})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for i := range n {
			rows = append(rows, i)
		}
		return set.Pick(rows)
	}
	learner := &Network{Spec: network.Spec{Input: []int{784}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.005}, Epochs: 10, Batch: 16, Seed: 1}
	e, err := Train(t.Context(), read("train", 3000), EnsembleOptions{Teachers: 20, Learner: learner})
	if err != nil {
		t.Fatal(err)
	}
	public := read("t10k", 1000)
	v, err := e.Votes(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	o := withPurse(t, Options{Classes: 10, Sigma: big.NewRat(2, 1), Threshold: big.NewRat(12, 1), ThresholdSigma: big.NewRat(4, 1)})
	run, err := aggregator(t, o).Label(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	student, err := (&Pupil{Learner: learner, Rounds: 1}).Train(t.Context(), public, run.Labels)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, student, public); a < 0.75 { // of 15 runs 0.829 ± 0.007
		t.Errorf("the student is right in %g", a)
	} else {
		t.Logf("%d of %d answered; the student is right in %g", run.Answered, run.Asked(), a)
	}
}
