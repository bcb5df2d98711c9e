package network

import "fmt"

// linear is y = x W + b at every position.
type linear struct {
	trained
	shape    []int // of the output
	t, in, p int
}

func newLinear(l Layer, input []int) (layer, error) {
	if l.Width <= 0 {
		return nil, fmt.Errorf("width %d is not positive", l.Width)
	}
	t, in := split(input)
	return linear{shape: replaceLast(input, l.Width), t: t, in: in, p: l.Width}, nil
}

// replaceLast is a shape with another number of channels.
func replaceLast(shape []int, channels int) []int {
	last := len(shape) - 1
	return append(append([]int{}, shape[:last]...), channels)
}

func (l linear) output() []int                        { return l.shape }
func (l linear) parameters() int                      { return affineSize(l.in, l.p) }
func (l linear) initialize(w []float32, r *generator) { r.fill(w, l.in) }
func (l linear) bind(f frame) state {
	return &linearState{f, affine{engine: f.engine, chunk: f.chunk, t: l.t, in: l.in, out: l.p, a: f.x, b: f.dy}}
}

type linearState struct {
	frame
	affine
}

func (s *linearState) forward(w []float32, n int) { s.apply(w, s.y, n) }
func (s *linearState) backward(w []float32, n int) {
	if s.dx != nil {
		s.pull(w, s.dx, n)
	}
}
