package network

import (
	"fmt"
	"math"
)

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
	if v.kernel[0]*v.kernel[1] > 1<<tagBits {
		return nil, fmt.Errorf("kernel %v: a pool is of at most %d numbers", l.Kernel, 1<<tagBits)
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
	return &maxPoolState{f, l, make([]uint16, f.chunk*l.oh*l.ow*l.c), make([]int64, l.c)}
}

// each calls f with the first number under the window and the first output of
// every place in n images.
func (l pool) each(n int, f func(in, out int)) {
	for i := range n {
		for oy := range l.oh {
			for ox := range l.ow {
				f(((i*l.h+oy*l.stride[0])*l.w+ox*l.stride[1])*l.c, ((i*l.oh+oy)*l.ow+ox)*l.c)
			}
		}
	}
}

type maxPoolState struct {
	frame
	pool
	from []uint16 // which number of the window is each maximum
	best []int64  // of each channel
}

// tagBits is the length of a number's place in its window.
const tagBits = 16

// ordered maps the bits of a float32 to whole numbers in the same order, and back.
// Comparing these takes no branch.
func ordered(bits uint32) int32 { return int32(bits) ^ int32(uint32(int32(bits)>>31)>>1) }

func (s *maxPoolState) forward(_ []float32, n int) {
	c, best := s.c, s.best
	s.each(n, func(in, out int) {
		for tag, offset := range s.offsets {
			// The higher tag stands for the earlier number, which wins a tie.
			low := int64(1<<tagBits - 1 - tag)
			x := s.x[in+offset:][:len(best)]
			if tag == 0 {
				for j, v := range x {
					best[j] = int64(ordered(math.Float32bits(v)))<<tagBits | low
				}
				continue
			}
			for j, v := range x {
				best[j] = max(best[j], int64(ordered(math.Float32bits(v)))<<tagBits|low)
			}
		}
		y, from := s.y[out:][:c], s.from[out:][:c]
		for j, b := range best[:c] {
			y[j] = math.Float32frombits(uint32(ordered(uint32(b >> tagBits))))
			from[j] = uint16(1<<tagBits - 1 - b&(1<<tagBits-1))
		}
	})
}

func (s *maxPoolState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	clear(s.dx[:n*s.h*s.w*s.c])
	s.each(n, func(in, out int) {
		dx, dy := s.dx[in:], s.dy[out:][:s.c]
		for j, from := range s.from[out:][:s.c] {
			dx[s.offsets[from]+j] += dy[j]
		}
	})
}

type avgPoolState struct {
	frame
	pool
}

func (s *avgPoolState) forward(_ []float32, n int) {
	share := 1 / float32(len(s.offsets))
	s.each(n, func(in, out int) {
		y := s.y[out:][:s.c]
		clear(y)
		for _, offset := range s.offsets {
			for j, v := range s.x[in+offset:][:s.c] {
				y[j] += share * v
			}
		}
	})
}

func (s *avgPoolState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	clear(s.dx[:n*s.h*s.w*s.c])
	share := 1 / float32(len(s.offsets))
	s.each(n, func(in, out int) {
		dy := s.dy[out:][:s.c]
		for _, offset := range s.offsets {
			dx := s.dx[in+offset:][:s.c]
			for j, g := range dy {
				dx[j] += share * g
			}
		}
	})
}
