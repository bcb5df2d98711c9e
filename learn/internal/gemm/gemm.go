// Package gemm multiplies float32 matrices and does the arithmetic of vectors around
// that: all of learn computes through the same few lines. Matrices are row by row,
// with a stride from row to row.
//
// A number of a product is computed from its row of A, its column of B and itself
// alone, in an order and with roundings that depend on the depth of the product and on
// nothing else: not on how many rows and columns there are, nor on where in the matrix
// it stands. An example of a batch, some rows of A, has the same results to the bit
// whoever else is in the batch; the sensitivity of a sum of gradients rests on that
// (package learn, noise.go). The vector functions compute number by number, or, as Dot,
// from their arguments alone. A NaN or infinity in a row of A reaches that row of C
// alone.
//
// An engine is for one goroutine and uses one thread: callers share a batch out
// among goroutines, which beats threads inside a product for the shapes of
// training. Engines agree up to rounding, not bit for bit.
package gemm

// An Engine computes. It must not be used by two goroutines at once.
type Engine struct {
	name  string
	block block

	kernels bool // of vectors, too
}

// depth is how many columns of A a sum is taken over at once: sums over the pieces are
// added up one after the other. So the rows of B that belong to a tile of C stay in the
// nearest cache. It is the same for every shape, since it is a part of the order.
const depth = 256

// block computes one piece of a product, of at most depth columns of A.
type block interface {
	// multiply sets C = alpha*op(A)*op(B), or adds it; no size is 0. Number (i, p) of op(A)
	// is a[i*row+p*step], the piece of op(B) begins at b.
	multiply(m, n, k int, alpha float32, a []float32, row, step int, b []float32, ldb int, transB bool, c []float32, ldc int, add bool)
}

// Portable returns the engine that runs everywhere.
func Portable() *Engine { return &Engine{name: "portable", block: new(scalar)} }

// Name names the engine in reports.
func (e *Engine) Name() string { return e.name }

// Multiply sets C = alpha*op(A)*op(B) + beta*C, where op transposes if told:
// op(A) is m by k, op(B) k by n, C m by n. With beta = 0, C is not read.
func (e *Engine) Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	check(transA, transB, m, n, k, a, lda, b, ldb, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || beta != 0 && beta != 1 {
		for i := range m {
			multiply(beta, c[i*ldc:][:n])
		}
	}
	row, step := lda, 1
	if transA {
		row, step = 1, lda
	}
	across := ldb // from a row of op(B) to the next
	if transB {
		across = 1
	}
	for p := 0; p < k; p += depth {
		e.block.multiply(m, n, min(depth, k-p), alpha, a[p*step:], row, step, b[p*across:], ldb, transB, c, ldc, p > 0 || beta != 0)
	}
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

// put writes a row of a tile to C, or adds it.
func put(tile, c []float32, add bool) {
	c = c[:len(tile)]
	if !add {
		copy(c, tile)
		return
	}
	for i, v := range tile {
		c[i] += v
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
