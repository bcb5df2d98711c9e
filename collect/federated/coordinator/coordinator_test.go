package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

func TestMain(m *testing.M) { clustertest.Main(m, Profile()) }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func training(rounds, minimum int) *federated.Plan {
	p := federated.Plan{
		Data: "patients", Network: network.Spec{Input: []int{4}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Unit: federated.Person, Rounds: rounds, Nodes: federated.Nodes{Minimum: minimum, Seconds: 20}, Server: optimizer.Spec{Kind: optimizer.Momentum, Rate: 1},
		Privacy: &federated.Privacy{Method: federated.FedAvg, Place: federated.AtCoordinator, Clip: 1, Delta: must(privacy.ParseDelta("1e-6"))},
	}
	p = must(p.Calibrate(must(privacy.ParseEpsilon("2")), privacy.AddRemove))
	return &p
}

func propose(t *testing.T, analyst *cluster.Station, p Proposal) (g Progress) {
	t.Helper()
	if err := Call(t.Context(), analyst, "coordinator", http.MethodPost, "/runs", p, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// until waits for a run to be as wanted; the coordinator may be down for a while.
func until(t *testing.T, analyst *cluster.Station, id string, done func(Progress) bool) (g Progress) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		var now Progress
		err := Call(ctx, analyst, "coordinator", http.MethodGet, "/runs/"+id, nil, &now)
		if err == nil {
			if g = now; done(g) {
				return g
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the run is %+v, %v", g, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ended(g Progress) bool { return g.Phase == Finished || g.Phase == Failed }

// books are those of a node, as its owner opens them.
func books(t *testing.T, c *cluster.Cluster, name string) *node.Books {
	t.Helper()
	b, err := OwnBooks(t.Context(), clustertest.Member(t, c, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// accuracy is that of a model on a node's patients, which are made and so may be looked at.
func accuracy(t *testing.T, data []byte, csv string) float64 {
	t.Helper()
	m, err := learn.DecodeModel(data)
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Encoding *example.Encoding }
	if err := json.Unmarshal(m.Encoding, &about); err != nil {
		t.Fatal(err)
	}
	set := must(example.CSV(t.Context(), csv, about.Encoding, "", example.Selection{PerUnit: 1}))
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	s := must(must(m.Build()).NewPass(network.PassOptions{}).Losses(set, rows, make([]float64, len(rows))))
	return float64(s.Correct) / float64(s.Labels)
}

// A run from the proposal to the model, with owners who decide, over processes that are each
// on their own.
func TestARun(t *testing.T) {
	const canary = "canary-5160-of-node-1"
	proxies := map[string]*clustertest.Proxy{}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "3"}, func(from, to, address string) (string, error) {
		p := clustertest.NewProxy(t, address)
		p.Keep = true
		proxies[from+" "+to] = p
		return p.Address(), nil
	})
	// The first node's file gets a note that only it has.
	path := filepath.Join(c.Folder("node-1"), madeFile)
	text := must(os.ReadFile(path))
	noted := bytes.ReplaceAll(text, []byte("true\n"), []byte("true,"+canary+"\n"))
	noted = bytes.ReplaceAll(noted, []byte("false\n"), []byte("false,"+canary+"\n"))
	noted = bytes.Replace(noted, []byte("again\n"), []byte("again,note\n"), 1)
	if err := errors.Join(os.WriteFile(path, noted, 0o600), c.Restart(t.Context(), "node-1")); err != nil {
		t.Fatal(err)
	}
	analyst := clustertest.Member(t, c, "analyst")
	run := Proposal{ID: "who-comes-again", Reason: "beds for the winter", Plan: training(10, 2)}
	propose(t, analyst, run)
	until(t, analyst, run.ID, func(g Progress) bool { return len(g.Nodes) == 3 && g.Nodes["node-1"] == node.Pending })
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		b := books(t, c, name)
		all := must(b.Requests(t.Context()))
		if len(all) != 1 || all[0].Reason != run.Reason || all[0].Asker != "coordinator" || all[0].Epsilon > 2 || all[0].Epsilon < 1.8 || !strings.Contains(all[0].Trusts, "clipped sums") {
			t.Fatalf("%s sees %+v", name, all)
		}
		if s, err := b.Decide(t.Context(), "coordinator", run.ID, name != "node-3", "ada", "we do not share"); err != nil {
			t.Fatal(s, err)
		}
	}
	g := until(t, analyst, run.ID, ended)
	if g.Phase != Finished || len(g.Rounds) != 10 || g.Nodes["node-3"] != node.Denied || g.Reasons["node-3"] != "we do not share" || strings.Join(g.Rounds[9].Nodes, " ") != "node-1 node-2" {
		t.Fatalf("the run: %+v", g)
	}
	if e := g.Certificate.Guarantee.Epsilon; e > 2 || e < 1.8 || g.Certificate.Unit != federated.Person || len(g.Certificate.Trusted) != 2 {
		t.Errorf("the certificate: %+v", g.Certificate)
	}
	var model []byte
	if err := Call(t.Context(), analyst, "coordinator", http.MethodGet, "/runs/"+run.ID+"/model", nil, &model); err != nil {
		t.Fatal(err)
	}
	if got := accuracy(t, model, filepath.Join(c.Folder("node-2"), madeFile)); got < 0.75 { // of 12 runs 0.857 ± 0.007
		t.Errorf("accuracy %v", got)
	}
	// The same proposal is the same run; another under its id is refused.
	if again := propose(t, analyst, run); again.Phase != Finished {
		t.Errorf("proposed again: %+v", again)
	}
	var p *cluster.Problem
	run.Plan = training(11, 2)
	if err := Call(t.Context(), analyst, "coordinator", http.MethodPost, "/runs", run, &g); !errors.As(err, &p) || p.Type != "otherProposal" {
		t.Errorf("another proposal: %v", err)
	}
	if err := Call(t.Context(), analyst, "coordinator", http.MethodGet, "/runs/nothing", nil, &g); !errors.As(err, &p) || p.Type != "unknownRun" {
		t.Errorf("an unknown run: %v", err)
	}

	// The note is in the first node's file, and nowhere else: not in files and logs of others,
	// in what passed, in what their processes hold.
	found := map[string]int{}
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			found[filepath.Base(filepath.Dir(path))] += strings.Count(string(text), canary)
		}
		return err
	})
	if err != nil || found["node-1"] < 100 {
		t.Errorf("the canary is not where it should be: %v, %v", found, err)
	}
	for role, n := range found {
		if n > 0 && role != "node-1" {
			t.Errorf("the canary of node-1 is in the files of %s", role)
		}
	}
	for _, s := range must(c.Status(t.Context())) {
		held, err := memory(s.PID)
		if err != nil {
			t.Logf("the memory of %s cannot be read here: %v", s.Role, err)
			continue
		}
		if s.Role != "node-1" && bytes.Contains(held, []byte(canary)) {
			t.Errorf("the canary of node-1 is in the memory of %s", s.Role)
		}
	}
	for way, p := range proxies {
		if bytes.Contains(p.Seen(), []byte(canary)) {
			t.Errorf("the canary passes from %s", way)
		}
	}
	if len(proxies["coordinator node-1"].Seen()) < 1000 {
		t.Error("nothing passes through the proxy, so nothing is tested")
	}
}

// memory is what a process holds.
func memory(pid int) ([]byte, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	var all []byte
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasPrefix(mode, "rw") || to-from > 64<<20 {
			continue
		}
		part := make([]byte, to-from)
		n, _ := mem.ReadAt(part, from)
		all = append(all, part[:n]...)
	}
	if len(all) == 0 {
		return nil, errors.New("nothing could be read")
	}
	return all, nil
}

