package score_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/score"
)

// How good a model of two classes is, on public examples.
func ExampleScorer() {
	s := score.Scorer{Loss: network.Logistic, Classes: 2}
	set := &example.Set{Width: 1, Features: make([]float32, 4), Classes: 2, Outputs: 1, Labels: []int32{0, 0, 1, 1}}
	m := s.Measure(set, []float32{-2, 1, 1, 3}) // a logit for each example
	fmt.Printf("accuracy %.2f, confusion %v\n", *m.Accuracy, m.Confusion)
	fmt.Printf("%.2f\n", s.Probabilities([]float32{-2}))
	// Output:
	// accuracy 0.75, confusion [[1 1] [0 2]]
	// [0.88 0.12]
}
