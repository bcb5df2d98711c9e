package apart

import "github.com/discreet-dp/discreet/noise"

// Bagged has as many rounds as there are records.
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Bagged(rows []float64, eps float64, src *noise.Source) []float64 {
	var out []float64
	for range rows {
		for j := 0; j < 2; j++ {
			out = append(out, src.Laplace(1/eps))
		}
	}
	return out
}

// InputSet leaves private data in a public parameter.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > 0
//dp:cost eps
func InputSet(q []float64, k int, t, eps float64, src *noise.Source) (float64, []float64) {
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		t = q[0]
	}
	return t, out
}

// Skipped goes on where noise is read.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Skipped(q []float64, k int, eps float64, src *noise.Source) int {
	n := 0
	for range k {
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				n++
			}
		}
		if n > 3 {
			continue
		}
		n += int(src.DiscreteLaplace(1 / eps))
	}
	return n
}

// Returned returns where noise is read.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Returned(q []float64, k int, eps float64, src *noise.Source) float64 {
	for range k {
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				return z
			}
		}
	}
	return 0
}

// PrivateCount has a private number of rounds.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |k| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func PrivateCount(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for range k {
		for range q {
			out = append(out, src.Laplace(1/eps))
		}
	}
	return out
}

// OneMore runs one round more than it counts.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func OneMore(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i <= k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(float64(k*len(q))/eps))
		}
	}
	return out
}

// Until runs as long as it does not meet its count.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Until(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i != k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(float64(k*len(q))/eps))
		}
	}
	return out
}

// Slowly counts every second round alone.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Slowly(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	second := 0
	for i := 0; i < k; i += second {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		second = 1 - second
	}
	return out
}

// Doubled counts by factors: 0 stays 0.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 1
//dp:cost eps
func Doubled(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i < k; i *= 1 {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if len(out) > 100 {
			break
		}
	}
	return out
}

// Halves counts to what is no whole number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && h > 0
//dp:cost eps
func Halves(q []float64, h, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0.0; i < h; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(h/eps))
		}
	}
	return out
}

// ReturnsBefore returns on private data before the loop.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > 0
//dp:cost eps
func ReturnsBefore(q []float64, k int, eps float64, src *noise.Source) []float64 {
	if q[0] > 0 {
		return nil
	}
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return out
}

// CountsBefore has public numbers that a loop on private data sets.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |m| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func CountsBefore(q []float64, k, m int, eps float64, src *noise.Source) []float64 {
	n := 0.0
	for i := 0; i < m; i++ {
		n++
	}
	var out []float64
	for range k {
		for range q {
			out = append(out, n+src.Laplace(1/eps))
		}
	}
	return out
}

// Twice has two loops of rounds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Twice(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return out
}

// Shown returns a private number that is made before the loop.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Shown(q []float64, x float64, k int, eps float64, src *noise.Source) (float64, []float64) {
	y := 2 * x
	z := y + 1
	var out []float64
	for range k {
		for _, w := range q {
			out = append(out, w+src.Laplace(1/eps))
		}
	}
	return z, out
}

// Scored chooses by private scores in the rounds, and shows them.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0 && len(q) > 0
//dp:cost eps
func Scored(q []float64, k int, eps float64, src *noise.Source) (int, float64) {
	best := 0
	for range k {
		for range k {
			best = src.Choose(q, eps)
		}
	}
	return best, q[best]
}

// Reread reads what it appends to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Reread(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+float64(len(out))+src.Laplace(1/eps))
		}
	}
	return out
}

// LeftThenBroken leaves the loop, and another one in it.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func LeftThenBroken(q []float64, k int, eps float64, src *noise.Source) int {
	n := 0
	for range k {
		if n > 5 {
			break
		}
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				break
			}
			n++
		}
	}
	return n
}

// SkippedThenBroken goes on with the loop, or with another one in it.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SkippedThenBroken(q []float64, k int, eps float64, src *noise.Source) int {
	n := 0
	for range k {
		n++
		if n > 5 {
			continue
		}
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				continue
			}
			n++
		}
	}
	return n
}

// ReturnedThenPanics returns, or panics where a slice ends.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func ReturnedThenPanics(q, w []float64, k int, eps float64, src *noise.Source) float64 {
	n := 0.0
	for i := range k {
		for _, z := range q {
			if z+src.Laplace(1/eps) > 0 {
				return z
			}
		}
		n += w[i] + src.Laplace(1/eps)
	}
	return n
}
