// Package trusted holds a function that calls another one whose claim is false.
package trusted

import "github.com/discreet-dp/discreet/noise"

// Cheap costs 2ε.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Cheap(x int64, eps float64, src *noise.Source) int64 { return x + src.DiscreteLaplace(0.5/eps) }

// Caller costs what that costs.
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Caller(x int64, eps float64, src *noise.Source) int64 { return Cheap(x, eps, src) + 1 }
