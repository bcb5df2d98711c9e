package gemm

import blas "gonum.org/v1/gonum/blas/gonum"

// portable is gonum's product in Go.
type portable struct{ blas.Implementation }

// Portable returns the engine that runs everywhere.
func Portable() Engine { return portable{} }

func (portable) Name() string { return "gonum" }

func (p portable) Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	check(transA, transB, m, n, k, a, lda, b, ldb, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			multiply(beta, c[i*ldc:][:n])
		}
		return
	}
	p.Sgemm(transpose(transA), transpose(transB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}
