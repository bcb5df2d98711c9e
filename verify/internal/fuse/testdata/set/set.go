// Package set has functions that read elements which they have just set. Those whose
// names begin with Not set something in between.
package set

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func First(q []float64, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	above := make([]bool, len(q))
	n := 0
	for i, x := range q {
		above[i] = x+src.Laplace(4/eps) > t
		if above[i] {
			break
		}
		n++
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Twice(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, 2)
	for i := 0; i < len(q) && i < 2; i++ {
		a[i] = i + 1
		for j := range 2 {
			if j == 1 {
				continue
			}
			a[i] += a[i]
		}
		if a[i] > 1 {
			a[i] = a[i] - 1
			if a[i] == 3 {
				a[i]++
			}
		} else if q[i]+src.Laplace(1/eps) > t {
			a[i] = 7 * a[i]
		}
	}
	return a[0] - a[1]
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Labelled(q []float64, t, eps float64, src *noise.Source) int {
	out := make([]bool, len(q))
	n := 0
outer:
	for i := range q {
		for j := range q {
			out[j] = q[i]+src.Laplace(1/eps) > t
			n++
			if out[j] {
				continue outer
			}
			if n == 2 {
				break outer
			}
		}
		n++
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotTheSame(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q)+1)
	n := 0
	for i, x := range q {
		if x+src.Laplace(1/eps) > t {
			n = i
		}
		a[i] = n + 1
		i++
		n += a[i]
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotSince(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q))
	n := 0
	for i, x := range q {
		a[i] = n + 1
		if x+src.Laplace(1/eps) > t {
			a[0] = 2
		}
		n += a[i]
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotInTheLoop(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q))
	n := 0
	for i, x := range q {
		a[i] = n + 1
		for j := range q {
			a[j]++
		}
		if x+src.Laplace(1/eps) > t {
			n += a[i]
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotWithin(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, 2)
	a[1] = 3
	for _, x := range q {
		if x+src.Laplace(1/eps) > t {
			return 0
		}
	}
	a[a[0]] = 1
	return a[a[0]]
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func InABranch(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q))
	n := 0
	for i, x := range q {
		a[i] = n + 1
		if x+src.Laplace(1/eps) > t {
			for j := 0; j < a[i]; j++ {
				if j == 2 {
					break
				}
				n += a[i]
			}
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotTheOther(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q)+1)
	b := make([]int, len(q)+1)
	n := 0
	for i, x := range q {
		a[i] = n + 1
		if x+src.Laplace(1/eps) > t {
			n += b[i]
		}
		b[i+1] = a[0]
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func NotSetInACase(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q)+1)
	n := 0
	for i, x := range q {
		a[i] = n + 1
		if x+src.Laplace(1/eps) > t {
			a[0] = 3
			n += a[i]
		} else if a[i] > 1 {
			n++
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func BothSet(q []float64, t, eps float64, src *noise.Source) int {
	a := make([]int, len(q))
	n := 0
	for i, x := range q {
		a[i] = n + 1
		n += a[i]
		a[i] = n + 2
		if x+src.Laplace(1/eps) > t {
			n += a[i]
		}
	}
	return n
}
