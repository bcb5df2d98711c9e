package accept

type split struct {
	a, b float64
	k    int
}

// ApartByTests is of tests of which one record passes one.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func ApartByTests(rows []split, t float64) (n, m int) {
	for _, r := range rows {
		if r.a > t {
			n++
		}
		if r.a <= t {
			m++
		}
	}
	return n, m
}

// ApartInOne adds to one number in each.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func ApartInOne(rows []split, t float64) (n int) {
	for _, r := range rows {
		if r.a > t {
			n++
		}
		if r.a <= t {
			n += 1
		}
	}
	return n
}

// ApartByCases is a histogram by hand.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func ApartByCases(rows []split) (a, b, c int) {
	for _, r := range rows {
		if r.k == 0 {
			a++
		}
		if r.k == 1 {
			b++
		}
		if r.k >= 2 {
			c++
		}
	}
	return a, b, c
}

// ApartByRanges is of conditions of several tests.
//
// want: accepted: rows: 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func ApartByRanges(rows []split) (a, b, c int) {
	for _, r := range rows {
		if r.a >= 0 && r.a < 10 {
			a++
		}
		if r.a >= 10 && r.a < 20 {
			b += 2
		}
		if 20 <= r.a && r.b > 0 {
			c--
		}
	}
	return a, b, c
}

// ApartByBounds leaves a gap between two bounds.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:requires u <= t
//dp:sensitivity rows = 1
func ApartByBounds(rows []split, t, u float64) (a, b int) {
	for _, r := range rows {
		if r.a > t {
			a++
		}
		if r.a < u {
			b++
		}
	}
	return a, b
}

// ApartInSlices adds to one of two slices.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func ApartInSlices(rows []split, d int) ([]int, []int) {
	h, g := make([]int, d), make([]int, d)
	for _, r := range rows {
		if r.k < 0 || r.k >= d {
			continue
		}
		if r.a < 0 {
			h[r.k]++
		}
		if r.a >= 0 {
			g[r.k]++
		}
	}
	return h, g
}