// Nodes and the coordinator are killed at random, and connections cut: the run ends, each node
// is charged once, and nothing was released that was not paid for.
func TestKilledAtRandom(t *testing.T) {
	var mu sync.Mutex
	proxies := map[string]*clustertest.Proxy{}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "3", "auto": "3", "patients": "300"}, func(from, to, address string) (string, error) {
		if from != "coordinator" {
			return address, nil
		}
		mu.Lock()
		defer mu.Unlock()
		proxies[to] = clustertest.NewProxy(t, address)
		return proxies[to].Address(), nil
	})
	analyst := clustertest.Member(t, c, "analyst")
	p := training(25, 2)
	p.Privacy.Place, p.Privacy.Method, p.Every = federated.AtNodes, federated.FTRL, 8
	*p = must(p.Calibrate(must(privacy.ParseEpsilon("2")), privacy.AddRemove))
	propose(t, analyst, Proposal{ID: "killed", Reason: "a test", Plan: p})
	for i := range 9 {
		role := []string{"node-1", "coordinator", "node-2", "node-3"}[i%4]
		if proxy := proxies[role]; proxy != nil && i%2 == 0 {
			proxy.CutAfter(int64(2500 + 700*i)) // its answer is on the way, and lost
			time.Sleep(60 * time.Millisecond)
			proxy.Mend()
		}
		if err := errors.Join(c.Kill(t.Context(), role), c.Restart(t.Context(), role)); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if t.Failed() {
			for _, role := range []string{"coordinator", "node-1"} {
				log, _ := os.ReadFile(filepath.Join(c.Folder(role), "log"))
				t.Logf("%s: %s", role, log[max(0, len(log)-4000):])
			}
		}
	}()
	g := until(t, analyst, "killed", ended)
	if g.Phase != Finished || len(g.Rounds) < 1 {
		t.Fatalf("the run: %+v", g)
	}
	rho := must(p.Rho(privacy.AddRemove))
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		b := books(t, c, name)
		s := must(b.Status(t.Context(), "coordinator", "killed"))
		spent, err := b.Spent(t.Context(), "patients")
		if err != nil || len(s.Rounds) > 0 && !spent.Rho.Equal(rho) || len(s.Rounds) == 0 {
			t.Errorf("%s released %d rounds and spent %v of rho %v: %v", name, len(s.Rounds), spent.Rho, rho, err)
		}
		if err := b.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A round ends: without a node that is gone, or, where it is needed, by saying so.
