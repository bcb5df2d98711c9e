package network

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Spec describes a network as plain data; a model file carries it. The shape
// of an example is a list of sizes, the last of which counts the channels:
// [784], a text of 40 tokens [40], an image [28, 28, 1].
type Spec struct {
	Input  []int   `json:"input"`
	Layers []Layer `json:"layers"`

	// Loss is "cross-entropy" (labels of several classes, a score each),
	// "logistic" (labels 0 and 1, one score: the logit of 1) or "squared"
	// (targets; half of the squared error).
	Loss string `json:"loss"`

	// Mean averages an example's loss over those of its outputs that have a
	// label. Without it they are added up.
	Mean bool `json:"mean,omitempty"`
}

// A Layer is one step of a network. Type says which fields it reads.
type Layer struct {
	Type string `json:"type"`

	// Width counts the outputs of a linear layer, the channels that a
	// convolution gives, the numbers for a token in an embedding, the state of a
	// gru.
	Width int `json:"width,omitempty"`

	Kernel  []int `json:"kernel,omitempty"`  // of convolutions and pools: one size, or one a dimension
	Stride  []int `json:"stride,omitempty"`  // 1 by default, for pools the kernel
	Padding []int `json:"padding,omitempty"` // 0 by default

	Tokens int `json:"tokens,omitempty"` // of an embedding
	Groups int `json:"groups,omitempty"` // of a groupnorm
	Heads  int `json:"heads,omitempty"`  // of an attention; 1 by default

	// Residual adds an attention's input to its output.
	Residual bool `json:"residual,omitempty"`

	// A sigmoid is Scale/(1+exp(-Temperature*x)) - Offset; 1, 1, 0 by default.
	Scale       float64 `json:"scale,omitempty"`
	Temperature float64 `json:"temperature,omitempty"`
	Offset      float64 `json:"offset,omitempty"`
}

// The losses.
const (
	CrossEntropy = "cross-entropy"
	Logistic     = "logistic"
	Squared      = "squared"
)

// maxSize bounds the numbers in one example's activations and in a network's
// parameters, so that no product of sizes overflows and a wrong spec is told
// before memory is gone.
const maxSize = 1 << 26

// size multiplies a shape.
func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// checkShape wants sizes that are positive and whose product is at most maxSize.
func checkShape(shape []int) error {
	n := 1
	for _, s := range shape {
		if s <= 0 || n > maxSize/s {
			return fmt.Errorf("shape %v is empty or too large", shape)
		}
		n *= s
	}
	if len(shape) == 0 {
		return fmt.Errorf("the shape has no dimension")
	}
	return nil
}

// split gives the positions of a shape, and the channels at each.
func split(shape []int) (positions, channels int) {
	last := len(shape) - 1
	return size(shape[:last]), shape[last]
}

// A maker builds the layer of a description for inputs of a shape, which it may
// refuse.
type maker func(l Layer, input []int) (layer, error)

// makers are the types of layers by name.
func makers() map[string]maker {
	return map[string]maker{
		"attention": newAttention,
		"avgpool":   newAvgPool,
		"conv1d":    newConv1d,
		"conv2d":    newConv2d,
		"embedding": newEmbedding,
		"flatten":   newFlatten,
		"groupnorm": newGroupNorm,
		"gru":       newGRU,
		"last":      newLast,
		"layernorm": newLayerNorm,
		"linear":    newLinear,
		"maxpool":   newMaxPool,
		"position":  newPosition,
		"relu":      newReLU,
		"sigmoid":   newSigmoid,
		"tanh":      newTanh,
	}
}

func newLayer(l Layer, input []int) (layer, error) {
	all := makers()
	create, ok := all[l.Type]
	if !ok {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("unknown type %q; there are %s", l.Type, strings.Join(names, ", "))
	}
	made, err := create(l, input)
	if err != nil {
		return nil, err
	}
	if err := checkShape(made.output()); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	if p := made.parameters(); p < 0 || p > maxSize {
		return nil, fmt.Errorf("more than %d parameters", maxSize)
	}
	return made, nil
}

// finite reports whether a setting is a number.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
