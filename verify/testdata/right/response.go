package right

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// RandomizedResponse tells an answer, 0 or 1, with the probability that eps allows:
// Warner 1965.
//
// want: proved
//
//dp:adjacent |answer| <= 1
//dp:requires eps > 0 && (answer == 0 || answer == 1)
//dp:cost eps
func RandomizedResponse(answer int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (1 + math.Exp(eps))) {
		return answer
	}
	return 1 - answer
}

// TwoCoins tells the truth on heads, and what a second coin says on tails: three
// times out of four the truth (Dwork and Roth 2014, Section 3.2).
//
// want: proved
//
//dp:adjacent |answer| <= 1
//dp:requires answer == 0 || answer == 1
//dp:cost math.Log(3)
func TwoCoins(answer int, src *noise.Source) int {
	if src.Bernoulli(0.5) {
		return answer
	}
	if src.Bernoulli(0.5) {
		return 1
	}
	return 0
}
