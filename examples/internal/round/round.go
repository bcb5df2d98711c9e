// Package round is what the examples of federated learning share: data dealt to nodes, and the rounds
// of a plan, all in one process.
package round

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Main runs an example as a command.
func Main(run func(ctx context.Context, out io.Writer) error) {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Deal gives each of n nodes every n-th unit with all its examples.
func Deal(set *example.Set, n int) []*example.Set {
	rows := make([][]int, n)
	for row := range set.Len() {
		unit := row
		if set.Units != nil {
			unit = int(set.Units[row])
		}
		rows[unit%n] = append(rows[unit%n], row)
	}
	parts := make([]*example.Set, n)
	for i := range parts {
		parts[i] = set.Pick(rows[i])
	}
	return parts
}

// Persons is the plan with a guarantee of epsilon, at a delta of 1e-6, for each person.
func Persons(p federated.Plan, epsilon string) (federated.Plan, error) {
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		return p, err
	}
	delta, err := privacy.ParseDelta("1e-6")
	if err != nil {
		return p, err
	}
	p.Unit, p.Local = federated.Person, federated.Local{}
	p.Privacy = &federated.Privacy{Method: federated.FedAvg, Place: federated.AtCoordinator, Clip: 1, Delta: delta}
	return p.Calibrate(e, privacy.AddRemove)
}

// Learn makes all rounds of a plan, in which every node takes part, and returns the network.
func Learn(ctx context.Context, p federated.Plan, sets []*example.Set) (*network.Network, error) {
	return LearnFrom(ctx, p, sets, nil)
}

// LearnFrom is Learn, from these weights where there are some: they must come of public data.
func LearnFrom(ctx context.Context, p federated.Plan, sets []*example.Set, start []float32) (*network.Network, error) {
	s, err := p.Begin()
	if err != nil {
		return nil, err
	}
	if start != nil {
		copy(s.Weights, start)
	}
	parts := make([]*federated.Part, len(sets))
	for i, set := range sets {
		turns, err := p.Turns(noise.System(), set.UnitCount())
		if err != nil {
			return nil, err
		}
		if parts[i], err = federated.NewPart(p, fmt.Sprint(i), set, turns); err != nil {
			return nil, err
		}
	}
	for s.Round < p.Rounds {
		answers := make([]federated.Answer, len(parts))
		for i, part := range parts {
			u, err := part.Update(ctx, noise.System(), s.Round, s.Weights, s.Clip)
			if err != nil {
				return nil, err
			}
			answers[i] = federated.Answer{Node: fmt.Sprint(i), Declared: int64(sets[i].UnitCount()), Update: u}
		}
		if err := s.Join(p, noise.System(), answers); err != nil {
			return nil, err
		}
	}
	net, err := p.Net()
	if err != nil {
		return nil, err
	}
	copy(net.Parameters(), s.Weights)
	return net, nil
}

// Right is the share of a set's labels that the network gives.
func Right(net *network.Network, set *example.Set) (float64, error) {
	s, err := net.NewPass(network.PassOptions{}).Losses(set, all(set), make([]float64, set.Len()))
	return float64(s.Correct) / float64(max(s.Labels, 1)), err
}

// Off is the root of the mean squared error of the network's numbers.
func Off(net *network.Network, set *example.Set) (float64, error) {
	said := make([]float32, set.Len())
	if err := net.NewPass(network.PassOptions{}).Outputs(set, all(set), said); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, x := range said {
		sum += math.Pow(float64(x-set.Targets[i]), 2)
	}
	return math.Sqrt(sum / float64(len(said))), nil
}

func all(set *example.Set) []int {
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Made are numbers of which examples make up data: the same at each run, and random in no sense that
// would protect anybody (SplitMix64: Steele, Lea and Flood 2014).
type Made struct{ state uint64 }

// Make returns the numbers of a seed.
func Make(seed uint64) *Made { return &Made{seed} }

func (m *Made) next() uint64 {
	m.state += 0x9e3779b97f4a7c15
	z := (m.state ^ m.state>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uniform is a number from 0 to 1.
func (m *Made) Uniform() float64 { return (float64(m.next()>>12) + 0.5) / (1 << 52) }

// Below is a whole number from 0 to n−1.
func (m *Made) Below(n int) int { return int(m.next() % uint64(n)) }

// Normal is a number of the standard normal law.
func (m *Made) Normal() float64 { return math.Sqrt2 * math.Erfinv(2*m.Uniform()-1) }
