// Package federated is learning over data that stay where they are: the plan of a run, what
// each holder of data computes, how a coordinator that sees no data joins it, and what all
// of it reveals. Packages node and coordinator are the processes.
//
// It guarantees, to each privacy unit (a node, or a person at one node), that what is
// released of a run reveals at most what [Plan.Event] says:
//
//   - what a unit adds to a round is integers whose squares sum to a known bound, after
//     rounding (package learn/cost), and noise is exact discrete Gaussian noise on the
//     same grid;
//   - a unit takes part in no more rounds than [Plan.Participations], and nothing is
//     claimed from who was drawn: whoever sees who took part gains nothing;
//   - denominators and weights are public, or bounded before they are used;
//   - what follows the noise (a server's optimizer, the next clip) is post-processing.
//
// It does not guarantee anything to a unit from a coordinator that adds the noise itself:
// it is trusted, and a certificate says so; nor from aggregators that all collude ([Aggregators]). Medians, trimmed means, clusters and ordered
// weights have no guarantee beyond that of noise which each node has added before. When
// and that a node takes part is not hidden.
package federated

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrPlan is wrapped by the refusal of a plan that means nothing, or that no guarantee
// covers.
var ErrPlan = errors.New("not a plan of a federated run")

// A Unit says whom a run protects.
type Unit string

// The units. There is no default.
const (
	Node   Unit = "node"   // all data of one node: its whole update is clipped
	Person Unit = "person" // one person at one node: each person's gradient is clipped
)

// A Method says how a unit's rounds are hidden.
type Method string

// The methods.
const (
	FedAvg Method = "dp-fedavg" // fresh noise in each round (McMahan et al. 2018)
	FTRL   Method = "dp-ftrl"   // the noise of prefix sums, by a tree (Kairouz et al. 2021)
)

// A Place says who adds the noise, and so who sees what has none.
type Place string

// The places. There is no default.
const (
	AtCoordinator Place = "coordinator" // it sees each node's clipped sum, and is trusted with it
	AtNodes       Place = "nodes"       // each node adds all of it, and trusts nobody
	AtAggregators Place = "aggregators" // they add it to their shares of the sum: see Aggregators
)

// A Plan is a run, fixed before it begins.
type Plan struct {
	Data    string         `json:"data"` // the name under which each node holds its part
	Network network.Spec   `json:"network"`
	Seed    uint64         `json:"seed,omitempty"`    // of the initial weights, which protect nobody
	Initial []float32      `json:"initial,omitempty"` // weights to begin with, in their place
	Unit    Unit           `json:"unit"`
	PerUnit int            `json:"per_unit,omitempty"` // examples of a person that count; 0 is 1
	Rounds  int            `json:"rounds"`
	Every   int            `json:"every,omitempty"` // a unit is in at most one of each so many rounds; a power of two, 0 is 1
	Most    int            `json:"most,omitempty"`  // and in so many of all, of a tree's with FTRL; 0 is what Every allows
	Nodes   Nodes          `json:"nodes"`
	Local   Local          `json:"local"`
	Join    Join           `json:"join,omitzero"`
	Server  optimizer.Spec `json:"server"` // of the mean of updates, or of gradients
	Privacy *Privacy       `json:"privacy,omitempty"`
	// Aggregation says how updates become their sum: "" and clear, prio3 or shares.
	Aggregation Way          `json:"aggregation,omitempty"`
	Aggregators *Aggregators `json:"aggregators,omitempty"`
}

// Nodes says who takes part in a round.
type Nodes struct {
	Sample  int `json:"sample,omitempty"` // nodes that a round asks; 0: all
	Minimum int `json:"minimum"`          // below which a round fails
	Seconds int `json:"seconds"`          // after which a round goes on without those that are missing
}

// Local is a node's own training, of a run that protects nodes or nobody.
type Local struct {
	Epochs   int     `json:"epochs,omitempty"` // 0 is 1
	Batch    int     `json:"batch,omitempty"`  // 0 is 32
	Rate     float64 `json:"rate,omitempty"`
	Proximal float64 `json:"proximal,omitempty"` // FedProx's μ (Li et al. 2020): the pull towards the round's weights
}

