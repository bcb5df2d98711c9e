package learn

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/network"
)

// Models are the networks that --model can name.
var Models = []string{"logistic", "linear", "mlp", "cnn", input.Scattered}

// A task is what a network is for: from examples of a shape to classes, or to a number.
type task struct {
	shape   []int // of an example; the last size counts the channels
	classes int   // 0: a number
}

// networkOf returns the network that --model names.
func networkOf(model string, hidden []int, t task) (network.Spec, error) {
	spec := network.Spec{Input: t.shape}
	outputs := 1
	switch {
	case t.classes == 0:
		spec.Loss = network.Squared
	case t.classes == 2:
		spec.Loss = network.Logistic
	default:
		spec.Loss, outputs = network.CrossEntropy, t.classes
	}
	linear := func(n int) network.Layer { return network.Layer{Type: "linear", Width: n} }
	wrong := func(why, hint string) error {
		return diagnostic.New("D163", diagnostic.Span{}, "a %s model: %s", model, why).Try("%s", hint)
	}
	if hidden != nil && model != "mlp" {
		return spec, wrong("it has no hidden layers to be sized", "--model mlp --hidden 64,32")
	}
	switch model {
	case "logistic", "linear":
		if (model == "linear") != (t.classes == 0) {
			if model == "linear" {
				return spec, wrong("its target is a number, not a class", "--model logistic")
			}
			return spec, wrong("its target is a class, not a number", "--model linear")
		}
		spec.Input = []int{input.Product(t.shape)}
	case "mlp":
		if hidden == nil {
			hidden = []int{64}
		}
		spec.Input = []int{input.Product(t.shape)}
		for _, n := range hidden {
			spec.Layers = append(spec.Layers, linear(n), network.Layer{Type: "tanh"})
		}
	case "cnn":
		if len(t.shape) != 3 || t.shape[0] < 8 || t.shape[1] < 8 {
			return spec, wrong("it needs images of 8 by 8 at least", "--model mlp")
		}
		spec.Layers = convolutions()
	}
	spec.Layers = append(spec.Layers, linear(outputs))
	return spec, nil
}

// convolutions are the hidden layers of the network that the literature trains on
// MNIST with DP-SGD, with tanh, which does better under clipping than ReLU (Papernot
// et al. 2020, "Tempered Sigmoid Activations").
func convolutions() []network.Layer {
	tanh := network.Layer{Type: "tanh"}
	pool := network.Layer{Type: "maxpool", Kernel: []int{2}, Stride: []int{1}}
	return []network.Layer{
		{Type: "conv2d", Width: 16, Kernel: []int{8}, Stride: []int{2}, Padding: []int{3}}, tanh, pool,
		{Type: "conv2d", Width: 32, Kernel: []int{4}, Stride: []int{2}}, tanh, pool,
		{Type: "flatten"}, {Type: "linear", Width: 32}, tanh,
	}
}

// specOf reads a network that a person described. The shape of its input and its loss may be
// left out: the examples determine them.
func specOf(path string, t task) (network.Spec, error) {
	var spec network.Spec
	text, err := os.ReadFile(path)
	if err != nil {
		return spec, workplace.Unreadable(path, err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&spec); err != nil {
		return spec, diagnostic.New("D163", diagnostic.Span{}, "%s is not a network in JSON: %v", path, err).
			Try(`{"layers": [{"type": "linear", "width": 32}, {"type": "tanh"}, {"type": "linear", "width": 1}], "loss": "logistic"}`)
	}
	if spec.Input == nil {
		spec.Input = t.shape
	}
	if spec.Loss == "" {
		base, err := networkOf("mlp", nil, t)
		if err != nil {
			return spec, err
		}
		spec.Loss = base.Loss
	}
	return spec, nil
}

// build makes the network of a spec, or says what is wrong with the spec.
func build(spec network.Spec, t task) (*network.Network, error) {
	n, err := network.New(spec)
	if err != nil {
		return nil, diagnostic.New("D163", diagnostic.Span{}, "the network cannot be built: %v", err)
	}
	if input.Product(spec.Input) != input.Product(t.shape) {
		return nil, diagnostic.New("D163", diagnostic.Span{}, "the network takes %d numbers, and an example has %d", input.Product(spec.Input), input.Product(t.shape))
	}
	return n, nil
}

// summary says a network in a line.
func summary(spec network.Spec) string {
	words := []string{fmt.Sprint(spec.Input)}
	for _, l := range spec.Layers {
		word := l.Type
		if l.Width > 0 {
			word += fmt.Sprint(" ", l.Width)
		}
		words = append(words, word)
	}
	return strings.Join(words, " → ") + ", " + spec.Loss + " loss"
}
