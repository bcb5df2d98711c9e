package network

import (
	"fmt"
	"math"
)

// normalize brings the numbers of a region to mean 0 and variance 1, then gives
// each channel a scale and a shift, its parameters in this order. A region is one
// position (layernorm), or a group of channels at all positions (groupnorm): it
// never reaches over examples, as batch normalization does, where no example has
// a gradient of its own.
type normalize struct {
	trained
	shape     []int
	t, c      int
	regions   int // an example
	positions int // a region
	channels  int // a region
}

func newLayerNorm(_ Layer, input []int) (layer, error) {
	t, c := split(input)
	return newNormalize(normalize{shape: input, t: t, c: c, regions: t, positions: 1, channels: c})
}

func newGroupNorm(l Layer, input []int) (layer, error) {
	t, c := split(input)
	if l.Groups <= 0 || c%l.Groups != 0 {
		return nil, fmt.Errorf("%d channels are not divisible into %d groups", c, l.Groups)
	}
	return newNormalize(normalize{shape: input, t: t, c: c, regions: l.Groups, positions: t, channels: c / l.Groups})
}

func newNormalize(l normalize) (layer, error) {
	if l.positions*l.channels < 2 {
		return nil, fmt.Errorf("it would normalize single numbers, and nothing would be left of them")
	}
	return l, nil
}

func (l normalize) output() []int   { return l.shape }
func (l normalize) parameters() int { return 2 * l.c }
func (l normalize) initialize(w []float32, _ *generator) {
	for j := range w {
		w[j] = 0
		if j < l.c {
			w[j] = 1
		}
	}
}
func (l normalize) scratch() int { return l.t*l.c + l.regions }
func (l normalize) bind(f frame) state {
	s := &normalizeState{frame: f, normalize: l}
	s.unit = make([]float32, f.chunk*l.t*l.c)
	s.inverse = make([]float32, f.chunk*l.regions)
	s.keeper = keeper{engine: f.engine, chunk: f.chunk, size: 2 * l.c, gradient: s.gradient}
	return s
}

type normalizeState struct {
	frame
	normalize
	keeper
	unit    []float32 // normalized, before scale and shift
	inverse []float32 // of a region's standard deviation
}

// floor is added to variances, so that constant regions give numbers.
const floor = 1e-5

// region is where region r of example i begins, and its first channel.
func (s *normalizeState) region(i, r int) (start, channel int) {
	if s.positions == 1 {
		return (i*s.t + r) * s.c, 0
	}
	return i*s.t*s.c + r*s.channels, r * s.channels
}

func (s *normalizeState) forward(w []float32, n int) {
	count := float64(s.positions * s.channels)
	for i := range n {
		for r := range s.regions {
			start, channel := s.region(i, r)
			var total, squares float64
			for p := range s.positions {
				for _, v := range s.x[start+p*s.c:][:s.channels] {
					total += float64(v)
				}
			}
			mean := total / count
			for p := range s.positions {
				for _, v := range s.x[start+p*s.c:][:s.channels] {
					squares += (float64(v) - mean) * (float64(v) - mean)
				}
			}
			inverse := float32(1 / math.Sqrt(squares/count+floor))
			s.inverse[i*s.regions+r] = inverse
			scale, shift := w[channel:][:s.channels], w[s.c+channel:][:s.channels]
			for p := range s.positions {
				at := start + p*s.c
				unit, y := s.unit[at:][:s.channels], s.y[at:][:s.channels]
				for j, v := range s.x[at:][:s.channels] {
					u := float32(float64(v)-mean) * inverse
					unit[j] = u
					y[j] = u*scale[j] + shift[j]
				}
			}
		}
	}
}

// backward: with u the normalized numbers and d the gradient by them, the gradient
// by x is (d - mean(d) - u mean(d u)) / deviation.
func (s *normalizeState) backward(w []float32, n int) {
	if s.dx == nil {
		return
	}
	count := float64(s.positions * s.channels)
	for i := range n {
		for r := range s.regions {
			start, channel := s.region(i, r)
			scale := w[channel:][:s.channels]
			var d, du float64
			for p := range s.positions {
				at := start + p*s.c
				unit := s.unit[at:][:s.channels]
				for j, g := range s.dy[at:][:s.channels] {
					g := float64(g * scale[j])
					d += g
					du += g * float64(unit[j])
				}
			}
			meanD, meanDU, inverse := float32(d/count), float32(du/count), s.inverse[i*s.regions+r]
			for p := range s.positions {
				at := start + p*s.c
				unit, dx := s.unit[at:][:s.channels], s.dx[at:][:s.channels]
				for j, g := range s.dy[at:][:s.channels] {
					dx[j] = (g*scale[j] - meanD - unit[j]*meanDU) * inverse
				}
			}
		}
	}
}

func (s *normalizeState) gradient(i int, g []float32) {
	scale, shift := g[:s.c], g[s.c:][:s.c]
	for p := range s.t {
		at := (i*s.t + p) * s.c
		unit := s.unit[at:][:s.c]
		for j, d := range s.dy[at:][:s.c] {
			scale[j] += d * unit[j]
			shift[j] += d
		}
	}
}

func (s *normalizeState) erase(i int) {
	clear(s.unit[i*s.t*s.c:][:s.t*s.c])
	clear(s.dy[i*s.t*s.c:][:s.t*s.c])
	if s.kept != nil {
		clear(s.of(i))
	}
}
