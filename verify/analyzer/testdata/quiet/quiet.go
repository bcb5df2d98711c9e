// Package quiet claims nothing, so that nothing is said of it.
package quiet

import "github.com/discreet-dp/discreet/noise"

// Leak is as it is.
func Leak(x int64, src *noise.Source) int64 { return x }
