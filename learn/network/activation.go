package network

import (
	"fmt"
	"math"

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
	gemm.Rectify(s.x[:n*s.size], s.y)
}

func (s *reluState) backward(_ []float32, n int) {
	if s.dx != nil {
		gemm.RectifyBack(s.y[:n*s.size], s.dy, s.dx)
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

func (l sigmoid) output() []int      { return l.shape }
func (l sigmoid) inPlace() bool      { return true }
func (l sigmoid) needsOutput() bool  { return true }
func (l sigmoid) bind(f frame) state { return &sigmoidState{f, l, size(l.shape)} }

type sigmoidState struct {
	frame
	sigmoid
	size int
}

func (s *sigmoidState) forward(_ []float32, n int) {
	y := s.y[:n*s.size]
	for i, x := range s.x[:n*s.size] {
		y[i] = float32(s.scale*squash(s.temperature*float64(x)) - s.offset)
	}
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

// squash is 1/(1+exp(-x)) to about 1e-9, and NaN for NaN: several times as fast
// as with math.Exp, whose last bits a float32 has no use for.
func squash(x float64) float64 {
	x = max(-87, min(87, x)) // the result at the ends is that of the limits, in float32
	// exp(-x) = 2^k exp(r) with |r| <= ln(2)/2. Adding 1.5*2^52 rounds to a whole
	// number and leaves it in the low bits.
	const shift = 3 << 51
	k := x*(-math.Log2E) + shift
	r := -x - (k-shift)*math.Ln2
	// Taylor's polynomial; the remainder is below (ln(2)/2)^9/9! = 2e-10.
	p := 1 + r*(1+r*(1./2+r*(1./6+r*(1./24+r*(1./120+r*(1./720+r*(1./5040+r*(1./40320))))))))
	e := p * math.Float64frombits((math.Float64bits(k)+1023)<<52)
	return 1 / (1 + e)
}
