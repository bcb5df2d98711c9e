package accept

// Backwards goes down.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Backwards(q []float64) float64 {
	total := 0.0
	for i := len(q) - 1; i >= 0; i-- {
		total += q[i]
	}
	return total
}

// EveryOther leaves out the odd ones.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func EveryOther(q []float64) float64 {
	total := 0.0
	for i := 0; i < len(q); i += 2 {
		if i == 4 {
			continue
		}
		total += q[i]
	}
	return total
}

// Couples are sums of two that stand together.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Couples(q []float64) []float64 {
	var out []float64
	for i := 0; i+1 < len(q); i += 2 {
		out = append(out, q[i]+q[i+1])
	}
	return out
}

// Differences read each element twice.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Differences(q []float64) []float64 {
	var out []float64
	for i := 1; i < len(q); i++ {
		out = append(out, q[i]-q[i-1])
	}
	return out
}

// Box is a moving average of three.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Box(q []float64) []float64 {
	out := make([]float64, len(q))
	for i := 1; i+1 < len(q); i++ {
		out[i] = (q[i-1] + q[i] + q[i+1]) / 3
	}
	return out
}

// Mirrored reads from the other end.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Mirrored(q []float64) float64 {
	total := 0.0
	for i := range q {
		total += q[i] + q[len(q)-1-i]
	}
	return total
}

// Harmonic weighs the first element with 1, and those that follow with less.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Harmonic(q []float64) float64 {
	total := 0.0
	for i, x := range q {
		total += x / float64(i+1)
	}
	return total
}

// Discounted begins at 3.
//
// want: accepted: q: 1/7
//
//dp:sensitivity q = 1.0 / 7
func Discounted(q []float64) float64 {
	total := 0.0
	for i := 3; i < len(q); i++ {
		total += q[i] / (1 + 2*float64(i))
	}
	return total
}

// TurnedRound writes the elements of a slice of its own in the other order.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func TurnedRound(q []float64) []float64 {
	out := append([]float64(nil), q...)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// PositiveParts sets some elements of what is 0.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func PositiveParts(q []float64) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		if x > 0 {
			out[i] = x
		}
	}
	return out
}

func foldl[T, A any](q []T, a A, f func(A, T) A) A {
	for _, x := range q {
		a = f(a, x)
	}
	return a
}

// FoldedOver is by a function of any types.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func FoldedOver(q []float64) float64 {
	return foldl(q, 0.0, func(a, x float64) float64 { return a + 2*x })
}
