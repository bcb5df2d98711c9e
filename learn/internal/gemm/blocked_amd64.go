package gemm

import "golang.org/x/sys/cpu"

// Tiles of C have tileRows by tileColumns numbers, which the kernel holds in
// registers.
const (
	tileRows    = 6
	tileColumns = 16
)

// New returns the fastest engine of this machine.
func New() *Engine {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return &Engine{name: "avx2", block: new(blocked), kernels: true}
	}
	return Portable()
}

// blocked computes tile by tile. A is read where it lies: the kernel walks any
// strides. B is copied into rows of tileColumns if it does not lie so already.
type blocked struct {
	b    [depth * tileColumns]float32    // the rows of B of one column of tiles
	a    [depth * tileRows]float32       // the last rows of A, filled up with zeros
	tile [tileRows * tileColumns]float32 // a tile that sticks out of C
}

func (e *blocked) multiply(m, n, k int, alpha float32, a []float32, row, step int, b []float32, ldb int, transB bool, c []float32, ldc int, add bool) {
	for j := 0; j < n; j += tileColumns {
		nc := min(tileColumns, n-j)
		rows, width := e.columns(transB, alpha, m, k, nc, b, ldb, j)
		for i := 0; i < m; i += tileRows {
			mc := min(tileRows, m-i)
			if mc == tileRows && nc == tileColumns {
				kernel6x16(k, &a[i*row], row, step, &rows[0], width, &c[i*ldc+j], ldc, add)
				continue
			}
			// The last tile sticks out of C. If C has six rows or more, take its last
			// six instead, and drop the results for rows that are done already.
			first, from, r, s := max(0, m-tileRows), a, row, step
			if m >= tileRows {
				first = min(i, first)
				from = a[first*row:]
			} else {
				from, r, s = e.low(a, m, k, row, step)
			}
			kernel6x16(k, &from[0], r, s, &rows[0], width, &e.tile[0], tileColumns, false)
			for t := range mc {
				put(e.tile[(i-first+t)*tileColumns:][:nc], c[(i+t)*ldc+j:], add)
			}
		}
	}
}

// columns gives alpha times nc columns of op(B), from j on, as k rows of tileColumns
// numbers, the missing ones zero, and how far these are apart.
func (e *blocked) columns(transB bool, alpha float32, m, k, nc int, b []float32, ldb, j int) (rows []float32, width int) {
	switch {
	case transB:
		clear(e.b[:k*tileColumns])
		for c := range nc {
			for r, v := range b[(j+c)*ldb:][:k] {
				e.b[r*tileColumns+c] = alpha * v
			}
		}
	case nc == tileColumns && alpha == 1 && (ldb == tileColumns || m <= 2*tileRows):
		return b[j:], ldb
	case nc == tileColumns:
		pack16(k, &b[j], ldb, &e.b[0])
		if alpha != 1 {
			multiply(alpha, e.b[:k*tileColumns])
		}
	default:
		for r := range k {
			to := e.b[r*tileColumns:][:tileColumns]
			clear(to[nc:])
			for c, v := range b[r*ldb+j:][:nc] {
				to[c] = alpha * v
			}
		}
	}
	return e.b[:], tileColumns
}

// low gives the only m < tileRows rows of A with zeros below, as columns of
// tileRows.
func (e *blocked) low(a []float32, m, k, row, step int) (from []float32, r, s int) {
	clear(e.a[:k*tileRows])
	for p := range k {
		for t := range m {
			e.a[p*tileRows+t] = a[t*row+p*step]
		}
	}
	return e.a[:], 1, tileRows
}
