package network

import (
	"fmt"

	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// gru is a gated recurrent unit (Cho et al. 2014) over a sequence, from state 0, in
// the variant that multiplies with the reset gate after the product:
//
//	r = logistic(x Wr + br + h Ur + cr)        z = logistic(x Wz + bz + h Uz + cz)
//	c = tanh(x Wc + bc + r (h Uc + cc))      h' = (1-z) c + z h
//
// so that all its matrices are affine maps of inputs or states, side by side in W
// and U. It gives the state after each position.
type gru struct {
	trained
	t, in, h int
}

func newGRU(l Layer, input []int) (layer, error) {
	if l.Width <= 0 {
		return nil, fmt.Errorf("width %d is not positive", l.Width)
	}
	if len(input) != 2 {
		return nil, fmt.Errorf("it takes a sequence: a shape of two sizes, positions and channels")
	}
	return gru{t: input[0], in: input[1], h: l.Width}, nil
}

func (l gru) output() []int   { return []int{l.t, l.h} }
func (l gru) parameters() int { return affineSize(l.in, 3*l.h) + affineSize(l.h, 3*l.h) }
func (l gru) initialize(w []float32, r *generator) {
	r.fill(w, l.h)
}
func (l gru) scratch() int { return 7 * l.t * l.h }
func (l gru) bind(f frame) state {
	make3 := func(width int) []float32 { return make([]float32, f.chunk*l.t*width) }
	s := &gruState{frame: f, gru: l, step: make([]float32, f.chunk*l.h)}
	s.input = affine{engine: f.engine, chunk: f.chunk, t: l.t, in: l.in, out: 3 * l.h, a: f.x, b: make3(3 * l.h)}
	s.recurrent = affine{engine: f.engine, chunk: f.chunk, t: l.t, in: l.h, out: 3 * l.h, a: make3(l.h), b: make3(3 * l.h)}
	s.both = both{&s.input, &s.recurrent}
	return s
}

// gruState keeps the gates r, z, c in input.b and the products h U in recurrent.b;
// on the way back their gradients take these places. recurrent.a is the state
// before each position.
type gruState struct {
	frame
	gru
	both
	input, recurrent affine
	step             []float32 // gradient by the state of one position
}

// matrices are the two maps' parameters.
func (s *gruState) matrices(w []float32) (input, recurrent []float32) {
	at := affineSize(s.in, 3*s.h)
	return w[:at], w[at:]
}

func (s *gruState) forward(w []float32, n int) {
	input, recurrent := s.matrices(w)
	s.input.apply(input, s.input.b, n)
	h, wide := s.h, 3*s.h
	bias := recurrent[h*wide:]
	for t := range s.t {
		for i := range n {
			row := i*s.t + t
			before := s.recurrent.a[row*h:][:h]
			if t == 0 {
				clear(before)
			} else {
				copy(before, s.y[(row-1)*h:])
			}
			copy(s.recurrent.b[row*wide:][:wide], bias)
		}
		s.engine.Multiply(false, false, n, wide, h, 1, s.recurrent.a[t*h:], s.t*h, recurrent, wide, 1, s.recurrent.b[t*wide:], s.t*wide)
		for i := range n {
			row := i*s.t + t
			gates, product := s.input.b[row*wide:][:wide], s.recurrent.b[row*wide:][:wide]
			before, y := s.recurrent.a[row*h:][:h], s.y[row*h:][:h]
			for j := range h {
				r := gemm.Logistic(float64(gates[j] + product[j]))
				z := gemm.Logistic(float64(gates[h+j] + product[h+j]))
				c := 2*gemm.Logistic(2*(float64(gates[2*h+j])+r*float64(product[2*h+j]))) - 1
				gates[j], gates[h+j], gates[2*h+j] = float32(r), float32(z), float32(c)
				y[j] = float32((1-z)*c + z*float64(before[j]))
			}
		}
	}
}

func (s *gruState) backward(w []float32, n int) {
	input, recurrent := s.matrices(w)
	h, wide := s.h, 3*s.h
	clear(s.step[:n*h])
	for t := s.t - 1; t >= 0; t-- {
		for i := range n {
			row := i*s.t + t
			gates, product := s.input.b[row*wide:][:wide], s.recurrent.b[row*wide:][:wide]
			before, dy, step := s.recurrent.a[row*h:][:h], s.dy[row*h:][:h], s.step[i*h:][:h]
			for j := range h {
				r, z, c := gates[j], gates[h+j], gates[2*h+j]
				d := dy[j] + step[j]
				dz := d * (before[j] - c) * z * (1 - z)
				dc := d * (1 - z) * (1 - c*c)
				dr := dc * product[2*h+j] * r * (1 - r)
				gates[j], gates[h+j], gates[2*h+j] = dr, dz, dc
				product[j], product[h+j], product[2*h+j] = dr, dz, dc*r
				step[j] = d * z
			}
		}
		if t > 0 {
			s.engine.Multiply(false, true, n, h, wide, 1, s.recurrent.b[t*wide:], s.t*wide, recurrent, wide, 1, s.step, h)
		}
	}
	if s.dx != nil {
		s.input.pull(input, s.dx, n)
	}
}

// both are two affine maps whose parameters follow each other.
type both struct{ first, second *affine }

func (l both) split(g []float32) (first, second []float32) {
	at := affineSize(l.first.in, l.first.out)
	return g[:at], g[at:]
}

func (l both) sum(n int, g []float32) {
	first, second := l.split(g)
	l.first.sum(n, first)
	l.second.sum(n, second)
}

func (l both) norms(n int, squared []float64) {
	l.first.norms(n, squared)
	l.second.norms(n, squared)
}

func (l both) scaled(n int, factors []float32, g []float32) {
	first, second := l.split(g)
	l.first.scaled(n, factors, first)
	l.second.scaled(n, factors, second)
}

func (l both) erase(i int) {
	l.first.erase(i)
	l.second.erase(i)
}

func (l both) ghosts() int { return max(l.first.ghosts(), l.second.ghosts()) }
