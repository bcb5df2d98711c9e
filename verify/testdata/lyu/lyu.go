// Package lyu holds the six variants of the sparse vector technique that Lyu, Su and
// Li compare (2017, PVLDB 10(6), arXiv 1603.01699), and their own improvement. Two of
// the six are ε-DP; one is so for a larger ε; three are not for any.
package lyu

import "github.com/discreet-dp/discreet/noise"

// Lyu1 is Algorithm 1, the authors': half of eps for the threshold, half for c answers.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0 && len(q) == len(t)
//dp:cost eps
func Lyu1(q, t []float64, c int, eps float64, src *noise.Source) []bool {
	rho := src.Laplace(2 / eps)
	var above []bool
	count := 0
	for i, x := range q {
		if x+src.Laplace(4*float64(c)/eps) >= t[i]+rho {
			above = append(above, true)
			count++
			if count >= c {
				break
			}
		} else {
			above = append(above, false)
		}
	}
	return above
}

// Lyu2 is Algorithm 2, that of Dwork and Roth 2014: the threshold is drawn again after
// each answer above, also the last.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Lyu2(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	rho := src.Laplace(2 * float64(c) / eps)
	var above []bool
	count := 0
	for _, x := range q {
		if x+src.Laplace(4*float64(c)/eps) >= t+rho {
			above = append(above, true)
			rho = src.Laplace(2 * float64(c) / eps)
			count++
			if count >= c {
				break
			}
		} else {
			above = append(above, false)
		}
	}
	return above
}

// Lyu3 is Algorithm 3, that of Roth's notes of 2011: it returns the noisy query that was
// compared. Not private for any eps.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Lyu3(q []float64, t float64, c int, eps float64, src *noise.Source) []float64 {
	t += src.Laplace(2 / eps)
	var values []float64
	count := 0
	for _, x := range q {
		noisy := x + src.Laplace(2*float64(c)/eps)
		if noisy >= t {
			values = append(values, noisy)
			count++
			if count >= c {
				break
			}
		} else {
			values = append(values, 0)
		}
	}
	return values
}

// Lyu4 is Algorithm 4, that of Lee and Clifton 2014, at what it costs: the noise on the
// queries lacks the factor c, and the 2.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost (1+6*float64(c))/4*eps
func Lyu4(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	return leeClifton(q, t, c, eps, src)
}

// Lyu4AtEps is Algorithm 4 as it was published.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Lyu4AtEps(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	return leeClifton(q, t, c, eps, src)
}

// Lyu4Near1 is Algorithm 4 for one answer, at 0.99 of what it costs.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost 0.99*7/4*eps
func Lyu4Near1(q []float64, t, eps float64, src *noise.Source) []bool {
	const c = 1
	return leeClifton(q, t, c, eps, src)
}

// Lyu4Near2 is Algorithm 4 for two answers, at 0.99 of what it costs.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost 0.99*13/4*eps
func Lyu4Near2(q []float64, t, eps float64, src *noise.Source) []bool {
	const c = 2
	return leeClifton(q, t, c, eps, src)
}

func leeClifton(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	t += src.Laplace(4 / eps)
	var above []bool
	count := 0
	for _, x := range q {
		if x+src.Laplace(4/(3*eps)) >= t {
			above = append(above, true)
			count++
			if count >= c {
				break
			}
		} else {
			above = append(above, false)
		}
	}
	return above
}

// Lyu5 is Algorithm 5, that of Stoddard et al. 2014: no noise on the queries and no
// limit to the answers. Not private for any eps.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Lyu5(q []float64, t, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	for _, x := range q {
		above = append(above, x >= t)
	}
	return above
}

// Lyu6 is Algorithm 6, that of Chen et al. 2015: no limit to the answers. Not private
// for any eps.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Lyu6(q []float64, t, eps float64, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	for _, x := range q {
		above = append(above, x+src.Laplace(2/eps) >= t)
	}
	return above
}

// Lyu7 is Algorithm 7, the authors' own: three budgets, and answers with noise of
// their own.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps1 > 0 && eps2 > 0 && eps3 > 0 && c > 0
//dp:cost eps1 + eps2 + eps3
func Lyu7(q []float64, t float64, c int, eps1, eps2, eps3 float64, src *noise.Source) []float64 {
	t += src.Laplace(1 / eps1)
	var values []float64
	count := 0
	for _, x := range q {
		if x+src.Laplace(2*float64(c)/eps2) >= t {
			values = append(values, x+src.Laplace(float64(c)/eps3))
			count++
			if count >= c {
				break
			}
		} else {
			values = append(values, 0)
		}
	}
	return values
}
