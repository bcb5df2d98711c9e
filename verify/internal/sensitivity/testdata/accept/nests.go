package accept

import "github.com/discreet-dp/discreet/noise"

// Sliding are sums over windows: no element is in more of them than there are places in one.
//
// want: accepted: q: min(max(0, 1 + len(q) - w), w)
//
//dp:requires w > 0
//dp:sensitivity q = float64(w)
func Sliding(q []float64, w int) []float64 {
	var out []float64
	for i := 0; i+w <= len(q); i++ {
		s := 0.0
		for j := i; j < i+w; j++ {
			s += q[j]
		}
		out = append(out, s)
	}
	return out
}

// SlidingMean divides by the length of a window.
//
// want: accepted: q: min(max(0, 1 + len(q) - w), w)/w
//
//dp:requires w > 0
//dp:sensitivity q = 1
func SlidingMean(q []float64, w int) []float64 {
	var out []float64
	for i := 0; i+w <= len(q); i++ {
		s := 0.0
		for j := range w {
			s += q[i+j]
		}
		out = append(out, s/float64(w))
	}
	return out
}

// SlidingParts are windows of three by parts.
//
// want: accepted: q: 3
//
//dp:sensitivity q = 3
func SlidingParts(q []float64) []float64 {
	var out []float64
	for i := 0; i+3 <= len(q); i++ {
		out = append(out, Total(q[i:i+3]))
	}
	return out
}

// SlidingEach has each element in two windows, and in each it moves as much as all do.
//
// want: accepted: q: w
//
//dp:requires w > 0
//dp:sensitivity q = float64(w) in linf
func SlidingEach(q []float64, w int) []float64 {
	var out []float64
	for i := 0; i+w <= len(q); i++ {
		s := 0.0
		for j := i; j < i+w; j++ {
			s += q[j]
		}
		out = append(out, s)
	}
	return out
}

// InFours adds up four at a time, and what is left.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func InFours(q []float64) []float64 {
	var out []float64
	for at := 0; at < len(q); at += 4 {
		end := at + 4
		if end > len(q) {
			end = len(q)
		}
		out = append(out, Total(q[at:end]))
	}
	return out
}

// InFoursByHand does it without parts.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func InFoursByHand(q []float64) []float64 {
	var out []float64
	for at := 0; at < len(q); at += 4 {
		s := 0.0
		for i := at; i < min(at+4, len(q)); i++ {
			s += q[i]
		}
		out = append(out, s)
	}
	return out
}

// Flat is a matrix in one slice, summed by rows and by columns.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Flat(q []float64, rows, cols int) ([]float64, []float64) {
	byRow, byCol := make([]float64, rows), make([]float64, cols)
	for i := range rows {
		for j := range cols {
			byRow[i] += q[i*cols+j]
		}
	}
	for j := range cols {
		for i := range rows {
			byCol[j] += q[i*cols+j]
		}
	}
	return byRow, byCol
}

// FlatTurned turns it, which changes no norm.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func FlatTurned(q []float64, rows, cols int) []float64 {
	out := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = q[i*cols+j]
		}
	}
	return out
}

// ByColumns are the sums of columns, one after the other.
//
// want: accepted: m: 1
//
//dp:sensitivity m = 1
func ByColumns(m [][]float64, cols int) []float64 {
	out := make([]float64, cols)
	for j := range out {
		for i := range m {
			out[j] += m[i][j]
		}
	}
	return out
}

// Turned is a matrix turned.
//
// want: accepted: m: 1
//
//dp:sensitivity m = 1
func Turned(m [][]float64, cols int) [][]float64 {
	out := make([][]float64, cols)
	for j := range out {
		out[j] = make([]float64, len(m))
		for i := range m {
			out[j][i] = m[i][j]
		}
	}
	return out
}

// NoisyMatrix adds noise to each number of a matrix.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NoisyMatrix(q []float64, rows, cols int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := range rows {
		for j := range cols {
			out = append(out, q[i*cols+j]+src.Laplace(1/eps))
		}
	}
	return out
}

// NoisyWindows adds noise to each window: three hold an element.
//
// want: accepted
//
//dp:adjacent one(q) <= 1
//dp:requires sigma > 0
//dp:cost zcdp(3 / (2 * sigma * sigma))
func NoisyWindows(q []float64, sigma float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i+3 <= len(q); i++ {
		out = append(out, Total(q[i:i+3])+src.Gaussian(sigma))
	}
	return out
}
