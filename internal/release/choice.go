package release

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Choice is how a release that is stability's Chosen picks its groups: one for each combination of the keys but
// the last, by the exact counts of the last one's values. Its theorem stands in stability's choice.go.
//
// Where the measure adds epsilons, the choice is the largest count with one-sided noise, which errs the least of what is
// ε-DP by a claim that is proved (mechanism.NoisyMax). Where it adds concentrated costs, it is the exponential mechanism, whose range of length ε costs
// ε²/8, and not ε²/2 (Cesar and Rogers 2021, Lemma 3.4).
type Choice struct {
	*mechanism.NoisyMax
	Name       string // "noisy_max", "exponential"
	Choices    int64  // as how many all of the release cost: those that one unit plays a part in, at most
	Candidates int64  // of each choice, at most
	// Sensitivity is the most by which one unit changes a count.
	Sensitivity *big.Int
}

// Reach is α such that no value of a combination occurs more than α times more often than the one that is chosen there, but with
// probability beta.
func (c *Choice) Reach(beta *big.Rat) (float64, error) {
	return c.Bound(int(c.Candidates), beta)
}

// choose gives a release its choice for a share of the cost, and returns what it reveals.
func (r *Release) choose(p *purse, share *big.Rat) (privacy.Event, error) {
	c := &Choice{Name: "noisy_max", Choices: r.Choices(), Candidates: r.Candidates(), Sensitivity: r.Components[0].PerGroup}
	o := mechanism.NoisyMaxOptions{Noise: mechanism.ExponentialNoise, ScoreOptions: mechanism.ScoreOptions{
		Sensitivity: new(big.Rat).SetInt(c.Sensitivity), Monotone: p.neighbours == privacy.AddRemove, Grid: big.NewRat(1, 1)}}
	if p.measure == filter.ZCDP || p.measure == filter.RDP {
		c.Name, o.Noise = "exponential", mechanism.GumbelNoise
	}
	refuse := func(err error) error {
		return diagnostic.New("D074", r.Span, "a choice for this cost cannot be made").
			Because("%s", diagnostic.Cause(err)).
			Try("give a cost between 1e-9 and 1000")
	}
	each := new(big.Rat).Quo(share, big.NewRat(c.Choices, 1))
	var err error
	switch {
	case p.form == concentrated:
		o.Epsilon, err = privacy.NewEpsilon(rangeOf(p.spend.Rho.MulRat(each).Rat()))
	case p.gaussian[r.Release]: // see chooseGaussian
		o.Epsilon, err = privacy.NewEpsilon(rangeOf(p.gaussianRho.MulRat(each.Quo(each, p.gaussianShare)).Rat()))
	default:
		o.Epsilon = p.spend.Epsilon.MulRat(each)
	}
	if err != nil {
		return nil, refuse(err)
	}
	if c.NoisyMax, err = mechanism.NewNoisyMax(o); err != nil {
		return nil, refuse(err)
	}
	r.Choice = c
	if c.Choices == 1 {
		return c.Event(), nil
	}
	return privacy.Repeat{Count: int(c.Choices), Event: c.Event()}, nil
}

// rangeOf is a decimal of twenty digits whose square is at most 8·rho, and hardly less: the range that costs rho.
func rangeOf(rho *big.Rat) *big.Rat {
	const digits = 96
	x := new(big.Rat).Mul(rho, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(8), 2*digits)))
	whole := new(big.Int).Quo(x.Num(), x.Denom())
	return numeric.FloorDigits(new(big.Rat).SetFrac(whole.Sqrt(whole), new(big.Int).Lsh(big.NewInt(1), digits)), 20)
}

// publishChoice makes the choices of a release. rows are all of the complete domains' combinations, those of the last key next to each other.
func (r *Release) publishChoice(rows [][]sqltype.Value, values int, bits noise.Bits) (*Table, error) {
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components)), trees: make([][]*tree, len(r.Components))}
	counts, err := integers(rows, len(r.Keys))
	if err != nil {
		return nil, err
	}
	for first := 0; first < len(rows); first += values {
		i, err := r.Choice.ChooseWhole(bits, counts[first:first+values])
		if err != nil {
			return nil, fmt.Errorf("choose: %w", err)
		}
		t.keys = append(t.keys, rows[first+i][:len(r.Keys):len(r.Keys)])
	}
	return t, nil
}
