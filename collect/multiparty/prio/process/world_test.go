package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

func TestMain(m *testing.M) { clustertest.Main(m, process.Profile(), ownersProfile()) }

// A world is a cluster of the profile with its client and its collector. With epsilon 1000, which is
// the setting if a test names no other, noise is not 0 with probability below e^-490.
type world struct {
	testing.TB
	c         *cluster.Cluster
	ctx       context.Context
	task      *process.Task
	hash      string
	station   *cluster.Station // of the client
	client    *process.Client
	collector *cluster.Station
	proxies   map[string]*clustertest.Proxy // by who asks and who answers
}

// begin starts a cluster. Connections named in proxied, "from>to", go through a proxy.
func begin(t testing.TB, set cluster.Settings, proxied ...string) *world {
	t.Helper()
	w := &world{TB: t, proxies: map[string]*clustertest.Proxy{}}
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	given := cluster.Settings{"epsilon": "1000", "budget": "1000000", "least": "1"}
	for name, value := range set {
		given[name] = value
	}
	w.c = clustertest.Up(t, process.Profile(), given, func(from, to, address string) (string, error) {
		if !slices.Contains(proxied, from+">"+to) {
			return address, nil
		}
		p := clustertest.NewProxy(t, address)
		w.proxies[from+">"+to] = p
		return p.Address(), nil
	})
	w.station, w.collector = clustertest.Member(t, w.c, process.ClientName), clustertest.Member(t, w.c, process.CollectorName)
	var err error
	if w.task, err = process.TaskOf(w.station); err != nil {
		t.Fatal(err)
	}
	data, err := w.task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.hash = process.Digest(data)
	if w.client, err = process.NewClient(w.ctx, w.station, w.task); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) report(batch string, numbers ...uint64) *process.Report {
	w.Helper()
	r, err := w.client.Report(batch, numbers)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// upload sends reports, and wants them to become this.
func (w *world) upload(want string, all ...*process.Report) {
	w.Helper()
	codes, err := w.client.Upload(w.ctx, all)
	if err != nil {
		w.Fatal(err)
	}
	for i, code := range codes {
		if code != want {
			w.Errorf("contribution %d becomes %s, want %s", i, code, want)
		}
	}
}

func (w *world) votes(batch string, places ...uint64) (all []*process.Report) {
	w.Helper()
	for _, p := range places {
		all = append(all, w.report(batch, p))
	}
	return all
}

func (w *world) collect(batch string) *process.Result {
	w.Helper()
	r, err := process.Collect(w.ctx, w.collector, w.task, batch)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *world) total(batch string, want ...int64) *process.Result {
	w.Helper()
	r := w.collect(batch)
	if !slices.EqualFunc(r.Values, want, func(a *big.Int, b int64) bool { return a.Cmp(big.NewInt(b)) == 0 }) {
		w.Errorf("%s adds up to %v, want %v", batch, r.Values, want)
	}
	return r
}

// refused wants a collection to be refused by this name.
func (w *world) refused(batch, want string) {
	w.Helper()
	_, err := process.Collect(w.ctx, w.collector, w.task, batch)
	w.expect("the collection of "+batch, err, want)
}

func (w *world) expect(what string, err error, want string) {
	w.Helper()
	var p *cluster.Problem
	if !errors.As(err, &p) || p.Type != want {
		w.Errorf("%s: %v, want %s", what, err, want)
	}
}

// status waits until no contribution to a batch waits, and says what became of them.
func (w *world) status(batch string) process.Status {
	w.Helper()
	for {
		s, err := w.client.Status(w.ctx, batch)
		if err != nil && !cluster.Passing(err) || w.ctx.Err() != nil {
			w.Fatal(err)
		}
		if err == nil && s[process.Stored] == 0 {
			return s
		}
		select {
		case <-w.ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask sends a message of a member's by hand.
func (w *world) ask(as *cluster.Station, to, method, path string, message any, answer any) error {
	w.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		w.Fatal(err)
	}
	return as.Ask(w.ctx, to, method, "/tasks/"+w.hash+path, data, answer)
}

// as opens the folder of a member with the addresses of others, to speak as it.
func (w *world) as(name string, peers ...string) *cluster.Station {
	w.Helper()
	s := clustertest.Member(w, w.c, name)
	path := s.File("role.json")
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	var role map[string]any
	if err := json.Unmarshal(text, &role); err != nil {
		w.Fatal(err)
	}
	known, _ := role["peers"].(map[string]any)
	if known == nil {
		known = map[string]any{}
	}
	for _, p := range peers {
		known[p] = w.collector.Peers[p]
	}
	role["peers"] = known
	if text, err = json.Marshal(role); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		w.Fatal(err)
	}
	return clustertest.Member(w, w.c, name)
}

func withTimeout(w *world, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, d)
}

// replace puts a copy in the place of a role's file.
func replace(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(to + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
