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

// AfterElement returns a private number, and what is public.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AfterElement(q, w []float64, x float64, k int, eps float64, src *noise.Source) (float64, []float64) {
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	if len(w) == 0 {
		return 0, out
	}
	return x + w[0], out
}

// AfterLength returns a private number and a public length.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AfterLength(q, w []float64, x float64, k int, eps float64, src *noise.Source) (float64, []float64) {
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return x + float64(len(w)), out
}

// AfterLocalLength returns how long a slice of a private length is.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func AfterLocalLength(q []float64, k, n int, eps float64, src *noise.Source) (int, []float64) {
	ys := make([]float64, max(n, 0))
	var out []float64
	for range k {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return len(ys), out
}

// PostOfOther counts another variable behind its body.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func PostOfOther(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	j := 0
	for i := 0; i < k; j = i + 1 {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if len(out) > 100+j {
			i++
		}
	}
	return out
}

// PostFromOther counts from another variable.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func PostFromOther(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	j := 0
	for i := 0; i < k; i = j + 1 {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if len(out) > 100 {
			j = k
		}
	}
	return out
}

// Stays does not count.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func Stays(q []float64, k int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := 0; i < k; i += 0 {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
		if len(out) > 100 {
			break
		}
	}
	return out
}

// BelowThenZero begins below 0, and sets something else to 0.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func BelowThenZero(q []float64, k int, eps float64, src *noise.Source) ([]float64, int) {
	var out []float64
	i := -5
	z := 0
	for ; i < k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return out, z
}

// BeginsAnywhere begins where it is told to.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func BeginsAnywhere(q []float64, k, m int, eps float64, src *noise.Source) []float64 {
	var out []float64
	for i := m; i < k; i++ {
		for _, z := range q {
			out = append(out, z+src.Laplace(1/eps))
		}
	}
	return out
}

// SummedTwice has a number that is made of a private sum.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SummedTwice(q []float64, k int, eps float64, src *noise.Source) []float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	y := 2 * s
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// SummedAndInput has one that is made of it and of an input.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SummedAndInput(q []float64, t float64, k int, eps float64, src *noise.Source) []float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	y := s + t
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// SummedAndElement has one that is made of it and of an element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SummedAndElement(q, w []float64, k int, eps float64, src *noise.Source) []float64 {
	if len(w) == 0 {
		return nil
	}
	s := 0.0
	for _, x := range q {
		s += x
	}
	y := s + w[0]
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// SummedAndLength has one that is made of it and of a length.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SummedAndLength(q, w []float64, k int, eps float64, src *noise.Source) []float64 {
	s := 0.0
	for _, x := range q {
		s += x
	}
	y := s + float64(len(w))
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// SummedElement has one that is an element of a slice of sums.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func SummedElement(q []float64, k int, eps float64, src *noise.Source) []float64 {
	ys := make([]float64, 1)
	for _, x := range q {
		ys[0] += x
	}
	y := ys[0]
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// LocalLength has one that is the length of a slice of private length.
//
//dp:adjacent each(q) <= 1
//dp:adjacent |n| <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func LocalLength(q []float64, k, n int, eps float64, src *noise.Source) []float64 {
	ys := make([]float64, max(n, 0))
	y := float64(len(ys))
	var out []float64
	for range k {
		for range q {
			out = append(out, y+src.Laplace(1/eps))
		}
	}
	return out
}

// StoredOnly writes what rounds share, and does not read it.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func StoredOnly(q []float64, k int, eps float64, src *noise.Source) []float64 {
	sums := make([]float64, len(q))
	for range k {
		for i, z := range q {
			sums[i] = z + src.Laplace(1/eps)
		}
	}
	return sums
}

// StoredThenLonger writes it before it makes it longer.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && k > 0
//dp:cost eps
func StoredThenLonger(q []float64, k int, eps float64, src *noise.Source) []float64 {
	sums := make([]float64, 1)
	for range k {
		for _, z := range q {
			sums[0] = z + src.Laplace(1/eps)
			sums = append(sums, 1)
		}
	}
	return sums
}