// Privacy says what hides a unit.
type Privacy struct {
	Method   Method        `json:"method"`
	Place    Place         `json:"place,omitempty"` // of plans with aggregators it may be left out
	Clip     float64       `json:"clip"`
	Adaptive *Adaptive     `json:"adaptive,omitempty"`
	Noise    float64       `json:"noise"` // the standard deviation over the clip; read as the decimal that it prints as
	Restart  int           `json:"restart,omitempty"`
	Delta    privacy.Delta `json:"delta"`
}

// Adaptive moves the clip towards a quantile of what units add (Andrew et al. 2021): by the
// factor exp(-Rate·(noisy share within it - Quantile)) a round. The noisy count of those
// within it is paid for.
type Adaptive struct {
	Quantile float64 `json:"quantile"`
	Rate     float64 `json:"rate,omitempty"` // 0 is 0.2
	Noise    float64 `json:"noise"`          // the standard deviation of the count
}

const (
	maxRounds = 4096
	maxNoise  = 1 << 20
)

// every is Every, at least 1.
func (p Plan) every() int { return max(p.Every, 1) }

// Validate refuses what is no plan.
func (p Plan) Validate() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return nil
}

func (p Plan) check() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	switch {
	case p.Data == "":
		return errors.New("the name of the data is missing")
	case p.Unit != Node && p.Unit != Person:
		return fmt.Errorf("the unit %q is neither %q nor %q", p.Unit, Node, Person)
	case p.PerUnit < 0 || p.PerUnit > 1<<16:
		return fmt.Errorf("%d examples of a person", p.PerUnit)
	case p.Rounds < 1 || p.Rounds > maxRounds:
		return fmt.Errorf("%d rounds are not between 1 and %d", p.Rounds, maxRounds)
	case p.Every < 0 || p.every()&(p.every()-1) != 0 || p.every() > maxRounds:
		return fmt.Errorf("every %d rounds: not a power of two", p.Every)
	case p.Most < 0:
		return fmt.Errorf("at most %d rounds of a unit", p.Most)
	case p.Nodes.Minimum < 1 || p.Nodes.Sample < 0 || p.Nodes.Sample > 0 && p.Nodes.Sample < p.Nodes.Minimum:
		return fmt.Errorf("rounds of %d nodes, at least %d", p.Nodes.Sample, p.Nodes.Minimum)
	case p.Nodes.Seconds < 1 || p.Nodes.Seconds > 24*3600:
		return fmt.Errorf("a deadline of %d seconds is not between 1 and a day", p.Nodes.Seconds)
	case p.Local.Epochs < 0 || p.Local.Batch < 0 || !(p.Local.Proximal >= 0) || math.IsInf(p.Local.Proximal, 0):
		return errors.New("local training: epochs, batch and proximal must not be negative")
	case p.Unit == Node && !positive(p.Local.Rate):
		return errors.New("local training: the rate must be positive")
	case p.Unit == Person && p.Privacy == nil:
		return errors.New("a run that protects nobody trains at nodes: its unit is the node")
	case p.Unit == Person && p.Local != Local{}:
		return errors.New("local training has no bound for a person: it belongs to runs that protect nodes")
	}
	net, err := network.New(p.Network)
	if err != nil {
		return err
	}
	if p.Initial != nil && len(p.Initial) != len(net.Parameters()) {
		return fmt.Errorf("%d initial weights of %d", len(p.Initial), len(net.Parameters()))
	}
	if err := p.Server.Validate(); err != nil {
		return err
	}
	if err := p.Join.check(p); err != nil {
		return err
	}
	if err := p.checkPrivacy(); err != nil {
		return err
	}
	return p.checkAggregation(len(net.Parameters()))
}

