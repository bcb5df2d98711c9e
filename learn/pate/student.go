package pate

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/learn/example"
)

// A Pupil says how a student learns from public examples of which some have released
// labels. It sees nothing else: what it learns is post-processing of the labels, and
// may be shown.
type Pupil struct {
	// Learner trains on labelled examples; its classifiers must be Scorers if there are
	// rounds.
	Learner Learner
	// Rounds is how often the student then labels by itself those other examples that it
	// is sure of, and learns again from all.
	Rounds int
	// Sure is the probability that a label of its own needs, in each round; 0 is 0.95.
	Sure float32
	// Doubt leaves a released label out of the next training, where the student gives it
	// less probability: some are wrong by their noise. 0 doubts none.
	Doubt float32
	// Progress is called before each training, if it is not nil.
	Progress func(round, examples int)
}

// Train trains a student. Labels are those released, one for each public example,
// NoLabel for the others; the set's own labels are not looked at.
func (p *Pupil) Train(ctx context.Context, public *example.Set, labels []int32) (Classifier, error) {
	if len(labels) != public.Len() {
		return nil, fmt.Errorf("train student: %d labels for %d examples", len(labels), public.Len())
	}
	if p.Learner == nil {
		return nil, errors.New("train student: no learner")
	}
	set := *public
	sure := p.Sure
	if sure == 0 {
		sure = 0.95
	}
	doubt := p.Doubt
	set.Labels = append([]int32(nil), labels...)
	var c Classifier
	for round := 0; ; round++ {
		if p.Progress != nil {
			n := 0
			for _, l := range set.Labels {
				if l >= 0 {
					n++
				}
			}
			p.Progress(round, n)
		}
		var err error
		if c, err = p.Learner.Train(ctx, &set); err != nil {
			return nil, fmt.Errorf("train student: %w", err)
		}
		if round == p.Rounds {
			return c, nil
		}
		s, ok := c.(Scorer)
		if !ok {
			return nil, errors.New("train student: the learner's classifiers have no probabilities, which rounds need")
		}
		probabilities, err := s.Probabilities(ctx, public)
		if err != nil {
			return nil, fmt.Errorf("train student: %w", err)
		}
		k := len(probabilities) / max(public.Len(), 1)
		for i := range set.Labels {
			set.Labels[i] = labels[i]
			p := probabilities[i*k : (i+1)*k]
			if class, of := surest(p); labels[i] == NoLabel {
				if of >= sure {
					set.Labels[i] = class
				}
			} else if int(labels[i]) >= k || p[labels[i]] < doubt {
				set.Labels[i] = NoLabel
			}
		}
	}
}
