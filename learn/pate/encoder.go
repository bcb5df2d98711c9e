package pate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// EncoderOptions say how features are learned from public examples.
type EncoderOptions struct {
	// Network learns to tell clusters apart, in each round. Its Spec is that of the
	// network whose outputs are the features, with whatever loss, and Distortion what
	// they should not depend on.
	Network  Network
	Clusters int
	Rounds   int // of clustering and learning; 0 is 1
}

// An Encoder turns examples into features that were learned from public examples
// without labels: a network learns to tell clusters of them apart however they are
// distorted, clusters are then formed of its features, and so on (DeepCluster; Caron et
// al. 2018). They cost nothing, and teachers that have few examples need them most.
type Encoder struct {
	net             *network.Network
	mean, deviation []float64
}

// NewEncoder learns from public examples, whose labels are not looked at.
func NewEncoder(ctx context.Context, public *example.Set, o EncoderOptions) (*Encoder, error) {
	e, err := newEncoder(ctx, public, o)
	if err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	return e, nil
}

func newEncoder(ctx context.Context, public *example.Set, o EncoderOptions) (*Encoder, error) {
	body, whole := o.Network.Spec, o.Network.Spec
	body.Loss, whole.Loss = network.CrossEntropy, network.CrossEntropy
	whole.Layers = append(slices.Clone(body.Layers), network.Layer{Type: "linear", Width: o.Clusters})
	net, err := network.New(body)
	if err != nil {
		return nil, err
	}
	net.Initialize(o.Network.Seed)
	e, r, known := &Encoder{net: net}, rng(o.Network.Seed), public
	for round := range max(o.Rounds, 1) {
		if round > 0 {
			if known, err = e.Set(ctx, public); err != nil {
				return nil, err
			}
		}
		clusters, err := cluster(ctx, known, o.Clusters, &r)
		if err != nil {
			return nil, err
		}
		set := *public
		set.Classes, set.Outputs, set.Labels = o.Clusters, 1, clusters.of
		learning, err := network.New(whole)
		if err != nil {
			return nil, err
		}
		learner := o.Network
		learner.Seed += uint64(round)
		learning.Initialize(learner.Seed)
		copy(learning.Parameters(), net.Parameters()) // the last layer, of other clusters, starts anew
		if err := learner.fit(ctx, learning, &set); err != nil {
			return nil, err
		}
		copy(net.Parameters(), learning.Parameters())
		if err := e.standardize(ctx, public); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// standardize makes features of mean 0 and variance 1 over the public examples.
func (e *Encoder) standardize(ctx context.Context, public *example.Set) error {
	width := e.net.OutputSize()
	e.mean, e.deviation = make([]float64, width), make([]float64, width)
	for j := range e.deviation {
		e.deviation[j] = 1
	}
	set, err := e.Set(ctx, public)
	if err != nil {
		return err
	}
	n := float64(set.Len())
	for i, x := range set.Features {
		e.mean[i%width] += float64(x) / n
	}
	square := make([]float64, width)
	for i, x := range set.Features {
		d := float64(x) - e.mean[i%width]
		square[i%width] += d * d / n
	}
	for j, s := range square {
		e.deviation[j] = math.Sqrt(s) + 1e-3
	}
	return nil
}

// Set is a set with the features of its examples instead of what they had.
func (e *Encoder) Set(ctx context.Context, set *example.Set) (*example.Set, error) {
	out := *set
	out.Width = e.net.OutputSize()
	var err error
	if out.Features, err = outputs(ctx, e.net, set); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	for i := range set.Len() {
		x, sum := image(&out, i), 1e-12
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		length := math.Sqrt(sum)
		for j := range x {
			x[j] = float32((float64(x[j])/length - e.mean[j]) / e.deviation[j])
		}
	}
	return &out, nil
}

// starts gives a network the encoder's weights, if it begins as the encoder is.
func (e *Encoder) starts(net *network.Network) error {
	layers, first := net.Spec().Layers, e.net.Spec().Layers
	if !slices.Equal(net.Spec().Input, e.net.Spec().Input) || len(first) > len(layers) || !reflect.DeepEqual(first, layers[:len(first)]) {
		return errors.New("the network does not begin as the encoder that it starts from")
	}
	copy(net.Parameters(), e.net.Parameters())
	return nil
}
