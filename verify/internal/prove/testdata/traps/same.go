package traps

import "github.com/discreet-dp/discreet/noise"

// What follows draws, writes or returns other things in the second run.

// PrivateCoin has private odds.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateCoin(q []float64, eps float64, src *noise.Source) bool {
	odds := 0.25
	if q[0] > 0 {
		odds = 0.75
	}
	return src.Bernoulli(odds)
}

// PrivateOdds has odds that a clamped number is.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateOdds(q []float64, eps float64, src *noise.Source) bool {
	return src.Bernoulli(min(1, max(0, q[0])))
}

// PrivateSides is a die with as many sides.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateSides(q []int, eps float64, src *noise.Source) int {
	return src.Uniform(max(1, q[0]))
}

// PrivateScale has the noise of its number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateScale(q []float64, eps float64, src *noise.Source) float64 {
	return src.Laplace(max(1, q[0]) / eps)
}

// PrivateSigma does so with noise that is not shifted.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateSigma(q []float64, eps float64, src *noise.Source) float64 {
	return src.Gaussian(max(1, q[0]))
}

// Normal would be a shift of Gaussian noise, which has no bound.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func Normal(q []float64, eps float64, src *noise.Source) float64 {
	return q[0] + src.Gaussian(1/eps)
}

// PrivateIndex reads another element in the second run.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateIndex(q []int, public []float64, eps float64, src *noise.Source) float64 {
	i := max(0, min(q[0], len(public)-1))
	if len(public) == 0 {
		return 0
	}
	return public[i] + src.Laplace(1/eps)
}

// PrivateLength makes a slice as long as its number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateLength(q []int, eps float64, src *noise.Source) []float64 {
	out := make([]float64, max(0, q[0]))
	for i := range out {
		out[i] = src.Laplace(1 / eps)
	}
	return out
}

// PrivatePlace writes to another element.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivatePlace(q []int, n int, eps float64, src *noise.Source) []bool {
	if n < 1 {
		return nil
	}
	out := make([]bool, n)
	i := max(0, min(q[0], n-1))
	out[i] = true
	return out
}

// PrivateValue writes another value.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateValue(q []int, n int, eps float64, src *noise.Source) []int {
	if n < 1 {
		return nil
	}
	out := make([]int, n)
	out[0] = q[0]
	return out
}

// PrivateRounds goes round as often as its number.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func PrivateRounds(q []int, eps float64, src *noise.Source) int {
	n := 0
	for n < q[0] {
		n++
	}
	return n
}

// AsItIs returns its input.
//
//dp:adjacent each(q) <= 1
//dp:cost eps
func AsItIs(q []float64, eps float64, src *noise.Source) []float64 { return q }

// Stored has private data in a slice that is returned.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Stored(q []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, len(q))
	for i, x := range q {
		out[i] = x
	}
	return out
}

// WrongWinner returns another index than the winner's.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func WrongWinner(q []int, eps float64, src *noise.Source) int {
	arg, best := 0, 0.0
	for i, x := range q {
		noisy := float64(x) + src.Laplace(2/eps)
		if i == 0 || noisy > best {
			arg, best = i+x, noisy
		}
	}
	return arg
}

// DownwardsMoved moves one-sided noise down by hand, where the second run has none.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && len(q) > 0
//dp:cost eps
func DownwardsMoved(q []float64, eps float64, src *noise.Source) float64 {
	//dp:align -diff(q[0])
	k := src.Exponential(1 / eps)
	return q[0] + k
}

// NoiseKept adds noise to each number, and then tells the last noise.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost float64(len(q)) * eps
func NoiseKept(q []float64, eps float64, src *noise.Source) ([]float64, float64) {
	var out []float64
	last := 0.0
	for i := range q {
		k := src.Laplace(1 / eps)
		out = append(out, q[i]+k)
		last = k
	}
	return out, last
}
