package claims

import "github.com/discreet-dp/discreet/noise"

// Planted is in a test, which nobody ships.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func Planted(x int64, src *noise.Source) int64 { return x }
