package apart

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Multiplied multiplies two draws, of which one has a factor elsewhere.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0
//dp:cost eps
func Multiplied(x, t, eps float64, src *noise.Source) (float64, float64) {
	a := src.Laplace(1 / eps)
	b := src.Laplace(1 / eps)
	return x + a*(b*t), 3 * b
}

// Logarithm has a factor that is negative where t is below 1.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0
//dp:cost eps
func Logarithm(x, t, eps float64, src *noise.Source) float64 {
	return x + math.Log(t)*src.Laplace(1/eps)
}

// Floor has one that is 0 there.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0
//dp:cost eps
func Floor(x, t, eps float64, src *noise.Source) float64 {
	return x + math.Floor(t)*src.Laplace(1/eps)
}

// Difference has one that is negative where t is below s.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > 0 && s > 0
//dp:cost eps
func Difference(x, t, s, eps float64, src *noise.Source) float64 {
	return x + (t-s)*src.Laplace(1/eps)
}

// AboveMinusOne has one that is 0, or below.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && t > -1
//dp:cost eps
func AboveMinusOne(x, t, eps float64, src *noise.Source) float64 {
	return x + t*src.Laplace(1/eps)
}
