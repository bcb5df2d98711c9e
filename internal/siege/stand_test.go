//go:build cgo && linux

// Package siege_test lays siege to discreet serve as a process: it is killed before any of its
// system calls and at random instants, its clients go away at each byte, its data hold values
// that must be seen nowhere. Then the books are opened and held against what clients saw.
//
// The server is the command as it is shipped, in the test binary: no hook is in it.
package siege_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"discreet": func() { os.Exit(cli.Process()) }, "watch": watchProcess})
}

// soak reports whether the long forms run.
func soak() bool { return os.Getenv("DISCREET_SOAK") != "" }

// password is that of all accounts.
const password = "correct horse battery"

// domain is the one that is spent from.
const domain = "patient"

// A stand is a folder that a server serves: data, catalog, ledger with its anchor, accounts.
type stand struct {
	dir    string
	tokens map[string]string // by account
}

const catalogText = `
[domains.patient]
measure = "zcdp"
epsilon = %s
delta = 1e-7
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 2
max_rows_per_group = 2
[tables.visits.columns]
patient_id = { type = "bigint" }
department = { type = "text", domain = { from = "labels.name" } }
note       = { type = "text" }
age        = { type = "integer", lower = 0, upper = 120 }
cost       = { type = "double", lower = 0, upper = 1000 }
seen       = { type = "timestamp" }
ssn        = { type = "bigint" }
[tables.labels]
source = "labels.csv"
public = true
[tables.labels.columns]
name = { type = "text" }
text = { type = "text" }
`

// configText makes answers leave at once: what is counted is not to wait.
const configText = "step = \"0s\"\ndrain = \"5s\"\n"

