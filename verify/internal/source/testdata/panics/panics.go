// Package panics holds functions that may panic: by private data, those whose names
// begin with Tells.
package panics

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByIndex(x int, table []int) int { return table[x] }

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByDivisor(x int) int { return 1 / x }

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByBranch(x, n int) int {
	y := 0
	if x > 5 {
		y = 1 / n
	}
	return y
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByLocal(x, n int) int {
	y := 0
	if x > 5 {
		y = n
	}
	return 1 / y
}

//dp:adjacent bag(rows) <= 1
//dp:cost 1
func TellsByRounds(rows []int, n int) int {
	y := 0
	for range rows {
		y += 1 / n
	}
	return y
}

//dp:adjacent bag(rows) <= 1
//dp:cost 1
func TellsByLength(rows []int) int { return 1 / len(rows) }

//dp:adjacent each(q) <= 1
//dp:cost 1
func TellsByAppending(q []int, k int) int {
	var large []int
	for _, x := range q {
		if x > 5 {
			large = append(large, 1)
		}
	}
	return large[k]
}

//dp:adjacent each(q) <= 1
//dp:cost 1
func TellsByMaking(q []int, k int) int {
	n := 1
	if q[0] > 5 {
		n = 2
	}
	y := make([]int, n)
	return y[k]
}

//dp:adjacent each(q) <= 1
//dp:cost 1
func TellsByBreak(q []int, n int) int {
	y := 0
	for _, x := range q {
		if x > 5 {
			break
		}
		y += 1 / n
	}
	return y
}

//dp:adjacent each(q) <= 1
//dp:cost 1
func TellsByBreakBefore(q []int, n int) int {
	y := 0
	for i, x := range q {
		if i > 0 {
			y += 1 / n
		}
		if x > 5 {
			break
		}
	}
	return y
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByTheLastRound(x, n int) int {
	y := 0
	for {
		if y > 0 {
			return 1 / n
		}
		if x > 5 {
			break
		}
		y++
	}
	return y
}

//dp:adjacent each(q) <= 1
//dp:cost 1
func TellsByContinue(q []int, n int) int {
	y := 0
	for _, x := range q {
		if x > 5 {
			continue
		}
		y += 1 / n
	}
	return y
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByReturn(x, n int) int {
	if x > 5 {
		return 0
	}
	return 1 / n
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByStore(x, n int) int {
	y := make([]int, 2)
	y[0] = x
	return n / y[1]
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsOfNoise(x int64, src *noise.Source) int64 { return 1 / src.DiscreteLaplace(1) }

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsByScale(x float64, src *noise.Source) float64 { return src.Laplace(x) }

//dp:adjacent |x| <= 1
//dp:requires n > 0
//dp:cost 1
func Required(x, n int) int { return x / n }

//dp:adjacent |x| <= 1
//dp:cost 1
func Alike(x, n int) int { return x / n }

//dp:adjacent |x| <= 1
//dp:cost 1
func Tested(x int, table []int) int {
	if x >= 0 && x < len(table) {
		return table[x]
	}
	return 0
}

//dp:adjacent each(q) <= 1
//dp:cost 1
func LengthsAreEqual(q []int) int { return 1 / len(q) }

//dp:adjacent each(q) <= 1
//dp:cost 1
func AlikeInEachRound(q []int, n int) int {
	y := 0
	for _, x := range q {
		y += x / n
	}
	return y
}

//dp:adjacent |x| <= 1
//dp:cost 1
func AlikeBeforeTheBranch(x, n int) int {
	y := 1 / n
	if x > 5 {
		y++
	}
	return y
}

//dp:adjacent |x| <= 1
//dp:cost 1
func AlikeBeforeTheReturn(x, n int) int {
	y := 1 / n
	if x > 5 {
		return y
	}
	return 0
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsBehindTheReturn(x, n int) int {
	if x > 5 {
		return 0
	}
	return 1 / n
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsInTheNextRound(x, n, m int) int {
	y, z := 0, 0
	for {
		y++
		z += 1 / (n - y)
		if y > m {
			break
		}
		if x > 5 {
			return z
		}
	}
	return z
}

//dp:adjacent |x| <= 1
//dp:cost 1
func TellsBehindTheLoop(x, n, m int) int {
	for range m {
		for range m {
			if x > 5 {
				return 0
			}
		}
	}
	return 1 / n
}
