package process_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// With rho 100,000 the noise's variance is 0.00054, so that none is drawn but with probability below
// 1e-400. Contributions of vectors add up among three aggregators, of two batches; a collection again has the
// same values; the certificate says who may collude.
func TestContributionsAreCollected(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"kind": "sumvec", "length": "3", "bits": "2", "aggregators": "3", "rho": "100000", "epsilon": "", "budget": "1000000"})
	for i := range 5 {
		w.upload(process.Stored, w.report("monday", uint64(i%4), 3, 0), w.report("tuesday", 1, 2, 3))
	}
	r := w.total("monday", 6, 15, 0)
	if again := w.total("monday", 6, 15, 0); again.Collection != r.Collection {
		t.Errorf("the same batch is collected as %s and %s", r.Collection, again.Collection)
	}
	w.total("tuesday", 5, 10, 15)
	if r.Contributions != 5 || r.Certificate.Colluding != 2 || r.Margin == nil || r.Deviation <= 0 || len(r.Refused) != 0 {
		t.Errorf("the result says %+v", r)
	}
}

// Where fewer may collude each aggregator adds a share of the noise: what any two of three have added is
// the whole, and all three one and a half of it. The certificate and the deviation say so, and the total names its clients.
func TestNoiseInShares(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"kind": "count", "aggregators": "3", "colluding": "1"})
	w.upload(process.Stored, w.report("one", 1), w.report("one", 0), w.report("one", 1))
	r := w.total("one", 2)
	if r.Certificate.Colluding != 1 || !strings.Contains(r.Certificate.Trusted[0], "2 of the 3 aggregators") || !slices.Equal(r.Clients, []string{process.ClientName}) {
		t.Errorf("the result says %+v", r)
	}
	for name, c := range map[string]struct {
		change func(*process.Task)
		whole  bool
	}{
		"Laplace": {func(t *process.Task) { t.Noise.Epsilon = must(privacy.ParseEpsilon("0.5")) }, false},
		"Gaussian": {func(t *process.Task) {
			t.Noise = process.Noise{Rho: must(privacy.ParseRho("0.01"))}
			t.Budget.Measure, t.Budget.Delta = filter.ZCDP, must(privacy.ParseDelta("1e-6"))
		}, false},
		"Skellam": {func(t *process.Task) {
			t.Noise = process.Noise{Rho: must(privacy.ParseRho("0.001"))}
			t.Budget.Measure, t.Budget.Delta = filter.ZCDP, must(privacy.ParseDelta("1e-6"))
			t.Shares = mechanism.BySkellam
		}, false},
		"all but one": {func(t *process.Task) { t.Colluding = 0 }, true},
	} {
		shared := *w.task
		c.change(&shared)
		law, err := shared.Law()
		if err != nil {
			t.Fatal(name, err)
		}
		whole := shared
		whole.Colluding = 0
		all, err := whole.Law()
		if err != nil {
			t.Fatal(name, err)
		}
		honest := 2.0
		if c.whole {
			honest = 1
		}
		if ratio := honest * law.Variance() / all.Variance(); ratio < 1-1e-12 || ratio > 1.01 || law.Event().String() != all.Event().String() {
			t.Errorf("%s: the honest add %v of the whole noise, for %v", name, ratio, law.Event())
		}
	}
	for name, change := range map[string]func(*process.Task){
		"shares of which one is the whole":      func(t *process.Task) { t.Colluding = 2 },
		"Laplace noise shared as Skellam":       func(t *process.Task) { t.Shares = mechanism.BySkellam },
		"less than none":                        func(t *process.Task) { t.Colluding = -1 },
		"shares of a Gaussian without a budget": func(t *process.Task) { t.Noise = process.Noise{Rho: must(privacy.ParseRho("0.01"))} },
	} {
		bad := *w.task
		change(&bad)
		if err := bad.Check(); !errors.Is(err, process.ErrTask) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// Of fifty batches that are collected at once under a budget for ten, ten are, at all aggregators;
// what is refused is charged nowhere.
func TestFiftyAtOnceAgainstABudgetForTen(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"kind": "count", "epsilon": "100", "budget": "1000"})
	var reports []*process.Report
	for i := range 50 {
		reports = append(reports, w.report(fmt.Sprint(i), 1))
	}
	w.upload(process.Stored, reports...)
	var all sync.WaitGroup
	made := make(chan *process.Result, 50)
	for i := range 50 {
		all.Go(func() {
			r, err := process.Collect(w.ctx, w.collector, w.task, fmt.Sprint(i))
			if err != nil {
				w.expect("a collection", err, prio.Exhausted)
				return
			}
			made <- r
		})
	}
	all.Wait()
	close(made)
	if len(made) != 10 {
		t.Errorf("%d collections were made, want 10", len(made))
	}
	for r := range made {
		w.total(r.Batch, 1)
	}
}

