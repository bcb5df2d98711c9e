package gemm

import "math"

// Dot is the inner product of two vectors of float32, in float64: each product is
// exact, only the sum rounds. b is at least as long as a.
func Dot(a, b []float32) float64 {
	b = b[:len(a)]
	sum, done := dotKernel(a, b)
	for i, x := range a[done:] {
		sum += float64(x) * float64(b[done+i])
	}
	return sum
}

// Axpy adds alpha*x to y, which is at least as long. A product and its addition
// round once or twice.
func Axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	done := axpyKernel(alpha, x, y)
	for i, v := range x[done:] {
		y[done+i] += alpha * v
	}
}

// Larger replaces best[i] by x[i], and from[i] by tag, where x[i] > best[i].
func Larger(tag uint32, x, best []float32, from []uint32) {
	best, from = best[:len(x)], from[:len(x)]
	for i := largerKernel(tag, x, best, from); i < len(x); i++ {
		if x[i] > best[i] {
			best[i], from[i] = x[i], tag
		}
	}
}

// AddWhere adds x[i] to y[i] where from[i] is tag; elsewhere it adds 0.
func AddWhere(tag uint32, from []uint32, x, y []float32) {
	from, y = from[:len(x)], y[:len(x)]
	for i := addWhereKernel(tag, from, x, y); i < len(x); i++ {
		if from[i] == tag {
			y[i] += x[i]
		}
	}
}

// Rectify sets y = max(x, 0), and NaN for NaN; y may be x.
func Rectify(x, y []float32) {
	y = y[:len(x)]
	for i := rectifyKernel(x, y); i < len(x); i++ {
		y[i] = max(x[i], 0)
	}
}

// RectifyBack sets dx = dy where y > 0, and 0 elsewhere; dx may be dy.
func RectifyBack(y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	for i := rectifyBackKernel(y, dy, dx); i < len(y); i++ {
		if y[i] > 0 {
			dx[i] = dy[i]
		} else {
			dx[i] = 0
		}
	}
}

// Shrink multiplies v by f. A product without full precision (subnormal) becomes
// zero: to round it up could make it many times as large.
func Shrink(f float32, v []float32) {
	for i := shrinkKernel(f, v); i < len(v); i++ {
		v[i] *= f
		if math.Float32bits(v[i])&0x7f800000 == 0 {
			v[i] = 0
		}
	}
}

// CopyRows copies rows of n numbers, a row every stride in x, to y, where they
// follow each other.
func CopyRows(rows, n int, x []float32, stride int, y []float32) {
	if rows <= 0 || n <= 0 {
		return
	}
	x, y = x[:(rows-1)*stride+n], y[:rows*n]
	if copyRowsKernel(rows, n, x, stride, y) {
		return
	}
	for r := range rows {
		copy(y[r*n:][:n], x[r*stride:])
	}
}
