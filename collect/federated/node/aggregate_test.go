package node

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"testing"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// adders are aggregators that write down what they are given.
type adders struct {
	spent  func() bool
	before bool // something was split before it was charged
	splits int
	got    []string
	code   string
	err    error
}

func (a *adders) Split(_ context.Context, t *process.Task, batch string, numbers []uint64) (*process.Report, error) {
	a.before = a.before || !a.spent()
	a.splits++
	p, err := prio.New(t.Circuit, len(t.Aggregators), nil)
	if err != nil {
		return nil, err
	}
	c, err := p.Shard(numbers)
	if err != nil {
		return nil, err
	}
	return &process.Report{Batch: batch, Nonce: c.Nonce[:], Public: c.Public, Sealed: c.Shares}, nil
}

func (a *adders) Upload(_ context.Context, _ *process.Task, r *process.Report) (string, error) {
	text, err := json.Marshal(r)
	a.got = append(a.got, string(text))
	return a.code, errors.Join(err, a.err)
}

func summed(rounds int) *federated.Plan {
	p := federated.Plan{
		Data: "patients", Network: network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Unit: federated.Person, Rounds: rounds, Nodes: federated.Nodes{Minimum: 2, Seconds: 5}, Server: optimizer.Spec{Rate: 1},
		Privacy:     &federated.Privacy{Method: federated.FedAvg, Clip: 1, Noise: 8, Delta: must(privacy.ParseDelta("1e-6"))},
		Aggregation: federated.Prio3, Aggregators: &federated.Aggregators{Names: []string{"leader", "helper-1"}},
	}
	return &p
}

// A node's share leaves after the whole run was charged, once a round, the same bytes however often it is
// asked for and whatever became of it; and never the update.
func TestSharesOfAnUpdate(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Aggregators, d.Policy.Auto = []string{"helper-1", "leader"}, epsilon("5") })
	h := open(t, dir, c)
	p := summed(3)
	to := &adders{code: process.Stored, spent: func() bool {
		s, err := h.Spent(ctx, "patients")
		return err == nil && s.Rho.Equal(must(p.Rho(privacy.AddRemove)))
	}}
	h.Aggregators = to
	if s, err := h.Ask(ctx, "coordinator", Request{ID: "run", Reason: "a test", Plan: p}); err != nil || s.State != Approved {
		t.Fatal(s, err)
	}
	weights := federated.Numbers(must(p.Begin()).Weights)
	q := RoundRequest{Weights: weights, Clip: 1, Nodes: []string{"clinic", "other"}}
	ask := func(q RoundRequest) (*federated.Update, error) { return h.Round(ctx, "coordinator", "run", q) }

	// Aggregators that are away when it has been split: what is asked again is handed in, the same.
	to.err = &cluster.Problem{Type: "unavailable", Status: http.StatusServiceUnavailable}
	if _, err := ask(q); !errors.Is(err, errAway) {
		t.Errorf("aggregators away: %v", err)
	}
	to.err = nil
	for range 2 {
		if u, err := ask(q); err != nil || u.Sum != nil || u.Raw != nil {
			t.Errorf("%+v, %v", u, err)
		}
	}
	h2 := open(t, dir, c) // as after a kill
	h2.Aggregators = to
	if _, err := h2.Round(ctx, "coordinator", "run", q); err != nil {
		t.Error(err)
	}
	if to.before || to.splits != 1 || len(to.got) != 4 {
		t.Errorf("split %d times, handed in %d times; before it was charged: %v", to.splits, len(to.got), to.before)
	}
	for _, r := range to.got {
		if r != to.got[0] {
			t.Error("another share is handed in for the same round")
		}
	}
	// Another set of nodes is another sum: of the same round nothing leaves for it.
	other := q
	other.Nodes = []string{"clinic", "sybil"}
	if _, err := ask(other); !errors.Is(err, ErrAnswered) {
		t.Errorf("another sum of the round: %v", err)
	}
	// The round was released without it, or it is none of the sum's.
	to.code = prio.BatchCollected
	q.Round = 1
	if _, err := ask(q); !errors.Is(err, ErrOver) {
		t.Errorf("a round that is over: %v", err)
	}
	q.Round, q.Nodes = 2, []string{"other", "third"}
	if _, err := ask(q); !errors.Is(err, ErrRequest) || to.splits != 2 {
		t.Errorf("a sum of others: %v", err)
	}
}

// An owner's policy decides on a run's aggregators: all of those that are named, and as many honest.
func TestAggregatorsOfThePolicy(t *testing.T) {
	three := []string{"leader", "helper-1", "helper-2"}
	for name, c := range map[string]struct {
		policy    []string
		colluding int
		plan      *federated.Aggregators
		want      bool
	}{
		"the owner names none":   {nil, 0, &federated.Aggregators{Names: three}, false},
		"all of them":            {[]string{"helper-2", "leader", "helper-1"}, 0, &federated.Aggregators{Names: three}, true},
		"fewer":                  {three, 0, &federated.Aggregators{Names: three[:2]}, false},
		"more":                   {three[:2], 0, &federated.Aggregators{Names: three}, false},
		"shares, all may":        {three, 0, &federated.Aggregators{Names: three, Colluding: 1}, false},
		"shares, one may":        {three, 1, &federated.Aggregators{Names: three, Colluding: 1}, true},
		"whole noise, one may":   {three, 1, &federated.Aggregators{Names: three}, true},
		"of four two may, one":   {append(three, "x"), 2, &federated.Aggregators{Names: append(three, "x"), Colluding: 1}, false},
		"of four one may, as if": {append(three, "x"), 1, &federated.Aggregators{Names: append(three, "x"), Colluding: 2}, true},
	} {
		if got := (Policy{Aggregators: c.policy, Colluding: c.colluding}).trusts(c.plan); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The task of a run has the plan's noise at each aggregator, and a budget for its rounds, and for no more.
func TestTask(t *testing.T) {
	for _, adaptive := range []*federated.Adaptive{nil, {Quantile: 0.5, Noise: 20}} {
		p := summed(7)
		p.Privacy.Adaptive = adaptive
		task, err := Task(*p, "coordinator", "run", []string{"clinic", "other"})
		if err != nil {
			t.Fatal(err)
		}
		law := must(task.Law())
		variance, _ := must(p.Privacy.Variance()).Float64()
		if law.Variance() < variance*(1-1e-12) {
			t.Errorf("noise of variance %v, the plan says %v", law.Variance(), variance)
		}
		f := must(filter.New(task.Budget))
		one, err := f.Charge([]privacy.Event{law.Event()}, privacy.Delta{})
		if err != nil {
			t.Fatal(err)
		}
		if !one.Times(7).Within(f.Budget()) || one.Times(8).Within(f.Budget()) {
			t.Errorf("the budget %v is not one of 7 rounds of %v", f.Budget(), one)
		}
		// Whoever brings less noise brings another task, whose shares are others.
		less := *task
		less.Noise.Distance = new(big.Rat).SetInt64(1).RatString()
		a, b := must(task.Encode()), must(less.Encode())
		if process.Digest(a) == process.Digest(b) {
			t.Error("a task of less noise has the same digest")
		}
	}
	if _, err := Task(*summed(7), "coordinator", "run", []string{"leader"}); !errors.Is(err, process.ErrTask) {
		t.Errorf("an aggregator that contributes: %v", err)
	}
}
