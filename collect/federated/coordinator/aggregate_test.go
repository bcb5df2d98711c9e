package coordinator

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// aggregated is a plan of so many rounds whose updates go to aggregators.
func aggregated(way federated.Way, colluding, rounds, minimum int, names ...string) *federated.Plan {
	p := training(rounds, minimum)
	p.Privacy.Place, p.Aggregation, p.Aggregators = "", way, &federated.Aggregators{Names: names, Colluding: colluding}
	return p
}

// A run whose updates are added up by aggregators, by each way, learns as well as one that trusts its
// coordinator; each node is charged the same.
func TestAggregators(t *testing.T) {
	t.Parallel()
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "3", "auto": "3", "aggregators": "3", "colluding": "1"}, nil)
	analyst := clustertest.Member(t, c, "analyst")
	names := []string{"leader", "helper-1", "helper-2"}
	spent := privacy.Rho{}
	for i, p := range []*federated.Plan{aggregated(federated.Prio3, 0, 6, 3, names...), aggregated(federated.Shares, 1, 6, 3, names...)} {
		id := string(p.Aggregation)
		propose(t, analyst, Proposal{ID: id, Reason: "a test", Plan: p})
		g := until(t, analyst, id, ended)
		if g.Phase != Finished || len(g.Rounds) != 6 || strings.Join(g.Rounds[5].Nodes, " ") != "node-1 node-2 node-3" {
			t.Fatalf("%s: %+v", id, g)
		}
		if e := g.Certificate.Guarantee.Epsilon; e > 2 || e < 1.8 || len(g.Certificate.Trusted) != 2 || !strings.Contains(g.Certificate.Trusted[1], "leader, helper-1, helper-2") {
			t.Errorf("%s: the certificate: %+v", id, g.Certificate)
		}
		var model []byte
		if err := Call(t.Context(), analyst, "coordinator", http.MethodGet, "/runs/"+id+"/model", nil, &model); err != nil {
			t.Fatal(err)
		}
		if got := accuracy(t, model, filepath.Join(c.Folder("node-2"), madeFile)); got < 0.7 { // of 12 runs 0.857 ± 0.007
			t.Errorf("%s: accuracy %v", id, got)
		}
		for _, name := range []string{"node-1", "node-3"} {
			s := must(books(t, c, name).Status(t.Context(), "coordinator", id))
			if s.State != node.Released || len(s.Rounds) != 6 || !strings.Contains(s.Trusts, "aggregators leader, helper-1, helper-2") {
				t.Errorf("%s: %s has %+v", id, name, s)
			}
		}
		all := must(books(t, c, "node-1").Spent(t.Context(), "patients")).Rho
		spent = must(privacy.NewRho(spent.Rat().Add(spent.Rat(), must(p.Rho(privacy.AddRemove)).Rat())))
		if !all.Equal(spent) {
			t.Errorf("after %d runs node-1 has spent %v, want %v", i+1, all, spent)
		}
	}

	// What owners or the coordinator do not trust is denied before anything leaves.
	for id, denied := range map[string]*federated.Plan{
		"fewer":   aggregated(federated.Prio3, 0, 2, 1, names[:2]...),
		"another": aggregated(federated.Prio3, 0, 2, 1, "helper-1", "leader", "helper-2"),
	} {
		propose(t, analyst, Proposal{ID: id, Reason: "a test", Plan: denied})
		g := until(t, analyst, id, ended)
		if id == "fewer" && (g.Phase != Failed || !strings.Contains(g.Reasons["node-1"], "not those that the owner names")) {
			t.Errorf("%s: %+v", id, g)
		}
		// The aggregators refuse a leader that is none; each node was charged by then, or not asked.
		if id == "another" && (g.Phase != Failed || !strings.Contains(g.Why, ErrAggregators.Error())) {
			t.Errorf("%s: %+v", id, g)
		}
	}
	var p *cluster.Problem
	if err := Call(t.Context(), analyst, "coordinator", http.MethodPost, "/runs", Proposal{ID: "strangers", Reason: "a test", Plan: aggregated(federated.Prio3, 0, 2, 1, "leader", "node-1")}, nil); !errors.As(err, &p) || p.Type != "badProposal" {
		t.Errorf("a node as an aggregator: %v", err)
	}
}

