package network

import "github.com/discreet-dp/discreet/learn/internal/gemm"

// A layer is a description with its shapes worked out. It holds no numbers.
type layer interface {
	output() []int // the shape that it gives
	parameters() int
	initialize(w []float32, r *generator)

	// inPlace reports whether the layer can overwrite its input with its output,
	// and the gradient of the one with that of the other.
	inPlace() bool

	// needsOutput reports whether the way back reads the output, which must then
	// not be overwritten.
	needsOutput() bool

	// scratch counts the numbers that the layer holds for an example besides
	// input and output.
	scratch() int

	// bind gives the layer the places of its numbers.
	bind(f frame) state
}

// A frame is where a layer finds its numbers, for up to chunk examples, example
// after example.
type frame struct {
	chunk  int
	engine *gemm.Engine
	x, y   []float32 // input and output
	dx, dy []float32 // the loss's gradient by them; dx is nil if nobody needs it
}

// A state is a layer at work on the first n examples of its frame.
type state interface {
	forward(w []float32, n int)
	backward(w []float32, n int) // dx from dy
}

// A learner is the state of a layer that has parameters. After backward it gives
// the gradients of the examples by them:
type learner interface {
	state

	// sum adds the gradients of all n examples to g.
	sum(n int, g []float32)

	// norms adds to squared[i] an upper bound of the squared norm of example i's
	// gradient, tight to rounding.
	norms(n int, squared []float64)

	// scaled adds to g each gradient times its factor; norms was called before.
	scaled(n int, factors []float32, g []float32)

	// erase makes example i, whose numbers are not all finite, one that adds
	// nothing to sum and scaled.
	erase(i int)
}

// plain is for layers that have no parameters.
type plain struct{}

func (plain) parameters() int                  { return 0 }
func (plain) initialize([]float32, *generator) {}
func (plain) inPlace() bool                    { return false }
func (plain) needsOutput() bool                { return false }
func (plain) scratch() int                     { return 0 }

// trained is for layers that have parameters.
type trained struct{}

func (trained) inPlace() bool     { return false }
func (trained) needsOutput() bool { return false }
func (trained) scratch() int      { return 0 }
