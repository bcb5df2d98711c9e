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

// OneOf is randomized response with k answers: one of all with the probability that
// eps allows, else the true one.
//
// want: proved
//
//dp:adjacent |answer| <= k
//dp:requires eps > 0 && k >= 2
//dp:cost eps
func OneOf(answer, k int, eps float64, src *noise.Source) int {
	honest := src.Bernoulli((math.Exp(eps) - 1) / (math.Exp(eps) - 1 + float64(k)))
	other := src.Uniform(k)
	if honest && answer >= 0 && answer < k {
		return answer
	}
	return other
}

// Another tells the truth, or one of the k-1 other answers.
//
// want: proved
//
//dp:adjacent |answer| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= answer && answer < k
//dp:cost eps
func Another(answer, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps) + float64(k) - 1)) {
		return answer
	}
	lie := src.Uniform(k - 1)
	if lie >= answer {
		lie++
	}
	return lie
}

// EachOf asks every person of a list, of whom one differs.
//
// want: proved
//
//dp:adjacent one(answers) <= k
//dp:requires eps > 0 && k >= 2
//dp:cost eps
func EachOf(answers []int, k int, eps float64, src *noise.Source) []int {
	var told []int
	for _, a := range answers {
		said := src.Uniform(k)
		if src.Bernoulli((math.Exp(eps)-1)/(math.Exp(eps)-1+float64(k))) && a >= 0 && a < k {
			said = a
		}
		told = append(told, said)
	}
	return told
}

// OneOfTooOften takes the probability that is right if a lie is never the truth.
//
// want: refuted
//
//dp:adjacent |answer| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= answer && answer < k
//dp:cost eps
func OneOfTooOften(answer, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps) + float64(k) - 1)) {
		return answer
	}
	return src.Uniform(k)
}

// AnotherShifted passes over the answer below the true one.
//
// want: refuted
//
//dp:adjacent |answer| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= answer && answer < k
//dp:cost eps
func AnotherShifted(answer, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps) + float64(k) - 1)) {
		return answer
	}
	lie := src.Uniform(k - 1)
	if lie > answer {
		lie++
	}
	return lie
}

// AnotherWithoutOne never says the last answer unless it is true.
//
// want: refuted
//
//dp:adjacent |answer| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= answer && answer < k
//dp:cost eps
func AnotherWithoutOne(answer, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli((math.Exp(eps) - 1) / (math.Exp(eps) - 1 + float64(k))) {
		return answer
	}
	return src.Uniform(k - 1)
}

// OneOfAny tells the truth also where that is no answer: no lie is as large.
//
// want: refuted
//
//dp:adjacent |answer| <= 10
//dp:requires eps > 0 && k >= 2
//dp:cost eps
func OneOfAny(answer, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli((math.Exp(eps) - 1) / (math.Exp(eps) - 1 + float64(k))) {
		return answer
	}
	return src.Uniform(k)
}

// EachOfAll claims for every person what holds for one.
//
// want: refuted
//
//dp:adjacent each(answers) <= k
//dp:requires eps > 0 && k >= 2
//dp:cost eps
func EachOfAll(answers []int, k int, eps float64, src *noise.Source) []int {
	var told []int
	for _, a := range answers {
		said := src.Uniform(k)
		if src.Bernoulli((math.Exp(eps)-1)/(math.Exp(eps)-1+float64(k))) && a >= 0 && a < k {
			said = a
		}
		told = append(told, said)
	}
	return told
}

// FlipInto sets elements of a slice in both branches.
//
// want: proved
//
//dp:adjacent one(answers) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlipInto(answers []bool, eps float64, src *noise.Source) []bool {
	out := make([]bool, len(answers))
	for i, a := range answers {
		if src.Bernoulli(1 / (1 + math.Exp(eps))) {
			out[i] = !a
		} else {
			out[i] = a
		}
	}
	return out
}

// FlipCompare lies by comparing with a coin.
//
// want: proved
//
//dp:adjacent one(answers) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlipCompare(answers []bool, eps float64, src *noise.Source) []bool {
	out := make([]bool, len(answers))
	for i := range answers {
		lie := src.Bernoulli(1 / (1 + math.Exp(eps)))
		out[i] = answers[i] != lie
	}
	return out
}

// FlipHalf runs three rounds for 2.5: what a real number counts from 0 is rounded up.
//
// want: refuted
//
//dp:adjacent |answer| <= 1
//dp:requires eps > 0 && most >= 0
//dp:cost eps * most
func FlipHalf(answer bool, most, eps float64, src *noise.Source) []bool {
	var out []bool
	for x := 0.0; x < most; x++ {
		out = append(out, answer != src.Bernoulli(1/(1+math.Exp(eps))))
	}
	return out
}
