package attack

import "github.com/discreet-dp/discreet/noise"

func sumOf(q []float64) float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	return s
}

// SlidingOnce has each element in several windows.
//
// want: rejected
//
//dp:requires w > 1
//dp:sensitivity q = 1
func SlidingOnce(q []float64, w int) []float64 {
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

// SlidingFurther has w+1 places in a window.
//
// want: rejected
//
//dp:requires w > 0
//dp:sensitivity q = float64(w)
func SlidingFurther(q []float64, w int) []float64 {
	var out []float64
	for i := 0; i+w < len(q); i++ {
		s := 0.0
		for j := i; j <= i+w; j++ {
			s += q[j]
		}
		out = append(out, s)
	}
	return out
}

// SlidingWider has windows that grow.
//
// want: rejected
//
//dp:requires w > 0
//dp:sensitivity q = float64(w)
func SlidingWider(q []float64, w int) []float64 {
	var out []float64
	for i := 0; i < len(q); i++ {
		s := 0.0
		for j := 0; j < i; j++ {
			s += q[j]
		}
		out = append(out, s)
	}
	return out
}

// SlidingAnywhere has windows that begin where public numbers say.
//
// want: rejected
//
//dp:requires w > 0
//dp:sensitivity q = float64(w)
func SlidingAnywhere(q []float64, from []int, w int) []float64 {
	var out []float64
	for i := range from {
		s := 0.0
		for j := range w {
			s += q[from[i]+j]
		}
		out = append(out, s)
	}
	return out
}

// InFives overlap.
//
// want: rejected
//
//dp:sensitivity q = 1
func InFives(q []float64) []float64 {
	var out []float64
	for at := 0; at < len(q); at += 4 {
		end := at + 5
		if end > len(q) {
			end = len(q)
		}
		out = append(out, sumOf(q[at:end]))
	}
	return out
}

// InFoursUnlessShort ends further away where it should end earlier.
//
// want: rejected
//
//dp:sensitivity q = 1
func InFoursUnlessShort(q []float64) []float64 {
	var out []float64
	for at := 0; at < len(q); at += 4 {
		end := at + 4
		if end < len(q) {
			end = len(q)
		}
		out = append(out, sumOf(q[at:end]))
	}
	return out
}

// FlatCollides has places that several pairs come to.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatCollides(q []float64, rows, cols int) []float64 {
	out := make([]float64, rows)
	for i := range rows {
		for j := range cols {
			out[i] += q[i+j]
		}
	}
	return out
}

// FlatBeyond has one place more in each row.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatBeyond(q []float64, rows, cols int) []float64 {
	out := make([]float64, rows)
	for i := range rows {
		for j := 0; j <= cols; j++ {
			out[i] += q[i*cols+j]
		}
	}
	return out
}

// FlatByRows has rows of the length of a column.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatByRows(q []float64, rows, cols int) []float64 {
	out := make([]float64, rows)
	for i := range rows {
		for j := range cols {
			out[i] += q[i*rows+j]
		}
	}
	return out
}

// FlatBefore begins a place early in each row.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatBefore(q []float64, rows, cols int) []float64 {
	out := make([]float64, rows)
	for i := 1; i < rows; i++ {
		for j := -1; j < cols; j++ {
			out[i] += q[i*cols+j]
		}
	}
	return out
}

// FlatScaled has a factor in each that may be 0.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatScaled(q []float64, n, k int) float64 {
	s := 0.0
	for i := range n {
		for j := range n {
			s += q[i*k+j*k]
		}
	}
	return s
}

// FlatOfKeys is told by the keys of a map, which are far from each other.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatOfKeys(q []float64, keys map[int]bool, n int) float64 {
	s := 0.0
	for k := range keys {
		for j := range n {
			s += q[k+j*len(keys)]
		}
	}
	return s
}

// FlatThrice comes to each place in each round of a third loop.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatThrice(q []float64, rows, cols int) float64 {
	s := 0.0
	for i := range rows {
		for range 3 {
			for j := range cols {
				s += q[i*cols+j]
			}
		}
	}
	return s
}

// FlatChanged changes what it reads, in the same loops.
//
// want: rejected
//
//dp:sensitivity q = 1
func FlatChanged(q []float64, rows, cols int) float64 {
	w := append([]float64(nil), q...)
	s := 0.0
	for i := range rows {
		for j := range cols {
			s += w[i*cols+j]
		}
		for k := range w {
			w[k] += w[0]
		}
	}
	return s
}

// ColumnsTwice comes to each column twice.
//
// want: rejected
//
//dp:sensitivity m = 1
func ColumnsTwice(m [][]float64, cols int) float64 {
	s := 0.0
	for j := range cols {
		for i := range m {
			s += m[i][j] + m[i][max(j-1, 0)]
		}
	}
	return s
}

// ColumnsHalved comes to each column twice, by an index that is rounded.
//
// want: rejected
//
//dp:sensitivity m = 1
func ColumnsHalved(m [][]float64, cols int) float64 {
	s := 0.0
	for j := range cols {
		for i := range m {
			s += m[i][j/2]
		}
	}
	return s
}

// ColumnsOfOne comes to one column, by a factor that may be 0.
//
// want: rejected
//
//dp:sensitivity m = 1
func ColumnsOfOne(m [][]float64, cols, k int) float64 {
	s := 0.0
	for j := range cols {
		for i := range m {
			s += m[i][j*k]
		}
	}
	return s
}

// Diagonal comes to it in each round.
//
// want: rejected
//
//dp:sensitivity m = 1
func Diagonal(m [][]float64, n int) float64 {
	s := 0.0
	for i := range n {
		for j := range n {
			s += m[j][j] * float64(1-i+i)
		}
	}
	return s
}

// WindowsOnce pays for one window.
//
// want: rejected
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func WindowsOnce(q []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i+3 <= len(q); i++ {
		out = append(out, sumOf(q[i:i+3])+src.Laplace(1/eps))
	}
	return out
}
