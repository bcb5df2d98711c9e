package pate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// A Consistent is a learner that also uses images without labels, which a student has in number. If
// the network is sure of the class of an image, it must give the same class to a strong distortion
// of it (FixMatch; Sohn et al. 2020). The class is the one by the mean of the weights over the
// steps (Tarvainen and Valpola 2017).
//
// A step takes Batch images with labels, weakly distorted, and Others times as many of all images,
// strongly distorted, with the classes of which the mean network is sure.
type Consistent struct {
	Spec network.Spec
	// Start has the weights that the network's first layers start with, if it is not nil.
	Start     *Encoder
	Optimizer optimizer.Spec
	Steps     int
	Batch     int // images with labels in a step; 0 is 64
	Others    int // and others, for each of them; 0 is 4
	// Weak and Strong say how images are distorted.
	Weak, Strong Distortion
	// Sure is the probability from which on a class counts as known; 0 is 0.95.
	Sure float32
	// Doubt leaves out labels that get less probability by the mean network, once it
	// has learned for a quarter of the steps: some released labels are wrong, and a
	// network that sees them often enough believes them. 0 doubts none.
	Doubt float32
	// Mean is the share of the mean weights that stays in a step; 0 is 0.995.
	Mean float64
	// Seed fixes initial weights, the order of examples and distortions, none of which
	// protects anybody.
	Seed    uint64
	Workers int // 0 is 1
}

// Train implements Learner. The classifier is a Scorer: the mean network.
func (c *Consistent) Train(ctx context.Context, set *example.Set) (Classifier, error) {
	s, err := c.begin(set)
	if err != nil {
		return nil, fmt.Errorf("train consistent network: %w", err)
	}
	for step := range c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.step(step); err != nil {
			return nil, fmt.Errorf("train consistent network: %w", err)
		}
	}
	return &trained{s.mean}, nil
}

func (c *Consistent) begin(set *example.Set) (*consistency, error) {
	o := *c
	o.Batch = cmp.Or(o.Batch, 64)
	o.Others = cmp.Or(o.Others, 4)
	o.Sure = cmp.Or(o.Sure, 0.95)
	o.Mean = cmp.Or(o.Mean, 0.995)
	o.Workers = cmp.Or(o.Workers, 1)
	switch {
	case o.Steps <= 0 || o.Batch < 0 || o.Others < 0:
		return nil, errors.New("steps and batches are positive")
	case !(o.Mean > 0 && o.Mean < 1):
		return nil, fmt.Errorf("mean %g; want a share between 0 and 1", o.Mean)
	case !(o.Sure > 0 && o.Sure <= 1 && o.Doubt >= 0 && o.Doubt < 1):
		return nil, fmt.Errorf("sure from %g on, doubt below %g; want probabilities", o.Sure, o.Doubt)
	case o.Spec.Loss != network.CrossEntropy || set.Outputs != 1:
		return nil, fmt.Errorf("want a network of loss %s and one label an example", network.CrossEntropy)
	}
	for _, d := range []*Distortion{&o.Weak, &o.Strong} {
		if err := d.validate(set.Width); err != nil {
			return nil, err
		}
	}
	s := &consistency{Consistent: o, set: set, rng: rng(o.Seed)}
	for i := range set.Len() {
		if set.Labelled(i) {
			s.labelled.rows = append(s.labelled.rows, i)
		}
	}
	s.all.rows = upTo(set.Len())
	if len(s.labelled.rows) == 0 {
		return nil, errors.New("no example has a label")
	}
	var err error
	if s.net, err = network.New(o.Spec); err != nil {
		return nil, err
	}
	if s.mean, err = network.New(o.Spec); err != nil {
		return nil, err
	}
	if err := s.net.Fits(set); err != nil {
		return nil, err
	}
	s.net.Initialize(o.Seed)
	if o.Start != nil {
		if err := o.Start.starts(s.net); err != nil {
			return nil, err
		}
	}
	copy(s.mean.Parameters(), s.net.Parameters())
	n := len(s.net.Parameters())
	if s.opt, err = optimizer.New(o.Optimizer, n, o.Steps); err != nil {
		return nil, err
	}
	s.gradient, s.part = make([]float64, n), make([]float32, n)
	workers := network.PassOptions{Workers: o.Workers}
	s.learn, s.ask = s.net.NewPass(workers), s.mean.NewPass(workers)
	s.seen = blank(set, o.Batch*o.Others)
	s.asked = blank(set, max(o.Batch, o.Batch*o.Others))
	s.scores = make([]float32, s.asked.Len()*set.Classes)
	return s, nil
}

