// Package trusted holds a function that calls another one whose claim is false, and two of
// which one moves as far as it claims.
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

// Once moves as far as x.
//
//dp:sensitivity x = 1
func Once(x int64) int64 { return x + 1 }

// Twice moves twice as far.
//
//dp:sensitivity x = 1
func Twice(x int64) int64 { return 2 * x }
