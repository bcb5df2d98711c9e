//go:build openblas && cgo

package openblas

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
*/
import "C"

// Start makes the library use no threads of its own.
func Start() { C.openblas_set_num_threads(1) }

// Multiply sets C = alpha*op(A)*op(B) + beta*C, row by row; it checks nothing, and
// no matrix may be empty.
func Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	C.cblas_sgemm(C.CblasRowMajor, order(transA), order(transB), C.blasint(m), C.blasint(n), C.blasint(k),
		C.float(alpha), (*C.float)(&a[0]), C.blasint(lda), (*C.float)(&b[0]), C.blasint(ldb),
		C.float(beta), (*C.float)(&c[0]), C.blasint(ldc))
}

func order(transposed bool) C.enum_CBLAS_TRANSPOSE {
	if transposed {
		return C.CblasTrans
	}
	return C.CblasNoTrans
}