func TestNodesThatAreGone(t *testing.T) {
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "3", "auto": "3", "patients": "100"}, nil)
	analyst := clustertest.Member(t, c, "analyst")
	two, three := training(40, 2), training(40, 3)
	two.Nodes.Seconds, three.Nodes.Seconds = 1, 1
	propose(t, analyst, Proposal{ID: "needs-three", Reason: "a test", Plan: three})
	until(t, analyst, "needs-three", func(g Progress) bool { return len(g.Rounds) > 0 })
	if err := c.Kill(t.Context(), "node-2"); err != nil {
		t.Fatal(err)
	}
	if g := until(t, analyst, "needs-three", ended); g.Phase != Finished && !strings.Contains(g.Why, ErrNodes.Error()) || g.Phase == Finished && len(g.Rounds) < 40 {
		t.Errorf("three of three are needed: %s, %s", g.Phase, g.Why)
	}
	propose(t, analyst, Proposal{ID: "needs-two", Reason: "a test", Plan: two})
	g := until(t, analyst, "needs-two", ended)
	if g.Phase != Finished || len(g.Rounds) != 40 || g.Reasons["node-2"] == "" {
		t.Errorf("two of three are needed: %+v", g)
	}
}

// A query is answered by each node under its own budget, and its answers add up.
func TestAQuery(t *testing.T) {
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "2", "auto": "1", "epsilon": "10"}, nil)
	analyst := clustertest.Member(t, c, "analyst")
	q := &node.Query{Data: "patients", Of: "count", Epsilon: must(privacy.ParseEpsilon("1"))}
	propose(t, analyst, Proposal{ID: "how-many", Reason: "a test", Query: q})
	g := until(t, analyst, "how-many", ended)
	// 800 patients; two noises of scale 1 are off by 60 with probability below 1e-24.
	if g.Phase != Finished || len(g.Answers) != 2 || len(g.Total) != 1 || g.Total[0] < 740 || g.Total[0] > 860 {
		t.Errorf("%+v", g)
	}
}

// A run is its asker's: others may not see it, begin it or fetch its model.
func TestRunsOfOthers(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end() // nothing is led
	c := must(New(ctx, Options{Dir: t.TempDir(), Now: time.Now}))
	defer c.Wait()
	must(c.Propose("ada", Proposal{ID: "run", Reason: "a test", Query: &node.Query{Data: "patients", Of: "count", Epsilon: must(privacy.ParseEpsilon("1"))}}))
	must(c.Progress("ada", "run"))
	_, progress := c.Progress("bob", "run")
	_, begin := c.Begin("bob", "run")
	_, model := c.Model("bob", "run")
	for _, err := range []error{progress, begin, model} {
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("another's run: %v", err)
		}
	}
	if _, err := c.Model("ada", "run"); !errors.Is(err, ErrEarly) {
		t.Errorf("one's own run: %v", err)
	}
}
