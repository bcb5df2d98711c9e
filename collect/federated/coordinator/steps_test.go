package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A messenger carries what a coordinator says to nodes of this process, and kills the coordinator at one of
// these messages: before it arrives, or before its answer does. Between two of them a coordinator writes
// its file at most once, so that these are all kills that can be told apart.
type messenger struct {
	mu    sync.Mutex
	sent  []string
	at    int  // the message to die at; none if negative
	after bool // its answer is lost, and not it
	dead  bool
	die   func()
}

var errDead = errors.New("the coordinator is dead")

func carry[T any](ctx context.Context, m *messenger, what string, do func() (T, error)) (T, error) {
	m.mu.Lock()
	n, none := len(m.sent), *new(T)
	if m.dead || ctx.Err() != nil {
		m.mu.Unlock()
		return none, errDead
	}
	m.sent = append(m.sent, what)
	if n == m.at && !m.after {
		m.dead = true
		m.die()
		m.mu.Unlock()
		return none, errDead
	}
	m.mu.Unlock()
	out, err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == m.at {
		m.dead = true
		m.die() // which may let it live
	}
	if m.dead {
		return none, errDead
	}
	return out, err
}

// near is a node in this process.
type near struct {
	*messenger
	name   string
	holder *node.Holder
	units  node.Description
}

func (p near) Describe(ctx context.Context) ([]node.Description, error) {
	return carry(ctx, p.messenger, p.name+" describes", func() ([]node.Description, error) { return []node.Description{p.units}, nil })
}

func (p near) Ask(ctx context.Context, r node.Request) (node.Status, error) {
	return carry(ctx, p.messenger, p.name+" is asked", func() (node.Status, error) {
		s, err := p.holder.Ask(ctx, "coordinator", r)
		return s, refusal(err)
	})
}

func (p near) Round(ctx context.Context, id string, r node.RoundRequest) (*federated.Update, error) {
	return carry(ctx, p.messenger, fmt.Sprintf("%s answers round %d", p.name, r.Round), func() (*federated.Update, error) {
		u, err := p.holder.Round(context.WithoutCancel(ctx), "coordinator", id, r)
		return u, refusal(err)
	})
}

func (p near) Answer(ctx context.Context, id string) (*node.Answered, error) {
	return carry(ctx, p.messenger, p.name+" answers", func() (*node.Answered, error) {
		a, err := p.holder.Answer(context.WithoutCancel(ctx), "coordinator", id)
		return a, refusal(err)
	})
}

// refusal is an error of a node as it travels.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	return &cluster.Problem{Type: "refused", Status: 403, Detail: err.Error()}
}

// nodes are two of this process, which the messenger leads to.
func (m *messenger) nodes(t *testing.T, dir string) (map[string]*node.Holder, map[string]Peer) {
	t.Helper()
	holders, peers := map[string]*node.Holder{}, map[string]Peer{}
	for i, name := range []string{"node-1", "node-2"} {
		config := node.Config{Data: []node.Data{{
			Name: "patients", CSV: madeFile, Units: 30, Protects: federated.Person,
			Encoding: &example.Encoding{
				Columns: []example.Column{{Name: "age", Type: "integer", Lower: 0, Upper: 100}, {Name: "stays", Type: "integer", Lower: 0, Upper: 20}},
				Target:  &example.Column{Name: "again", Type: "boolean", Values: []string{"false", "true"}},
			},
			Budget: node.Budget{Measure: filter.ZCDP, Epsilon: must(privacy.ParseEpsilon("1000")), Delta: must(privacy.ParseDelta("1e-6"))},
			Policy: node.Policy{Askers: []string{"coordinator"}, Trusted: []string{"coordinator"}, Auto: must(privacy.ParseEpsilon("9"))},
		}}}
		folder := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, madeFile), []byte(patients(i, 30)), 0o600)); err != nil {
			t.Fatal(err)
		}
		b := must(node.OpenBooks(t.Context(), folder, config, time.Now))
		t.Cleanup(func() { b.Close() })
		holders[name] = must(node.NewHolder(t.Context(), name, b, noise.System()))
		peers[name] = near{m, name, holders[name], node.Description{Name: "patients", Width: 3, Classes: 2, Units: 30, Protects: federated.Person, Encoding: config.Data[0].Encoding}}
	}
	return holders, peers
}

// adaptive is a run of two rounds whose clip adapts to a noisy count.
func adaptive() *federated.Plan {
	p := training(2, 2)
	p.Privacy.Adaptive = &federated.Adaptive{Quantile: 0.5, Rate: 0.2, Noise: 4}
	return p
}

// sides are before an answer arrives (true), and before the message does, which CI has of the first alone: of
// others it is nearly what is there when the answer to the one before it is lost.
func sides(i int) []bool {
	if i == 0 || os.Getenv("DISCREET_SOAK") != "" {
		return []bool{false, true}
	}
	return []bool{true}
}

