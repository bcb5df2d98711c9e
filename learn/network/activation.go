package network

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
	y := s.y[:n*s.size]
	for i, x := range s.x[:n*s.size] {
		y[i] = max(x, 0)
	}
}

func (s *reluState) backward(_ []float32, n int) {
	if s.dx == nil {
		return
	}
	dx, y := s.dx[:n*s.size], s.y[:n*s.size]
	for i, d := range s.dy[:n*s.size] {
		if !(y[i] > 0) {
			d = 0
		}
		dx[i] = d
	}
}
