package traps

import "github.com/discreet-dp/discreet/noise"

// Helped is no trap: it calls a function in a loop, which has parameters of its own.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost float64(len(q))*eps
func Helped(q []float64, eps float64, src *noise.Source) []float64 {
	var noisy []float64
	for _, x := range q {
		noisy = append(noisy, addNoise(x, eps/2, src))
	}
	return noisy
}

func addNoise(x, half float64, src *noise.Source) float64 {
	return x + src.Laplace(1/(2*half))
}