// What the outbox has sent is not sent as something else: a client that is started again with the
// same numbers contributes once.
func TestOutbox(t *testing.T) {
	t.Parallel()
	w := begin(t, nil)
	numbers := [][]uint64{{0}, {1}, {1}}
	for range 2 {
		o, err := process.OpenOutbox(w.ctx, w.station)
		if err != nil {
			t.Fatal(err)
		}
		codes, err := o.Send(w.ctx, w.client, "batch", "survey", numbers)
		if err != nil || !slices.Equal(codes, []string{process.Stored, process.Stored, process.Stored}) {
			t.Errorf("the outbox sends %v, %v", codes, err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w.total("batch", 1, 2, 0, 0)
}

// ownersProfile has aggregators that take tasks of an owner, whose nodes contribute once to a batch.
func ownersProfile() cluster.Profile {
	names := process.Aggregators(2)
	return cluster.Profile{
		Name: "owners", Roles: map[string]cluster.Role{"aggregator": process.Role},
		Members: func(cluster.Settings) ([]cluster.Member, error) {
			all := process.Members(names, process.Config{Owners: []string{"owner"}, Leader: names[0]})
			for _, name := range []string{"owner", "node-1", "node-2"} {
				all = append(all, cluster.Member{Name: name, Peers: names})
			}
			return all, nil
		},
	}
}

// An owner brings a task: signed vectors, with noise for a distance that the nodes promise; each node
// contributes once to a batch. Others bring none, and no task without noise for what it says is taken.
func TestOwnersBringTasks(t *testing.T) {
	t.Parallel()
	c := clustertest.Up(t, ownersProfile(), nil, nil)
	owner, nodes := clustertest.Member(t, c, "owner"), []*cluster.Station{clustertest.Member(t, c, "node-1"), clustertest.Member(t, c, "node-2")}
	rho, err := privacy.ParseRho("100000")
	if err != nil {
		t.Fatal(err)
	}
	budget := filter.Budget{Measure: filter.ZCDP, Neighbours: privacy.ReplaceOne}
	if budget.Epsilon, err = privacy.ParseEpsilon("1000000"); err != nil {
		t.Fatal(err)
	}
	if budget.Delta, err = privacy.ParseDelta("1e-6"); err != nil {
		t.Fatal(err)
	}
	task := &process.Task{Version: process.Version, Name: "round 1", Circuit: prio.Circuit{Kind: prio.SumVec, Length: 3, Bits: 20, Chunk: 8},
		Aggregators: process.Aggregators(2), Clients: []string{"node-1", "node-2"}, Once: true, Collector: "owner", Least: 2,
		// At most 9 in L2: a variance of 81/200000, so that no noise is drawn but with probability below 1e-500.
		Noise: process.Noise{Rho: rho, Distance: "81"}, Budget: budget, Begins: time.Unix(0, 0).UTC(), Expires: time.Now().Add(time.Hour).UTC()}
	if err := process.Bring(t.Context(), nodes[0], task); err == nil {
		t.Error("a node brings a task")
	}
	for name, change := range map[string]func(*process.Task){
		"no noise":           func(t *process.Task) { t.Noise.Rho = privacy.Rho{} },
		"no distance":        func(t *process.Task) { t.Noise.Distance = "0" },
		"a distance of 1e99": func(t *process.Task) { t.Noise.Distance = "1e99" },
		"one aggregator":     func(t *process.Task) { t.Aggregators = t.Aggregators[:1] },
		"two roles of one":   func(t *process.Task) { t.Collector = "helper-1" },
		"no budget":          func(t *process.Task) { t.Budget = filter.Budget{} },
		"add-remove":         func(t *process.Task) { t.Budget.Neighbours = privacy.AddRemove },
		"a batch of none":    func(t *process.Task) { t.Least = 0 },
		"another version":    func(t *process.Task) { t.Version = "discreet-prio-0" },
		"no time":            func(t *process.Task) { t.Expires = t.Begins },
		"no circuit":         func(t *process.Task) { t.Circuit.Chunk = 0 },
	} {
		bad := *task
		change(&bad)
		if err := process.Bring(t.Context(), owner, &bad); !errors.Is(err, process.ErrTask) {
			t.Errorf("a task with %s is taken: %v", name, err)
		}
		text, err := json.Marshal(&bad)
		if err != nil {
			t.Fatal(err)
		}
		var p *cluster.Problem
		if err := owner.Ask(t.Context(), "leader", http.MethodPut, "/tasks/"+process.Digest(text), text, nil); !errors.As(err, &p) || p.Type != "invalidTask" {
			t.Errorf("a task with %s is taken by the leader: %v", name, err)
		}
	}
	for range 2 {
		if err := process.Bring(t.Context(), owner, task); err != nil {
			t.Fatal(err)
		}
	}
	for i, numbers := range [][]int64{{-5, 7, 0}, {1, -9, 500000}} {
		client, err := process.NewClient(t.Context(), nodes[i], task)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{process.Stored, process.Twice} {
			m, err := prio.Signed(numbers, task.Circuit.Bits)
			if err != nil {
				t.Fatal(err)
			}
			r, err := client.Report("one", m)
			if err != nil {
				t.Fatal(err)
			}
			if codes, err := client.Upload(t.Context(), []*process.Report{r}); err != nil || codes[0] != want {
				t.Errorf("node %d contributes and hears %v, %v, want %s", i+1, codes, err, want)
			}
		}
	}
	r, err := process.Collect(t.Context(), owner, task, "one")
	if err != nil {
		t.Fatal(err)
	}
	if got := prio.Unsigned(r.Values, r.Contributions, task.Circuit.Bits); fmt.Sprint(got) != "[-4 -2 500000]" {
		t.Errorf("the total is %v", got)
	}
	// The tasks survive their aggregators.
	for _, role := range task.Aggregators {
		if err := c.Restart(t.Context(), role); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := process.Collect(t.Context(), owner, task, "one"); err != nil || fmt.Sprint(again.Values) != fmt.Sprint(r.Values) {
		t.Errorf("after a restart the total is %v, %v", again, err)
	}
}
