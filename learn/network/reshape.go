package network

import "fmt"

// flatten makes one position of all.
type flatten struct {
	plain
	n int
}

func newFlatten(_ Layer, input []int) (layer, error) { return flatten{n: size(input)}, nil }

func (l flatten) output() []int      { return []int{l.n} }
func (l flatten) inPlace() bool      { return true }
func (l flatten) bind(f frame) state { return &copyState{f, l.n, 0, l.n} }

// last keeps the last position of a sequence.
type last struct {
	plain
	t, c int
}

func newLast(_ Layer, input []int) (layer, error) {
	if len(input) < 2 {
		return nil, fmt.Errorf("it takes a sequence of positions with channels")
	}
	t, c := split(input)
	return last{t: t, c: c}, nil
}

func (l last) output() []int      { return []int{l.c} }
func (l last) bind(f frame) state { return &copyState{f, l.t * l.c, (l.t - 1) * l.c, l.c} }

// copyState passes on count numbers of each example's size, from one on.
type copyState struct {
	frame
	size, from, count int
}

func (s *copyState) forward(_ []float32, n int) {
	for i := range n {
		copy(s.y[i*s.count:][:s.count], s.x[i*s.size+s.from:])
	}
}

func (s *copyState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	for i := range n {
		dx := s.dx[i*s.size:][:s.size]
		if s.count < s.size {
			clear(dx)
		}
		copy(dx[s.from:], s.dy[i*s.count:][:s.count])
	}
}
