package federated

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// simulate makes all rounds in this process; spoil may change what a node sends.
func simulate(t *testing.T, p Plan, sets []*example.Set, spoil func(node int, u *Update)) *State {
	t.Helper()
	s, err := p.Begin()
	if err != nil {
		t.Fatal(err)
	}
	parts, blurs := make([]*Part, len(sets)), make([]Blur, len(sets))
	for i, set := range sets {
		turns := must(p.Turns(noise.System(), set.UnitCount()))
		if parts[i], err = NewPart(p, fmt.Sprint(i), set, turns); err != nil {
			t.Fatal(err)
		}
	}
	for s.Round < p.Rounds {
		var answers []Answer
		for i, part := range parts {
			if !s.May(p, fmt.Sprint(i)) {
				continue
			}
			u, err := part.Update(ctx, noise.System(), s.Round, s.Weights, s.Clip)
			if err != nil {
				t.Fatal(err)
			}
			if spoil != nil {
				spoil(i, &u)
			}
			if p.Privacy != nil && p.Privacy.Place == AtNodes {
				if err := blurs[i].Add(p, noise.System(), s.Round, &u); err != nil {
					t.Fatal(err)
				}
			}
			answers = append(answers, Answer{Node: fmt.Sprint(i), Declared: int64(sets[i].UnitCount()), Update: u})
		}
		if err := s.Join(p, noise.System(), answers); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// line is a logistic regression over so many features.
func line(width int) network.Spec {
	return network.Spec{Input: []int{width}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic}
}

// persons is a plan that protects persons, nodesPlan one that protects nodes.
func persons(rounds int) Plan {
	return Plan{
		Data: "people", Network: line(2), Unit: Person, Rounds: rounds, Nodes: Nodes{Minimum: 1, Seconds: 1}, Server: optimizer.Spec{Rate: 1},
		Privacy: &Privacy{Method: FedAvg, Place: AtCoordinator, Clip: 1, Noise: 1, Delta: must(privacy.ParseDelta("1e-6"))},
	}
}

func nodesPlan(rounds int) Plan {
	p := persons(rounds)
	p.Unit, p.Local = Node, Local{Rate: 0.1}
	return p
}

// people are n examples of two classes, parted by a line through 0.
func people(n, seed int) *example.Set {
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	for i := range n {
		x, y := math.Sin(float64(seed+1)*12.9898+float64(i)*78.233), math.Cos(float64(seed+2)*39.425+float64(i)*11.17)
		label := int32(0)
		if x+y/2 > 0 {
			label = 1
		}
		s.Features, s.Labels = append(s.Features, float32(x), float32(y)), append(s.Labels, label)
	}
	return s
}

func accuracy(t *testing.T, p Plan, weights []float32, set *example.Set) float64 {
	t.Helper()
	net := must(network.New(p.Network))
	copy(net.Parameters(), weights)
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	s, err := net.NewPass(network.PassOptions{}).Losses(set, rows, make([]float64, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	return float64(s.Correct) / float64(s.Labels)
}

// repeating are bits of a simple generator, for tests that need the same bits twice.
type repeating struct{ x uint64 }

func (r *repeating) Uint64() (uint64, error) {
	r.x += 0x9e3779b97f4a7c15
	z := (r.x ^ r.x>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, nil
}
