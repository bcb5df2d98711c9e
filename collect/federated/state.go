package federated

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
)

// A State is a run between two rounds, all of it.
type State struct {
	Round     int             `json:"round"` // which comes next
	Weights   Numbers         `json:"weights"`
	Clip      float64         `json:"clip"`
	Optimizer optimizer.State `json:"optimizer"`
	Blur      Blur            `json:"blur"`
	// Took is in how many rounds, of a tree's with FTRL, each node took part, and Last in
	// which it did last, plus 1.
	Took map[string]int `json:"took"`
	Last map[string]int `json:"last"`
}

// Begin returns the state before the first round.
func (p Plan) Begin() (*State, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	net, err := p.Net()
	if err != nil {
		return nil, err
	}
	s := &State{Weights: slices.Clone(net.Parameters()), Took: map[string]int{}, Last: map[string]int{}}
	p.settle(s.Weights)
	if p.Privacy != nil {
		s.Clip = p.Privacy.Clip
	}
	return s, nil
}

// May reports whether a node may take part in the next round: under plans that protect nodes,
// in one of each Every rounds and in so many of all.
func (s *State) May(p Plan, node string) bool {
	if p.Privacy == nil || p.Unit != Node {
		return true
	}
	last := s.Last[node] - 1
	if last >= 0 && last/p.every() == s.Round/p.every() {
		return false
	}
	return p.Most == 0 || s.Took[node] < p.Most
}

// An Answer is a node's update, and the number of units that the node declares, which is
// public.
type Answer struct {
	Node     string
	Declared int64
	Update   Update
	Score    float64 // of Ordered: of the node's own weights, on public examples
}

// Join ends a round with the answers of those who took part. An error leaves the state as it
// was, but for noise that was drawn and not used.
func (s *State) Join(p Plan, bits noise.Bits, answers []Answer) error {
	if p.Aggregated() {
		return errors.New("aggregators add up the plan's updates: there are no answers")
	}
	if err := s.admit(p, answers); err != nil {
		return err
	}
	for _, a := range answers {
		if n := len(a.Update.Sum) + len(a.Update.Raw); n != len(s.Weights) || (a.Update.Raw != nil) != (p.Privacy == nil) {
			return fmt.Errorf("node %q: %d numbers for %d weights", a.Node, n, len(s.Weights))
		}
		if err := p.plausible(a.Update); err != nil {
			return fmt.Errorf("node %q: %w", a.Node, err)
		}
	}
	blur := s.Blur
	if blur.Tree != nil {
		tree := *blur.Tree
		tree.Level = slices.Clone(tree.Level)
		blur.Tree = &tree
	}
	mean, clip, err := p.join(s, &blur, bits, answers)
	if err != nil {
		return err
	}
	return s.step(p, blur, mean, clip, answers)
}

// admit refuses a round of too few, or of those who may not take part.
func (s *State) admit(p Plan, answers []Answer) error {
	if len(answers) < p.Nodes.Minimum {
		return fmt.Errorf("%w: %d of at least %d", ErrTooFew, len(answers), p.Nodes.Minimum)
	}
	if s.Round >= p.Rounds {
		return errors.New("the plan has no more rounds")
	}
	seen := map[string]bool{}
	for _, a := range answers {
		if seen[a.Node] || !s.May(p, a.Node) {
			return fmt.Errorf("node %q takes part more often than the plan says", a.Node)
		}
		seen[a.Node] = true
	}
	return nil
}

// step ends a round with its mean.
func (s *State) step(p Plan, blur Blur, mean []float64, clip float64, answers []Answer) error {
	o, err := optimizer.New(p.Server, len(s.Weights), p.Rounds)
	if err != nil {
		return err
	}
	if s.Round > 0 {
		if err := o.Restore(s.Optimizer); err != nil {
			return err
		}
	}
	o.Step(s.Weights, mean)
	p.settle(s.Weights)
	s.Optimizer, s.Blur, s.Clip = o.State(), blur, clip
	for _, a := range answers {
		s.Took[a.Node]++
		s.Last[a.Node] = s.Round + 1
	}
	if s.Round++; p.newTree(s.Round) {
		clear(s.Took)
	}
	return nil
}

// newTree reports whether a tree begins with a round.
func (p Plan) newTree(round int) bool {
	return p.Privacy != nil && p.Privacy.Restart > 0 && round%p.Privacy.Restart == 0
}

// ErrTooFew: fewer nodes answered than a round needs.
var ErrTooFew = errors.New("too few nodes took part")

