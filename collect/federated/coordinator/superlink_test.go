//go:build unix

package coordinator

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/privacy"
)

// A federation of Flower's own processes, a SuperLink and two SuperNodes, each of which runs its client's
// rounds in new processes: their updates are a million long, and what the server gets of them is what two
// Discreet nodes let out. Metrics and configs do not come, and the nodes' ledgers are charged. A second study is
// beyond their budgets: the server gets errors, and no number.
func TestSuperLink(t *testing.T) {
	bin, err := filepath.Abs("../../../bench/peers/venv-flower/bin")
	if err == nil {
		_, err = os.Stat(filepath.Join(bin, "flower-superlink"))
	}
	if err != nil {
		t.Skip("skip: Flower is not installed; bench/peers/setup flower")
	}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "2", "auto": "3", "epsilon": "2.2"}, nil)
	p := training(2, 1)
	p.Unit, p.Local.Rate, p.Privacy.Place = federated.Node, 1, federated.AtNodes
	*p = must(p.Calibrate(must(privacy.ParseEpsilon("2")), privacy.ReplaceOne)) // persons pay at twice the distance

	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The module alone: the package around it needs the client's own libraries.
	write("python/discreet/__init__.py", nil)
	write("python/discreet/flower.py", must(os.ReadFile("../../../clients/python/src/discreet/flower.py")))
	if err := os.CopyFS(filepath.Join(dir, "app"), os.DirFS("testdata/flower")); err != nil {
		t.Fatal(err)
	}
	plan := write("plan.json", must(json.Marshal(p)))
	link := free(t)
	write("home/config.toml", fmt.Appendf(nil, "[superlink]\ndefault = \"here\"\n[superlink.here]\naddress = %q\ninsecure = true\n", link))
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = dir, &syscall.SysProcAttr{Setpgid: true}, time.Minute
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // and what it has started
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PYTHONPATH="+filepath.Join(dir, "python"),
			"FLWR_HOME="+filepath.Join(dir, "home"), "FLWR_TELEMETRY_ENABLED=0")
		return cmd
	}
	var logs []string
	begin := func(name string, args ...string) {
		cmd := command(name, args...)
		logs = append(logs, filepath.Join(dir, fmt.Sprint(name, len(logs), ".log")))
		cmd.Stdout = must(os.Create(logs[len(logs)-1]))
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Cancel()
			cmd.Wait()
		})
	}
	_, port, _ := net.SplitHostPort(link)
	begin("flower-superlink", "--insecure", "--port", port, "--disable-runtime-dependency-installation")
	peers := clustertest.Member(t, c, "coordinator").Peers
	for i := range 2 {
		name := fmt.Sprintf("node-%d", i+1)
		_, port, _ := net.SplitHostPort(free(t))
		begin("flower-supernode", "--insecure", "--superlink", link, "--port", port,
			"--node-config", fmt.Sprintf("node=%q address=%q folder=%q", name, peers[name], c.Folder("app")))
	}
	type result struct {
		Replies []string  `json:"replies"`
		Model   []float64 `json:"model"`
	}
	study := func(id string) (r result) {
		path := filepath.Join(dir, id+".json")
		for began := time.Now(); ; time.Sleep(time.Second) {
			out, err := command("flwr", "run", filepath.Join(dir, "app"), "--run-config", fmt.Sprintf("study=%q plan=%q result=%q", id, plan, path)).CombinedOutput()
			if err == nil && strings.Contains(string(out), "Successfully started run") {
				break
			}
			if time.Since(began) > 5*time.Minute {
				t.Fatalf("flwr run: %v\n%s", err, out)
			}
		}
		for began := time.Now(); ; time.Sleep(time.Second) {
			text, err := os.ReadFile(path)
			if err == nil && json.Unmarshal(text, &r) == nil {
				return r
			}
			if time.Since(began) > 8*time.Minute {
				for _, l := range logs {
					text, _ := os.ReadFile(l)
					t.Logf("%s\n%s", l, text)
				}
				t.Fatal("the study does not end")
			}
		}
	}
	spent := func(name string) string {
		s := clustertest.Member(t, c, name)
		b := must(OwnBooks(t.Context(), s))
		defer b.Close()
		return fmt.Sprint(must(b.Spent(t.Context(), "patients")))
	}
	before := spent("node-1") + spent("node-2")
	r := study("study-1")
	for _, x := range r.Model {
		if x == 0 || math.Abs(x) > 1000 {
			t.Errorf("the model is %v: of clipped updates with noise it is near 0", r.Model)
			break
		}
	}
	if len(r.Replies) != 4 {
		t.Errorf("%d replies, not two of two clients: %v", len(r.Replies), r.Replies)
	}
	for _, reply := range r.Replies {
		if strings.Contains(reply, "12345") || strings.Contains(reply, "loss") || strings.Contains(reply, "1000000.0") || !strings.Contains(reply, `"configs": 0`) {
			t.Errorf("the server sees %s", reply)
		}
	}
	after := spent("node-1") + spent("node-2")
	if after == before {
		t.Errorf("the nodes were not charged: %v", after)
	}
	if r = study("study-2"); fmt.Sprint(r.Replies) != "[error error error error]" || len(r.Model) != 0 {
		t.Errorf("beyond the budget the server sees %v, and has %v", r.Replies, r.Model)
	}
	if again := spent("node-1") + spent("node-2"); again != after {
		t.Errorf("what was refused was charged: %v, before %v", again, after)
	}
}

// free is an address that nobody listens at.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