// newStand makes a folder with accounts for the analysts, who have a token each, and for the
// owner olga. An epsilon of 3,000 lasts for any test.
func newStand(t testing.TB, epsilon string, analysts ...string) *stand {
	t.Helper()
	s := &stand{dir: t.TempDir(), tokens: map[string]string{}}
	var visits, labels strings.Builder
	visits.WriteString("patient_id,department,note,age,cost,seen,ssn\n")
	for i := range 2000 {
		fmt.Fprintf(&visits, "%d,d%02d,n%d,%d,%d.5,2026-01-%02d 10:00:00,%d\n", i/3, i%50, i, i%100, i%900, i%28+1, i)
	}
	labels.WriteString("name,text\n")
	for i := range 50 {
		fmt.Fprintf(&labels, "d%02d,%s\n", i, strings.Repeat("x", 400))
	}
	s.write(t, "visits.csv", visits.String())
	s.write(t, "labels.csv", labels.String())
	s.write(t, "discreet.toml", fmt.Sprintf(catalogText, epsilon))
	s.write(t, "serve.toml", configText)
	if err := os.Mkdir(filepath.Join(s.dir, "witness"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(s.path("discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(t.Context(), s.path("discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Anchor: s.path("witness/head"), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.withAccounts(t, func(a *people.Accounts) error {
		add := func(name string, role people.Role) (err error) {
			if err := a.Add(t.Context(), "test", name, role, password); err != nil {
				return err
			}
			s.tokens[name], err = a.AddToken(t.Context(), "test", name, "test", time.Now().Add(24*time.Hour))
			return err
		}
		err := add("olga", people.Owner)
		for _, name := range analysts {
			err = errors.Join(err, add(name, people.Analyst))
		}
		return err
	})
	return s
}

// withAccounts opens the accounts for an owner's act.
func (s *stand) withAccounts(t testing.TB, act func(*people.Accounts) error) {
	t.Helper()
	l := s.ledger(t)
	defer l.Close()
	a, err := people.Open(t.Context(), people.Options{Path: s.path("discreet.ledger") + people.Suffix, Ledger: l, Now: time.Now, Iterations: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(act(a), a.Close()); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) ledger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), s.path("discreet.ledger"), ledger.Options{Anchor: s.path("witness/head"), Now: time.Now()})
	if err != nil {
		t.Fatalf("the ledger does not open: %v", err)
	}
	return l
}

func (s *stand) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stand) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// arguments name the stand's files to a command.
func (s *stand) arguments() []string {
	return []string{"--catalog", s.path("discreet.toml"), "--ledger", s.path("discreet.ledger"), "--anchor", s.path("witness/head")}
}

// A server is one process of discreet serve.
type server struct {
	serve.Addresses
	*exec.Cmd
	said  *output
	ended chan struct{} // closed then
}

// serve starts a server and waits until it answers. It is killed when the test ends.
func (s *stand) serve(t testing.TB) *server {
	t.Helper()
	v, err := s.start(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.kill)
	return v
}

func (s *stand) start(within time.Duration) (*server, error) {
	return started(s.dir, s.path("ready.json"), within, nil, append(s.arguments(), "--config", s.path("serve.toml"))...)
}

// started starts a server in a folder, with further variables of its environment.
func started(dir, ready string, within time.Duration, environment []string, args ...string) (*server, error) {
	v := &server{said: &output{}, ended: make(chan struct{})}
	v.Cmd = exec.Command("discreet", append(append([]string{"serve"}, args...), "--ready-file", ready, "--postgres", "127.0.0.1:0", "--http", "127.0.0.1:0")...)
	v.Dir, v.Stdout, v.Stderr, v.Env = dir, v.said, v.said, append(os.Environ(), environment...)
	if err := v.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = v.Wait() // how it ended is in ProcessState
		close(v.ended)
	}()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	limit := time.After(within)
	for {
		select {
		case <-v.ended:
			return nil, fmt.Errorf("the server ended: %v\n%s", v.ProcessState, v.said)
		case <-limit:
			v.kill()
			return nil, fmt.Errorf("the server is not ready\n%s", v.said)
		case <-look.C:
		}
		text, err := os.ReadFile(ready)
		if err != nil {
			continue
		}
		if err := json.Unmarshal(text, &v.Addresses); err != nil {
			return nil, fmt.Errorf("the ready file has %q: %w", text, err)
		}
		if v.PID == v.Process.Pid {
			return v, nil
		}
	}
}

// kill kills the server and waits until it is gone.
func (v *server) kill() {
	_ = v.Process.Signal(syscall.SIGKILL) // it fails where the server has ended
	<-v.ended
}

// output is what a process said.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Books are what the ledger holds.
type books struct {
	entries []ledger.Entry
	balance ledger.Balance
}

// books opens the ledger as an owner does, verifies it, and reads it.
func (s *stand) books(t testing.TB) books {
	t.Helper()
	l := s.ledger(t)
	defer l.Close()
	if err := l.Verify(t.Context()); err != nil {
		t.Fatalf("the ledger is not whole: %v", err)
	}
	var b books
	var err error
	if b.entries, err = l.History(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.balance, err = l.Balance(t.Context(), domain); err != nil {
		t.Fatal(err)
	}
	if b.balance.Suspended {
		t.Error("the domain is suspended")
	}
	if b.balance.Spent.Rho.Cmp(b.balance.Limit.Rho) > 0 {
		t.Errorf("spent is rho %v of %v", b.balance.Spent.Rho, b.balance.Limit.Rho)
	}
	var spent privacy.Rho
	for _, e := range b.entries {
		if e.Kind == "reserve" {
			spent = spent.Add(e.Charge.Rho)
		}
	}
	if !spent.Equal(b.balance.Spent.Rho) {
		t.Errorf("reservations add up to rho %v, spent is %v", spent, b.balance.Spent.Rho)
	}
	return b
}

// of returns the reservations of an analyst for a statement's text.
func (b books) of(analyst, sql string) (all []ledger.Entry) {
	for _, e := range b.entries {
		if e.Kind == "reserve" && e.Analyst == analyst && e.Statement == sql {
			all = append(all, e)
		}
	}
	return all
}

// bounded is a context for one conversation.
func bounded(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 30*time.Second)
}
