package gemm

import "golang.org/x/sys/cpu"

// Tiles of C have tileRows by tileColumns numbers, which the kernel holds in
// registers. A tile's sum is taken over at most depth columns of A at once, so that
// the rows of B that belong to a column of tiles stay in the nearest cache.
const (
	tileRows    = 6
	tileColumns = 16
	depth       = 256
)

// blocked computes tile by tile. A is read where it lies: the kernel walks any
// strides. B is copied into rows of tileColumns if it does not lie so already.
type blocked struct {
	b    [depth * tileColumns]float32    // the rows of B of one column of tiles
	a    [depth * tileRows]float32       // the last rows of A, filled up with zeros
	tile [tileRows * tileColumns]float32 // a tile that sticks out of C
}

func (*blocked) Name() string { return "avx2" }

// hasKernels reports whether the processor can run the kernels.
func hasKernels() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

func (e *blocked) Multiply(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	check(transA, transB, m, n, k, a, lda, b, ldb, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || beta != 0 && beta != 1 {
		for i := range m {
			multiply(beta, c[i*ldc:][:n])
		}
		if k == 0 {
			return
		}
	}
	row, step := lda, 1
	if transA {
		row, step = 1, lda
	}
	for p := 0; p < k; p += depth {
		kc := min(depth, k-p)
		add := p > 0 || beta != 0
		for j := 0; j < n; j += tileColumns {
			nc := min(tileColumns, n-j)
			rows, width := e.columns(transB, alpha, m, kc, nc, b, ldb, p, j)
			for i := 0; i < m; i += tileRows {
				mc := min(tileRows, m-i)
				if mc == tileRows && nc == tileColumns {
					kernel6x16(kc, &a[i*row+p*step], row, step, &rows[0], width, &c[i*ldc+j], ldc, add)
					continue
				}
				// A tile that sticks out of C: of a matrix that is high enough the
				// last six rows do, and those that were done before are dropped.
				first, from, r, s := max(0, m-tileRows), a, row, step
				if m >= tileRows {
					first = min(i, first)
					from = a[first*row+p*step:]
				} else {
					from, r, s = e.low(a[p*step:], m, kc, row, step)
				}
				kernel6x16(kc, &from[0], r, s, &rows[0], width, &e.tile[0], tileColumns, false)
				for t := range mc {
					put(e.tile[(i-first+t)*tileColumns:][:nc], c[(i+t)*ldc+j:], add)
				}
			}
		}
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

// columns gives alpha times rows p to p+kc of op(B), nc columns from j on, as rows
// of tileColumns numbers, the missing ones zero, and how far these are apart.
func (e *blocked) columns(transB bool, alpha float32, m, kc, nc int, b []float32, ldb, p, j int) (rows []float32, width int) {
	switch {
	case transB:
		clear(e.b[:kc*tileColumns])
		for c := range nc {
			for r, v := range b[(j+c)*ldb+p:][:kc] {
				e.b[r*tileColumns+c] = alpha * v
			}
		}
	case nc == tileColumns && alpha == 1 && (ldb == tileColumns || m <= 2*tileRows):
		return b[p*ldb+j:], ldb
	case nc == tileColumns:
		pack16(kc, &b[p*ldb+j], ldb, &e.b[0])
		if alpha != 1 {
			multiply(alpha, e.b[:kc*tileColumns])
		}
	default:
		for r := range kc {
			to := e.b[r*tileColumns:][:tileColumns]
			clear(to[nc:])
			for c, v := range b[(p+r)*ldb+j:][:nc] {
				to[c] = alpha * v
			}
		}
	}
	return e.b[:], tileColumns
}

// low gives the only m < tileRows rows of A with zeros below, as columns of
// tileRows.
func (e *blocked) low(a []float32, m, kc, row, step int) (from []float32, r, s int) {
	clear(e.a[:kc*tileRows])
	for p := range kc {
		for t := range m {
			e.a[p*tileRows+t] = a[t*row+p*step]
		}
	}
	return e.a[:], 1, tileRows
}
