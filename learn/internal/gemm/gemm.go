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

// multiply sets v = beta*v; beta = 0 does not read it.
func multiply(beta float32, v []float32) {
	if beta == 0 {
		clear(v)
		return
	}
	for i := range v {
		v[i] *= beta
	}
}

// check panics where a matrix is too short: the kernels do not look.
func check(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	matrix := func(rows, columns int, v []float32, stride int) {
		if rows < 0 || columns < 0 || stride < columns || rows > 0 && columns > 0 && len(v) < (rows-1)*stride+columns {
			panic("gemm: a matrix is shorter than its shape")
		}
	}
	if transA {
		matrix(k, m, a, lda)
	} else {
		matrix(m, k, a, lda)
	}
	if transB {
		matrix(n, k, b, ldb)
	} else {
		matrix(k, n, b, ldb)
	}
	matrix(m, n, c, ldc)
}