// plausible refuses what no node sends that keeps to the plan. It protects the model, not
// those in the data.
func (p Plan) plausible(u Update) error {
	const most = 1 << 50 // integers of so many nodes as there are do not overflow
	square := 0.0
	for _, k := range u.Sum {
		if k < -most || k > most {
			return errors.New("a number out of the range of updates")
		}
		square += float64(k) * float64(k)
	}
	if p.Privacy != nil && p.NoiseBy() == AtCoordinator && p.Unit == Node && square > cost.One*cost.One {
		return errors.New("an update above the clip")
	}
	if u.Within < -most || u.Within > most {
		return errors.New("a count out of the range of updates")
	}
	for _, x := range u.Raw {
		if x-x != 0 {
			return errors.New("an update that is not finite")
		}
	}
	return nil
}

// weighed are the weights of those who took part, and how many units that is.
func (p Plan) weighed(answers []Answer) (weights []float64, units float64) {
	weights = make([]float64, len(answers))
	for i, a := range answers {
		weights[i] = 1
		switch p.Join.Weighing {
		case Declared:
			weights[i] = float64(a.Declared)
		case Given:
			weights[i] = p.Join.Weights[a.Node]
		}
		if p.Unit == Person {
			units += float64(a.Declared)
		} else {
			units += weights[i]
		}
	}
	if p.Unit == Person { // those whose turn it is
		units /= float64(p.every())
	}
	return weights, units
}

// mean is a total over so many units, in plain numbers.
func (p Plan) mean(clip float64, all Update, units float64) []float64 {
	mean := make([]float64, len(all.Sum))
	for j, k := range all.Sum {
		mean[j] = float64(k) * (clip / cost.One / max(units, 1))
	}
	return mean
}

// join returns the round's mean update, and the next clip.
func (p Plan) join(s *State, blur *Blur, bits noise.Bits, answers []Answer) ([]float64, float64, error) {
	weights, units := p.weighed(answers)
	if p.Privacy == nil || !p.Join.Rule.sums() {
		updates := make([][]float64, len(answers))
		for i, a := range answers {
			updates[i] = p.Plain(a.Update, s.Clip)
		}
		mean, err := p.robust(s.Weights, updates, weights, answers)
		return mean, p.follow(s.Clip, answers, nil, units), err
	}
	parts := make([]Update, len(answers))
	for i, a := range answers {
		parts[i] = a.Update
	}
	all := p.total(parts)
	if v := p.Privacy; v != nil && v.Place == AtCoordinator {
		if err := blur.Add(p, bits, s.Round, &all); err != nil {
			return nil, 0, err
		}
	}
	// From here on everything is post-processing.
	return p.mean(s.Clip, all, units), p.follow(s.Clip, answers, &all, units), nil
}

// Plain is an update in plain numbers.
func (p Plan) Plain(u Update, clip float64) []float64 {
	out := make([]float64, len(u.Sum)+len(u.Raw))
	for j, x := range u.Raw {
		out[j] = float64(x)
	}
	for j, k := range u.Sum {
		out[j] = float64(k) * (clip / cost.One)
	}
	return out
}

func (p Plan) robust(before []float32, updates [][]float64, weights []float64, answers []Answer) ([]float64, error) {
	switch p.Join.Rule {
	case Median:
		return MedianOf(updates)
	case Trimmed:
		return TrimmedOf(updates, p.Join.Trim)
	case Cluster:
		return p.joinCenters(before, updates)
	case Ordered:
		q := DefaultQuantifier()
		if p.Join.Quantify != nil {
			q = *p.Join.Quantify
		}
		scores := make([]float64, len(answers))
		for i, a := range answers {
			scores[i] = a.Score
		}
		var err error
		if weights, err = q.Weights(scores); err != nil {
			return nil, err
		}
	}
	return MeanOf(updates, weights)
}

// follow is the next clip.
func (p Plan) follow(clip float64, answers []Answer, all *Update, units float64) float64 {
	if p.Privacy == nil || p.Privacy.Adaptive == nil {
		return clip
	}
	a := p.Privacy.Adaptive
	within := 0.0
	if all != nil {
		within = float64(all.Within)
	} else {
		for _, x := range answers {
			within += float64(x.Update.Within)
		}
	}
	rate := a.Rate
	if rate == 0 {
		rate = 0.2
	}
	share := (within/max(units, 1) + 1) / 2
	next := clip * math.Exp(-rate*(min(max(share, -1), 2)-a.Quantile))
	return min(max(next, 1e-30), 1e30)
}
