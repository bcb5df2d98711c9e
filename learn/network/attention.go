package network

import (
	"fmt"
	"math"
)

// attention is causal self-attention with several heads (Vaswani et al. 2017): a
// position sees itself and those before it. Its parameters are the map from a
// position to queries, keys and values side by side, then the one from the heads'
// results to the output.
type attention struct {
	trained
	t, c, heads int
	residual    bool
}

func newAttention(l Layer, input []int) (layer, error) {
	if len(input) != 2 {
		return nil, fmt.Errorf("it takes a sequence: a shape of two sizes, positions and channels")
	}
	a := attention{t: input[0], c: input[1], heads: max(1, l.Heads), residual: l.Residual}
	if l.Heads < 0 || a.c%a.heads != 0 {
		return nil, fmt.Errorf("%d channels are not divisible into %d heads", a.c, l.Heads)
	}
	if err := checkShape([]int{a.heads, a.t, a.t}); err != nil {
		return nil, err
	}
	return a, nil
}

func (l attention) output() []int                        { return []int{l.t, l.c} }
func (l attention) parameters() int                      { return affineSize(l.c, 3*l.c) + affineSize(l.c, l.c) }
func (l attention) initialize(w []float32, r *generator) { r.fill(w, l.c) }
func (l attention) scratch() int                         { return 8*l.t*l.c + l.heads*l.t*l.t }
func (l attention) bind(f frame) state {
	room := func(width int) []float32 { return make([]float32, f.chunk*l.t*width) }
	s := &attentionState{frame: f, attention: l}
	s.qkv, s.dmixed = room(3*l.c), room(l.c)
	s.weights = room(l.heads * l.t)
	s.slopes = make([]float32, l.t*l.t)
	s.project = affine{engine: f.engine, chunk: f.chunk, t: l.t, in: l.c, out: 3 * l.c, a: f.x, b: room(3 * l.c)}
	s.mix = affine{engine: f.engine, chunk: f.chunk, t: l.t, in: l.c, out: l.c, a: room(l.c), b: f.dy}
	s.both = both{&s.project, &s.mix}
	return s
}

type attentionState struct {
	frame
	attention
	both
	project, mix affine
	qkv          []float32 // queries, keys and values
	weights      []float32 // of each position for each, by example and head
	dmixed       []float32 // gradient by mix.a
	slopes       []float32 // gradient by one head's weights
}

func (s *attentionState) matrices(w []float32) (project, mix []float32) {
	at := affineSize(s.c, 3*s.c)
	return w[:at], w[at:]
}

// head is where the queries of a head of an example lie in qkv, its results in
// mix.a, and its weights.
func (s *attentionState) head(i, head int) (query, result int, weights []float32) {
	d, all := s.c/s.heads, s.t*s.t
	return i*s.t*3*s.c + head*d, i*s.t*s.c + head*d, s.weights[(i*s.heads+head)*all:][:all]
}

func (s *attentionState) forward(w []float32, n int) {
	project, mix := s.matrices(w)
	s.project.apply(project, s.qkv, n)
	d, wide := s.c/s.heads, 3*s.c
	temper := float32(1 / math.Sqrt(float64(d)))
	for i := range n {
		for head := range s.heads {
			query, result, weights := s.head(i, head)
			s.engine.Multiply(false, true, s.t, s.t, d, temper, s.qkv[query:], wide, s.qkv[query+s.c:], wide, 0, weights, s.t)
			for t := range s.t {
				softmax(weights[t*s.t:][:t+1])
				clear(weights[t*s.t+t+1:][:s.t-t-1])
			}
			s.engine.Multiply(false, false, s.t, d, s.t, 1, weights, s.t, s.qkv[query+2*s.c:], wide, 0, s.mix.a[result:], s.c)
		}
	}
	s.mix.apply(mix, s.y, n)
	if s.residual {
		y := s.y[:n*s.t*s.c]
		for j, v := range s.x[:len(y)] {
			y[j] += v
		}
	}
}

// softmax replaces scores by weights that add up to 1.
func softmax(v []float32) {
	highest := v[0]
	for _, x := range v {
		highest = max(highest, x)
	}
	total := 0.0
	for j, x := range v {
		e := math.Exp(float64(x - highest))
		v[j] = float32(e)
		total += e
	}
	inverse := float32(1 / total)
	for j := range v {
		v[j] *= inverse
	}
}

func (s *attentionState) backward(w []float32, n int) {
	project, mix := s.matrices(w)
	s.mix.pull(mix, s.dmixed, n)
	d, wide := s.c/s.heads, 3*s.c
	temper := float32(1 / math.Sqrt(float64(d)))
	for i := range n {
		for head := range s.heads {
			query, result, weights := s.head(i, head)
			qkv, slope, dresult := s.qkv[query:], s.project.b[query:], s.dmixed[result:]
			s.engine.Multiply(false, true, s.t, s.t, d, 1, dresult, s.c, qkv[2*s.c:], wide, 0, s.slopes, s.t)
			for t := range s.t {
				softmaxBack(weights[t*s.t:][:s.t], s.slopes[t*s.t:][:s.t])
			}
			s.engine.Multiply(false, false, s.t, d, s.t, temper, s.slopes, s.t, qkv[s.c:], wide, 0, slope, wide)
			s.engine.Multiply(true, false, s.t, d, s.t, temper, s.slopes, s.t, qkv, wide, 0, slope[s.c:], wide)
			s.engine.Multiply(true, false, s.t, d, s.t, 1, weights, s.t, dresult, s.c, 0, slope[2*s.c:], wide)
		}
	}
	if s.dx == nil {
		return
	}
	s.project.pull(project, s.dx, n)
	if s.residual {
		dx := s.dx[:n*s.t*s.c]
		for j, g := range s.dy[:len(dx)] {
			dx[j] += g
		}
	}
}

// softmaxBack turns the gradient by the weights into that by the scores.
func softmaxBack(weights, slope []float32) {
	mean := 0.0
	for j, p := range weights {
		mean += float64(p) * float64(slope[j])
	}
	for j, p := range weights {
		slope[j] = p * (slope[j] - float32(mean))
	}
}
