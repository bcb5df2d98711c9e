package wrong

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// ResponseTooTrue tells the truth with the probability of 2·eps.
//
// want: refuted
//
//dp:adjacent |answer| <= 1
//dp:requires eps > 0 && (answer == 0 || answer == 1)
//dp:cost eps
func ResponseTooTrue(answer int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(2*eps) / (1 + math.Exp(2*eps))) {
		return answer
	}
	return 1 - answer
}

// TwoCoinsAtLn2 claims less than the ln 3 that two fair coins cost.
//
// want: refuted
//
//dp:adjacent |answer| <= 1
//dp:requires answer == 0 || answer == 1
//dp:cost math.Log(2)
func TwoCoinsAtLn2(answer int, src *noise.Source) int {
	if src.Bernoulli(0.5) {
		return answer
	}
	if src.Bernoulli(0.5) {
		return 1
	}
	return 0
}

// OneSidedCoin protects only those who answer yes: 1 is never said for 0.
//
// want: refuted
//
//dp:adjacent |answer| <= 1
//dp:requires answer == 0 || answer == 1
//dp:cost math.Log(4)
func OneSidedCoin(answer int, src *noise.Source) int {
	if answer == 1 && src.Bernoulli(0.75) {
		return 1
	}
	return 0
}
