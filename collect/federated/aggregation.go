package federated

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/mechanism"
)

// A Way says how the updates of a round become their sum.
type Way string

// The ways. The zero Way is Clear.
const (
	Clear  Way = "clear"  // each goes to the coordinator as it is
	Prio3  Way = "prio3"  // in shares to aggregators, each of which adds the whole noise to the sum
	Shares Way = "shares" // the same, but each adds a share of the noise
)

// Aggregators add up the updates of a round, of which none sees one, and the coordinator only the
// noisy sum. They are processes of package multiparty/prio/process.
//
// Theorem. A node's update is integers, of which a unit moves the vector by at most [Plan.Distance] after
// rounding (Rho has the argument). It leaves as additive shares over a prime field, of which all but
// one say nothing of it. Whoever has all that the coordinator, the other nodes and all but h
// aggregators have, sees the sum with the noise of those h, which together is the whole noise that
// Rho counts (mechanism.Portion): all of it at h = 1. Numbers beyond the circuit's bits are clamped,
// one by one: no two vectors are farther apart than before. Shares are compressed by a generator and
// sealed, so that this is computational.
type Aggregators struct {
	// Names are members of the federation, the leader first.
	Names []string `json:"names"`
	// Colluding is how many of them may, at most, of shares of noise. Of whole noise all but one may.
	Colluding int `json:"colluding,omitempty"`
	// Shares says how the noise is shared: as Gaussian draws, or as Skellam draws.
	Shares mechanism.Sharing `json:"shares,omitempty"`
	// Bits is how many each number of an update takes; 0 is 22 of an update of a node, and 36 of the sum
	// of persons' gradients, which holds 32768 that all point one way at their clip.
	Bits uint `json:"bits,omitempty"`
}

// maxProved bounds what a node proves of one update: its numbers times their bits. A share takes 16
// bytes of each, and a message holds one share.
const maxProved = 1_300_000

var memberName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)

// Aggregated reports whether updates leave the nodes in shares alone.
func (p Plan) Aggregated() bool { return p.Aggregation == Prio3 || p.Aggregation == Shares }

// NoiseBy says who adds the noise; "" of a plan that promises nothing.
func (p Plan) NoiseBy() Place {
	switch {
	case p.Privacy == nil:
		return ""
	case p.Aggregated():
		return AtAggregators
	}
	return p.Privacy.Place
}

// checkAggregation refuses what aggregators do not add up. net is how many weights there are.
func (p Plan) checkAggregation(weights int) error {
	a, v := p.Aggregators, p.Privacy
	if !p.Aggregated() {
		switch {
		case p.Aggregation != "" && p.Aggregation != Clear:
			return fmt.Errorf("aggregation %q is not one of %s, %s, %s", p.Aggregation, Clear, Prio3, Shares)
		case a != nil:
			return fmt.Errorf("updates go to aggregators by %q or %q", Prio3, Shares)
		case v != nil && v.Place == AtAggregators:
			return fmt.Errorf("aggregators add noise by %q or %q", Prio3, Shares)
		}
		return nil
	}
	if a == nil {
		return fmt.Errorf("aggregation %q needs aggregators: the names of two members or more, the leader first", p.Aggregation)
	}
	names := slices.Clone(a.Names)
	slices.Sort(names)
	switch {
	case len(a.Names) < 2 || len(a.Names) > 10:
		return fmt.Errorf("%d aggregators: not 2 to 10", len(a.Names))
	case len(slices.Compact(names)) != len(a.Names):
		return errors.New("an aggregator is named twice")
	case slices.ContainsFunc(names, func(n string) bool { return !memberName.MatchString(n) }):
		return errors.New("an aggregator's name is none of a member")
	case p.Aggregation == Prio3 && a.Colluding != 0:
		return fmt.Errorf("with %q all aggregators but one may collude: fewer is said with %q", Prio3, Shares)
	case p.Aggregation == Shares && (a.Colluding < 1 || a.Colluding > len(a.Names)-2):
		return fmt.Errorf("shares of noise need two honest aggregators: of %d one to %d may collude, not %d", len(a.Names), max(0, len(a.Names)-2), a.Colluding)
	case a.Shares.Check() != nil || a.Shares != mechanism.ByGaussian && p.Aggregation != Shares:
		return fmt.Errorf("the noise of %q is shared as %q, or as Gaussian draws where nothing is said", Shares, mechanism.BySkellam)
	case v == nil:
		return errors.New("what aggregators add up is released: such a run has a guarantee")
	case v.Place != "" && v.Place != AtAggregators:
		return fmt.Errorf("aggregators add the noise, not the %q", v.Place)
	case v.Method != FedAvg:
		return fmt.Errorf("aggregators draw new noise for each round: the noise of %q hangs together over rounds", v.Method)
	case !p.Join.Rule.sums():
		return fmt.Errorf("aggregators add up: the rule %q needs each update", p.Join.Rule)
	case a.Bits != 0 && (a.Bits < 22 || a.Bits > 56):
		return fmt.Errorf("numbers of %d bits are not between 22 and 56", a.Bits)
	}
	if v.Adaptive != nil {
		if s, err := p.countScale(); err != nil || s < 1 {
			return errors.Join(errors.New("the noise of adaptive clipping's count is too large beside that of updates to be drawn with it"), err)
		}
		weights++
	}
	if proved := weights * int(p.NumberBits()); weights > 100_000 || proved > maxProved {
		return fmt.Errorf("%d numbers of %d bits: a node proves at most 100,000 numbers, and %d bits in all", weights, p.NumberBits(), maxProved)
	}
	return nil
}

