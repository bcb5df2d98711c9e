package mechanism

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// RandomizedResponseOptions say how often a respondent tells the truth.
type RandomizedResponseOptions struct {
	// Answers is the number k of possible answers; 2 if it is not given.
	Answers int
	// Truth is the probability p with which the true answer is told, above 1/k and
	// below 1. Or Epsilon is the guarantee of each response: p is then the largest
	// that it allows, up to 40 digits. Exactly one is required.
	Truth   *big.Rat
	Epsilon privacy.Epsilon
}

// RandomizedResponse has each respondent tell one of k answers: the true one with
// probability p, each other with q = (1−p)/(k−1). Nobody else needs to be trusted.
//
// Theorem (Warner 1965 for k = 2; Kairouz, Bonawitz and Ramage 2016). Whatever is
// true, a response has probability p or q, so that responses are ln(p/q)-DP when a
// respondent's answer is replaced, and not less. How many respond is not hidden.
type RandomizedResponse struct {
	answers int
	told    channel  // p and q
	honest  *big.Rat // p − q
}

// Beyond maxResponseEpsilon a lie has a probability that no sampler is asked for.
const maxResponseEpsilon = 256

// NewRandomizedResponse returns the mechanism with the given options.
func NewRandomizedResponse(o RandomizedResponseOptions) (*RandomizedResponse, error) {
	if o.Answers == 0 {
		o.Answers = 2
	}
	if o.Answers < 2 || o.Answers > privacy.MaxCount {
		return nil, fmt.Errorf("%w: the number of answers is not between 2 and 1e12", ErrParameter)
	}
	if (o.Truth != nil) == (o.Epsilon.Sign() > 0) {
		return nil, fmt.Errorf("%w: exactly one of truth and epsilon must be given", ErrParameter)
	}
	one, others := big.NewRat(1, 1), big.NewRat(int64(o.Answers-1), 1)
	lie := new(big.Rat) // q
	if o.Truth != nil {
		lie.Quo(lie.Sub(one, o.Truth), others)
	} else {
		lie = lieFor(o.Epsilon, int64(o.Answers))
	}
	truth := new(big.Rat).Sub(one, new(big.Rat).Mul(others, lie))
	if lie.Sign() <= 0 || truth.Cmp(lie) <= 0 {
		return nil, fmt.Errorf("%w: the probability of the truth is not above 1/k and below 1", ErrParameter)
	}
	r := &RandomizedResponse{o.Answers, channel{truth, lie}, new(big.Rat).Sub(truth, lie)}
	if _, err := noise.Bernoulli(zeros{}, r.honest); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return r, nil
}

// zeros asks a sampler whether it accepts its parameters.
type zeros struct{}

func (zeros) Uint64() (uint64, error) { return 0, nil }

// lieFor returns q = 1/(e^ε + k − 1), rounded up: p/q only becomes smaller.
func lieFor(epsilon privacy.Epsilon, answers int64) *big.Rat {
	e := epsilon.Rat()
	if limit := big.NewRat(maxResponseEpsilon, 1); e.Cmp(limit) > 0 {
		e = limit
	}
	odds := numeric.Of(e).Exp().Add(numeric.OfInt(answers - 1))
	return numeric.CeilDigits(numeric.OfInt(1).Quo(odds).Hi(), 40)
}

// Event is what one response reveals; it speaks of a respondent whose answer is
// replaced.
func (r *RandomizedResponse) Event() privacy.Event {
	return privacy.RandomizedResponse{P: r.Truth(), K: r.answers}
}

// Epsilon is the guarantee of one response, ln(p/q), rounded up to 40 digits.
func (r *RandomizedResponse) Epsilon() privacy.Epsilon {
	return logRatio(new(big.Rat).Quo(r.told.hit, r.told.miss))
}

// logRatio returns ln(ratio) of a ratio above 1, rounded up to 40 digits.
func logRatio(ratio *big.Rat) privacy.Epsilon {
	e, err := privacy.NewEpsilon(numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 40))
	if err != nil {
		panic(err) // ratios of probabilities that samplers accept have logarithms that amounts can hold
	}
	return e
}

// Truth is p, exactly.
func (r *RandomizedResponse) Truth() *big.Rat { return new(big.Rat).Set(r.told.hit) }

// Respond returns what a respondent with the given answer, from 0 to k−1, says.
// An answer that is none of these is replaced by one at random, so that every
// input has a response.
//
// The true answer is told with probability p−q, and otherwise one of all k at
// random: p − q + k·q·(1/k) = p. Everything is drawn in any case.
func (r *RandomizedResponse) Respond(bits noise.Bits, answer int) (int, error) {
	stream, ok := bits.(*noise.Stream)
	if !ok {
		stream = noise.NewStream(bits)
	}
	said, err := r.say(stream, answer)
	if err != nil {
		return 0, fmt.Errorf("randomize response: %w", err)
	}
	return said, nil
}

// say is the mechanism. With h = p−q and 1−h = k·q, what it claims, p/q, is 1 + k·h/(1−h).
//
//dp:adjacent |answer| <= r.answers
//dp:requires 0 < r.honest && r.honest < 1 && r.answers >= 2
//dp:cost math.Log(1 + float64(r.answers)*r.honest/(1-r.honest))
func (r *RandomizedResponse) say(stream *noise.Stream, answer int) (int, error) {
	honest, err := noise.Bernoulli(stream, r.honest)
	if err != nil {
		return 0, err
	}
	other, err := stream.Index(r.answers)
	if err != nil {
		return 0, err
	}
	if honest && answer >= 0 && answer < r.answers {
		return answer, nil
	}
	return other, nil
}

// Estimate returns for each answer what share of the respondents it is true of,
// from the numbers of respondents that said it. Intervals hold but with probability
// beta each.
func (r *RandomizedResponse) Estimate(counts []int64, beta *big.Rat) ([]Share, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	if len(counts) != r.answers {
		return nil, fmt.Errorf("%w: %d counts for %d answers", ErrParameter, len(counts), r.answers)
	}
	n, err := checkCounts(counts...)
	if err != nil {
		return nil, err
	}
	shares := make([]Share, len(counts))
	for i, c := range counts {
		shares[i] = r.told.share(c, n, beta)
	}
	return shares, nil
}

// Bound returns an α such that a raw share from n respondents is within α of
// the true one but with probability beta: √(ln(2/β)/2n)/(p−q) (Hoeffding 1963).
func (r *RandomizedResponse) Bound(n int64, beta *big.Rat) (float64, error) {
	return r.told.accuracy(n, beta)
}

// Respondents returns how many respondents make Bound at most alpha.
func (r *RandomizedResponse) Respondents(alpha, beta *big.Rat) (int64, error) {
	return r.told.respondents(alpha, beta)
}
