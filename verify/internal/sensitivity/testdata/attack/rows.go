package attack

import "math"

type vectors struct {
	x [4]float64
	s []float64
}

// RowsBySquares compares a square with what is none: below 1 some that are longer pass.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsBySquares(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		s, f := 0.0, 1.0
		for _, x := range r.x {
			s += x * x
		}
		if s > c {
			f = c / math.Sqrt(s)
		}
		for j, x := range r.x {
			sum[j] += f * x
		}
	}
	return sum
}

// RowsOfOther clips a vector by the norm of another.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsOfOther(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for _, x := range r.x {
			n += math.Abs(x)
		}
		for j, x := range r.s {
			if n > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsWrongWay scales up those that are short.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsWrongWay(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for _, x := range r.x {
			n += math.Abs(x)
		}
		for j, x := range r.x {
			if n < c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsFarther lets pass what is up to twice as long.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsFarther(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for _, x := range r.x {
			n += math.Abs(x)
		}
		for j, x := range r.x {
			if n > 2*c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsDoubled adds more of those that are short.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsDoubled(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for _, x := range r.x {
			n += math.Abs(x)
		}
		for j, x := range r.x {
			if n > c {
				sum[j] += x * c / n
			} else {
				sum[j] += 2 * x
			}
		}
	}
	return sum
}

// RowsOfThree have a norm of which an element is left out.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsOfThree(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for j := range 3 {
			n += math.Abs(r.x[j])
		}
		for j, x := range r.x {
			if n > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsWithin have a norm of as many elements as another vector has.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsWithin(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		n := 0.0
		for j := range 4 {
			if j < len(r.s) {
				n += math.Abs(r.x[j])
			}
		}
		for j, x := range r.x {
			if n > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsBehind leave out of the norm what is large.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsBehind(rows []vectors, d int, c float64) []float64 {
	sum := make([]float64, d)
	for _, r := range rows {
		n := 0.0
		for _, x := range r.s {
			if x > 100 {
				continue
			}
			n += math.Abs(x)
		}
		for j, x := range r.s {
			if n > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsLong are of any length, and each element adds up to 1.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func RowsLong(rows []vectors) float64 {
	sum := 0.0
	for _, r := range rows {
		for _, x := range r.s {
			sum += max(-1, min(1, x))
		}
	}
	return sum
}

// RowsLast counts the last place of a vector of another record where one has none.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func RowsLast(rows []vectors) int {
	sum, last := 0, 0
	for _, r := range rows {
		for i := range r.s {
			last = i
		}
		sum += min(last, 1)
	}
	return sum
}

// RowsTestedByOther are left as they are where another vector is short.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires c > 0
//dp:sensitivity rows = c in l2
func RowsTestedByOther(rows []vectors, c float64) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		m, n := 0.0, 0.0
		for _, x := range r.x {
			n += math.Abs(x)
		}
		for _, x := range r.s {
			m += math.Abs(x)
		}
		for j, x := range r.x {
			if m > c {
				x *= c / n
			}
			sum[j] += x
		}
	}
	return sum
}

// RowsApart adds what two vectors are apart.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func RowsApart(rows []vectors) []float64 {
	sum := make([]float64, 4)
	for _, r := range rows {
		for j := range sum {
			sum[j] += r.x[j] - r.s[j]
		}
	}
	return sum
}