// A coordinator is killed at each message of a run and of a query, before its answer arrives or before the message
// does, and begins again from its file. The run is finished by all nodes in all rounds; no node is
// asked two questions in a round, which it would refuse, or charged twice; what was told of the noisy clip
// before is what is told after.
func TestEachMessageIsSurvived(t *testing.T) {
	t.Parallel()
	dir, m := t.TempDir(), &messenger{at: -1}
	holders, peers := m.nodes(t, dir)
	plan := adaptive()
	open := func() (*Coordinator, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		return must(New(ctx, Options{Dir: dir, Peers: peers, Bits: noise.System(), Now: time.Now, Log: slog.New(slog.DiscardHandler), Pause: time.Millisecond})), cancel
	}
	// live proposes a run or a query, and sees it to its end.
	live := func(p Proposal, at int, after bool) (g Progress) {
		c, end := open()
		died := make(chan struct{})
		m.mu.Lock()
		m.sent, m.at, m.after, m.dead, m.die = nil, at, after, false, func() { end(); close(died) }
		m.mu.Unlock()
		clips := map[float64]bool{} // that were told: where noise was drawn twice there is one too many
		for g = must(c.Propose("ada", p)); !ended(g); g = must(c.Propose("ada", p)) {
			if clips[g.Clip] = true; len(clips) > 1+plan.Rounds {
				t.Errorf("message %d, after it: %v: clips of %v were told in %d rounds", at, after, slices.Collect(maps.Keys(clips)), plan.Rounds)
			}
			select {
			case <-died:
				c.Wait()
				died = nil
				m.mu.Lock()
				m.dead, m.at = false, -1
				m.mu.Unlock()
				c, end = open()
			case <-time.After(5 * time.Millisecond):
			}
		}
		end()
		c.Wait()
		return g
	}
	proposal := func(n int, query bool) Proposal {
		if query {
			return Proposal{ID: fmt.Sprint("query-", n), Reason: "a test", Query: &node.Query{Data: "patients", Of: "count", Epsilon: must(privacy.ParseEpsilon("0.25"))}}
		}
		return Proposal{ID: fmt.Sprint("run-", n), Reason: "a test", Plan: plan}
	}
	for _, query := range []bool{false, true} {
		spent := map[string]float64{}
		for name, h := range holders {
			spent[name] = must(h.Spent(t.Context(), "patients")).Rho.Float64()
		}
		live(proposal(0, query), -1, false)
		names, n := slices.Clone(m.sent), 0
		if want := map[bool]int{false: 2*2 + 2*2, true: 2*2 + 2}[query]; len(names) != want {
			t.Fatalf("the messages are %q", names)
		}
		cost := map[string]float64{}
		for name, h := range holders {
			cost[name] = must(h.Spent(t.Context(), "patients")).Rho.Float64() - spent[name]
		}
		for i := range names {
			for _, after := range sides(i) {
				n++
				g := live(proposal(n, query), i, after)
				what := fmt.Sprintf("message %d, like %s, its answer lost: %v", i, names[i], after)
				switch {
				case g.Phase != Finished || len(g.Reasons) > 0:
					t.Errorf("%s: %+v", what, g)
				case !query && (len(g.Rounds) != 2 || len(g.Rounds[0].Nodes) != 2 || len(g.Rounds[1].Nodes) != 2):
					t.Errorf("%s: the run is %+v", what, g)
				case query && (len(g.Answers) != 2 || len(g.Total) != 1):
					t.Errorf("%s: the query is %+v", what, g)
				}
				for name, h := range holders {
					if got, want := must(h.Spent(t.Context(), "patients")).Rho.Float64()-spent[name], cost[name]*float64(n+1); got < want*(1-1e-9) || got > want*(1+1e-9) {
						t.Errorf("%s: %s has spent %v, want %v", what, name, got, want)
					}
				}
			}
		}
	}
}

// A clip that depends on noise is told when it is on disk, and not before: of a coordinator that cannot write
// nothing is learnt, also where it begins again and draws other noise.
func TestAClipIsToldWhenItIsStored(t *testing.T) {
	t.Parallel()
	dir, m := t.TempDir(), &messenger{at: -1}
	_, peers := m.nodes(t, dir)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c := must(New(ctx, Options{Dir: dir, Peers: peers, Bits: noise.System(), Now: time.Now, Log: slog.New(slog.DiscardHandler), Pause: time.Millisecond}))
	// With the last answer of the first round the folder goes away.
	m.at, m.after, m.die = 5, true, func() {
		m.dead = false
		if err := os.RemoveAll(filepath.Join(dir, "runs")); err != nil {
			t.Error(err)
		}
	}
	p := Proposal{ID: "run", Reason: "a test", Plan: adaptive()}
	g := must(c.Propose("ada", p))
	for !ended(g) {
		<-time.After(time.Millisecond)
		g = must(c.Propose("ada", p))
	}
	if g.Phase != Failed || len(g.Rounds) != 1 || g.Clip != 0 && g.Clip != p.Plan.Privacy.Clip {
		t.Errorf("the run is %+v, and its clip %v", g, g.Clip)
	}
}
