package accept

// Two names for what is read alone, closures that add to a variable outside, and helpers that
// write into a slice that their caller made: what is nearest to what must be refused.

// Aliased reads a slice under two names.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Aliased(q []float64) float64 {
	r := q
	s := 0.0
	for i := range r {
		s += q[i] + r[i]
	}
	return s
}

// Renamed returns what was made under another name.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Renamed(q []float64) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = x
	}
	result := out
	return result
}

func fill(out, q []float64, by float64) {
	for i := range out {
		out[i] = by * q[i]
	}
}

// Filled has a helper that writes into what it is given.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Filled(q []float64) []float64 {
	out := make([]float64, len(q))
	fill(out, q, 2)
	return out
}

func (t *tally) see(r int) {
	if r >= 0 && r < len(t.counts) {
		t.counts[r]++
	}
}

// TalliedMethod does so by a method.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TalliedMethod(rows []int, n int) []int {
	t := newTally(n)
	for _, r := range rows {
		t.see(r)
	}
	return t.counts
}

// Accumulated has a closure that writes a variable outside.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Accumulated(rows []int) int {
	n := 0
	see := func(r int) {
		if r > 0 {
			n++
		}
	}
	for _, r := range rows {
		see(r)
	}
	return n
}

func each(rows []float64, do func(x float64)) {
	for _, x := range rows {
		do(x)
	}
}

// Visited gives such a closure to a helper.
//
// want: accepted: rows: 3
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 3
func Visited(rows []float64) float64 {
	s := 0.0
	each(rows, func(x float64) { s += clampTo(x, -3, 3) })
	return s
}
