package fresh

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Respond is randomized response.
//
// want: proved
//
//dp:adjacent |bit| <= 1
//dp:requires eps > 0
//dp:cost eps
func Respond(bit bool, eps float64, src *noise.Source) bool {
	if src.Bernoulli(math.Exp(eps) / (1 + math.Exp(eps))) {
		return bit
	}
	return !bit
}

// RespondAll responds for every person.
//
// want: proved
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func RespondAll(bits []bool, eps float64, src *noise.Source) []bool {
	var out []bool
	for _, b := range bits {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			b = !b
		}
		out = append(out, b)
	}
	return out
}

// RespondEach claims for all bits what holds for one.
//
// want: refuted
//
//dp:adjacent each(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func RespondEach(bits []bool, eps float64, src *noise.Source) []bool {
	var out []bool
	for _, b := range bits {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			b = !b
		}
		out = append(out, b)
	}
	return out
}

// RespondLinear takes (2+eps)/(2-eps) for e^eps, which is a little larger.
//
// want: refuted
//
//dp:adjacent |bit| <= 1
//dp:requires eps > 0 && eps <= 1
//dp:cost eps
func RespondLinear(bit bool, eps float64, src *noise.Source) bool {
	if src.Bernoulli(0.5 + eps/4) {
		return bit
	}
	return !bit
}

// Warner's survey of two fair coins.
//
// want: proved
//
//dp:adjacent |yes| <= 1
//dp:cost math.Log(3)
func Warner(yes bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return yes
	}
	return src.Bernoulli(0.5)
}

// WarnerOne claims 1, and costs ln 3.
//
// want: refuted
//
//dp:adjacent |yes| <= 1
//dp:cost 1
func WarnerOne(yes bool, src *noise.Source) bool {
	if src.Bernoulli(0.5) {
		return yes
	}
	return src.Bernoulli(0.5)
}

// Categories is generalized randomized response, by the exponential mechanism.
//
// Lies responds truthfully to whoever answers no.
//
// want: refuted
//
//dp:adjacent |bit| <= 1
//dp:requires eps > 0
//dp:cost eps
func Lies(bit bool, eps float64, src *noise.Source) bool {
	return bit && src.Bernoulli(math.Exp(eps)/(1+math.Exp(eps)))
}

// Survey counts noisy answers.
//
// want: proved
//
//dp:adjacent one(answers) <= 1
//dp:requires eps > 0
//dp:cost eps
func Survey(answers []bool, eps float64, src *noise.Source) (yes int) {
	p := math.Exp(eps) / (1 + math.Exp(eps))
	for _, a := range answers {
		if src.Bernoulli(p) == a {
			yes++
		}
	}
	return yes
}

// SurveyOneCoin throws one coin for all.
//
// want: refuted
//
//dp:adjacent one(answers) <= 1
//dp:requires eps > 0
//dp:cost eps
func SurveyOneCoin(answers []bool, eps float64, src *noise.Source) (yes []bool) {
	keep := src.Bernoulli(math.Exp(eps) / (1 + math.Exp(eps)))
	for _, a := range answers {
		yes = append(yes, a == keep)
	}
	return yes
}