// NumberBits is how many bits a number of an update has on its way to aggregators, its sign among them.
func (p Plan) NumberBits() uint {
	switch {
	case p.Aggregators != nil && p.Aggregators.Bits != 0:
		return p.Aggregators.Bits
	case p.Unit == Person:
		return 36
	}
	return 22
}

// countScale is what the count of those within the clip is multiplied by, to be one number more of a
// vector whose numbers all have the same noise: as much as gives the count its own noise at least.
func (p Plan) countScale() (int64, error) {
	v, err := p.Privacy.Variance()
	if err != nil {
		return 0, err
	}
	count, err := p.Privacy.Adaptive.countVariance()
	if err != nil {
		return 0, err
	}
	ratio := v.Quo(v, count)
	s := new(big.Int).Sqrt(new(big.Int).Quo(ratio.Num(), ratio.Denom()))
	if !s.IsInt64() || s.Int64() > cost.One {
		return cost.One, nil
	}
	return s.Int64(), nil
}

// Distance is the square of how far a unit that comes or goes moves the vector of a round, in L2, and
// Numbers how long the vector is: with adaptive clipping the scaled count is its last number.
//
// Over the variance of the noise it is what Rho counts of a round, at most: the scale's square over it is
// at most one over the count's own variance.
func (p Plan) Distance() (squared *big.Rat, err error) {
	d := big.NewInt(cost.One * cost.One)
	if p.Privacy != nil && p.Privacy.Adaptive != nil {
		s, err := p.countScale()
		if err != nil {
			return nil, err
		}
		d.Add(d, big.NewInt(s*s))
	}
	return new(big.Rat).SetInt(d), nil
}

// Vector is an update as aggregators add it up: numbers of NumberBits bits, with their sign.
func (p Plan) Vector(u Update) ([]int64, error) {
	out := slices.Clone([]int64(u.Sum))
	if p.Privacy.Adaptive != nil {
		s, err := p.countScale()
		if err != nil {
			return nil, err
		}
		// Counts of persons are far below 2^40, and what is not is clamped below.
		out = append(out, s*min(max(u.Within, -1<<40), 1<<40))
	}
	most := int64(1)<<(p.NumberBits()-1) - 1
	for j, x := range out {
		out[j] = min(max(x, -most), most)
	}
	return out, nil
}

// Unvector is the inverse of Vector for a noisy total.
func (p Plan) Unvector(total []*big.Int) (Update, error) {
	var u Update
	for _, x := range total {
		if !x.IsInt64() {
			return Update{}, errors.New("a total beyond the range of integers")
		}
		u.Sum = append(u.Sum, x.Int64())
	}
	if p.Privacy.Adaptive != nil {
		if len(u.Sum) == 0 {
			return Update{}, errors.New("the total has no count")
		}
		s, err := p.countScale()
		if err != nil {
			return Update{}, err
		}
		last := len(u.Sum) - 1
		u.Within, u.Sum = u.Sum[last]/s, u.Sum[:last]
	}
	return u, nil
}

// JoinTotal ends a round with the noisy total of those who took part, as aggregators give it; declared
// is what each of them declares. It is post-processing. An error leaves the state as it was.
func (s *State) JoinTotal(p Plan, total Update, declared map[string]int64) error {
	if !p.Aggregated() {
		return errors.New("the plan has no aggregators")
	}
	var who []Answer
	for _, name := range sorted(declared) {
		who = append(who, Answer{Node: name, Declared: declared[name]})
	}
	if err := s.admit(p, who); err != nil {
		return err
	}
	if len(total.Sum) != len(s.Weights) || total.Raw != nil {
		return fmt.Errorf("a total of %d numbers for %d weights", len(total.Sum), len(s.Weights))
	}
	_, units := p.weighed(who)
	return s.step(p, s.Blur, p.mean(s.Clip, total, units), p.follow(s.Clip, who, &total, units), who)
}

func sorted(m map[string]int64) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Collection is what one round's total reveals by the noise that the plan's aggregators add: its rho, for
// neighbours at the given distance, and the squared distance that with it means noise of the plan's
// variance, exactly; it is Distance for these neighbours, rounded up.
func (p Plan) Collection(distance *big.Rat) (rho, squared *big.Rat, err error) {
	v, err := p.Privacy.Variance()
	if err != nil {
		return nil, nil, err
	}
	d, err := p.Distance()
	if err != nil {
		return nil, nil, err
	}
	d.Mul(d, distance).Mul(d, distance)
	twice := new(big.Rat).Add(v, v)
	rho = numeric.CeilDigits(new(big.Rat).Quo(d, twice), 17)
	return rho, twice.Mul(twice, rho), nil
}
