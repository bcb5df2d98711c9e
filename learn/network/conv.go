package network

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// window is how a kernel moves over an image [height, width, channels]; a
// sequence is an image of height 1.
type window struct {
	h, w, c        int    // of the input
	oh, ow         int    // of the output
	kernel, stride [2]int // down, right
	padding        [2]int
}

// newWindow reads the sizes of a layer over one or two dimensions.
func newWindow(l Layer, input []int, dimensions int, stride []int) (v window, err error) {
	if len(input) != dimensions+1 {
		return v, fmt.Errorf("it takes shapes of %d sizes, the last of which counts channels", dimensions+1)
	}
	image := append([]int{}, input...)
	if dimensions == 1 {
		image = append([]int{1}, input...)
	}
	v.h, v.w, v.c = image[0], image[1], image[2]
	if v.kernel, err = pair("kernel", l.Kernel, dimensions, nil, 1); err != nil {
		return v, err
	}
	if v.stride, err = pair("stride", l.Stride, dimensions, stride, 1); err != nil {
		return v, err
	}
	if v.padding, err = pair("padding", l.Padding, dimensions, []int{0}, 0); err != nil {
		return v, err
	}
	for d, size := range [2]int{v.h, v.w} {
		padded := size + 2*v.padding[d]
		if v.kernel[d] > padded || v.padding[d] >= v.kernel[d] || padded > maxSize {
			return v, fmt.Errorf("kernel %v with padding %v over shape %v: a kernel lies over at least one number and inside the padded input", l.Kernel, l.Padding, input)
		}
		out := (padded-v.kernel[d])/v.stride[d] + 1
		if d == 0 {
			v.oh = out
		} else {
			v.ow = out
		}
	}
	return v, nil
}

// pair reads a size for each of one or two dimensions; missing is the default.
func pair(what string, sizes []int, dimensions int, missing []int, least int) (p [2]int, err error) {
	if len(sizes) == 0 {
		sizes = missing
	}
	if len(sizes) != 1 && len(sizes) != dimensions {
		return p, fmt.Errorf("%s %v has neither 1 size nor %d", what, sizes, dimensions)
	}
	first, last := sizes[0], sizes[len(sizes)-1]
	if first < least || last < least || first > maxSize || last > maxSize {
		return p, fmt.Errorf("%s %v: at least %d", what, sizes, least)
	}
	p = [2]int{first, last}
	if dimensions == 1 { // an image of one line: pad its columns only
		p[0] = least
	}
	return p, nil
}

// shape is the output's, with a number of channels.
func (v window) shape(dimensions, channels int) []int {
	if dimensions == 1 {
		return []int{v.ow, channels}
	}
	return []int{v.oh, v.ow, channels}
}

// patch is how many numbers the kernel lies over.
func (v window) patch() int { return v.kernel[0] * v.kernel[1] * v.c }

// clip gives the part [from, to) of the kernel that lies over the input when the
// kernel starts at position start of a line of the given size.
func clip(start, kernel, size int) (from, to int) { return max(0, -start), min(kernel, size-start) }

// patches writes what the kernel sees at each place of one image, a row a place
// (im2col).
func (v window) patches(e *gemm.Engine, image, rows []float32) {
	line := v.kernel[1] * v.c
	for oy := range v.oh {
		y := oy*v.stride[0] - v.padding[0]
		top, bottom := clip(y, v.kernel[0], v.h)
		for ox := range v.ow {
			x := ox*v.stride[1] - v.padding[1]
			left, right := clip(x, v.kernel[1], v.w)
			row := rows[(oy*v.ow+ox)*v.patch():][:v.patch()]
			if bottom-top == v.kernel[0] && right-left == v.kernel[1] {
				e.CopyRows(v.kernel[0], line, image[(y*v.w+x)*v.c:], v.w*v.c, row)
				continue
			}
			clear(row)
			for ky := top; ky < bottom; ky++ {
				from := ((y+ky)*v.w + x + left) * v.c
				copy(row[ky*line+left*v.c:ky*line+right*v.c], image[from:])
			}
		}
	}
}

