package mechanism

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// TopKOptions are those of a choice of several candidates.
type TopKOptions struct {
	ScoreOptions
	// K is how many are wanted. Required.
	K int
	// Noise is that of NoisyMax.
	Noise MaxNoise
}

// TopK returns the k candidates whose scores with noise are the largest, in order.
//
// Theorem for Laplace noise, with gaps (Ding, Wang, Zhang and Kifer 2019) and
// exponential noise: of scale 2kn/ε, or kn/ε if monotone, it is ε-DP. The proof is
// that at NoisyMax, with the noise of each of the k chosen moved in such a way that
// their noisy scores all rise by n, at a factor of e^(ε/k) each; with gaps, by M'−M,
// with M for the last of the chosen and those not chosen.
//
// Gumbel noise is k choices by the exponential mechanism, each among the candidates
// that are left, at ε/k each (Durfee and Rogers 2019), and drawn as such. Its
// event composes better than ε.
//
// A TopK is immutable and safe for concurrent use.
type TopK struct {
	scores
	k         int
	noise     MaxNoise
	laplace   *noise.DiscreteLaplace
	geometric *noise.Geometric
	rounds    *Exponential // each of the k for Gumbel noise
}

// NewTopK returns the mechanism.
func NewTopK(o TopKOptions) (*TopK, error) {
	if o.K < 1 || o.K > maxAnswers {
		return nil, fmt.Errorf("%w: the number of choices is not between 1 and 2^30", ErrParameter)
	}
	s, err := newScores(o.ScoreOptions)
	if err != nil {
		return nil, err
	}
	t := &TopK{scores: s, k: o.K, noise: o.Noise}
	if t.laplace, t.geometric, err = s.maxNoise(o.Noise, o.K); err != nil {
		return nil, err
	}
	each := o.ScoreOptions
	if each.Epsilon, err = privacy.NewEpsilon(new(big.Rat).Quo(o.Epsilon.Rat(), big.NewRat(int64(o.K), 1))); err != nil {
		return nil, fmt.Errorf("%w: for one choice, %w", ErrParameter, err)
	}
	if t.rounds, err = NewExponential(each); err != nil {
		return nil, err
	}
	return t, nil
}

// Event is what one choice of k candidates reveals, with the gaps.
func (t *TopK) Event() privacy.Event {
	if t.noise == GumbelNoise && t.k > 1 {
		return privacy.Repeat{Count: t.k, Event: t.rounds.Event()}
	}
	if t.noise == GumbelNoise {
		return t.rounds.Event()
	}
	return privacy.NoisyMax{Epsilon: t.epsilon}
}

// Bound returns α such that, but with probability at most beta, no candidate among n
// that is not chosen has a score that exceeds a chosen one's by more than α.
func (t *TopK) Bound(n int, beta *big.Rat) (float64, error) {
	if n < t.k {
		return 0, t.tooFew(n)
	}
	switch t.noise {
	case LaplaceNoise:
		return t.spread(n, beta, t.laplace)
	case ExponentialNoise:
		return t.rounds.logAccuracy(n, beta)
	}
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	return t.rounds.logAccuracy(n, new(big.Rat).Quo(beta, big.NewRat(int64(t.k), 1)))
}

func (t *TopK) tooFew(n int) error {
	return fmt.Errorf("%w: %d of %d candidates are wanted", ErrParameter, t.k, n)
}

// Choose returns the indices of the chosen candidates, the best first.
func (t *TopK) Choose(bits noise.Bits, scores []float64) ([]int, error) {
	if t.noise != GumbelNoise {
		chosen, _, err := t.choose(bits, scores)
		return chosen, err
	}
	s, err := t.roundAll(scores)
	if err != nil {
		return nil, fmt.Errorf("choose: %w", err)
	}
	chosen, err := t.peel(noise.NewStream(bits), s)
	if err != nil {
		return nil, fmt.Errorf("choose: %w", err)
	}
	return chosen, nil
}

// ChooseGaps returns also by how much the noisy score of each of the chosen exceeds
// the next one's, which for the last is the best of those not chosen; +Inf if there is
// none. The noise must be LaplaceNoise.
func (t *TopK) ChooseGaps(bits noise.Bits, scores []float64) ([]int, []float64, error) {
	if t.noise != LaplaceNoise {
		return nil, nil, fmt.Errorf("choose: %w: only Laplace noise has gaps", ErrParameter)
	}
	return t.choose(bits, scores)
}

func (t *TopK) roundAll(scores []float64) ([]int64, error) {
	if len(scores) < t.k {
		return nil, t.tooFew(len(scores))
	}
	return t.round(scores)
}

func (t *TopK) choose(bits noise.Bits, scores []float64) ([]int, []float64, error) {
	s, err := t.roundAll(scores)
	if err != nil {
		return nil, nil, fmt.Errorf("choose: %w", err)
	}
	stream := noise.NewStream(bits)
	for i := range s {
		k, err := t.draw(stream)
		if err != nil {
			return nil, nil, fmt.Errorf("choose: %w", err)
		}
		s[i] += k
	}
	order := indices(len(s))
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(s[j], s[i]), cmp.Compare(i, j)) })
	gaps := make([]float64, t.k)
	for i := range gaps {
		gaps[i] = t.gap(s, order, i)
	}
	return order[:t.k:t.k], gaps, nil
}

func (t *TopK) draw(stream *noise.Stream) (int64, error) {
	if t.geometric != nil {
		return t.geometric.Int64(stream)
	}
	return t.laplace.Int64(stream)
}

// gap returns by how much the noisy score of the i-th could have been less, as that of
// NoisyMax.
func (t *TopK) gap(noisy []int64, order []int, i int) float64 {
	if i+1 == len(order) {
		return math.Inf(1)
	}
	o, next := order[i], order[i+1]
	least := noisy[next]
	if next < o {
		least++
	}
	return t.grid.float(noisy[o] - least)
}

// peel chooses k times, each time among those that are left.
func (t *TopK) peel(stream *noise.Stream, s []int64) ([]int, error) {
	chosen, left := make([]int, 0, t.k), indices(len(s))
	for range t.k {
		j, err := t.rounds.choose(stream, s)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, left[j])
		last := len(left) - 1
		s[j], left[j] = s[last], left[last]
		s, left = s[:last], left[:last]
	}
	return chosen, nil
}
