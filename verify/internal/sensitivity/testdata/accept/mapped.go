package accept

import "math"

// Waves has slopes of at most 1.
//
// want: accepted: x: 4
//
//dp:sensitivity x = 4
func Waves(x float64) float64 { return math.Sin(x) + math.Tanh(x) - math.Cos(math.Atan(2*x)) }

// Length is a norm of two numbers.
//
// want: accepted: p: 1
//
//dp:sensitivity p = 1
func Length(p pair) float64 { return math.Hypot(p.a, p.b) }

// WavesAdded are bounded, whatever the records are.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func WavesAdded(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += math.Sin(r)
	}
	return sum
}

// MappedInPlace is a map whose results are put at the places of its records.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MappedInPlace(rows []member) int {
	ages := make([]int, len(rows))
	for i, m := range rows {
		ages[i] = m.age
	}
	n := 0
	for _, a := range ages {
		if a > 40 {
			n++
		}
	}
	return n
}

// MappedSum adds up what is 0 for some.
//
// want: accepted: rows: 3
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 3
func MappedSum(rows []float64) float64 {
	clipped := make([]float64, len(rows))
	for i := 0; i < len(rows); i++ {
		if rows[i] > -1 {
			clipped[i] = max(-1, min(rows[i], 3))
		}
	}
	sum := 0.0
	for _, x := range clipped {
		sum += x
	}
	return sum
}

func mappedTo[T, U any](rows []T, f func(T) U) []U {
	out := make([]U, len(rows))
	for i, r := range rows {
		out[i] = f(r)
	}
	return out
}

// MappedByFunction is by a function of any types.
//
// want: accepted: rows: 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func MappedByFunction(rows []member) float64 {
	sum := 0.0
	for _, x := range mappedTo(rows, func(m member) float64 { return max(0, min(float64(m.age), 2)) }) {
		sum += x
	}
	return sum
}

// Within adds what lies between two conditions.
//
// want: accepted: rows: 10
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 10
func Within(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		if r >= -2 && r <= 10 {
			sum += r
		}
	}
	return sum
}

// Without leaves out what lies outside.
//
// want: accepted: rows: 10
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 10
func Without(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		if r < 0 || r > 10 {
			continue
		}
		sum += r
	}
	return sum
}

// FoldedCount is a fold that counts some.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func FoldedCount(rows []int) int {
	return foldl(rows, 0, func(n, r int) int {
		if r > 3 {
			return n + 1
		}
		return n
	})
}
