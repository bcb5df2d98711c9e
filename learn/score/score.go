// Package score turns a model's outputs into predictions and measures how good they are:
// probabilities, classes and numbers, and the measures of predictions, exact on public data or from
// noisy counts of private data.
//
// It guarantees that no record makes it fail, and that an example adds to one cell of the
// counts.
//
// It does not guarantee privacy: it draws no noise, and Measures are exact.
package score

import (
	"math"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// A Scorer turns a network's scores into what they mean.
type Scorer struct {
	Loss     string            // of the network: see package network
	Classes  int               // 2 of logistic loss; 0 of squared
	Encoding *example.Encoding // nil of images
	Names    []string          // of what a model says that predicts nothing
}

// Width is how many numbers the network gives for an example.
func (s Scorer) Width() int {
	if s.Names != nil {
		return len(s.Names)
	}
	if s.Loss == network.CrossEntropy {
		return s.Classes
	}
	return 1
}

// Probabilities are the classes', of one example's scores. Scores that are not finite
// make all classes alike: no number of a record shall be an error.
func (s Scorer) Probabilities(scores []float32) []float64 {
	p := make([]float64, s.Classes)
	if s.Loss == network.Logistic {
		z := float64(scores[0])
		p[1] = 1 / (1 + math.Exp(-z))
		p[0] = 1 / (1 + math.Exp(z))
	} else {
		top := float64(slices.Max(scores))
		sum := 0.0
		for i, z := range scores {
			p[i] = math.Exp(float64(z) - top)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
	}
	if slices.ContainsFunc(p, math.IsNaN) {
		for i := range p {
			p[i] = 1 / float64(len(p))
		}
	}
	return p
}

// Class is the likeliest class, the first of several.
func Class(p []float64) int {
	best := 0
	for i := range p {
		if p[i] > p[best] {
			best = i
		}
	}
	return best
}

// Number is the predicted number, within its bounds.
func (s Scorer) Number(scores []float32) float64 {
	z := float64(scores[0])
	if math.IsNaN(z) {
		z = 0
	}
	if s.Encoding == nil || s.Encoding.Target == nil {
		return z
	}
	return s.Encoding.TargetOf(z)
}

// Measures are how good predictions are, exactly: of public data.
type Measures struct {
	Examples  int       `json:"examples"`
	Unlabeled int       `json:"unlabeled,omitempty"` // examples that are not counted in what follows
	Accuracy  *float64  `json:"accuracy,omitempty"`
	Loss      float64   `json:"loss"`                // the mean: log loss, or squared error
	AUC       *float64  `json:"auc,omitempty"`       // of two classes
	Confusion [][]int64 `json:"confusion,omitempty"` // rows: what is so; columns: what was predicted
	RMSE      *float64  `json:"rmse,omitempty"`
	MAE       *float64  `json:"mae,omitempty"`
}

// Measure compares the outputs with what is so.
func (s Scorer) Measure(set *example.Set, outputs []float32) Measures {
	m := Measures{Examples: set.Len()}
	if s.Classes == 0 {
		s.measureNumbers(&m, set, outputs)
		return m
	}
	m.Confusion = make([][]int64, s.Classes)
	for i := range m.Confusion {
		m.Confusion[i] = make([]int64, s.Classes)
	}
	var ranked []rank
	correct, labelled := 0, 0
	for i := range set.Labels {
		label := set.Label(i)
		if label < 0 {
			m.Unlabeled++
			continue
		}
		p := s.Probabilities(outputs[i*s.Width() : (i+1)*s.Width()])
		guess := Class(p)
		m.Confusion[label][guess]++
		labelled++
		if guess == int(label) {
			correct++
		}
		m.Loss -= math.Log(max(p[label], 1e-300))
		ranked = append(ranked, rank{p[len(p)-1], label == 1})
	}
	if labelled == 0 {
		return m
	}
	m.Loss /= float64(labelled)
	accuracy := float64(correct) / float64(labelled)
	m.Accuracy = &accuracy
	if s.Classes == 2 {
		if auc := areaUnder(ranked); !math.IsNaN(auc) {
			m.AUC = &auc
		}
	}
	return m
}

func (s Scorer) measureNumbers(m *Measures, set *example.Set, outputs []float32) {
	var squares, distances float64
	n := 0.0
	for i, y := range set.Targets {
		if math.IsNaN(float64(y)) {
			m.Unlabeled++
			continue
		}
		n++
		d := s.Number(outputs[i:i+1]) - s.Number([]float32{y})
		squares += d * d
		distances += math.Abs(d)
	}
	if n == 0 {
		return
	}
	rmse, mae := math.Sqrt(squares/n), distances/n
	m.Loss, m.RMSE, m.MAE = squares/n, &rmse, &mae
}

// A rank is what was said of an example, and whether it is of the second class.
type rank struct {
	score float64
	yes   bool
}

// areaUnder is the area under the ROC curve: the probability that an example of the
// second class scores higher than one of the first, ties counted half. NaN without
// both.
func areaUnder(all []rank) float64 {
	sort.Slice(all, func(i, j int) bool { return all[i].score < all[j].score })
	var pairs, no, yes float64 // sums so far
	for i := 0; i < len(all); {
		var these [2]float64
		j := i
		for ; j < len(all) && all[j].score == all[i].score; j++ {
			if all[j].yes {
				these[1]++
			} else {
				these[0]++
			}
		}
		pairs += these[1] * (no + these[0]/2)
		no, yes = no+these[0], yes+these[1]
		i = j
	}
	return pairs / (no * yes)
}

// matrix reports whether the counts of predictions for each class are released: of
// more classes the noise of so many cells would hide what is right.
func (s Scorer) matrix() bool { return s.Classes > 0 && s.Classes <= 4 }

// Cells is how many counts are released.
func (s Scorer) Cells() int {
	switch {
	case s.Classes == 0:
		return errorParts
	case s.matrix():
		return s.Classes * s.Classes
	}
	return 2
}

// Rows are the cells that the examples fall into; -1 for those without a label.
func (s Scorer) Rows(set *example.Set, outputs []float32) (rows []int) {
	n := s.Width()
	for i := range set.Len() {
		row, out := -1, outputs[i*n:(i+1)*n]
		switch {
		case s.Classes == 0:
			if y := float64(set.Targets[i]); !math.IsNaN(y) {
				row = min(int(s.miss(out, y)*errorParts), errorParts-1)
			}
		case set.Label(i) < 0:
		case s.matrix():
			row = int(set.Label(i))*s.Classes + Class(s.Probabilities(out))
		case Class(s.Probabilities(out)) == int(set.Label(i)):
			row = 0
		default:
			row = 1
		}
		if row >= 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// miss is how far a predicted number is off, in terms of its range.
func (s Scorer) miss(out []float32, scaled float64) float64 {
	t := s.Encoding.Target
	return math.Abs(s.Number(out)-s.Encoding.TargetOf(scaled)) / (t.Upper - t.Lower)
}

// Conclude derives what the counts imply: post-processing.
func (s Scorer) Conclude(m *Noisy, counts []int64) {
	off := float64(m.Within)
	at := func(x float64) float64 { return math.Max(x, 0) }
	if s.Classes == 0 {
		m.Counts = [][]int64{counts}
		var sum, n float64
		for i, c := range counts {
			n += at(float64(c))
			sum += at(float64(c)) * (float64(i) + 0.5) / errorParts
		}
		if n > 0 {
			mae := sum / n * (s.Encoding.Target.Upper - s.Encoding.Target.Lower)
			m.MAE = &mae
		}
		return
	}
	var right, wrong, rights, wrongs float64 // counts, and the numbers of cells that they add up
	width := 2
	if s.matrix() {
		width = s.Classes
	}
	for i, c := range counts {
		if i%width == 0 {
			m.Counts = append(m.Counts, nil)
		}
		m.Counts[i/width] = append(m.Counts[i/width], c)
		if i%width == i/width {
			right, rights = right+float64(c), rights+1
		} else {
			wrong, wrongs = wrong+float64(c), wrongs+1
		}
	}
	share := func(right, wrong float64) float64 { return at(right) / (at(right) + at(wrong)) }
	if accuracy := share(right, wrong); !math.IsNaN(accuracy) {
		low, high := share(right-rights*off, wrong+wrongs*off), share(right+rights*off, wrong-wrongs*off)
		m.Accuracy, m.Interval = &accuracy, &[2]float64{low, high}
	}
}

// Noisy are measures that follow from noisy counts alone.
type Noisy struct {
	// Counts are the noisy ones: rows of what is so, columns of what was predicted; of
	// many classes, how often right and wrong; of a number, how many errors lie in each
	// twentieth of its range.
	Counts   [][]int64   `json:"noisy_counts"`
	Within   int64       `json:"within"` // all of them are off by at most so much, with the confidence
	Accuracy *float64    `json:"noisy_accuracy,omitempty"`
	MAE      *float64    `json:"noisy_mae,omitempty"`
	Interval *[2]float64 `json:"interval,omitempty"`
}

// errorParts are the parts of a number's range that errors are counted in.
const errorParts = 20
