// Package gemm multiplies float32 matrices: one small interface, so that all
// of learn computes through the same few lines. Matrices are row by row, with
// a stride from row to row.
//
// An engine is for one goroutine and uses one thread: callers share a batch out
// among goroutines, which beats threads inside a product for the shapes of
// training. Engines agree up to rounding, not bit for bit. A NaN or infinity in
// a row of A reaches that row of C alone.
package gemm

import "gonum.org/v1/gonum/blas"

// An Engine computes products. It must not be used by two goroutines at once.
type Engine interface {
	// Multiply sets C = alpha*op(A)*op(B) + beta*C, where op transposes if told:
	// op(A) is m by k, op(B) k by n, C m by n. With beta = 0, C is not read.
	Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)

	// Name names the engine in reports.
	Name() string
}

func transpose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}
