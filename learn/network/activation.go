package network

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// relu is max(x, 0); NaN stays NaN.
type relu struct {
	plain
	shape []int
}

func newReLU(_ Layer, input []int) (layer, error) { return relu{shape: input}, nil }

func (l relu) output() []int      { return l.shape }
func (l relu) inPlace() bool      { return true }
func (l relu) needsOutput() bool  { return true }
func (l relu) bind(f frame) state { return &reluState{f, size(l.shape)} }

type reluState struct {
	frame
	size int
}

func (s *reluState) forward(_ []float32, n int) {
	s.engine.Rectify(s.x[:n*s.size], s.y)
}

func (s *reluState) backward(_ []float32, n int) {
	if s.dx != nil {
		s.engine.RectifyBack(s.y[:n*s.size], s.dy, s.dx)
	}
}

// sigmoid is scale/(1+exp(-temperature x)) - offset, the tempered sigmoid of
// Papernot et al. ("Tempered Sigmoid Activations for Deep Learning with
// Differential Privacy", 2021); tanh is the one with 2, 2, 1.
type sigmoid struct {
	plain
	shape                      []int
	scale, temperature, offset float64
}

func newTanh(_ Layer, input []int) (layer, error) {
	return sigmoid{shape: input, scale: 2, temperature: 2, offset: 1}, nil
}

func newSigmoid(l Layer, input []int) (layer, error) {
	s := sigmoid{shape: input, scale: l.Scale, temperature: l.Temperature, offset: l.Offset}
	if s.scale == 0 {
		s.scale = 1
	}
	if s.temperature == 0 {
		s.temperature = 1
	}
	if !finite(s.scale) || !finite(s.temperature) || !finite(s.offset) {
		return nil, fmt.Errorf("scale %v, temperature %v, offset %v are not all finite", s.scale, s.temperature, s.offset)
	}
	return s, nil
}

func (l sigmoid) output() []int     { return l.shape }
func (l sigmoid) inPlace() bool     { return true }
func (l sigmoid) needsOutput() bool { return true }
func (l sigmoid) bind(f frame) state {
	return &sigmoidState{f, l, size(l.shape), gemm.NewSquash(l.temperature, l.scale, l.offset)}
}

type sigmoidState struct {
	frame
	sigmoid
	size   int
	squash *gemm.Squash
}

func (s *sigmoidState) forward(_ []float32, n int) {
	s.squash.Apply(s.engine, s.x[:n*s.size], s.y)
}

// backward uses y' = temperature (y + offset) (1 - (y + offset)/scale).
func (s *sigmoidState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	dx, y := s.dx[:n*s.size], s.y[:n*s.size]
	temperature, offset, inverse := float32(s.temperature), float32(s.offset), float32(1/s.scale)
	for i, d := range s.dy[:n*s.size] {
		u := y[i] + offset
		dx[i] = d * temperature * u * (1 - u*inverse)
	}
}
