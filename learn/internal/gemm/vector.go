package gemm

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
