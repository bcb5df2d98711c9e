package node

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"time"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/privacy"
)

// A Request asks a node for its part in a run, or for an answer about its data.
type Request struct {
	ID     string          `json:"id"`     // the asker's name for it
	Reason string          `json:"reason"` // for the owner
	Plan   *federated.Plan `json:"plan,omitempty"`
	// Vectors says that updates are handed in by an application at the node, which the node
	// bounds and hides: the plan protects the node, and noise is added here.
	Vectors bool   `json:"vectors,omitempty"`
	Query   *Query `json:"query,omitempty"`
}

// A Query is a question about private data, one record of which is one person's.
type Query struct {
	Data       string          `json:"data"`
	Of         string          `json:"of"` // count, sum, mean, histogram, median
	Column     string          `json:"column,omitempty"`
	Lower      float64         `json:"lower,omitempty"`
	Upper      float64         `json:"upper,omitempty"`
	Edges      []float64       `json:"edges,omitempty"`      // of a histogram of numbers
	Categories []string        `json:"categories,omitempty"` // of a histogram of texts
	Epsilon    privacy.Epsilon `json:"epsilon"`
}

// Mechanism is what answers the query.
func (q Query) Mechanism() (datanode.Mechanism, error) {
	if q.Epsilon.Sign() <= 0 {
		return nil, errors.New("the query has no epsilon")
	}
	var of datanode.Query
	switch q.Of {
	case "count":
		of = datanode.Count{}
	case "sum":
		of = datanode.Sum{Column: q.Column, Lower: q.Lower, Upper: q.Upper}
	case "mean":
		of = datanode.Mean{Column: q.Column, Lower: q.Lower, Upper: q.Upper}
	case "histogram":
		of = datanode.Histogram{Column: q.Column, Edges: q.Edges, Categories: q.Categories}
	case "median":
		lower, upper := new(big.Rat).SetFloat64(q.Lower), new(big.Rat).SetFloat64(q.Upper)
		if lower == nil || upper == nil || !(q.Lower < q.Upper) {
			return nil, fmt.Errorf("a median between %v and %v", q.Lower, q.Upper)
		}
		step := new(big.Rat).Sub(upper, lower)
		return datanode.Quantiles{Column: q.Column, Lower: lower, Upper: upper, Step: step.Quo(step, big.NewRat(1024, 1)), Quantiles: []*big.Rat{big.NewRat(1, 2)}, Epsilon: q.Epsilon}, nil
	default:
		return nil, fmt.Errorf("%q is not one of count, sum, mean, histogram, median", q.Of)
	}
	return datanode.Laplace{Query: of, Epsilon: q.Epsilon}, nil
}

// A State is how far a request has come.
type State string

// The states. Approved and Denied are the owner's word, or the policy's, for good.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Denied   State = "denied"
	Released State = "released" // something has left
	Refused  State = "refused"  // for want of budget
)

// A Status is what is known of a request: what its owner sees before deciding.
type Status struct {
	Asker   string         `json:"asker"`
	ID      string         `json:"id"`
	Reason  string         `json:"reason"`
	Data    string         `json:"data"`
	What    string         `json:"what"`            // is computed
	Epsilon float64        `json:"epsilon"`         // of all of it, at Delta, for what the data protect; 0: nothing is promised
	Delta   privacy.Delta  `json:"delta"`           // the budget's
	Charge  string         `json:"charge"`          // as an event
	Trusts  string         `json:"trusts,omitzero"` // who sees what has no noise
	Asked   time.Time      `json:"asked"`
	State   State          `json:"state"`
	By      string         `json:"by,omitempty"` // who decided
	Why     string         `json:"why,omitempty"`
	Rounds  []int          `json:"rounds,omitempty"` // that were released
	Left    filter.Amounts `json:"left"`             // of the budget
	Measure filter.Measure `json:"measure"`
}

// name is that of askers and of requests: a part of a file's name.
var name = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// data names the data that a request is about.
func (r Request) data() (string, error) {
	switch {
	case !name.MatchString(r.ID):
		return "", errors.New("its id is not of small letters, digits and hyphens")
	case r.Reason == "" || len(r.Reason) > 2000:
		return "", errors.New("its reason is missing, or longer than 2000 bytes")
	case (r.Plan == nil) == (r.Query == nil):
		return "", errors.New("it asks for a run, or for an answer")
	case r.Query != nil:
		if _, err := r.Query.Mechanism(); err != nil {
			return "", err
		}
		return r.Query.Data, nil
	}
	if err := r.Plan.Validate(); err != nil {
		return "", err
	}
	if r.Vectors && (r.Plan.NoiseBy() != federated.AtNodes || r.Plan.Unit != federated.Node) {
		return "", errors.New("vectors are made private here: the plan protects the node, with noise at the nodes")
	}
	return r.Plan.Data, nil
}

// what describes a request, with who has to be trusted.
func (r Request) what() (what, trusts string) {
	if q := r.Query; q != nil {
		m, err := q.Mechanism()
		if err != nil {
			return "", ""
		}
		return fmt.Sprint(m), ""
	}
	p := r.Plan
	weights := 0
	if net, err := network.New(p.Network); err == nil {
		weights = len(net.Parameters())
	}
	what = fmt.Sprintf("%d rounds of training, %d weights", p.Rounds, weights)
	if r.Vectors {
		what = fmt.Sprintf("%d updates of a local application, %d numbers each", p.Rounds, weights)
	}
	v := p.Privacy
	if v == nil {
		return what + ", without protection", "the asker, with the node's updates as they are"
	}
	what += fmt.Sprintf(" by %s; a %s takes part in %d; clip %v, noise %v", v.Method, p.Unit, p.Participations(), v.Clip, v.Noise)
	switch p.NoiseBy() {
	case federated.AtAggregators:
		return what + " by aggregators", p.Whom()
	case federated.AtCoordinator:
		return what + " by the coordinator", "the asker, with the node's clipped sums, and with adding the noise"
	}
	return what + " by the node", ""
}
