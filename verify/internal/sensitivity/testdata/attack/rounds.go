package attack

import (
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// TwoRows tells whether there are two rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost 0
func TwoRows(rows []float64) float64 {
	var seen []float64
	s := 0.0
	for _, r := range rows {
		if len(seen) > 0 {
			s = 1
		}
		seen = append(seen, r)
	}
	return s
}

// Shares: which list a row is in depends on the others, and both are asked.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Shares(rows []float64, eps float64, src *noise.Source) (float64, float64) {
	var a, b []float64
	for _, r := range rows {
		if len(a) > 3 {
			b = append(b, r, r, r)
		} else {
			a = append(a, r)
		}
	}
	return float64(len(a)) + src.Laplace(1/eps), float64(len(b)) + src.Laplace(1/eps)
}

// NumbersBesideRows: a number that moves by little may cross 0, and counts as a row.
//
// want: rejected
//
//dp:adjacent one(q) <= 0.001 && bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 1.002 * eps
func NumbersBesideRows(q, rows []float64, eps float64, src *noise.Source) float64 {
	w := slices.Clone(q)
	for _, r := range rows {
		w = append(w, r)
	}
	n := 0.0
	for _, v := range w {
		if v > 0 {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

// NumbersOrRows: a number that moves by little may cross 0.
//
// want: rejected
//
//dp:adjacent one(q) <= 0.001 && bag(rows) <= 0.001
//dp:requires eps > 0
//dp:cost eps/2
func NumbersOrRows(q, rows []float64, eps float64, c bool, src *noise.Source) float64 {
	w := q
	if c {
		w = rows
	}
	n := 0.0
	for _, v := range w {
		if v > 0 {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

// Louder: from the second round on there are records up to 1000.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Louder(rows []float64, eps float64, src *noise.Source) float64 {
	var w []float64
	for _, r := range rows {
		w = append(w, max(0, min(r, 1)))
	}
	s := 0.0
	for range 2 {
		for _, v := range w {
			s += v
		}
		for _, r := range rows {
			w = append(w, max(0, min(r, 1000)))
		}
	}
	return s + src.Laplace(8/eps)
}

// WrittenAndReturned: the caller sees what is written before the return.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func WrittenAndReturned(x float64, n int, out []float64) int {
	for i := range n {
		if i == 2 {
			out[0] = x
			return 0
		}
	}
	return 1
}

// WrittenAtOnce: the caller sees what is written before the return.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func WrittenAtOnce(x float64, out []float64) int {
	for range 1 {
		out[0] = x
		return 0
	}
	return 1
}

// SetAndReturned: y is set before the return.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func SetAndReturned(x float64, n int) float64 {
	y := 0.0
	func() {
		for i := range n {
			if i == 2 {
				y = x
				return
			}
		}
	}()
	return y
}

// ShownInLoop: the noise is shown beside the sum.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ShownInLoop(x, eps float64, src *noise.Source) (float64, float64) {
	n := src.Laplace(1 / eps)
	show := func() float64 {
		for range 1 {
			return n
		}
		return 0
	}
	y := show()
	return x + n, y
}

// KeptInLoop: the row that is returned is buf.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost 0
func KeptInLoop(x float64, n int) float64 {
	buf := make([]float64, 1)
	rows := func() [][]float64 {
		for i := range n {
			if i == 1 {
				return [][]float64{buf}
			}
		}
		return [][]float64{{0}}
	}()
	buf[0] = x
	return rows[0][0]
}

// LargestIndex: where the loop never runs the result moves by 1, and not by n = 0.
//
// want: rejected
//
//dp:requires n >= 0
//dp:sensitivity x = float64(n)
func LargestIndex(x float64, n int) float64 {
	s := 0.0
	for i := range n {
		s = float64(i) * x
	}
	return s + x
}

// NoRounds: for n = 0 it is the noise of one release, which is not free.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost float64(n) * eps
func NoRounds(x float64, n int, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := range n {
		s = float64(i) * x
	}
	return s + x + src.Laplace(1/eps)
}

// NoWeights: there may be no weights, and x is released all the same.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost float64(len(w)) * eps
func NoWeights(x float64, w []float64, eps float64, src *noise.Source) float64 {
	s := 0.0
	for i := range w {
		s = float64(i) * x
	}
	return s + x + src.Laplace(1/eps)
}

// Fading: with g = 0 the first round tells x, and only those after it do not.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && g >= 0
//dp:cost 2 * g * g * eps
func Fading(x, g, eps float64, src *noise.Source) float64 {
	t, s := 0.0, x
	for range 2 {
		t += s + src.Laplace(1/eps)
		s = g * s
	}
	return t
}

// BeforeLast: what is kept is from before the last round.
//
// want: rejected
//
//dp:requires g >= 0
//dp:sensitivity x = g * g
func BeforeLast(x, g float64) float64 {
	s, t := x, 0.0
	for range 2 {
		t = s
		s = g * s
	}
	return t
}

// CounterBehind: i is 3 in the second round.
//
// want: rejected
//
//dp:sensitivity x = 0
func CounterBehind(x float64) float64 {
	i, s := 0, 0.0
	for range 2 {
		if i == 3 {
			s = 1000 * x
		}
		for i = 0; i < 3; i++ {
		}
	}
	return s
}

// CounterAfter: i is 3 after the loops.
//
// want: rejected
//
//dp:sensitivity x = 0
func CounterAfter(x float64) float64 {
	i := 0
	for range 1 {
		for i = 0; i < 3; i++ {
		}
	}
	return x * float64(i)
}

// CounterMaybe: i may be 3 after the loops.
//
// want: rejected
//
//dp:sensitivity x = 0
func CounterMaybe(x float64, c bool) float64 {
	i := 0
	for range 2 {
		if c {
			for i = 0; i < 3; i++ {
			}
		}
	}
	return x * float64(i)
}

func atYielded[S ~func(func(int) bool)](q []float64, f S) float64 {
	s := 0.0
	for i := range f {
		s += q[i]
	}
	return s
}

// YieldedTwice: f may yield an index twice.
//
// want: rejected
//
//dp:sensitivity q = 1
func YieldedTwice(q []float64, f func(func(int) bool)) float64 { return atYielded(q, f) }
