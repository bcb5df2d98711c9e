package network

import (
	"math"

	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// affine is the map that all layers with matrices are made of: at each of t
// positions of an example, in numbers times an in x out matrix plus a bias. Its
// parameters are the matrix row by row, then the bias.
//
// With A (t x in) an example's inputs and B (t x out) its output gradients, the
// example's gradient is A'B, and the sum of B's rows for the bias.
type affine struct {
	engine     *gemm.Engine
	chunk      int
	t, in, out int
	a, b       []float32 // all examples' inputs and output gradients

	kept []float32 // the examples' gradients, where they are not taken from a and b again
}

func affineSize(in, out int) int { return in*out + out }

// apply sets y = a w + bias.
func (l *affine) apply(w, y []float32, n int) {
	bias := w[l.in*l.out:][:l.out]
	rows := n * l.t
	for r := range rows {
		copy(y[r*l.out:][:l.out], bias)
	}
	l.engine.Multiply(false, false, rows, l.out, l.in, 1, l.a, l.in, w, l.out, 1, y, l.out)
}

// pull sets da = b w'.
func (l *affine) pull(w, da []float32, n int) {
	l.engine.Multiply(false, true, n*l.t, l.in, l.out, 1, l.b, l.out, w, l.out, 0, da, l.in)
}

// add adds to g the gradients of examples from <= i < to.
func (l *affine) add(from, to int, g []float32) {
	rows := (to - from) * l.t
	a, b := l.a[from*l.t*l.in:], l.b[from*l.t*l.out:]
	l.engine.Multiply(true, false, l.in, l.out, rows, 1, a, l.in, b, l.out, 1, g, l.out)
	bias := g[l.in*l.out:][:l.out]
	for r := range rows {
		for j, v := range b[r*l.out:][:l.out] {
			bias[j] += v
		}
	}
}

func (l *affine) sum(n int, g []float32) { l.add(0, n, g) }

// keeps reports whether the examples' gradients are computed one by one and
// kept: with several positions the norm needs either them or the products of all
// pairs of positions (the ghost norm). Keeping them makes the second product of
// matrices needless, so it is the faster way as soon as there are more than a
// few positions, but costs in*out numbers an example. It is chosen where that is
// at most twice what the layer holds anyway.
func (l *affine) keeps() bool { return l.t > 1 && l.in*l.out <= 2*l.t*(l.in+l.out) }

func (l *affine) norms(n int, squared []float64) {
	switch {
	case l.keeps():
		size := affineSize(l.in, l.out)
		if l.kept == nil {
			l.kept = make([]float32, l.chunk*size)
		}
		for i := range n {
			g := l.kept[i*size:][:size]
			clear(g)
			l.add(i, i+1, g)
			squared[i] += l.engine.Dot(g, g) * roundUp(size)
		}
	case l.t == 1:
		for i := range n {
			a, b := l.a[i*l.in:][:l.in], l.b[i*l.out:][:l.out]
			squared[i] += (l.engine.Dot(a, a) + 1) * l.engine.Dot(b, b) * roundUp(l.in+l.out)
		}
	default:
		for i := range n {
			squared[i] += l.ghost(i)
		}
	}
}

// massBound is how far an example's gradient may fall below the sum of the norms
// of its terms, one a position, before it is scaled by that sum instead. It
// bounds what rounding in the sum over examples does ([Pass.Rounding]). Random
// directions at t positions stay below the root of t.
const massBound = 16

// maxInput bounds the squared norm of an input at one of several positions; an example
// beyond it is invalid. Scaled output gradients below 2^-126 become zero, and so the
// terms of two positions may cease to cancel: by at most 2^40 2^-126 for each number.
const maxInput = 0x1p80

// ghost is the squared norm of example i's gradient by the products of all pairs
// of positions: |A'B|^2 = sum over s, t of <a_s, a_t> <b_s, b_t>.
func (l *affine) ghost(i int) float64 {
	a, b := l.a[i*l.t*l.in:], l.b[i*l.t*l.out:]
	var total, mass float64
	for s := range l.t {
		as, bs := a[s*l.in:][:l.in], b[s*l.out:][:l.out]
		input := l.engine.Dot(as, as)
		if input > maxInput {
			return math.Inf(1)
		}
		diagonal := (input + 1) * l.engine.Dot(bs, bs)
		mass += math.Sqrt(diagonal)
		total += diagonal
		for t := range s {
			total += 2 * (l.engine.Dot(as, a[t*l.in:][:l.in]) + 1) * l.engine.Dot(bs, b[t*l.out:][:l.out])
		}
	}
	return boundGhost(total, mass, l.in+l.out+l.t*l.t)
}

// boundGhost is an upper bound of a squared norm that was computed by pairs of
// terms, each with k roundings in a row; mass is the sum of the terms' norms. A
// pair's rounding is relative to the product of both norms, and these add up to
// mass^2. NaN stays NaN.
func boundGhost(total, mass float64, k int) float64 {
	mass *= mass
	return max(total+mass*(roundUp(k)-1), mass/(massBound*massBound))
}

// roundUp is a factor that makes up for the rounding of a sum of k products in
// float64 (Higham 2002, section 3.1: at most k*u/(1-k*u), u = 2^-53), with room
// for what is done with the sum.
func roundUp(k int) float64 { return 1 + float64(k+16)*0x1p-52 }

func (l *affine) scaled(n int, factors []float32, g []float32) {
	if l.keeps() {
		size := affineSize(l.in, l.out)
		for i, f := range factors[:n] {
			if f != 0 {
				l.engine.Axpy(f, l.kept[i*size:][:size], g[:size])
			}
		}
		return
	}
	per := l.t * l.out
	for i, f := range factors[:n] {
		if f != 1 {
			l.engine.Shrink(f, l.b[i*per:][:per])
		}
	}
	l.add(0, n, g)
}

// erase zeroes the example, so that no NaN of it meets a zero in a product.
func (l *affine) erase(i int) {
	clear(l.a[i*l.t*l.in:][:l.t*l.in])
	clear(l.b[i*l.t*l.out:][:l.t*l.out])
	if l.kept != nil {
		size := affineSize(l.in, l.out)
		clear(l.kept[i*size:][:size])
	}
}

// ghosts is the number of terms that an example adds to the sum over examples.
func (l *affine) ghosts() int {
	if l.keeps() {
		return 1
	}
	return l.t
}
