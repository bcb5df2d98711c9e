package network

import "fmt"

// pool takes the maximum or the mean of each channel under a window. It has no
// padding.
type pool struct {
	plain
	window
	dimensions int
	average    bool
	offsets    []int // where each number of a window lies, from its first
}

func newMaxPool(l Layer, input []int) (layer, error) { return newPool(l, input, false) }
func newAvgPool(l Layer, input []int) (layer, error) { return newPool(l, input, true) }

func newPool(l Layer, input []int, average bool) (layer, error) {
	dimensions := min(2, max(1, len(input)-1))
	if len(l.Padding) > 0 {
		return nil, fmt.Errorf("a pool has no padding")
	}
	v, err := newWindow(l, input, dimensions, l.Kernel)
	if err != nil {
		return nil, err
	}
	p := pool{window: v, dimensions: dimensions, average: average}
	for ky := range v.kernel[0] {
		for kx := range v.kernel[1] {
			p.offsets = append(p.offsets, (ky*v.w+kx)*v.c)
		}
	}
	return p, nil
}

func (l pool) output() []int { return l.shape(l.dimensions, l.c) }
func (l pool) bind(f frame) state {
	if l.average {
		return &avgPoolState{f, l}
	}
	return &maxPoolState{f, l, make([]uint32, f.chunk*l.oh*l.ow*l.c)}
}

// scratch of a maximum: where it was.
func (l pool) scratch() int {
	if l.average {
		return 0
	}
	return l.oh * l.ow * l.c
}

// each calls f with the first number under the window, the first output and the
// number of outputs, of all pieces of n images in which both lie side by side: of a
// line if the window moves by one, else of a place.
func (l pool) each(n int, f func(in, out, count int)) {
	places, count := l.ow, l.c
	if l.stride[1] == 1 {
		places, count = 1, l.ow*l.c
	}
	for i := range n {
		for oy := range l.oh {
			for ox := range places {
				f(((i*l.h+oy*l.stride[0])*l.w+ox*l.stride[1])*l.c, ((i*l.oh+oy)*l.ow+ox)*l.c, count)
			}
		}
	}
}

type maxPoolState struct {
	frame
	pool
	from []uint32 // which number of the window is each maximum; the first of equal ones
}

func (s *maxPoolState) forward(_ []float32, n int) {
	s.each(n, func(in, out, count int) {
		y, from := s.y[out:][:count], s.from[out:][:count]
		copy(y, s.x[in:])
		clear(from)
		for tag, offset := range s.offsets[1:] {
			s.engine.Larger(uint32(tag+1), s.x[in+offset:][:count], y, from)
		}
	})
}

func (s *maxPoolState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	clear(s.dx[:n*s.h*s.w*s.c])
	s.each(n, func(in, out, count int) {
		for tag, offset := range s.offsets {
			s.engine.AddWhere(uint32(tag), s.from[out:], s.dy[out:][:count], s.dx[in+offset:])
		}
	})
}

type avgPoolState struct {
	frame
	pool
}

func (s *avgPoolState) forward(_ []float32, n int) {
	clear(s.y[:n*s.oh*s.ow*s.c])
	share := 1 / float32(len(s.offsets))
	s.each(n, func(in, out, count int) {
		for _, offset := range s.offsets {
			s.engine.Axpy(share, s.x[in+offset:][:count], s.y[out:])
		}
	})
}

func (s *avgPoolState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	clear(s.dx[:n*s.h*s.w*s.c])
	share := 1 / float32(len(s.offsets))
	s.each(n, func(in, out, count int) {
		for _, offset := range s.offsets {
			s.engine.Axpy(share, s.dy[out:][:count], s.dx[in+offset:])
		}
	})
}
