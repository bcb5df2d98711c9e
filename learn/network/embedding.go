package network

import (
	"fmt"
	"math"
)

// embedding gives each token its row of the parameters. What is no whole number of
// a token makes the example invalid.
type embedding struct {
	trained
	t, tokens, c int
}

func newEmbedding(l Layer, input []int) (layer, error) {
	if l.Tokens <= 0 || l.Width <= 0 {
		return nil, fmt.Errorf("%d tokens of width %d", l.Tokens, l.Width)
	}
	if len(input) != 1 {
		return nil, fmt.Errorf("it takes a shape of one size, the number of tokens in a text")
	}
	if err := checkShape([]int{l.Tokens, l.Width}); err != nil {
		return nil, err
	}
	return embedding{t: input[0], tokens: l.Tokens, c: l.Width}, nil
}

func (l embedding) output() []int   { return []int{l.t, l.c} }
func (l embedding) parameters() int { return l.tokens * l.c }
func (l embedding) initialize(w []float32, r *generator) {
	for i := range w {
		w[i] = r.uniform(1)
	}
}
func (l embedding) bind(f frame) state { return &embeddingState{f, l, make([]int32, f.chunk*l.t)} }

type embeddingState struct {
	frame
	embedding
	token []int32 // negative: none
}

func (s *embeddingState) forward(w []float32, n int) {
	for p, v := range s.x[:n*s.t] {
		token := int32(-1)
		if v >= 0 && v < float32(s.tokens) && v == float32(int32(v)) {
			token = int32(v)
		}
		s.token[p] = token
		y := s.y[p*s.c:][:s.c]
		if token >= 0 {
			copy(y, w[int(token)*s.c:])
			continue
		}
		for j := range y {
			y[j] = float32(math.NaN())
		}
	}
}

// backward does nothing: there is no gradient by a token.
func (s *embeddingState) backward([]float32, int) {}

func (s *embeddingState) slope(p int) []float32 { return s.dy[p*s.c:][:s.c] }

func (s *embeddingState) sum(n int, g []float32) {
	for p, token := range s.token[:n*s.t] {
		if token >= 0 {
			s.engine.Axpy(1, s.slope(p), g[int(token)*s.c:][:s.c])
		}
	}
}

// norms: the gradient's row for a token is the sum of the gradients where it
// stands, so the squared norm is the sum over all pairs of the same token.
func (s *embeddingState) norms(n int, squared []float64) {
	for i := range n {
		var total, mass float64
		for p := i * s.t; p < (i+1)*s.t; p++ {
			diagonal := s.engine.Dot(s.slope(p), s.slope(p))
			total += diagonal
			mass += math.Sqrt(diagonal)
			for q := i * s.t; q < p; q++ {
				if s.token[p] == s.token[q] {
					total += 2 * s.engine.Dot(s.slope(p), s.slope(q))
				}
			}
		}
		squared[i] += boundGhost(total, mass, s.c+s.t*s.t)
	}
}

func (s *embeddingState) scaled(n int, factors []float32, g []float32) {
	for i, f := range factors[:n] {
		s.engine.Shrink(f, s.dy[i*s.t*s.c:][:s.t*s.c])
	}
	s.sum(n, g)
}

func (s *embeddingState) erase(i int) {
	for p := i * s.t; p < (i+1)*s.t; p++ {
		s.token[p] = -1
	}
	clear(s.dy[i*s.t*s.c:][:s.t*s.c])
}

func (s *embeddingState) ghosts() int { return s.t }

// position adds to each position of a sequence its own vector of parameters.
type position struct {
	trained
	shape []int
}

func newPosition(_ Layer, input []int) (layer, error) { return position{shape: input}, nil }

func (l position) output() []int   { return l.shape }
func (l position) parameters() int { return size(l.shape) }
func (l position) initialize(w []float32, r *generator) {
	for i := range w {
		w[i] = r.uniform(1)
	}
}
func (l position) bind(f frame) state { return &positionState{f, size(l.shape)} }

type positionState struct {
	frame
	size int
}

func (s *positionState) forward(w []float32, n int) {
	for i := range n {
		y := s.y[i*s.size:][:s.size]
		for j, v := range s.x[i*s.size:][:s.size] {
			y[j] = v + w[j]
		}
	}
}

func (s *positionState) backward(_ []float32, n int) {
	if s.dx != nil {
		copy(s.dx[:n*s.size], s.dy)
	}
}

func (s *positionState) slope(i int) []float32 { return s.dy[i*s.size:][:s.size] }

func (s *positionState) sum(n int, g []float32) {
	for i := range n {
		s.engine.Axpy(1, s.slope(i), g)
	}
}

func (s *positionState) norms(n int, squared []float64) {
	for i := range n {
		squared[i] += s.engine.Dot(s.slope(i), s.slope(i)) * roundUp(s.size)
	}
}

func (s *positionState) scaled(n int, factors []float32, g []float32) {
	for i, f := range factors[:n] {
		s.engine.Axpy(f, s.slope(i), g)
	}
}

func (s *positionState) erase(i int) { clear(s.slope(i)) }
