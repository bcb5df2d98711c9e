//go:build unix

package learn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// The test binary runs itself as a program that trains: DISCREET_LEARN_CHILD holds the
// folder of its ledger and checkpoint.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DISCREET_LEARN_CHILD"); dir != "" {
		if err := trainOn(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// trainOn starts a run, or goes on with the one that is there.
func trainOn(dir string) error {
	l, err := ledger.Open(ctx, filepath.Join(dir, "ledger"), ledger.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	o := lasting(filepath.Join(dir, "checkpoint"), account(l))
	o.Every = 1
	o.Progress = func(Progress) { time.Sleep(15 * time.Millisecond) } // so that it trains as long as it starts
	r, err := Resume(ctx, o.Checkpoint, o)
	if errors.Is(err, os.ErrNotExist) {
		r, err = Start(ctx, o)
	}
	if err != nil {
		return err
	}
	if err := r.Train(ctx); err != nil {
		return err
	}
	m, err := r.Model(ctx, ModelOptions{Date: clock()})
	if err != nil {
		return err
	}
	return WriteModel(filepath.Join(dir, "model"), m)
}

// Training that is killed at random instants, again and again, ends with a model, was
// charged for exactly once, and never charged a step twice; the budget suffices for one
// run and no more.
func TestKilledAtRandomInstants(t *testing.T) {
	t.Parallel() // it waits most of its time
	kills, enough, seen := 0, 60, map[int]bool{}
	if testing.Short() {
		enough = 12
	}
	window := 100 * time.Millisecond                           // within which a program is killed: it finds how long that takes here
	for kills < enough || len(seen) < 3 && kills < 10*enough { // a busy machine may start for longer than it trains
		dir := t.TempDir()
		if shm, err := os.MkdirTemp("/dev/shm", "learn"); err == nil { // as many syncs as steps
			dir = shm
			t.Cleanup(func() { os.RemoveAll(shm) })
		}
		o := lasting("", nil)
		epsilon := must(privacy.EpsilonFromFloat(must(o.Plan.Guarantee()).Epsilon * 1.2))
		l, err := ledger.Create(ctx, filepath.Join(dir, "ledger"), ledger.Options{Domains: []ledger.DomainBudget{domain(epsilon.String())}, Now: clock()})
		if err != nil {
			t.Fatal(err)
		}
		want := paid(o.Plan, account(l), 0)
		l.Close()
		for alive := true; alive; {
			cmd := exec.Command(must(os.Executable()))
			cmd.Env = append(os.Environ(), "DISCREET_LEARN_CHILD="+dir)
			var said strings.Builder
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(rand.N(window), func() { cmd.Process.Kill() })
			err := cmd.Wait()
			kill.Stop()
			var exit *exec.ExitError
			switch {
			case err == nil:
				alive, window = false, window*3/4
			case errors.As(err, &exit) && !exit.Exited():
				kills, window = kills+1, window*21/20
			default:
				t.Fatalf("the program ended with %v: %s", err, said.String())
			}
			if l, err = ledger.Open(ctx, filepath.Join(dir, "ledger"), ledger.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := charges(l); len(got) > 1 {
				t.Fatalf("charged %v", got)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "checkpoint")); err == nil {
				seen[must(decodeCheckpoint(data)).Step] = true
			}
			if err := l.Verify(ctx); err != nil {
				t.Fatal(err)
			}
			if !alive {
				if got := charges(l); !slices.Equal(got, []string{want}) {
					t.Errorf("a whole run was charged %v, not %s", got, want)
				}
				if m, err := ReadModel(filepath.Join(dir, "model")); err != nil || m.Certificate.Ledger.Charged != want {
					t.Errorf("%+v, %v", m, err)
				}
			}
			l.Close()
			if !alive { // what was killed in the middle of a file is swept
				for _, e := range must(os.ReadDir(dir)) {
					if strings.Contains(e.Name(), ".next-") || strings.Contains(e.Name(), ".part-") {
						t.Errorf("%s is left", e.Name())
					}
				}
			}
		}
	}
	t.Logf("%d kills, which left checkpoints of %d different steps", kills, len(seen))
	if len(seen) < 3 {
		t.Errorf("%d kills at %d different steps are no test", kills, len(seen))
	}
}
