// Package calls calls another package of the module.
package calls

import (
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/source/testdata/calls/kernel"
)

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Noisy(x, eps float64, src *noise.Source) float64 {
	return kernel.Add(x, 1/eps, src)
}
