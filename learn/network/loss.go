package network

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
)

// loss turns an example's scores into its loss and the gradient.
type loss struct {
	name    string
	mean    bool
	outputs int // an example
	classes int // scores an output
	scores  int // outputs x classes
}

func newLoss(spec Spec, shape []int) (loss, error) {
	l := loss{name: spec.Loss, mean: spec.Mean, scores: size(shape), classes: 1}
	switch spec.Loss {
	case CrossEntropy:
		l.classes = shape[len(shape)-1]
		if l.classes < 2 {
			return loss{}, fmt.Errorf("loss %s over %d scores, in shape %v: at least 2 classes", spec.Loss, l.classes, shape)
		}
	case Logistic, Squared:
	default:
		return loss{}, fmt.Errorf("unknown loss %q; there are %s, %s, %s", spec.Loss, CrossEntropy, Logistic, Squared)
	}
	l.outputs = l.scores / l.classes
	return l, nil
}

// fits says whether the set has the labels or targets of this loss.
func (l loss) fits(set *example.Set) error {
	want := 0
	switch l.name {
	case CrossEntropy:
		want = l.classes
	case Logistic:
		want = 2
	}
	if set.Classes != want {
		return fmt.Errorf("network: examples have %d classes, loss %s takes %d", set.Classes, l.name, want)
	}
	if set.Outputs != l.outputs {
		return fmt.Errorf("network: examples have %d outputs, the network gives %d", set.Outputs, l.outputs)
	}
	return nil
}

// A result is what one example's scores come to.
type result struct {
	loss            float64
	labels, correct int // outputs that have a label, and those whose label has the highest score
}

// of gives the loss of an example and writes its gradient by the scores, unless
// gradient is nil. A loss is not finite if the example is not.
func (l loss) of(set *example.Set, row int, scores, gradient []float32) (r result) {
	clear(gradient)
	weight := 1.0
	if l.mean {
		weight = 1 / float64(max(1, l.labelled(set, row)))
	}
	for o := range l.outputs {
		at := o * l.classes
		s := scores[at:][:l.classes]
		var g []float32
		if gradient != nil {
			g = gradient[at:][:l.classes]
		}
		if set.Classes == 0 {
			r.loss += weight * squared(float64(set.Targets[row*set.Outputs+o]), s, g, weight)
			r.labels++
			continue
		}
		label := int(set.Label(row*set.Outputs + o))
		if label < 0 {
			continue
		}
		r.labels++
		hit := false
		if l.name == Logistic {
			r.loss += weight * logistic(label, s, g, weight)
			hit = (s[0] > 0) == (label == 1)
		} else {
			var x float64
			x, hit = crossEntropy(label, s, g, weight)
			r.loss += weight * x
		}
		if hit {
			r.correct++
		}
	}
	return r
}

// labelled counts the outputs of an example that have a label.
func (l loss) labelled(set *example.Set, row int) (n int) {
	if set.Classes == 0 {
		return l.outputs
	}
	for o := range set.Outputs {
		if set.Label(row*set.Outputs+o) >= 0 {
			n++
		}
	}
	return n
}

func squared(target float64, s, g []float32, weight float64) float64 {
	d := float64(s[0]) - target
	if g != nil {
		g[0] = float32(weight * d)
	}
	return d * d / 2
}

// logistic is the loss -ln p(label) with p(1) = 1/(1+exp(-s)).
func logistic(label int, s, g []float32, weight float64) float64 {
	z := float64(s[0])
	if label == 0 {
		z = -z
	}
	// p is the probability of the other label, without overflow.
	e := math.Exp(-math.Abs(z))
	p := e / (1 + e)
	if z < 0 {
		p = 1 / (1 + e)
	}
	if g != nil {
		if label == 1 {
			p = -p
		}
		g[0] = float32(weight * p)
	}
	return math.Max(-z, 0) + math.Log1p(e)
}

// crossEntropy is the loss -ln p(label) with p the softmax of the scores. It says
// whether the label has the highest score.
func crossEntropy(label int, s, g []float32, weight float64) (float64, bool) {
	best := 0
	for j, v := range s {
		if v > s[best] {
			best = j
		}
	}
	highest := float64(s[best])
	total := 0.0
	for _, v := range s {
		total += math.Exp(float64(v) - highest)
	}
	if g != nil {
		for j, v := range s {
			g[j] = float32(weight * math.Exp(float64(v)-highest) / total)
		}
		g[label] = float32(weight * (math.Exp(float64(s[label])-highest)/total - 1))
	}
	return math.Log(total) + highest - float64(s[label]), best == label
}