// canaries are a node's update of the first round in the forms in which a process would have it: its
// integers as they lie in memory, on the wire, in files, and as elements of the field.
func canaries(t *testing.T, c *cluster.Cluster, name string, p federated.Plan) [][]byte {
	t.Helper()
	var config made
	if err := clustertest.Member(t, c, name).Decode(&config); err != nil {
		t.Fatal(err)
	}
	set := must(example.CSV(t.Context(), filepath.Join(c.Folder(name), madeFile), config.Node.Data[0].Encoding, "", example.Selection{PerUnit: 1}))
	begin := must(p.Begin())
	part := must(federated.NewPart(p, name, set, must(p.Turns(noise.System(), set.UnitCount())))) // Every is 1: all are due
	u := must(part.Update(t.Context(), noise.System(), 0, begin.Weights, begin.Clip))
	var integers, floats, field []byte
	for _, k := range u.Sum {
		integers = binary.LittleEndian.AppendUint64(integers, uint64(k))
		floats = binary.LittleEndian.AppendUint64(floats, math.Float64bits(float64(k)*(begin.Clip/(1<<20))))
		field = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(field, uint64(k+1<<(p.NumberBits()-1))), 0)
	}
	return [][]byte{integers[:24], integers[8:32], []byte(base64.StdEncoding.EncodeToString(integers))[:32], floats[:24], field[:32]}
}

func holds(held []byte, canaries [][]byte) bool {
	return slices.ContainsFunc(canaries, func(c []byte) bool { return bytes.Contains(held, c) })
}

// A node's update is in the node's memory alone: not in memory, files and traffic of the coordinator, the
// aggregators and the other nodes. Then the coordinator adds up the same updates itself, and the same search
// finds one in its memory and the node's files.
func TestAnUpdateIsTheNodesAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	proxies := map[string]*clustertest.Proxy{}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "2", "auto": "3", "aggregators": "2", "patients": "50"}, func(from, to, address string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		p := clustertest.NewProxy(t, address)
		p.Keep = true
		proxies[from+" "+to] = p
		return p.Address(), nil
	})
	analyst := clustertest.Member(t, c, "analyst")
	// search makes a run of a round, and says where an update of node-1 is then.
	search := func(p *federated.Plan, roles ...string) map[string]bool {
		id := "by-" + string(p.NoiseBy())
		propose(t, analyst, Proposal{ID: id, Reason: "a test", Plan: p})
		if g := until(t, analyst, id, ended); g.Phase != Finished {
			t.Fatalf("%s: %+v", id, g)
		}
		sought, found := canaries(t, c, "node-1", *p), map[string]bool{}
		if err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				role, _, _ := strings.Cut(strings.TrimPrefix(path, c.Dir+"/"), "/")
				found[role+"'s files"] = found[role+"'s files"] || holds(text, sought)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, s := range must(c.Status(t.Context())) {
			if slices.Contains(roles, s.Role) {
				found[s.Role+"'s memory"] = holds(clustertest.Memory(t, s.PID), sought)
			}
		}
		for between, proxy := range proxies {
			found["the traffic of "+between] = holds(proxy.Seen(), sought)
		}
		return found
	}
	for where, is := range search(aggregated(federated.Prio3, 0, 1, 2, "leader", "helper-1"), "coordinator", "leader", "helper-1", "node-2") {
		if is {
			t.Errorf("the update of node-1 is in %s", where)
		}
	}
	if len(proxies["coordinator node-1"].Seen()) < 1000 || len(proxies["node-1 leader"].Seen()) < 1000 {
		t.Error("nothing passes, so that nothing is tested")
	}
	if found := search(training(1, 2), "coordinator"); !found["node-1's files"] || !found["coordinator's memory"] {
		t.Errorf("the search finds no update where it is: %v", found)
	}
}

