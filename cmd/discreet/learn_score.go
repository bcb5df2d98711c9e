package main

import (
	"math"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// A scorer turns a network's scores into what they mean.
type scorer struct {
	loss     string
	classes  int // 2 of logistic loss; 0 of squared
	encoding *example.Encoding
	names    []string // of what a model says that predicts nothing
}

// scores are how many numbers the network gives for an example.
func (s scorer) scores() int {
	if s.names != nil {
		return len(s.names)
	}
	if s.loss == network.CrossEntropy {
		return s.classes
	}
	return 1
}

// probabilities are the classes', of one example's scores. Scores that are not finite
// make all classes alike: no number of a record shall be an error.
func (s scorer) probabilities(scores []float32) []float64 {
	p := make([]float64, s.classes)
	if s.loss == network.Logistic {
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

// class is the likeliest class, the first of several.
func class(p []float64) int {
	best := 0
	for i := range p {
		if p[i] > p[best] {
			best = i
		}
	}
	return best
}

// number is the predicted number, within its bounds.
func (s scorer) number(scores []float32) float64 {
	z := float64(scores[0])
	if math.IsNaN(z) {
		z = 0
	}
	if s.encoding == nil || s.encoding.Target == nil {
		return z
	}
	return s.encoding.TargetOf(z)
}

// measures are how good predictions are, exactly: of public data.
type measures struct {
	Examples  int       `json:"examples"`
	Unlabeled int       `json:"unlabeled,omitempty"` // examples that are not counted in what follows
	Accuracy  *float64  `json:"accuracy,omitempty"`
	Loss      float64   `json:"loss"`                // the mean: log loss, or squared error
	AUC       *float64  `json:"auc,omitempty"`       // of two classes
	Confusion [][]int64 `json:"confusion,omitempty"` // rows: what is so; columns: what was predicted
	RMSE      *float64  `json:"rmse,omitempty"`
	MAE       *float64  `json:"mae,omitempty"`
}

// measure compares the outputs with what is so.
func (s scorer) measure(set *example.Set, outputs []float32) measures {
	m := measures{Examples: set.Len()}
	if s.classes == 0 {
		s.measureNumbers(&m, set, outputs)
		return m
	}
	m.Confusion = make([][]int64, s.classes)
	for i := range m.Confusion {
		m.Confusion[i] = make([]int64, s.classes)
	}
	var ranked []rank
	correct, labelled := 0, 0
	for i := range set.Labels {
		label := set.Label(i)
		if label < 0 {
			m.Unlabeled++
			continue
		}
		p := s.probabilities(outputs[i*s.scores() : (i+1)*s.scores()])
		guess := class(p)
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
	if s.classes == 2 {
		if auc := areaUnder(ranked); !math.IsNaN(auc) {
			m.AUC = &auc
		}
	}
	return m
}

func (s scorer) measureNumbers(m *measures, set *example.Set, outputs []float32) {
	var squares, distances float64
	n := 0.0
	for i, y := range set.Targets {
		if math.IsNaN(float64(y)) {
			m.Unlabeled++
			continue
		}
		n++
		d := s.number(outputs[i:i+1]) - s.number([]float32{y})
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
	var pairs, no, yes float64 // of what came so far
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
