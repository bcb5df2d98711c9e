package smt

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func need(t *testing.T, s Solver) {
	t.Helper()
	if _, err := exec.LookPath(string(s)); err != nil {
		t.Skipf("skip: missing tool %s", s)
	}
}

// fake is a program that stands for a solver, run by a shell: what is tested is
// how its ways to fail are handled.
func fake(t *testing.T, body string) Options {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("skip: missing tool sh")
	}
	path := filepath.Join(t.TempDir(), "solver")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{Path: path}
}

// goroutines fails the test if it leaves goroutines behind.
func goroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines became %d\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	})
}

func TestFind(t *testing.T) {
	for _, s := range []Solver{Z3, CVC5} {
		need(t, s)
		found, err := Find(t.Context(), s)
		if err != nil || !strings.Contains(strings.ToLower(found.Version), string(s)) {
			t.Errorf("got %+v (%v)", found, err)
		}
	}
}

func TestAMissingSolverSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Find(t.Context(), Z3)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install z3") {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{
		func() error { _, err := Start(t.Context(), CVC5, Options{}); return err }(),
		func() error { _, err := runScript(t.Context(), CVC5, Options{}, ""); return err }(),
	} {
		if !errors.Is(err, ErrMissing) {
			t.Errorf("got %v", err)
		}
	}
}

