// Package apart holds functions whose noise keeps its scale.
package apart

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Alone(x, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent |x| <= s
//dp:requires eps > 0 && s >= 0
//dp:cost eps
func MayBeZero(x, s, eps float64, src *noise.Source) float64 { return x + s*src.Laplace(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Changes(x, s, eps float64, src *noise.Source) float64 {
	s = 1
	z := src.Laplace(1 / eps)
	s = 2
	return x + s*z
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && s > 0
//dp:cost eps
func InputChanges(x, s, eps float64, src *noise.Source) float64 {
	z := src.Laplace(1 / eps)
	s = s * s
	return x + s*z
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Integers(x int64, eps float64, src *noise.Source) int64 { return x + 2*src.DiscreteLaplace(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func SeveralFactors(x, eps float64, src *noise.Source) (float64, float64) {
	z := src.Laplace(1)
	return x + z/eps, x + 2*z/eps
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func AloneToo(x, eps float64, src *noise.Source) (float64, bool) {
	z := src.Laplace(1)
	return x + z/eps, z > 0
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Noises(x, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(1/eps)*src.Laplace(1/eps)
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && s > 0
//dp:cost eps
func Divisor(x, s, eps float64, src *noise.Source) float64 { return x + s/src.Exponential(1/eps) }

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EachItsOwn(q []float64, eps float64, src *noise.Source) float64 {
	sum := 0.0
	for i, x := range q {
		sum += x + float64(i)*src.Laplace(1/eps)
	}
	return sum
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Negative(x, eps float64, src *noise.Source) float64 { return x + -2*src.Exponential(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func WholeQuotient(x, eps float64, n int, src *noise.Source) float64 {
	return x + float64(n/2)*src.Laplace(1/eps)
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func AfterTheDraw(x, eps float64, src *noise.Source) (float64, float64) {
	z := src.Laplace(1)
	s := 2 / eps
	return x + s*z, s
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ByBranch(x, eps float64, b bool, src *noise.Source) float64 {
	s := 2 / eps
	if b {
		s = 3 / eps
	}
	return x + s*src.Laplace(1)
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && s > 0
//dp:cost eps
func NoisesAgain(x, s, eps float64, src *noise.Source) (float64, float64) {
	y := src.Laplace(1 / eps)
	z := src.Laplace(1 / eps)
	return x + s*z, x + y*z
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && s > 0
//dp:cost eps
func SometimesNoise(x, s, eps float64, b bool, src *noise.Source) float64 {
	z := x
	if b {
		z = src.Laplace(1 / eps)
	}
	return s * z
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ProductOfNoises(x, eps float64, src *noise.Source) float64 {
	y := src.Exponential(1 / eps)
	z := src.Laplace(1 / eps)
	return x + 2*y*z
}

// Redrawn reads its input, and then draws it.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Redrawn(x, eps float64, src *noise.Source) float64 {
	y := 4*x + src.Laplace(1/eps)
	x = src.Laplace(1)
	return y
}

// Revealed shows what was spent.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Revealed(x, eps float64, src *noise.Source) float64 {
	spent := eps / 2
	if x+src.Laplace(2/eps) > 0 {
		spent += eps / 2
	}
	return spent
}

// Compared holds what was spent against a number that is no share.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Compared(x, eps float64, src *noise.Source) int {
	spent := eps / 2
	if x+src.Laplace(2/eps) > 0 {
		spent += eps / 2
	}
	if spent > 1 {
		return 1
	}
	return 0
}

// Signless has a budget of which the sign is not known.
//
//dp:adjacent |x| <= 1
//dp:requires b != 0
//dp:cost b
func Signless(x, b float64, src *noise.Source) int {
	spent := b / 2
	if x+src.Laplace(2) > 0 {
		spent += b / 4
	}
	if spent < b {
		return 1
	}
	return 0
}

// Renewed has a budget that is another one when what was spent is held against it.
//
//dp:adjacent |x| <= 1
//dp:requires b > 0
//dp:cost b
func Renewed(x, b float64, src *noise.Source) int {
	spent := b / 2
	if x+src.Laplace(2) > 0 {
		spent += b / 4
	}
	b = 1
	if spent < b {
		return 1
	}
	return 0
}

// DrawnAnew spends what noise is.
//
//dp:adjacent |x| <= 1
//dp:requires b > 0
//dp:cost b
func DrawnAnew(x, b float64, src *noise.Source) int {
	spent := b / 2
	if x > 0 {
		spent = src.Laplace(2)
	}
	if spent < b {
		return 1
	}
	return 0
}

// Squared holds what is no share against one.
//
//dp:adjacent |x| <= 1
//dp:requires b > 0
//dp:cost b
func Squared(x, b float64, src *noise.Source) int {
	spent := b / 2
	if x+src.Laplace(2) > 0 {
		spent += b / 4
	}
	if spent*spent < b || spent+1 < b || spent/b < 1 {
		return 1
	}
	return 0
}
