package attack

// StridesMeet: 2i and i+1 are the same element once.
//
// want: rejected: at most 2
//
//dp:sensitivity q = 1
func StridesMeet(q []float64) float64 {
	sum := 0.0
	for i := 0; i < len(q)/2; i++ {
		sum += q[2*i] + q[i+1]
	}
	return sum
}

// StrideRemainder: i and i+2 have one remainder.
//
// want: rejected: at most 2
//
//dp:sensitivity q = 1
func StrideRemainder(q []float64) float64 {
	sum := 0.0
	for i := 0; i+2 < len(q); i += 2 {
		sum += q[i] + q[i+2]
	}
	return sum
}

// StrideHalved: i/2 is the same twice.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideHalved(q []float64) float64 {
	sum := 0.0
	for i := 0; i < 2*len(q); i++ {
		sum += q[i/2]
	}
	return sum
}

// StrideStopped: the body takes back what the loop adds.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideStopped(q []float64, n int) float64 {
	sum, left := 0.0, n
	for i := 0; i < len(q); i += 2 {
		sum += q[i]
		if left > 0 {
			left--
			i -= 2
		}
	}
	return sum
}

// StrideWithin: in each round of the outer loop the same elements again.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideWithin(q []float64) float64 {
	sum := 0.0
	for range 3 {
		for i := len(q) - 1; i >= 0; i-- {
			sum += q[i]
		}
	}
	return sum
}

// StrideOfRound: the other number of the index is another one in each round.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideOfRound(q []float64) float64 {
	sum, back := 0.0, 0
	for i := range q {
		sum += q[i-back]
		back++
	}
	return sum
}

// StrideContinued: the post statement is part of a round that continues.
//
// want: rejected
//
//dp:sensitivity x = 1
func StrideContinued(x float64) float64 {
	sum := 0.0
	for i, n := 0, 0; n < 2; i, n = i+1, n+1 {
		if i == 0 {
			continue
		}
		sum += 2 * x
	}
	return sum
}

// RunningOver: what is read was written in the round before.
//
// want: rejected
//
//dp:sensitivity q = 2
func RunningOver(q []float64) []float64 {
	out := append([]float64(nil), q...)
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] + out[i]
	}
	return out
}

// WeightBelowOne: the first weight is 2.
//
// want: rejected
//
//dp:sensitivity q = 1
func WeightBelowOne(q []float64) float64 {
	sum := 0.0
	for i, x := range q {
		sum += x / (float64(i) + 0.5)
	}
	return sum
}

// WeightFalling: the divisor comes near 0.
//
// want: rejected
//
//dp:requires n > 0
//dp:sensitivity q = 1
func WeightFalling(q []float64, n int) float64 {
	sum := 0.0
	for i, x := range q {
		sum += x / (float64(n) - float64(i))
	}
	return sum
}

// WeightUnknown: nothing is known of k.
//
// want: rejected
//
//dp:sensitivity q = 1
func WeightUnknown(q []float64, k float64) float64 {
	sum := 0.0
	for i, x := range q {
		sum += x / (float64(i) + k)
	}
	return sum
}

// NotAllZero: one of the elements is 5 where it is not set.
//
// want: rejected
//
//dp:sensitivity q = 1
func NotAllZero(q []float64) []float64 {
	out := make([]float64, len(q))
	out[0] = 5
	for i, x := range q {
		if x > 0 {
			out[i] = x
		}
	}
	return out
}

// NotZeroAgain: the second pass finds what the first one left.
//
// want: rejected
//
//dp:sensitivity q = 1
func NotZeroAgain(q []float64) []float64 {
	out := make([]float64, len(q))
	for range 2 {
		for i, x := range q {
			if x > 1 {
				out[i] = x - 1 + out[i]
			} else {
				out[i] = 3
			}
		}
	}
	return out
}

// NotZeroAhead: the element was set by the round before.
//
// want: rejected
//
//dp:sensitivity q = 1
func NotZeroAhead(q []float64) []float64 {
	out := make([]float64, len(q)+1)
	for i, x := range q {
		out[i+1] = 7
		if x > 0 {
			out[i] = x
		}
	}
	return out
}

// StrideBack: q[i] and q[8-i] are the same for i = 1, 4 and 7.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideBack(q []float64) float64 {
	s := 0.0
	for i := 1; i < 8; i += 3 {
		s += q[i] + q[8-i]
	}
	return s
}

// StrideTwice: both reach q[4].
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideTwice(q []float64) float64 {
	s := 0.0
	for i := 1; i < 8; i += 3 {
		s += q[i] + q[2*i+2]
	}
	return s
}

// StrideGoesRound: behind 127 there is -128, and the loop goes on until it is left.
//
// want: rejected
//
//dp:sensitivity x = 128
func StrideGoesRound(x float64, n int) float64 {
	sum, left := 0.0, n
	for i := int8(0); i <= 127; i++ {
		if left <= 0 {
			break
		}
		left--
		sum += x
	}
	return sum
}

// StrideGoesRoundUnsigned: and behind 255 there is 0.
//
// want: rejected
//
//dp:sensitivity q = 1
func StrideGoesRoundUnsigned(q []float64, n int) float64 {
	sum, left := 0.0, n
	for i := uint8(0); i <= 255; i++ {
		if left <= 0 {
			break
		}
		left--
		sum += q[i]
	}
	return sum
}
