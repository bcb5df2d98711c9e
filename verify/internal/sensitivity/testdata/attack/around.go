package attack

// StrideAround: the index of eight bits goes round.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideAround(q []float64) float64 {
	sum := 0.0
	for i := uint8(0); i < 200; i++ {
		sum += q[i*2]
	}
	return sum
}

// StrideOfNarrow: so does a counter in steps of 100.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideOfNarrow(q []float64, n int) float64 {
	sum := 0.0
	for i := int8(0); int(i) < n; i += 100 {
		if i >= 0 {
			sum += q[i]
		}
	}
	return sum
}

// StrideAgain: the counter begins anew.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideAgain(q []float64) float64 {
	sum, i := 0.0, 0
	for range 2 {
		for ; i < len(q); i += 1 {
			sum += q[i]
		}
		i = 0
	}
	return sum
}

// StrideByNothing: c may be 0.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideByNothing(q []float64, c int) float64 {
	sum := 0.0
	for i := range 4 {
		sum += q[c*i]
	}
	return sum
}

// DiagonalAgain: the same element in each round of the inner loop.
//
// want: rejected
//
//dp:sensitivity m = 1
func DiagonalAgain(m [][]float64, n int) float64 {
	sum := 0.0
	for i := range n {
		for range n {
			sum += m[i][i]
		}
	}
	return sum
}
