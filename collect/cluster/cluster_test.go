package cluster_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
)

// echo is a profile of two roles that answer with who asked, and count what they were asked
// on disk.
func echo() cluster.Profile {
	return cluster.Profile{
		Name: "echo", Short: "two roles that say who asks",
		Settings: []cluster.Setting{{Name: "word", Default: "hello", Usage: "what they say"}},
		Members: func(s cluster.Settings) ([]cluster.Member, error) {
			if s["word"] == "" {
				return nil, errors.New("there is no word")
			}
			return []cluster.Member{
				{Name: "first", Kind: "echo", Peers: []string{"second"}, Config: echoConfig{s["word"]}},
				{Name: "second", Kind: "echo", Config: echoConfig{s["word"]}},
				{Name: "client", Peers: []string{"first", "second"}},
			}, nil
		},
		Roles: map[string]cluster.Role{"echo": runEcho},
	}
}

type echoConfig struct{ Word string }

func runEcho(ctx context.Context, s *cluster.Station) error {
	var c echoConfig
	if err := s.Decode(&c); err != nil {
		return err
	}
	if c.Word == "fail" {
		return errors.New("a role that fails")
	}
	var mu sync.Mutex
	m := http.NewServeMux()
	m.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		if text, err := os.ReadFile(s.File("count")); err == nil {
			n, _ = strconv.Atoi(string(text))
		}
		os.WriteFile(s.File("count"), []byte(strconv.Itoa(n+1)), 0o600)
		fmt.Fprintf(w, "%s %s, you are %s, number %d", c.Word, s.Name(), cluster.Caller(r), n+1)
	})
	m.Handle("GET /second", cluster.Only(m, "second"))
	return s.Serve(ctx, m)
}

func TestMain(m *testing.M) { clustertest.Main(m, echo()) }

func ask(t *testing.T, s *cluster.Station, peer, path string) (int, string) {
	t.Helper()
	status, text, err := try(t.Context(), s, peer, path)
	if err != nil {
		t.Fatal(err)
	}
	return status, text
}

