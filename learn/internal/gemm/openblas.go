//go:build openblas && cgo

package gemm

import "github.com/discreet-dp/discreet/learn/internal/gemm/openblas"

type openBLAS struct{}

// New returns the fastest engine of this build and machine.
func New() Engine {
	openblas.Start()
	return openBLAS{}
}

func (openBLAS) Name() string { return "openblas" }

func (openBLAS) Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	check(transA, transB, m, n, k, a, lda, b, ldb, c, ldc)
	switch {
	case m == 0 || n == 0:
	case k == 0:
		for i := range m {
			multiply(beta, c[i*ldc:][:n])
		}
	default:
		openblas.Multiply(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}