func (p Plan) checkPrivacy() error {
	v := p.Privacy
	if v == nil {
		return nil
	}
	a := v.Adaptive
	switch {
	case v.Method != FedAvg && v.Method != FTRL:
		return fmt.Errorf("the method %q is neither %q nor %q", v.Method, FedAvg, FTRL)
	case v.Place != AtCoordinator && v.Place != AtNodes && v.Place != AtAggregators && !(p.Aggregated() && v.Place == ""):
		return fmt.Errorf("noise at the %q is neither at the %q nor at the %q", v.Place, AtCoordinator, AtNodes)
	case !(v.Clip >= 1e-30 && v.Clip <= 1e30):
		return fmt.Errorf("a clip of %v", v.Clip)
	case !(v.Noise >= 1e-3 && v.Noise <= maxNoise):
		return fmt.Errorf("a noise multiplier of %v is not between 0.001 and %d", v.Noise, maxNoise)
	case v.Delta.Sign() <= 0:
		return errors.New("delta is missing: noise of a Gaussian has a guarantee at a delta alone")
	case v.Restart < 0 || v.Restart > 0 && (v.Method != FTRL || v.Restart%p.every() != 0):
		return fmt.Errorf("a tree of %d rounds: restarts are those of %q, at a multiple of every %d rounds", v.Restart, FTRL, p.every())
	case a != nil && v.Method == FTRL:
		return errors.New("a tree adds up rounds of one clip: it cannot be adaptive")
	case a != nil && (!(a.Quantile > 0 && a.Quantile < 1) || !(a.Rate >= 0 && a.Rate <= 10) || !(a.Noise >= 1e-3 && a.Noise <= maxNoise)):
		return fmt.Errorf("adaptive clipping: quantile %v, rate %v, noise %v", a.Quantile, a.Rate, a.Noise)
	}
	return nil
}

// Participations is in how many rounds a unit takes part at most.
func (p Plan) Participations() int {
	n := 0
	for _, rounds := range p.spans() {
		n += p.within(rounds)
	}
	if p.Most > 0 && (p.Privacy == nil || p.Privacy.Method != FTRL) {
		n = min(n, p.Most)
	}
	return n
}

// within is in how many of a tree's rounds, or of all, a unit takes part at most.
func (p Plan) within(rounds int) int {
	n := (rounds + p.every() - 1) / p.every()
	if p.Most > 0 {
		n = min(n, p.Most)
	}
	return n
}

// spans are the rounds of each tree; all of them without.
func (p Plan) spans() (rounds []int) {
	if p.Privacy == nil || p.Privacy.Method != FTRL || p.Privacy.Restart == 0 {
		return []int{p.Rounds}
	}
	for from := 0; from < p.Rounds; from += p.Privacy.Restart {
		rounds = append(rounds, min(p.Privacy.Restart, p.Rounds-from))
	}
	return rounds
}

// Variance is that of the noise on each number of a round or of a tree's node, in squares
// of the grid's step.
func (v Privacy) Variance() (*big.Rat, error) { return squared(v.Noise, cost.One) }

// countVariance is that of the noise on the sum of ±1, of which a count is half.
func (a Adaptive) countVariance() (*big.Rat, error) { return squared(a.Noise, 2) }

// squared is (x·unit)², rounded up to a whole number.
func squared(x float64, unit int64) (*big.Rat, error) {
	r, err := numeric.FromFloat(x)
	if err != nil {
		return nil, err
	}
	r.Mul(r, new(big.Rat).SetInt64(unit))
	return new(big.Rat).SetInt(numeric.Ceil(r.Mul(r, r))), nil
}

