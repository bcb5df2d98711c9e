package meaning

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// What programs seldom have.

func two(x float64) (float64, float64) { return x, 2 * x }

//dp:adjacent each(q) <= 1
//dp:cost eps
func Called(q []float64, eps float64, src *noise.Source) float64 {
	x := func(y float64) float64 { return y - 1 }(src.Laplace(1))
	x += pair(two(x))
	(x) = +x
	type held struct{ f func(float64) float64 }
	h := held{func(y float64) float64 { return x * y }}
	x -= (h.f)(3)
	return -(-x) + -(2)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Constants(q []float64, eps float64, src *noise.Source) (n int) {
	const yes, far = true, 7
	for _, x := range q {
		if yes && x > 0 || !yes {
			n++
		}
		if x > far && !yes || x < 0 && (yes || src.Bernoulli(0.5)) {
			n += 2
		}
		switch {
		case x > 1, x < -1, src.Bernoulli(0.5):
			n += 4
		default:
			n += 8
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Begun(q []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, 0, len(q)+1)
	for _, x := range q {
		if x > 2 {
			out = nil
		}
		out = append(out, x+src.Laplace(1))
	}
	if len(out) > 1 {
		return append(out, 0)
	}
	return out
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func CapacityPanics(q []float64, eps float64, src *noise.Source) []float64 {
	n := src.Uniform(3)
	return make([]float64, n, 1)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func While(q []float64, eps float64, src *noise.Source) (n int) {
	for i := 0; q[i] < 1 && i < 5; i++ {
		if q[i] < 0 {
			continue
		}
		n += i
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Least(q []float64, eps float64, src *noise.Source) float64 {
	if len(q) == 0 {
		return 0
	}
	best := math.Inf(1)
	for _, x := range q {
		best = min(best, x)
	}
	worst := math.Inf(-1)
	for _, x := range q {
		worst = math.Max(x, worst)
	}
	if best < -1 || 1 < worst {
		return slices.Min(q)
	}
	return slices.Min(q) + 5*slices.Max(q) + src.Laplace(1)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Wider(q []int, eps float64, src *noise.Source) float64 {
	n := uint(len(q))
	var sum int64
	for i, x := range q {
		sum += int64(x) * int64(i)
	}
	return float64(n) + float64(sum)/2 + src.Laplace(1)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Leaving(q []float64, eps float64, src *noise.Source) (n int) {
outer:
	for i := 0; i < len(q); i++ {
		for j := 0; j < 3; j++ {
			switch {
			case q[i] > float64(j):
				continue outer
			case q[i] < -float64(j):
				break outer
			}
			n += i + j
		}
		n += 10
	}
	return n
}
