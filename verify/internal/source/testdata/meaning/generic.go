package meaning

import (
	"cmp"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Generic functions, and texts.

func argmax[T cmp.Ordered](xs []T) (at int) {
	for i := range xs {
		if xs[i] > xs[at] {
			at = i
		}
	}
	return at
}

func clamped[T ~int | ~float64](x, lo, hi T) T { return max(lo, min(hi, x)) }

// halved divides as its type does.
func halved[T ~int | ~float64](x T) T { return x/2 + T(1)/T(2) }

// mapped hides a name of the package.
func mapped[T, two any](xs []T, f func(T) two) []two {
	var out []two
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

type kept[T any] struct {
	value T
	times int
}

func keep[T any](x T) kept[T] { return kept[T]{value: x, times: 1} }

func twice[T ~int | ~float64](x T) T { return clamped(halved(x), -3, 3) + halved[T](x) }

type degree int

//dp:adjacent each(q) <= 1
//dp:cost eps
func Instances(q []float64, n []int, eps float64, src *noise.Source) (int, int, float64, degree, float64, int) {
	whole := mapped[float64, int](q, func(x float64) int { return int(math.Floor(x)) })
	k := keep(twice(len(q)))
	return argmax(q), argmax(n) + argmax(whole), twice(float64(len(n))), twice(degree(len(n))), halved(src.Laplace(1)), k.value + k.times
}

type side string

const (
	nowhere side = ""
	left    side = "left"
	right   side = "right"
)

type told struct {
	Where side
	Times int
}

func (s side) other() side {
	switch s {
	case left:
		return right
	case "right":
		return left
	}
	return s
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Texts(q []float64, eps float64, src *noise.Source) (last side, all []string, found []told, same bool) {
	for i, x := range q {
		was := last
		if x+src.Laplace(1) > 1 {
			last = left
		} else if x > 0 {
			last = last.other()
		}
		if last != was {
			found = append(found, told{Where: last, Times: i})
		}
		all = append(all, string(last), "and")
	}
	empty := make([]string, 2)
	copied := append([]string(nil), all...)
	if len(copied) > 2 {
		copied[1] = empty[0]
	}
	return last, append(copied, empty...), found, last == nowhere || last == "right" && "left" != "right"
}

//dp:adjacent |x| <= 1
//dp:cost eps
func News(x, eps float64, src *noise.Source) (int, bool, float64) {
	type run struct {
		n    int
		done bool
		sums struct{ of float64 }
	}
	r, s := new(run), new(run)
	r.n += 2
	if x+src.Laplace(1) > 1 {
		r.done = true
		s.sums.of = 3
	}
	return r.n + s.n, r.done, s.sums.of
}

type tallies struct {
	of   [3]int
	last int
}

func (t tallies) with(i int) tallies {
	t.of[i]++
	t.last = i
	return t
}

func (t *tallies) add(i int) { t.of[i]++ }

func bumped(a [3]int) [3]int {
	a[0] += 10
	return a
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Arrays(q []float64, eps float64, src *noise.Source) ([]int, float64, int) {
	var t tallies
	for _, x := range q {
		i := min(2, max(0, int(math.Floor(x))))
		u := t.with(i)
		if x > 1 {
			t = u
		}
		u.add(0)
		t.last += u.of[0]
	}
	a := t.of
	b := bumped(a)
	c := [...]float64{1, 0.5, src.Laplace(1)}
	d := [4]float64{2}
	for i := range c {
		c[i] += float64(a[i]) + d[i+1]
	}
	a[1] = 7
	top := 0
	for i, x := range c {
		if x > c[top] {
			top = i
		}
	}
	var out []int
	for i := 0; i < len(b); i++ {
		out = append(out, b[i]-a[i])
	}
	for _, n := range t.of {
		out = append(out, n)
	}
	return out, c[top] + d[0], t.last
}

//dp:adjacent |n| <= 1
//dp:cost eps
func ArrayPanics(n int, eps float64, src *noise.Source) int {
	a := [3]int{1, 2, 3}
	return a[n]
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func InfiniteSums(q []float64, a, b, eps float64, src *noise.Source) []bool {
	first, second, least := math.Inf(-1), math.Inf(-1), math.Inf(1)
	for _, x := range q {
		if x > first {
			first, second = x, first
		} else if x > second {
			second = x
		}
		least = min(least, x)
	}
	gap := first - second + src.Laplace(1)
	back := a - gap
	wide := b + (first - least) - 1
	return []bool{
		gap > a, gap >= a, gap < a, gap <= a, gap == a, gap != a, a < gap, b >= gap,
		back > a, back <= b, wide < b, wide > a, b != wide, a < wide, b <= back, back == a, wide != 0,
	}
}

//dp:adjacent |n| <= 1
//dp:cost eps
func ClampPanics(n, m int, eps float64, src *noise.Source) int {
	a := [3]int{1, 2, 3}
	low := min(max(n, -1), 2)
	n = min(n, m, 2)
	n = max(n, m-1, 0)
	return a[low] + a[n]
}