func TestProcessAnswersManyQuestions(t *testing.T) {
	for _, s := range []Solver{Z3, CVC5} {
		t.Run(string(s), func(t *testing.T) {
			need(t, s)
			goroutines(t)
			p, err := Start(t.Context(), s, Options{Limit: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.Command("(set-logic QF_LIRA)\n(declare-const x Int)\n(declare-const r Real)")
			p.Assert("(and (< 3 x) (= r (/ 1.0 3.0)))")
			for range 50 {
				p.Push()
				p.Assert("(< x 4)")
				if a, err := p.CheckSat(t.Context()); err != nil || a != Unsat {
					t.Fatalf("got %v (%v)", a, err)
				}
				p.Pop()
			}
			p.Assert("(< x 5)")
			if a, err := p.CheckSat(t.Context()); err != nil || a != Sat {
				t.Fatalf("got %v (%v)", a, err)
			}
			values, err := p.Values(t.Context(), "x", "r")
			if err != nil || !strings.Contains(values, "(x 4)") {
				t.Errorf("got %s (%v)", values, err)
			}
			p.Assert("(< x y)")
			if a, err := p.CheckSat(t.Context()); !errors.Is(err, ErrOutput) || !strings.Contains(err.Error(), "y") {
				t.Errorf("an unknown variable: got %v, %v", a, err)
			}
			if _, err := p.CheckSat(t.Context()); !errors.Is(err, ErrOutput) {
				t.Errorf("the error is forgotten: %v", err)
			}
		})
	}
}

// The pipes hold 64 KiB each way; a solver that prints while it is written to must
// not wait for us, nor we for it.
func TestLongTextBothWays(t *testing.T) {
	need(t, Z3)
	goroutines(t)
	p, err := Start(t.Context(), Z3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 1 << 14 {
		p.Command(`(echo "some words that fill the pipe")`)
	}
	out, err := p.Ask(t.Context(), "(check-sat)")
	if err != nil || !strings.HasSuffix(out, "sat") || len(out) < 1<<18 {
		t.Errorf("got %d bytes (%v)", len(out), err)
	}
}

func TestWaysToFail(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       error
		text       string
	}{
		{"exits", "exit 3", errCrash, "exit status 3"},
		{"crashes", "echo dead >&2; kill -SEGV $$", errCrash, "segmentation"},
		{"crashes while it answers", "echo un; echo sa; kill -KILL $$", errCrash, "killed"},
		{"garbage", `while read line; do case "$line" in "(echo"*) line=${line#*\"}; echo "${line%\"*}";; *) echo maybe;; esac; done`, ErrOutput, "maybe"},
		{"two answers", `while read line; do case "$line" in "(echo"*) line=${line#*\"}; echo "${line%\"*}";; *) echo sat; echo unsat;; esac; done`, ErrOutput, "sat"},
		{"hangs", "sleep 60", context.DeadlineExceeded, ""},
		{"floods", "yes", ErrOutput, "too much"},
		{"floods a line", "yes | tr -d '\\n'", ErrOutput, "too much"},
	} {
		t.Run(c.name, func(t *testing.T) {
			goroutines(t)
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			if c.want == context.DeadlineExceeded {
				defer cancel()
			} else {
				cancel()
				ctx = t.Context()
			}
			p, err := Start(t.Context(), Z3, fake(t, c.body))
			if err != nil {
				t.Fatal(err)
			}
			a, err := p.CheckSat(ctx)
			if a != Unknown || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, %v", a, err)
			}
			p.Close()
			if p.cmd.ProcessState == nil {
				t.Error("nobody waited for the process")
			}

			a, _, err = Solve(ctx, Z3, fake(t, c.body), "(check-sat)\n")
			if c.name != "two answers" && (a != Unknown || err == nil) {
				t.Errorf("got %v, %v from a fresh process", a, err)
			}
		})
	}
}

func TestAProcessEndsWithItsContext(t *testing.T) {
	goroutines(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Z3, fake(t, "sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := p.CheckSat(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if p.cmd.ProcessState == nil {
		t.Error("nobody waited for the process")
	}
	if _, err := p.CheckSat(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("the reason is forgotten: %v", err)
	}
	p.Close()
}

const horn = `(set-logic HORN)
(declare-fun I (Int Int) Bool)
(assert (forall ((n Int)) (=> (>= n 0) (I n 0))))
(assert (forall ((n Int) (i Int)) (=> (and (I n i) (< i n)) (I n (+ i 1)))))
(assert (forall ((n Int) (i Int)) (=> (and (I n i) (>= i n) (> i (+ n BOUND))) false)))
(check-sat)
(get-model)
`

func TestSpacer(t *testing.T) {
	need(t, Z3)
	a, rest, err := Solve(t.Context(), Z3, Options{Limit: 10 * time.Second}, strings.Replace(horn, "BOUND", "0", 1))
	if err != nil || a != Sat || !strings.Contains(rest, "define-fun I") {
		t.Errorf("got %v %s (%v)", a, rest, err)
	}
	a, rest, err = Solve(t.Context(), Z3, Options{}, strings.Replace(horn, "BOUND", "(- 1)", 1))
	if err != nil || a != Unsat || !strings.Contains(rest, "error") {
		t.Errorf("got %v %s (%v)", a, rest, err)
	}
}

func TestMemoryAndTimeAreBounded(t *testing.T) {
	need(t, Z3)
	// Pigeons in holes: hard for resolution.
	var b strings.Builder
	const holes = 11
	name := func(i, j int) string { return "p" + string(rune('a'+i)) + string(rune('a'+j)) }
	for i := range holes + 1 {
		clause := ""
		for j := range holes {
			b.WriteString("(declare-const " + name(i, j) + " Bool)\n")
			clause += " " + name(i, j)
		}
		b.WriteString("(assert (or" + clause + "))\n")
	}
	for j := range holes {
		for i := range holes + 1 {
			for k := range i {
				b.WriteString("(assert (not (and " + name(i, j) + " " + name(k, j) + ")))\n")
			}
		}
	}
	b.WriteString("(check-sat)\n")
	if a, _, err := Solve(t.Context(), Z3, Options{Limit: 100 * time.Millisecond}, b.String()); err != nil || a != Unknown {
		t.Errorf("got %v (%v)", a, err)
	}
	if a, _, err := Solve(t.Context(), Z3, Options{Memory: 1}, b.String()); err == nil && a != Unknown {
		t.Errorf("got %v", a)
	}
}
