package convex

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/learn/internal/fixed"
)

// A problem is one model to find.
type problem struct {
	loss loss
	x    *fixed.Rows
	y    []float64
}

// tolerance is the gradient's norm at what minimum returns, at most.
const tolerance = 1.0 / (1 << 14)

// errUncertain is what minimum says where it cannot reach the tolerance. It is one
// constant: that, and when, is all that it could say of the data.
var errUncertain = errors.New("float64 arithmetic cannot show a minimum of so many examples")

// block is how many examples are added up at a time.
const block = 512

// A point is the value of an objective and its derivatives somewhere.
type point struct {
	w        []float64
	value    float64
	gradient []float64
}

// An objective is F(w) + b·w.
type objective struct {
	*problem
	x      []float64 // the rows, exactly
	lambda float64
	linear []float64
}

// minimum returns a w where the gradient of F(w) + b·w, of regularization lambda, has a
// norm of at most tolerance; so that w is within tolerance/Λ of the exact minimum, since
// ∇F is Λ-strongly monotone: Λ‖w−w*‖ <= ‖∇F(w)−∇F(w*)‖.
//
// Newton's method with a line search ends on every such function, which is convex with a
// Lipschitz gradient and Hessians above Λ (Nocedal and Wright 2006, Theorem 3.2; for
// huber, whose Hessian jumps, as a gradient-related direction). The norm that is compared
// allows for rounding: of a sum of n vectors of norm r at most, in blocks that are
// added with compensation (Higham 2002, Chapter 4), and of the margins in the slopes.
func (p *problem) minimum(ctx context.Context, lambda float64, linear []float64) ([]float64, error) {
	o := &objective{p, p.x.Float(), lambda, linear}
	at := o.at(make([]float64, p.x.Width))
	for range 500 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if floats.Norm(at.gradient, 2)+o.rounding(at.w) <= tolerance {
			return at.w, nil
		}
		step := o.newton(at)
		descent := floats.Dot(step, at.gradient)
		if !(descent < 0) {
			return nil, errUncertain
		}
		next, ok := o.search(at, step, descent)
		if !ok {
			return nil, errUncertain
		}
		at = next
	}
	return nil, errUncertain
}

// search goes along step until the value has fallen enough; or, where that drowns in
// rounding, to where the slope along it, which increases, is still negative and has
// become less by a tenth.
func (o *objective) search(at point, step []float64, descent float64) (point, bool) {
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for range 100 {
		w := floats.AddScaledTo(make([]float64, len(step)), at.w, t, step)
		next := o.at(w)
		slope := floats.Dot(step, next.gradient)
		if next.value <= at.value+1e-4*t*descent || 0.9*descent <= slope && slope <= 0 {
			return next, true
		}
		if slope > 0 {
			hi = t
		} else {
			lo = t
		}
		if t = (lo + hi) / 2; math.IsInf(hi, 1) {
			t = 2 * lo
		}
	}
	return point{}, false
}

// rounding bounds the error of the gradient at w.
func (o *objective) rounding(w []float64) float64 {
	const unit = 1.0 / (1 << 52)
	n, d, size := float64(o.problem.x.Len()), float64(len(w)), 1+floats.Norm(w, 2)
	return unit * (2*n*(block+8+2*d*size*o.loss.smoothness()) + 4*d*(o.lambda*size+floats.Norm(o.linear, 2)))
}

// at returns value and gradient.
func (o *objective) at(w []float64) point {
	d, n := len(w), len(o.y)
	at := point{w: w, gradient: make([]float64, d)}
	lost := make([]float64, d) // by the sums, Neumaier 1974
	part := make([]float64, d)
	for from := 0; from < n; from += block {
		clear(part)
		for i := from; i < min(from+block, n); i++ {
			row := o.x[i*d : (i+1)*d]
			m := floats.Dot(w, row)
			at.value += o.loss.value(m, o.y[i])
			floats.AddScaled(part, o.loss.slope(m, o.y[i]), row)
		}
		for j, g := range part {
			at.gradient[j], lost[j] = compensated(at.gradient[j], lost[j], g)
		}
	}
	floats.Add(at.gradient, lost)
	floats.AddScaled(at.gradient, o.lambda, w)
	floats.Add(at.gradient, o.linear)
	at.value += o.lambda/2*floats.Dot(w, w) + floats.Dot(o.linear, w)
	return at
}

// compensated adds x to a sum and what was lost of it.
func compensated(sum, lost, x float64) (float64, float64) {
	t := sum + x
	if math.Abs(sum) >= math.Abs(x) {
		return t, lost + (sum - t + x)
	}
	return t, lost + (x - t + sum)
}

// newton returns −H⁻¹g; how exact it is matters for speed alone.
func (o *objective) newton(at point) []float64 {
	d, n := len(at.w), len(o.y)
	h := mat.NewSymDense(d, nil)
	weighted := make([]float64, block*d)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		for i := from; i < to; i++ {
			row := o.x[i*d : (i+1)*d]
			root := math.Sqrt(o.loss.curvature(floats.Dot(at.w, row), o.y[i]))
			floats.ScaleTo(weighted[(i-from)*d:(i-from+1)*d], root, row)
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: to - from, Cols: d, Stride: d, Data: weighted}, 1, h.RawSymmetric())
	}
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+o.lambda)
	}
	var c mat.Cholesky
	step := mat.NewVecDense(d, nil)
	if !c.Factorize(h) || c.SolveVecTo(step, mat.NewVecDense(d, at.gradient)) != nil {
		copy(step.RawVector().Data, at.gradient) // no Newton step: go down the gradient
	}
	step.ScaleVec(-1, step)
	return step.RawVector().Data
}