// gather adds the rows of patches back to where they came from: the transpose of
// patches.
func (v window) gather(e *gemm.Engine, rows, image []float32) {
	line := v.kernel[1] * v.c
	for oy := range v.oh {
		y := oy*v.stride[0] - v.padding[0]
		top, bottom := clip(y, v.kernel[0], v.h)
		for ox := range v.ow {
			x := ox*v.stride[1] - v.padding[1]
			left, right := clip(x, v.kernel[1], v.w)
			row := rows[(oy*v.ow+ox)*v.patch():][:v.patch()]
			for ky := top; ky < bottom; ky++ {
				from := row[ky*line+left*v.c : ky*line+right*v.c]
				e.Axpy(1, from, image[((y+ky)*v.w+x+left)*v.c:])
			}
		}
	}
}

// conv is a convolution over one or two dimensions: an affine map of the patches.
type conv struct {
	trained
	window
	dimensions, channels int
}

func newConv1d(l Layer, input []int) (layer, error) { return newConv(l, input, 1) }
func newConv2d(l Layer, input []int) (layer, error) { return newConv(l, input, 2) }

func newConv(l Layer, input []int, dimensions int) (layer, error) {
	if l.Width <= 0 {
		return nil, fmt.Errorf("width %d is not positive", l.Width)
	}
	v, err := newWindow(l, input, dimensions, []int{1})
	if err != nil {
		return nil, err
	}
	if err := checkShape([]int{v.oh, v.ow, v.kernel[0], v.kernel[1], v.c}); err != nil {
		return nil, fmt.Errorf("patches: %w", err)
	}
	return conv{window: v, dimensions: dimensions, channels: l.Width}, nil
}

func (l conv) output() []int                        { return l.shape(l.dimensions, l.channels) }
func (l conv) parameters() int                      { return affineSize(l.patch(), l.channels) }
func (l conv) initialize(w []float32, r *generator) { r.fill(w, l.patch()) }
func (l conv) scratch() int                         { return l.oh * l.ow * l.patch() }
func (l conv) bind(f frame) state {
	s := &convState{frame: f, conv: l}
	s.affine = affine{engine: f.engine, chunk: f.chunk, t: l.oh * l.ow, in: l.patch(), out: l.channels,
		a: make([]float32, f.chunk*l.scratch()), b: f.dy}
	if f.dx != nil {
		s.group = max(1, min(f.chunk, backRows/(l.oh*l.ow)))
		s.rows = make([]float32, s.group*l.scratch())
	}
	return s
}

type convState struct {
	frame
	conv
	affine
	group int       // examples that go back at once
	rows  []float32 // gradient by their patches
}

// backRows is about how many patches go back at once: few, so that the memory for
// them stays small, but enough for an efficient product.
const backRows = 192

func (s *convState) forward(w []float32, n int) {
	in, rows := s.h*s.conv.w*s.c, s.scratch()
	for i := range n {
		s.patches(s.frame.engine, s.x[i*in:][:in], s.a[i*rows:][:rows])
	}
	s.apply(w, s.y, n)
}

func (s *convState) backward(w []float32, n int) {
	if s.dx == nil {
		return
	}
	in, per := s.h*s.conv.w*s.c, s.t*s.out
	clear(s.dx[:n*in])
	for i := 0; i < n; i += s.group {
		group := min(s.group, n-i)
		s.frame.engine.Multiply(false, true, group*s.t, s.in, s.out, 1, s.b[i*per:], s.out, w, s.out, 0, s.rows, s.in)
		for g := range group {
			s.gather(s.frame.engine, s.rows[g*s.scratch():][:s.scratch()], s.dx[(i+g)*in:][:in])
		}
	}
}
