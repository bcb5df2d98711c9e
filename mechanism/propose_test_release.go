package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ProposeTestReleaseOptions say what is released, and how far a unit is supposed to
// move it.
type ProposeTestReleaseOptions struct {
	// Lower, Lower+Step, ... up to at most Upper are the candidates, which are public;
	// at most 2^42 of them. Required. Values are clamped to them and rounded to the
	// nearest.
	Lower, Upper, Step *big.Rat
	// Bound is the proposal: by how much one unit moves the answer, in data like
	// these. Required.
	Bound *big.Rat
	// MaxRows is the number of values that a unit has at most, for Median; 1 if it is
	// not given.
	MaxRows int64
	// Epsilon and Delta are the guarantee; half of Epsilon pays for the test. Required.
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}

// ProposeTestRelease adds noise for a proposed sensitivity after it has tested
// privately that the proposal is safe for these data; if not, it releases nothing.
//
// The test takes the distance d: the number of units that must change before one
// more can move the answer by more than the bound B. It passes if d + K₁ >= τ, where K₁
// is discrete Laplace noise of scale 2/ε, and τ the least with P(K₁ >= τ) <= δ. Then the
// answer is released with discrete Laplace noise of scale 2B/ε.
//
// Theorem (Dwork and Lei 2009). This is (ε, δ)-DP, for distances that differ by at most
// 1 between neighbours and are 0 where a neighbour's answer is farther than B.
//
// Proof. Between neighbours, whether the test passes is ε/2-DP. If their answers
// differ by at most B, so is what is then released, together ε. If not, both distances
// are 0, and either passes with probability at most δ; what is left, not passing, is
// ε/2-DP.
type ProposeTestRelease struct {
	line          line
	bound         uint64 // in steps
	rows          int
	epsilon       privacy.Epsilon
	delta         privacy.Delta
	least         *big.Int // τ
	test          *noise.DiscreteLaplace
	exact, approx *noise.DiscreteLaplace // for answers that are candidates, and for others
}

// maxDistance bounds distances; that many units change nothing more.
const maxDistance = 1 << 40

// NewProposeTestRelease returns the mechanism with the given options.
func NewProposeTestRelease(o ProposeTestReleaseOptions) (*ProposeTestRelease, error) {
	l, err := newLine(o.Lower, o.Upper, o.Step)
	if err != nil {
		return nil, err
	}
	rows, err := contribution("values", o.MaxRows)
	if err != nil {
		return nil, err
	}
	for name, r := range map[string]*big.Rat{"the bound": o.Bound, "epsilon": o.Epsilon.Rat(), "delta": o.Delta.Rat()} {
		if err := checkPositive(name, r); err != nil {
			return nil, err
		}
	}
	bound := numeric.Floor(new(big.Rat).Quo(o.Bound, o.Step))
	if bound.Sign() == 0 || !bound.IsUint64() {
		return nil, fmt.Errorf("%w: the bound is less than a step, or too many", ErrParameter)
	}
	p := &ProposeTestRelease{line: l, bound: bound.Uint64(), rows: int(rows), epsilon: o.Epsilon, delta: o.Delta}
	// Answers within B of each other become candidates within ⌊B/step⌋ + 2 steps: one
	// for the rounding, one for what is left of B and for what floats lose.
	rounded := new(big.Int).Add(bound, big.NewInt(2))
	for steps, law := range map[*big.Int]**noise.DiscreteLaplace{big.NewInt(1): &p.test, bound: &p.exact, rounded: &p.approx} {
		scale := new(big.Rat).SetInt(steps)
		scale.Quo(scale.Add(scale, scale), o.Epsilon.Rat())
		if *law, err = noise.NewDiscreteLaplace(scale); err != nil {
			return nil, fmt.Errorf("calibrate Laplace noise: %w: %w", ErrParameter, err)
		}
	}
	// P(K >= q+1) <= δ where P(|K| > q) <= 2δ.
	both := o.Delta.Rat()
	if both.Add(both, both); both.Cmp(half) > 0 {
		both.Set(half)
	}
	if p.least, err = p.test.Bound(both); err != nil {
		return nil, fmt.Errorf("calibrate the test: %w: %w", ErrParameter, err)
	}
	p.least.Add(p.least, big.NewInt(1))
	return p, nil
}

// Event is what the answer, or that there is none, reveals.
func (p *ProposeTestRelease) Event() privacy.Event {
	return privacy.Approx{Epsilon: p.epsilon, Delta: p.delta}
}

// Median returns the median of the values with noise, and whether the test passed. A
// NaN is left out, and infinities are clamped like other values; without values the
// median is Lower. It relies on the caller that a unit has no more values than the
// options say. It holds when a unit is added, removed or replaced.
func (p *ProposeTestRelease) Median(bits noise.Bits, values []float64) (float64, bool, error) {
	x := newSample(p.line, values)
	distance := x.stableFor(p.rows, p.bound, maxDistance)
	return p.pass(bits, p.exact, x.median(), int64(distance))
}

// Release is Median for any answer, which becomes a candidate, with noise for two
// steps more than the bound. The caller answers for the distance, which must be as the
// theorem wants it. A NaN counts as Lower.
func (p *ProposeTestRelease) Release(bits noise.Bits, answer float64, distance int64) (float64, bool, error) {
	if math.IsNaN(answer) {
		answer = math.Inf(-1)
	}
	return p.pass(bits, p.approx, new(big.Int).SetUint64(p.line.numbers([]float64{answer})[0]), distance)
}

// pass draws all noise, whether or not the test passes.
func (p *ProposeTestRelease) pass(bits noise.Bits, law *noise.DiscreteLaplace, answer *big.Int, distance int64) (float64, bool, error) {
	tested, err := p.test.Sample(bits)
	if err != nil {
		return 0, false, fmt.Errorf("test the bound: %w", err)
	}
	z, err := law.Sample(bits)
	if err != nil {
		return 0, false, fmt.Errorf("release: %w", err)
	}
	tested.Add(tested, big.NewInt(min(max(distance, 0), maxDistance)))
	if tested.Cmp(p.least) < 0 {
		return 0, false, nil
	}
	return p.line.value(z.Add(z, answer)), true, nil
}

// Bound returns an α such that the test passes with an answer that is off by more
// than α with probability at most beta. What values lose when they become candidates
// is not counted.
func (p *ProposeTestRelease) Bound(beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	q, err := p.approx.Bound(beta)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return upFloat(new(big.Rat).Mul(new(big.Rat).SetInt(q), p.line.step)), nil
}

// Passes returns a distance at which the test passes but with probability beta.
func (p *ProposeTestRelease) Passes(beta *big.Rat) (*big.Int, error) {
	if err := checkBeta(beta); err != nil {
		return nil, err
	}
	q, err := p.test.Bound(beta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return q.Add(q, p.least), nil
}
