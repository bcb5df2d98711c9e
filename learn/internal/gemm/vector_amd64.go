package gemm

// dotKernel gives the inner product of the first numbers, and how many they are.
func dotKernel(a, b []float32) (sum float64, done int) {
	done = len(a) &^ 15
	if done == 0 || !hasKernels() {
		return 0, 0
	}
	return dot(done, &a[0], &b[0]), done
}

func axpyKernel(alpha float32, x, y []float32) (done int) {
	done = len(x) &^ 15
	if done == 0 || !hasKernels() {
		return 0
	}
	axpy(done, alpha, &x[0], &y[0])
	return done
}
