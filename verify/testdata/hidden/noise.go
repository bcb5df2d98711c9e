package hidden

import "github.com/discreet-dp/discreet/noise"

// RoundedFar is x less itself up to 2048, where rounding ends.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RoundedFar(x int, eps float64, src *noise.Source) float64 {
	return src.Round(float64(x), 1) - float64(x)
}

// RoundedByOne is the same for numbers that differ by 1.
//
// want: unknown
//
//dp:adjacent x in [1, 1]
//dp:requires eps > 0
//dp:cost eps
func RoundedByOne(x, eps float64, src *noise.Source) float64 {
	return src.Round(x, 1) - x
}

// RoundedScale draws noise of scale 2048 at most.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:cost 0.00001
func RoundedScale(x float64, src *noise.Source) float64 {
	return x + src.Laplace(src.Round(1000000, 1))
}

// RoundedFirst rounds, and adds noise.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0.001
//dp:cost eps
func RoundedFirst(x, eps float64, src *noise.Source) float64 {
	return src.Round(x, 1/eps) + src.Laplace(1/eps)
}

// CoinOfAnyOdds panics where x is positive, if p is no probability.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func CoinOfAnyOdds(x, p, eps, delta float64, src *noise.Source) int {
	if x > 0 {
		if src.Bernoulli(p) {
			return 0
		}
	}
	return 0
}

// CoinOfPrivateOdds panics where x is above 1.
//
// want: unknown
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0
//dp:cost eps
func CoinOfPrivateOdds(x, eps float64, src *noise.Source) int {
	p := 0.5
	if x > 1 {
		p = 1.5
	}
	if src.Bernoulli(p) {
		return 0
	}
	return 0
}

// CoinOfOdds tosses a coin, and does not tell how it fell.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && 0 < p && p < 1
//dp:cost eps
func CoinOfOdds(x, p, eps float64, src *noise.Source) int {
	if x > 0 {
		if src.Bernoulli(p) {
			return 0
		}
	}
	return 0
}

// ChoiceByNothing panics where x is positive: an epsilon of 0 is refused.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ChoiceByNothing(x int, eps float64, src *noise.Source) int {
	if x > 0 {
		k := src.Choose([]float64{1, 2}, 0)
		return k - k
	}
	return 0
}

// ChoiceOfNone panics where x is positive, if there are no scores.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && delta > 0
//dp:cost eps, delta
func ChoiceOfNone(x float64, s []float64, eps, delta float64, src *noise.Source) int {
	if x > 0 {
		if src.Choose(s, eps) > 5 {
			return 0
		}
	}
	return 0
}

// Redrawn shows its input four times as large, and then makes noise of it.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Redrawn(x, eps float64, src *noise.Source) float64 {
	y := 4*x + src.Laplace(1/eps)
	x = src.Laplace(1)
	return y
}

// RedrawnRight shows it as it is.
//
// want: proved
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func RedrawnRight(x, eps float64, src *noise.Source) float64 {
	y := x + src.Laplace(1/eps)
	x = src.Laplace(1)
	return y
}
