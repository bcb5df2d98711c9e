package gemm

import "math"

// Dot is the inner product of two vectors of float32, in float64: each product is
// exact, only the sum rounds. b is at least as long as a.
func (e *Engine) Dot(a, b []float32) (sum float64) {
	b = b[:len(a)]
	done := 0
	if e.kernels {
		sum, done = dotKernel(a, b)
	}
	for i, x := range a[done:] {
		sum += float64(x) * float64(b[done+i])
	}
	return sum
}

// Axpy adds alpha*x to y, which is at least as long. A product and its addition
// round once or twice, by the length of x and the place in it.
func (e *Engine) Axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	done := 0
	if e.kernels {
		done = axpyKernel(alpha, x, y)
	}
	for i, v := range x[done:] {
		y[done+i] += float32(alpha * v)
	}
}

// Larger replaces best[i] by x[i], and from[i] by tag, where x[i] > best[i].
func (e *Engine) Larger(tag uint32, x, best []float32, from []uint32) {
	best, from = best[:len(x)], from[:len(x)]
	i := 0
	if e.kernels {
		i = largerKernel(tag, x, best, from)
	}
	for ; i < len(x); i++ {
		if x[i] > best[i] {
			best[i], from[i] = x[i], tag
		}
	}
}

// AddWhere adds x[i] to y[i] where from[i] is tag; elsewhere it adds 0 (-0 becomes 0).
func (e *Engine) AddWhere(tag uint32, from []uint32, x, y []float32) {
	from, y = from[:len(x)], y[:len(x)]
	i := 0
	if e.kernels {
		i = addWhereKernel(tag, from, x, y)
	}
	for ; i < len(x); i++ {
		var v float32
		if from[i] == tag {
			v = x[i]
		}
		y[i] += v
	}
}

// Rectify sets y = max(x, 0), 0 for -0, and NaN for NaN; y may be x.
func (e *Engine) Rectify(x, y []float32) {
	y = y[:len(x)]
	i := 0
	if e.kernels {
		i = rectifyKernel(x, y)
	}
	for ; i < len(x); i++ {
		y[i] = max(x[i], 0)
	}
}

// RectifyBack sets dx = dy where y > 0, and 0 elsewhere; dx may be dy.
func (e *Engine) RectifyBack(y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	i := 0
	if e.kernels {
		i = rectifyBackKernel(y, dy, dx)
	}
	for ; i < len(y); i++ {
		if y[i] > 0 {
			dx[i] = dy[i]
		} else {
			dx[i] = 0
		}
	}
}

// Shrink multiplies v by f. A product without full precision (subnormal) becomes
// zero: to round it up could make it many times as large.
func (e *Engine) Shrink(f float32, v []float32) {
	i := 0
	if e.kernels {
		i = shrinkKernel(f, v)
	}
	for ; i < len(v); i++ {
		v[i] *= f
		if math.Float32bits(v[i])&0x7f800000 == 0 {
			v[i] = 0
		}
	}
}

// CopyRows copies rows of n numbers, a row every stride in x, to y, where they
// follow each other.
func (e *Engine) CopyRows(rows, n int, x []float32, stride int, y []float32) {
	if rows <= 0 || n <= 0 {
		return
	}
	x, y = x[:(rows-1)*stride+n], y[:rows*n]
	if e.kernels && copyRowsKernel(rows, n, x, stride, y) {
		return
	}
	for r := range rows {
		copy(y[r*n:][:n], x[r*stride:])
	}
}
