// Package network holds neural networks whose gradients can be clipped example
// by example at nearly the price of plain training.
//
// A [Pass] computes, for the examples of a batch, the sum of their gradients
// ([Pass.Gradient]), or the sum of each example's gradient times a factor that
// depends on its norm ([Pass.Clipped]): one backward pass keeps each layer's
// inputs and output gradients, from which come first the norms, then the sum.
// [Pass.Explicit] gives each example's gradient by itself, one after the other;
// the tests compare the fast way with it.
//
// It guarantees that no example adds more to the result of Clipped than the bound in its
// comment.
//
// It does not guarantee privacy: it keeps no budget and draws no noise, and its results
// are exact functions of private data.
package network

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
)

// A Network is a sequence of layers with its parameters. Passes read the
// parameters; nobody may write them while one computes.
type Network struct {
	spec   Spec
	layers []layer
	blocks []Block // of the layers that have parameters
	params []float32
	loss   loss
}

// A Block is one layer's part [From, To) of the parameters.
type Block struct {
	Name     string
	From, To int
}

// New builds the network of a description, with all parameters 0.
func New(spec Spec) (*Network, error) {
	if err := checkShape(spec.Input); err != nil {
		return nil, fmt.Errorf("network: input: %w", err)
	}
	net := &Network{spec: spec}
	shape, parameters := spec.Input, 0
	for i, l := range spec.Layers {
		made, err := newLayer(l, shape)
		if err != nil {
			return nil, fmt.Errorf("network: layer %d (%s) after shape %v: %w", i, l.Type, shape, err)
		}
		if p := made.parameters(); p > 0 {
			net.blocks = append(net.blocks, Block{fmt.Sprintf("%d %s", i, l.Type), parameters, parameters + p})
			parameters += p
		}
		if parameters > maxSize {
			return nil, fmt.Errorf("network: more than %d parameters", maxSize)
		}
		net.layers = append(net.layers, made)
		shape = made.output()
	}
	if parameters == 0 {
		return nil, fmt.Errorf("network: no layer has parameters")
	}
	l, err := newLoss(spec, shape)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	net.loss = l
	net.params = make([]float32, parameters)
	return net, nil
}

// Spec is the network's description.
func (net *Network) Spec() Spec { return net.spec }

// Parameters are all weights in one vector, which the caller may write.
func (net *Network) Parameters() []float32 { return net.params }

// Blocks are the parts of the parameters, a layer each, in order and without
// gaps.
func (net *Network) Blocks() []Block { return net.blocks }

// Width is the number of features of an example.
func (net *Network) Width() int { return size(net.spec.Input) }

// OutputSize is the number of scores that [Pass.Outputs] gives for an example.
func (net *Network) OutputSize() int { return net.loss.scores }

// Initialize sets the parameters at random, each layer in its usual way. Initial
// weights protect nobody, so a generator whose state anybody can know will do;
// no noise is ever drawn from it.
func (net *Network) Initialize(seed uint64) {
	r := &generator{seed}
	b := 0
	for _, l := range net.layers {
		if l.parameters() > 0 {
			l.initialize(net.params[net.blocks[b].From:net.blocks[b].To], r)
			b++
		}
	}
}

// Fits says whether the network can learn from a set or be evaluated on it.
func (net *Network) Fits(set *example.Set) error {
	if set.Width != net.Width() {
		return fmt.Errorf("network: examples have %d features, the network takes %d", set.Width, net.Width())
	}
	return net.loss.fits(set)
}

// A generator is SplitMix64 (Steele, Lea, Flood 2014), for initial weights.
type generator struct{ state uint64 }

// uniform draws from [-bound, bound).
func (g *generator) uniform(bound float64) float32 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float32((float64(z>>11)/(1<<52) - 1) * bound)
}

// fill draws weights for sums of fanIn terms.
func (g *generator) fill(w []float32, fanIn int) {
	bound := 1 / math.Sqrt(float64(fanIn))
	for i := range w {
		w[i] = g.uniform(bound)
	}
}
