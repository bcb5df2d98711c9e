package attack

import "math"

// WaveInside is scaled before.
//
// want: rejected: at most 2
//
//dp:sensitivity x = 1
func WaveInside(x float64) float64 { return math.Sin(2 * x) }

// WaveOfRecord moves by 2 where a record is another one.
//
// want: rejected: at most 3
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func WaveOfRecord(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += math.Cos(r) + 2*math.Tanh(r)
	}
	return sum
}

// HypotTwice has one number in both places.
//
// want: rejected: at most 2
//
//dp:sensitivity x = 1
func HypotTwice(x float64) float64 { return math.Hypot(x, x) }

// MappedRunning keeps what the records before it gave.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedRunning(rows []float64) int {
	out := make([]float64, len(rows))
	sum := 0.0
	for i, r := range rows {
		sum += max(0, min(r, 1))
		out[i] = sum
	}
	n := 0
	for _, x := range out {
		if x > 3 {
			n++
		}
	}
	return n
}

// MappedNext is put at the place of another record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedNext(rows []float64) int {
	out := make([]float64, len(rows))
	for i := range rows {
		if i > 0 {
			out[i-1] = rows[i]
		}
	}
	n := 0
	for _, x := range out {
		if x > 3 {
			n++
		}
	}
	return n
}

// MappedOthers was made of other records.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedOthers(rows, others []float64) int {
	out := make([]float64, len(others))
	for i, r := range rows {
		if i < len(out) {
			out[i] = r
		}
	}
	n := 0
	for _, x := range out {
		if x > 3 {
			n++
		}
	}
	return n
}

// MappedRead is read at the place of a record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedRead(rows []float64) float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = max(0, min(r, 1))
	}
	if len(out) > 0 {
		return out[0]
	}
	return 0
}

// MappedUnbounded adds up what has no bound.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedUnbounded(rows []float64) float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	sum := 0.0
	for _, x := range out {
		sum += x
	}
	return sum
}

// CountedBack skips records by what it sets.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func CountedBack(rows []float64) int {
	n := 0
	for i := 0; i < len(rows); i++ {
		if rows[i] > 0 {
			n++
			i++
		}
	}
	return n
}

// CountedFromOne begins at another record in each order.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func CountedFromOne(rows []float64) int {
	n := 0
	for i := 1; i < len(rows); i++ {
		if rows[i] > 0 {
			n++
		}
	}
	return n
}

// CountedCall sets the counter by a function.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func CountedCall(rows []float64) int {
	n := 0
	for i := 0; i < len(rows); i++ {
		skip := func() { i++ }
		if rows[i] > 0 {
			n++
			skip()
		}
	}
	return n
}

// EitherBound has the bound of one condition or of the other.
//
// want: rejected: no bound
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 10
func EitherBound(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		if r >= 0 || r <= 10 {
			sum += r
		}
	}
	return sum
}

// BoundElse is where one of the conditions fails.
//
// want: rejected: no bound
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 10
func BoundElse(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		if r >= 0 && r <= 10 {
			continue
		}
		sum += r
	}
	return sum
}

// BoundBefore is of the number as it was.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 10
func BoundBefore(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		in := r >= 0 && r <= 10
		r *= 3
		if in {
			sum += r
		}
	}
	return sum
}
