package delta

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// GaussianGroups is a stability histogram with Gaussian noise: Gopi et al. 2020. What both
// neighbours have costs eps and delta; what one has alone appears with probability delta.
//
// want: proved
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 0.5
//dp:cost eps, delta
func GaussianGroups(counts []float64, eps, delta float64, src *noise.Source) []float64 {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	shown := make([]float64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.Gaussian(sigma)
			if noisy > 1+sigma*math.Sqrt(2*math.Log(1/(2*delta))) {
				shown[i] = noisy
			}
		}
	}
	return shown
}

// GaussianSums adds Gaussian noise to the larger groups only, which a noisy test chooses.
//
// want: proved
//
//dp:adjacent |total| <= 1
//dp:adjacent |count| <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 0.5
//dp:cost 2*eps, delta
func GaussianSums(total, count, eps, delta float64, src *noise.Source) (float64, bool) {
	if count+src.Laplace(1/eps) < 100 {
		return 0, false
	}
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	return total + src.Gaussian(sigma), true
}

// GaussianPure claims that Gaussian noise is pure.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 0.5
//dp:cost eps
func GaussianPure(x, eps, delta float64, src *noise.Source) float64 {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	return x + src.Gaussian(sigma)
}

// GaussianLow has a threshold that noise of one unit passes too often.
//
// want: refuted
//
//dp:adjacent one(counts) <= 1
//dp:requires eps > 0 && eps <= 1 && delta > 0 && delta < 0.01
//dp:cost eps, delta
func GaussianLow(counts []float64, eps, delta float64, src *noise.Source) []float64 {
	sigma := math.Sqrt(2*math.Log(1.25/delta)) / eps
	shown := make([]float64, len(counts))
	for i, n := range counts {
		if n > 0 {
			noisy := n + src.Gaussian(sigma)
			if noisy > 1+sigma*math.Sqrt(math.Log(1/(2*delta))) {
				shown[i] = noisy
			}
		}
	}
	return shown
}
