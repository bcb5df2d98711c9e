package memory

func putLate(w []float64, n int) {
	for i := range n {
		if i == 2 {
			w[0] = 1000
			return
		}
	}
}

// LateSize: the last round puts a number of another size.
//
// want: rejected
//
//dp:sensitivity x = 2
func LateSize(x float64) float64 {
	w := []float64{max(-1, min(x, 1))}
	putLate(w, 5)
	return w[0] * max(-1, min(x, 1))
}

// FieldLength: the body makes the slice longer, which the loop counts with.
//
// want: rejected
//
//dp:sensitivity x = 3
func FieldLength(x float64) float64 {
	s := box{make([]float64, 3)}
	y := 0.0
	for i := 0; i < len(s.v); i++ {
		if i < 5 {
			s.v = append(s.v, 0)
		}
		y += x
	}
	return y
}