// blank returns a set of n examples like those of a set.
func blank(set *example.Set, n int) *example.Set {
	return &example.Set{Width: set.Width, Classes: set.Classes, Outputs: 1, Features: make([]float32, n*set.Width), Labels: make([]int32, n)}
}

// A consistency is one training.
type consistency struct {
	Consistent
	set           *example.Set
	labelled, all cycle
	net, mean     *network.Network
	learn, ask    *network.Pass
	opt           *optimizer.Optimizer
	rng           rng
	gradient      []float64
	part          []float32
	asked, seen   *example.Set // distorted images
	scores        []float32
}

// A cycle gives rows in an order that is shuffled anew each time.
type cycle struct {
	rows []int
	next int
}

func (c *cycle) take(r *rng) int {
	if c.next == 0 {
		r.shuffle(c.rows)
	}
	row := c.rows[c.next]
	c.next = (c.next + 1) % len(c.rows)
	return row
}

func (s *consistency) step(step int) error {
	clear(s.gradient)
	if err := s.fromLabels(step); err != nil {
		return err
	}
	if err := s.fromOthers(); err != nil {
		return err
	}
	s.opt.Step(s.net.Parameters(), s.gradient)
	// In the first steps, average over the steps so far.
	stays := float32(min(s.Mean, float64(step+1)/float64(step+10)))
	mean := s.mean.Parameters()
	for i, w := range s.net.Parameters() {
		mean[i] = stays*mean[i] + (1-stays)*w
	}
	return nil
}

// fromLabels adds the gradient of images with labels.
func (s *consistency) fromLabels(step int) error {
	rows := make([]int, s.Batch)
	for i := range rows {
		r := s.labelled.take(&s.rng)
		rows[i] = i
		s.Weak.apply(&s.rng, image(s.set, r), image(s.asked, i))
		s.asked.Labels[i] = s.set.Labels[r]
	}
	if s.Doubt > 0 && step >= s.Steps/4 {
		k, scores := s.set.Classes, s.scores[:len(rows)*s.set.Classes]
		if err := s.ask.Outputs(s.asked, rows, scores); err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(i int) bool {
			p := scores[i*k : (i+1)*k]
			softmax(p)
			return p[s.asked.Labels[i]] < s.Doubt
		})
	}
	return s.add(s.asked, rows, s.Batch)
}

// fromOthers adds the gradient of images with the classes that the network is sure of.
func (s *consistency) fromOthers() error {
	n, k := s.Batch*s.Others, s.set.Classes
	rows, taken := make([]int, n), make([]int, n)
	for i := range rows {
		taken[i], rows[i] = s.all.take(&s.rng), i
		s.Weak.apply(&s.rng, image(s.set, taken[i]), image(s.asked, i))
	}
	if err := s.ask.Outputs(s.asked, rows, s.scores[:n*k]); err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(i int) bool {
		p := s.scores[i*k : (i+1)*k]
		softmax(p)
		class, of := surest(p)
		if of < s.Sure {
			return true
		}
		s.seen.Labels[i] = class
		s.Strong.apply(&s.rng, image(s.set, taken[i]), image(s.seen, i))
		return false
	})
	return s.add(s.seen, rows, n)
}

// add adds the gradient of rows as a mean over n.
func (s *consistency) add(set *example.Set, rows []int, n int) error {
	if _, err := s.learn.Gradient(set, rows, s.part); err != nil {
		return err
	}
	for i, g := range s.part {
		s.gradient[i] += float64(g) / float64(n)
	}
	return nil
}
