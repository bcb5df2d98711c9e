package damaged // want `malformed file of proofs: invalid character '<'`

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:cost 1
func F(x int64, src *noise.Source) int64 { return x + src.DiscreteLaplace(1) }
