package scatter

import "math"

// plane transforms images of one resolution. The sides are short, so that
// products with Fourier's matrix are faster than a fast transform. A complex
// image is row by row, in a row first the real parts, then the imaginary ones.
type plane struct {
	rows, columns int
	forward       []float32 // a row of reals to its spectrum: columns × 2·columns
	inverse       []float32 // a complex row's inverse: 2·columns × 2·columns
	column        []float32 // cosines, then sines: rows × 2·rows
}

func newPlane(rows, columns int) plane {
	p := plane{rows, columns, make([]float32, 2*columns*columns), make([]float32, 4*columns*columns), make([]float32, 2*rows*rows)}
	for k := range columns {
		for x := range columns {
			s, c := math.Sincos(2 * math.Pi * float64(k*x%columns) / float64(columns))
			sin, cos := float32(s), float32(c)
			p.forward[x*2*columns+k], p.forward[x*2*columns+columns+k] = cos, -sin
			p.inverse[k*2*columns+x], p.inverse[k*2*columns+columns+x] = cos, sin
			p.inverse[(columns+k)*2*columns+x], p.inverse[(columns+k)*2*columns+columns+x] = -sin, cos
		}
	}
	for k := range rows {
		for y := range rows {
			s, c := math.Sincos(2 * math.Pi * float64(k*y%rows) / float64(rows))
			p.column[k*2*rows+y], p.column[k*2*rows+rows+y] = float32(c), float32(s)
		}
	}
	return p
}

// spectrum is the transform of an image of reals.
func (p plane) spectrum(w *work, image, dst []float32) {
	w.engine.Multiply(false, false, p.rows, 2*p.columns, p.columns, 1, image, p.columns, p.forward, 2*p.columns, 0, w.turned, 2*p.columns)
	p.columnwise(w, -1, dst)
}

// moduli are those of the inverse transforms of the first n images in folded,
// times scale.
func (p plane) moduli(w *work, n int, scale float32) {
	size := p.rows * p.columns
	for l := range n {
		folded := w.folded[2*l*size:][:2*size]
		w.engine.Multiply(false, false, p.rows, 2*p.columns, 2*p.columns, 1, folded, 2*p.columns, p.inverse, 2*p.columns, 0, w.turned, 2*p.columns)
		p.columnwise(w, 1, folded)
		for y := range p.rows {
			re := folded[2*y*p.columns:][:p.columns]
			im := folded[(2*y+1)*p.columns:][:p.columns]
			out := w.modulus[l*size+y*p.columns:][:p.columns]
			for x, a := range re {
				b := im[x]
				out[x] = scale * float32(math.Sqrt(float64(a*a+b*b)))
			}
		}
	}
}

// columnwise transforms the columns of turned; sign is that of the exponent.
func (p plane) columnwise(w *work, sign float32, dst []float32) {
	n := 2 * p.rows * p.columns
	// The second half is the first times the imaginary unit and sign.
	for y := range p.rows {
		re := w.turned[2*y*p.columns:][:p.columns]
		im := w.turned[(2*y+1)*p.columns:][:p.columns]
		to := w.turned[n+2*y*p.columns:][:2*p.columns]
		for x := range re {
			to[x], to[p.columns+x] = -sign*im[x], sign*re[x]
		}
	}
	w.engine.Multiply(false, false, p.rows, 2*p.columns, 2*p.rows, 1, p.column, 2*p.rows, w.turned, 2*p.columns, 0, dst, 2*p.columns)
}
