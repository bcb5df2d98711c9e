package learner

import (
	"encoding/json"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/ftrl"
	"github.com/discreet-dp/discreet/learn/network"
)

// A net is a trained network, which answers for one example at a time.
type net struct {
	model *ftrl.Model
	net   *network.Network
	pass  *network.Pass
}

func newNet(m *ftrl.Model) (Model, error) {
	n, err := m.Network()
	if err != nil {
		return nil, err
	}
	return &net{m, n, n.NewPass(network.PassOptions{Batch: 1, Workers: 1})}, nil
}

// Outputs of an example that the network does not take are no numbers.
func (n *net) Outputs(x, to []float32) {
	one := &example.Set{Width: len(x), Features: x, Classes: 1, Outputs: 1, Labels: []int32{-1}}
	if n.pass.Outputs(one, []int{0}, to) != nil {
		for i := range to {
			to[i] = float32(math.NaN())
		}
	}
}

func (n *net) Names() []string              { return nil }
func (n *net) Network() *network.Network    { return n.net }
func (n *net) MarshalJSON() ([]byte, error) { return json.Marshal(n.model) }
