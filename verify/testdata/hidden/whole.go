package hidden

import "github.com/discreet-dp/discreet/noise"

// WholePartsApart tells two numbers apart that move alike: near 0 a whole part stays.
//
// want: refuted
//
//dp:adjacent each(q) in [1, 1]
//dp:requires len(q) == 2
//dp:cost 1
func WholePartsApart(q []float64, src *noise.Source) int {
	return int(q[0]) - int(q[1])
}
