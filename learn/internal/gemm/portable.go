package gemm

// Tiles of C have scalarRows by scalarColumns numbers, as many as processors with few
// registers hold. Their size shows in the time alone: every number has a sum of its
// own.
const (
	scalarRows    = 2
	scalarColumns = 4
	scalarHeight  = 64 // rows of A that are copied at once; a multiple of scalarRows
)

// scalar computes tile by tile in Go, from copies of A and B that lie as the tile reads
// them, with zeros where a tile sticks out of C.
type scalar struct {
	a [depth * scalarHeight]float32
	b [depth * scalarColumns]float32
}

func (s *scalar) multiply(m, n, k int, alpha float32, a []float32, row, step int, b []float32, ldb int, transB bool, c []float32, ldc int, add bool) {
	for top := 0; top < m; top += scalarHeight {
		height := min(scalarHeight, m-top)
		s.rows(height, k, a[top*row:], row, step)
		for j := 0; j < n; j += scalarColumns {
			width := min(scalarColumns, n-j)
			from := b[min(j*ldb, len(b)):]
			if !transB {
				from = b[j:]
			}
			s.columns(width, k, alpha, from, ldb, transB)
			for i := 0; i < height; i += scalarRows {
				tile := s.tile(i, k)
				for r := range min(scalarRows, height-i) {
					put(tile[r][:width], c[(top+i+r)*ldc+j:], add)
				}
			}
		}
	}
}

// rows copies rows of A, scalarRows at a time, column by column.
func (s *scalar) rows(height, k int, a []float32, row, step int) {
	for i := 0; i < height; i += scalarRows {
		to := s.a[i*k:][:scalarRows*k]
		if height-i < scalarRows {
			clear(to)
		}
		for r := range min(scalarRows, height-i) {
			at := (i + r) * row
			for p := range k {
				to[p*scalarRows+r] = a[at]
				at += step
			}
		}
	}
}

// columns copies alpha times columns of B, row by row.
func (s *scalar) columns(width, k int, alpha float32, b []float32, ldb int, transB bool) {
	row, step := ldb, 1
	if transB {
		row, step = 1, ldb
	}
	for p := range k {
		to := s.b[p*scalarColumns:][:scalarColumns]
		clear(to[width:])
		for j := range width {
			to[j] = alpha * b[p*row+j*step]
		}
	}
}

// tile is the product of the copied rows from i on and the copied columns. Each product
// rounds before it is added, on every machine: a conversion keeps the compiler from
// fusing the two, which it might do here and not there.
func (s *scalar) tile(i, k int) [scalarRows][scalarColumns]float32 {
	var c00, c01, c02, c03, c10, c11, c12, c13 float32
	a, b := s.a[i*k:][:scalarRows*k], s.b[:scalarColumns*k]
	for len(a) >= scalarRows && len(b) >= scalarColumns {
		a0, a1 := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a, b = a[scalarRows:], b[scalarColumns:]
		c00 += float32(a0 * b0)
		c01 += float32(a0 * b1)
		c02 += float32(a0 * b2)
		c03 += float32(a0 * b3)
		c10 += float32(a1 * b0)
		c11 += float32(a1 * b1)
		c12 += float32(a1 * b2)
		c13 += float32(a1 * b3)
	}
	return [scalarRows][scalarColumns]float32{{c00, c01, c02, c03}, {c10, c11, c12, c13}}
}
