// Package absorbed holds functions whose noise is multiplied by positive numbers.
package absorbed

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= s
//dp:requires eps > 0 && s > 0
//dp:cost eps
func Times(x, s, eps float64, src *noise.Source) float64 { return x + s*src.Laplace(1/eps) }

//dp:adjacent |x| <= s
//dp:requires 0 < eps && s >= 0.5
//dp:cost eps
func Quotient(x, s, eps float64, src *noise.Source) float64 { return x + src.Exponential(1)*s/eps }

//dp:adjacent |x| <= s
//dp:requires eps > 0 && s > 0
//dp:cost eps
func Local(x, s, eps float64, src *noise.Source) float64 {
	scale := (s + s) / eps
	z := src.Gaussian(1)
	return x + scale*z
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func Whole(x, eps float64, n int, src *noise.Source) float64 {
	return x - src.Laplace(1/eps)*float64(n)
}

//dp:adjacent each(q) <= s
//dp:requires eps > 0 && s > 0
//dp:cost eps
func InALoop(q []float64, s, eps float64, src *noise.Source) bool {
	t := s * src.Laplace(1/eps)
	for _, x := range q {
		z := src.Laplace(1)
		if x+z*4*s/eps > t && x+z*4*s/eps > 0 {
			return true
		}
		if x < -1 {
			break
		}
	}
	return false
}