func try(ctx context.Context, s *cluster.Station, peer, path string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL(peer, path), nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := s.Client(peer).Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

func states(t *testing.T, c *cluster.Cluster) (all []cluster.Status) {
	t.Helper()
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRolesLiveAndDie(t *testing.T) {
	c := clustertest.Up(t, echo(), nil, nil)
	client := clustertest.Member(t, c, "client")
	if _, text := ask(t, client, "first", "/"); text != "hello first, you are client, number 1" {
		t.Errorf("first says %q", text)
	}
	before := states(t, c)
	for _, s := range before {
		if s.State != cluster.Running || s.PID == os.Getpid() || s.PID == 0 {
			t.Errorf("after up: %+v", s)
		}
	}
	if len(before) != 2 || before[0].PID == before[1].PID {
		t.Fatalf("two roles are two processes: %+v", before)
	}

	if err := c.Kill(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if s := states(t, c); s[0].State != cluster.Ended || s[1].State != cluster.Running {
		t.Errorf("after kill: %+v", s)
	}
	if _, _, err := try(t.Context(), client, "first", "/"); err == nil {
		t.Error("a killed role answers")
	}
	if err := c.Restart(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if _, text := ask(t, client, "first", "/"); text != "hello first, you are client, number 2" {
		t.Errorf("at the same address, with what it has stored, first says %q", text)
	}
	after := states(t, c)
	if after[0].HTTPS != before[0].HTTPS || after[0].PID == before[0].PID || after[1].PID != before[1].PID {
		t.Errorf("after restart: %+v, before %+v", after, before)
	}
	// Up again starts nothing that runs; Restart ends what runs.
	if _, err := cluster.Up(t.Context(), c.Dir, "echo", nil, clustertest.Options(t, echo())); err != nil {
		t.Fatal(err)
	}
	if again := states(t, c); again[0].PID != after[0].PID || again[1].PID != after[1].PID {
		t.Errorf("up started a role that ran: %+v, before %+v", again, after)
	}
	if err := c.Restart(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	if again := states(t, c); again[1].PID == after[1].PID {
		t.Error("restart left the process")
	}
	if err := c.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range states(t, c) {
		if s.State != cluster.Ended {
			t.Errorf("after down: %+v", s)
		}
		if _, err := os.Stat(filepath.Join(c.Folder(s.Role), "ready.json")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s ended in order and left its ready file: %v", s.Role, err)
		}
	}
}

// A process that has the number of a role that died is nobody's to kill.
func TestStalePIDsAreNeverSignalled(t *testing.T) {
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- bystander.Wait() }()
	t.Cleanup(func() { bystander.Process.Kill() })
	c := clustertest.Up(t, echo(), nil, nil)
	if err := c.Kill(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	stale, _ := json.Marshal(cluster.Ready{PID: bystander.Process.Pid, HTTP: "127.0.0.1:1", HTTPS: "127.0.0.1:1"})
	if err := os.WriteFile(filepath.Join(c.Folder("first"), "ready.json"), stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := states(t, c); s[0].State != cluster.Ended || s[0].PID != 0 {
		t.Errorf("a stale ready file makes a role: %+v", s[0])
	}
	if err := errors.Join(c.Kill(t.Context(), "first"), c.Restart(t.Context(), "first"), c.Down(t.Context())); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-gone:
		t.Errorf("the bystander was killed: %v", err)
	default:
	}
}

// A role outlives the process that started it, as when a shell ends.
func TestRolesSurviveTheirLauncher(t *testing.T) {
	if dir := os.Getenv("LAUNCH_CLUSTER_IN"); dir != "" {
		if _, err := cluster.Up(t.Context(), dir, "echo", nil, clustertest.Options(t, echo())); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, o := filepath.Join(t.TempDir(), "cluster"), clustertest.Options(t, echo())
	t.Cleanup(func() { clustertest.Down(t, dir, o) })
	launcher := exec.Command(o.Command[0], "-test.run=^TestRolesSurviveTheirLauncher$")
	launcher.Env = append(os.Environ(), "LAUNCH_CLUSTER_IN="+dir)
	if text, err := launcher.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c, err := cluster.Load(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states(t, c) {
		if s.State != cluster.Running {
			t.Errorf("after its launcher: %+v", s)
		}
	}
}

// A role does not outlive its folder: nobody could find it to end it.
func TestRolesEndWithTheirFolder(t *testing.T) {
	c := clustertest.Up(t, echo(), nil, nil)
	second := states(t, c)[1]
	if err := os.RemoveAll(c.Folder("second")); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := http.Get("http://" + second.HTTP + "/healthz"); err != nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it runs on")
		case <-look.C:
		}
	}
}

func TestOneProcessARole(t *testing.T) {
	c := clustertest.Up(t, echo(), nil, nil)
	second := exec.Command(clustertest.Options(t).Command[0], clustertest.Options(t).Command[1], c.Folder("first"))
	text, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(text), cluster.ErrRunning.Error()) {
		t.Errorf("a second process of a role: %v\n%s", err, text)
	}
	if s := states(t, c); s[0].State != cluster.Running {
		t.Errorf("the first process: %+v", s[0])
	}
}

func TestKeys(t *testing.T) {
	c, other := clustertest.Up(t, echo(), nil, nil), clustertest.Up(t, echo(), nil, nil)
	client := clustertest.Member(t, c, "client")

	if status, _ := ask(t, client, "first", "/second"); status != http.StatusForbidden {
		t.Errorf("a page for second answers client: %d", status)
	}

	// Nobody without a certificate, and nobody with one of another cluster.
	bare := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if answer, err := bare.Get(client.URL("first", "/")); err == nil {
		answer.Body.Close()
		t.Error("a role answers without a certificate")
	}
	stranger := clustertest.Member(t, other, "client")
	stranger.Peers["first"] = client.Peers["first"]
	if _, _, err := try(t.Context(), stranger, "first", "/"); err == nil {
		t.Error("a client of another cluster is answered")
	}

	// A client that was led to another role than it asked for says nothing to it.
	client.Peers["first"] = client.Peers["second"]
	if _, _, err := try(t.Context(), client, "first", "/"); err == nil {
		t.Error("second was taken for first")
	}

	for _, name := range []string{"first/key.pem", "client/key.pem", "first/role.json", "cluster.json"} {
		info, err := os.Stat(filepath.Join(c.Dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	err := filepath.WalkDir(c.Dir, func(path string, _ os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); err == nil && strings.Contains(string(text), "PRIVATE KEY") && filepath.Base(path) != "key.pem" {
			t.Errorf("%s holds a key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConnectionsAreCutByAProxy(t *testing.T) {
	var p *clustertest.Proxy
	c := clustertest.Up(t, echo(), cluster.Settings{"word": "canary-4711"}, func(from, to, address string) (string, error) {
		if from != "client" || to != "first" {
			return address, nil
		}
		p = clustertest.NewProxy(t, address)
		p.Keep = true
		return p.Address(), nil
	})
	client := clustertest.Member(t, c, "client")
	ask(t, client, "first", "/")
	p.Cut()
	if _, _, err := try(t.Context(), client, "first", "/"); err == nil {
		t.Error("answered through a proxy that cuts")
	}
	p.Mend()
	if _, text := ask(t, client, "first", "/"); text != "canary-4711 first, you are client, number 2" {
		t.Errorf("after it was mended: %q", text)
	}
	if seen := p.Seen(); len(seen) < 500 || strings.Contains(string(seen), "canary-4711") {
		t.Errorf("the proxy saw %d bytes, which hold the word: %v", len(seen), strings.Contains(string(seen), "canary-4711"))
	}
}

// From the moment a port is chosen until its role listens nobody else can have it: it is tried when the
// choice is told, and again and again until the cluster is up.
func TestPortsAreHeldUntilRolesHaveThem(t *testing.T) {
	var trying sync.WaitGroup
	up, tries := make(chan struct{}), atomic.Int64{}
	take := func(address string) bool {
		tries.Add(1)
		l, err := net.Listen("tcp", address)
		if err != nil {
			return false
		}
		l.Close()
		t.Errorf("%s was free", address)
		return true
	}
	c := clustertest.Up(t, echo(), nil, func(_, _, address string) (string, error) {
		if !take(address) {
			trying.Go(func() {
				for !take(address) {
					select {
					case <-up:
						return
					case <-time.After(time.Millisecond):
					}
				}
			})
		}
		return address, nil
	})
	close(up)
	trying.Wait()
	if tries.Load() < 10 {
		t.Errorf("%d tries: this tests too little", tries.Load())
	}
	// A role that is started again takes its port itself.
	if err := c.Restart(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(t, clustertest.Member(t, c, "client"), "first", "/"); status != http.StatusOK {
		t.Errorf("first answers %d", status)
	}
}

func TestUpRefuses(t *testing.T) {
	o := clustertest.Options(t, echo())
	dir := filepath.Join(t.TempDir(), "cluster")
	for name, try := range map[string]struct {
		profile string
		given   cluster.Settings
		want    error
	}{
		"an unknown profile": {"ecco", nil, cluster.ErrUsage},
		"an unknown setting": {"echo", cluster.Settings{"words": "x"}, cluster.ErrUsage},
		"a bad setting":      {"echo", cluster.Settings{"word": ""}, cluster.ErrUsage},
	} {
		if _, err := cluster.Up(t.Context(), dir, try.profile, try.given, o); !errors.Is(err, try.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	// A role that does not start says why, from its log.
	if _, err := cluster.Up(t.Context(), dir, "echo", cluster.Settings{"word": "fail"}, o); !errors.Is(err, cluster.ErrStart) || !strings.Contains(err.Error(), "a role that fails") {
		t.Errorf("a role that fails: %v", err)
	}
	if _, err := cluster.Up(t.Context(), dir, "echo", cluster.Settings{"word": "other"}, o); !errors.Is(err, cluster.ErrUsage) {
		t.Errorf("other settings: %v", err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Up(t.Context(), full, "echo", nil, o); err == nil {
		t.Error("a cluster was made in a folder of something else")
	}
	c, err := cluster.Load(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.Kill(t.Context(), "../first"), c.Start(t.Context(), "client"), c.Restart(t.Context(), "third")} {
		if !errors.Is(err, cluster.ErrUsage) {
			t.Errorf("a role that there is not: %v", err)
		}
	}
	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if err := c.Start(late, "second"); err == nil {
		t.Error("a start without time succeeded")
	}
	if s := states(t, c); s[1].State != cluster.Ended {
		t.Errorf("a start without time left %+v", s[1])
	}
}

// A cluster that is abandoned ends at once, also with connections that are open and idle: a role that
// ends in order waits for these.
func TestAbandoned(t *testing.T) {
	c := clustertest.Up(t, echo(), nil, nil)
	states, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open, err := net.Dial("tcp", states[0].HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := c.Abandon(t.Context()); err != nil {
		t.Fatal(err)
	}
	if states, err = c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.State != cluster.Ended {
			t.Errorf("%s is %s", s.Role, s.State)
		}
	}
}
