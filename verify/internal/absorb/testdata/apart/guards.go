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

// ToTheFourth holds what is of another degree against a share.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ToTheFourth(q []float64, eps float64, src *noise.Source) int {
	spent, n := 0.0, 0
	for _, x := range q {
		if ((spent*spent)*spent)*spent > eps {
			break
		}
		spent += eps / 4
		if x+src.Laplace(4/eps) > 0 {
			n++
		}
	}
	return n
}

// OfLogarithm compares with a function of the budget.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OfLogarithm(q []float64, eps float64, src *noise.Source) int {
	spent, n := 0.0, 0
	for _, x := range q {
		if spent+eps/4 > eps*math.Log(eps+2) {
			break
		}
		spent += eps / 4
		if x+src.Laplace(4/eps) > 0 {
			n++
		}
	}
	return n
}

// OfFloor compares a function of what was spent.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func OfFloor(q []float64, eps float64, src *noise.Source) int {
	spent, n := 0.0, 0
	for _, x := range q {
		if spent*math.Floor(spent) > eps {
			break
		}
		spent += eps / 4
		if x+src.Laplace(4/eps) > 0 {
			n++
		}
	}
	return n
}
