// Package kernel is called by others.
package kernel

import "github.com/discreet-dp/discreet/noise"

// Add returns x with noise.
func Add(x, scale float64, src *noise.Source) float64 { return x + draw(scale, src) }

func draw(scale float64, src *noise.Source) float64 {
	//dp:align -1
	k := src.Laplace(scale)
	return k
}