// Rho is the zero-concentrated loss of a unit by all that is released of the run.
//
// Theorem. Fix what was released before a round. What a unit adds to the round's vector is
// integers of norm at most One (cost.Clip), or nothing, and the parts of others are the
// same with and without it: so the sum moves by at most One, and by 2·One where the unit
// is replaced by another. Discrete Gaussian noise of variance V on each number is then
// One²/2V-zCDP (Canonne, Kamath and Steinke 2020, Theorem 14); the count of those within
// the clip is a sum of ±1, and moves by 1. Rounds in which a unit takes no part reveal
// nothing of it. Losses of rounds add up, also where who takes part depends on what
// was released, because their number has a bound that is fixed (Feldman and Zrnic 2021,
// Theorem 3.1, for Rényi divergences of every order at once).
//
// Of a tree the released nodes are the rounds: see treeSensitivity.
func (p Plan) Rho(n privacy.Neighbours) (privacy.Rho, error) {
	v := p.Privacy
	if v == nil {
		return privacy.Rho{}, fmt.Errorf("%w: it promises nothing", ErrPlan)
	}
	variance, err := v.Variance()
	if err != nil {
		return privacy.Rho{}, err
	}
	squares := new(big.Rat) // of what moves, over the variance
	switch v.Method {
	case FTRL:
		for _, rounds := range p.spans() {
			squares.Add(squares, new(big.Rat).SetInt64(treeSensitivity(rounds, p.every(), p.within(rounds))))
		}
	default:
		squares.SetInt64(int64(p.Participations()))
	}
	rho := new(big.Rat).Quo(squares.Mul(squares, big.NewRat(cost.One*cost.One, 2)), variance)
	if v.Adaptive != nil {
		count, err := v.Adaptive.countVariance()
		if err != nil {
			return privacy.Rho{}, err
		}
		rho.Add(rho, new(big.Rat).Quo(big.NewRat(int64(p.Participations()), 2), count))
	}
	d := privacy.Distance(n)
	rho.Mul(rho, d.Mul(d, d))
	return privacy.NewRho(numeric.CeilDigits(rho, 17))
}

// Event is what all that is released of the run reveals of a unit.
func (p Plan) Event(n privacy.Neighbours) (privacy.Event, error) {
	rho, err := p.Rho(n)
	if err != nil {
		return nil, err
	}
	return privacy.New(privacy.ZCDP{Rho: rho})
}

// Calibrate returns the plan with the noise that makes it (epsilon, Delta)-differentially
// private for a unit. What adaptive clipping costs is taken from it first.
func (p Plan) Calibrate(epsilon privacy.Epsilon, n privacy.Neighbours) (Plan, error) {
	if p.Privacy == nil {
		return p, fmt.Errorf("%w: it promises nothing", ErrPlan)
	}
	v := *p.Privacy
	v.Noise = 1
	p.Privacy = &v
	if err := p.Validate(); err != nil {
		return p, err
	}
	whole, err := filter.ZCDPRho(epsilon, v.Delta)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	at, err := p.Rho(n)
	if err != nil {
		return p, err
	}
	left, one := whole.Rat(), at.Rat()
	if v.Adaptive != nil {
		fixed := p
		none := v
		none.Adaptive = nil
		fixed.Privacy = &none
		without, err := fixed.Rho(n)
		if err != nil {
			return p, err
		}
		left.Sub(left, one.Sub(one, without.Rat()))
		one = without.Rat()
	}
	if left.Sign() <= 0 {
		return p, fmt.Errorf("%w: the count of adaptive clipping costs more than epsilon %v", ErrPlan, epsilon)
	}
	ratio, _ := one.Quo(one, left).Float64()
	// Four digits, rounded up: a plan is written down.
	scale := math.Pow(10, math.Floor(math.Log10(math.Sqrt(ratio)))-3)
	v.Noise = math.Ceil(math.Sqrt(ratio)/scale*(1+1e-12)) * scale
	for range 4 { // the product of two decimals may be the next float64
		if spent, err := p.Rho(n); err == nil && spent.Cmp(whole) <= 0 {
			break
		}
		v.Noise = math.Nextafter(v.Noise+scale, math.Inf(1))
	}
	if spent, err := p.Rho(n); err != nil || spent.Cmp(whole) > 0 {
		return p, errors.Join(fmt.Errorf("%w: no noise for epsilon %v", ErrPlan, epsilon), err)
	}
	return p, p.Validate()
}

// Net returns the network with the weights that the run begins with.
func (p Plan) Net() (*network.Network, error) {
	net, err := network.New(p.Network)
	if err != nil {
		return nil, err
	}
	if p.Initial != nil {
		copy(net.Parameters(), p.Initial)
	} else {
		net.Initialize(p.Seed)
	}
	return net, nil
}

// Rules that a guarantee of the coordinator's noise covers: sums.
func (r Rule) sums() bool { return slices.Contains([]Rule{"", Mean}, r) }