// Every process is killed again and again, and answers are lost: a run with aggregators ends with the
// rounds that it was to have, each node is charged once, and contributes to a round once.
func TestAggregatorsKilled(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	proxies := map[string]*clustertest.Proxy{}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "2", "auto": "3", "aggregators": "2", "patients": "60"}, func(from, to, address string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		p := clustertest.NewProxy(t, address)
		proxies[from+" "+to] = p
		return p.Address(), nil
	})
	analyst := clustertest.Member(t, c, "analyst")
	p := aggregated(federated.Prio3, 0, 24, 2, "leader", "helper-1")
	propose(t, analyst, Proposal{ID: "killed", Reason: "a test", Plan: p})
	until(t, analyst, "killed", func(g Progress) bool { return len(g.Rounds) > 0 })
	ways := []string{"coordinator node-1", "coordinator leader", "node-2 leader", "leader helper-1", "coordinator helper-1"}
	for i := range 15 {
		if way := proxies[ways[i%len(ways)]]; way != nil {
			way.Mute() // what is answered from now on is lost
			time.Sleep(40 * time.Millisecond)
			way.Cut()
			way.Mend()
		}
		role := []string{"coordinator", "leader", "node-1", "helper-1", "node-2"}[i%5]
		if err := errors.Join(c.Kill(t.Context(), role), c.Restart(t.Context(), role)); err != nil {
			t.Fatal(err)
		}
	}
	g := until(t, analyst, "killed", ended)
	if g.Phase != Finished || len(g.Rounds) != 24 {
		for _, role := range []string{"coordinator", "leader", "node-1"} {
			log, _ := os.ReadFile(filepath.Join(c.Folder(role), "log"))
			t.Logf("%s: %s", role, log[max(0, len(log)-3000):])
		}
		t.Fatalf("the run: %+v", g)
	}
	rho := must(p.Rho(privacy.AddRemove))
	for _, name := range []string{"node-1", "node-2"} {
		b := books(t, c, name)
		s := must(b.Status(t.Context(), "coordinator", "killed"))
		spent, err := b.Spent(t.Context(), "patients")
		if err != nil || len(s.Rounds) != 24 || !spent.Rho.Equal(rho) {
			t.Errorf("%s released %d rounds and spent %v of rho %v: %v", name, len(s.Rounds), spent.Rho, rho, err)
		}
	}
}

// A lost node ends no round that has enough without it. A lost aggregator ends the run within the
// deadlines of a round, saying so; one that comes back in time lets it go on.
func TestALostAggregator(t *testing.T) {
	t.Parallel()
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "3", "auto": "3", "aggregators": "2", "patients": "40"}, nil)
	analyst := clustertest.Member(t, c, "analyst")
	long := aggregated(federated.Prio3, 0, 400, 2, "leader", "helper-1")
	long.Nodes.Seconds = 2
	propose(t, analyst, Proposal{ID: "long", Reason: "a test", Plan: long})
	until(t, analyst, "long", func(g Progress) bool { return len(g.Rounds) > 1 })
	if err := c.Kill(t.Context(), "node-3"); err != nil {
		t.Fatal(err)
	}
	at := len(until(t, analyst, "long", func(Progress) bool { return true }).Rounds)
	g := until(t, analyst, "long", func(g Progress) bool {
		return ended(g) || len(g.Rounds) > at+2 && strings.Join(g.Rounds[len(g.Rounds)-1].Nodes, " ") == "node-1 node-2"
	})
	if g.Phase != Running {
		t.Fatalf("without a node: %+v", g)
	}
	if err := c.Kill(t.Context(), "helper-1"); err != nil {
		t.Fatal(err)
	}
	if g = until(t, analyst, "long", ended); g.Phase != Failed || !strings.Contains(g.Why, ErrAggregators.Error()) {
		t.Errorf("without an aggregator: %s, %s", g.Phase, g.Why)
	}
}
