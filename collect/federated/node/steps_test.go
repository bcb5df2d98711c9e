package node

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/noise"
)

// A mortal node is stopped at a step, and opened again from what is on its disk.
type mortal struct {
	*testing.T
	*Holder
	steps  *clustertest.Steps
	dir    string
	config Config
	files  map[string]string // but databases, as they were when it died
}

func (m *mortal) open() {
	m.Helper()
	b, err := OpenBooks(ctx, m.dir, m.config, clock)
	if err != nil {
		m.Fatal(err)
	}
	if m.Holder, err = NewHolder(ctx, "clinic", b, noise.System()); err != nil {
		m.Fatal(err)
	}
}

// plain are all files but databases.
func (m *mortal) plain() map[string]string {
	all := map[string]string{}
	if err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(d.Name(), ".ledger") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}); err != nil {
		m.Error(err)
	}
	return all
}

// reopen begins again after the node died: files that it wrote since then were never written.
func (m *mortal) reopen() {
	m.Helper()
	if err := m.Close(); err != nil {
		m.Fatal(err)
	}
	for path, text := range m.plain() {
		if was, ok := m.files[path]; !ok {
			if err := os.Remove(path); err != nil {
				m.Fatal(err)
			}
		} else if was != text {
			if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
				m.Fatal(err)
			}
		}
	}
	m.steps.Revive(m.dir)
	m.open()
}

// again does what somebody asks for, who asks again when the node died.
func again[T any](m *mortal, do func() (T, error)) T {
	m.Helper()
	out, err := do()
	if m.steps.Dead(m.dir) {
		m.reopen()
		out, err = do()
	}
	if err != nil {
		m.Fatal(err)
	}
	return out
}

// A left is what left the node: two rounds of a run, and an answer.
type left struct {
	Rounds [2]*federated.Update
	Answer *Answered
}

// live asks for a run and a query, has the owner approve the run, and gets two rounds and an answer.
func (m *mortal) live(n int) (out left) {
	m.Helper()
	run, query := fmt.Sprint("run-", n), fmt.Sprint("query-", n)
	again(m, func() (Status, error) {
		return m.Ask(ctx, "coordinator", Request{ID: run, Reason: "a test", Plan: training(4)})
	})
	again(m, func() (Status, error) { return m.Decide(ctx, "coordinator", run, true, "ada", "") })
	for i := range out.Rounds {
		q := first()
		q.Round = i
		out.Rounds[i] = again(m, func() (*federated.Update, error) { return m.Round(ctx, "coordinator", run, q) })
	}
	again(m, func() (Status, error) {
		return m.Ask(ctx, "coordinator", Request{ID: query, Reason: "a test", Query: &Query{Data: "patients", Of: "count", Epsilon: epsilon("0.25")}})
	})
	out.Answer = again(m, func() (*Answered, error) { return m.Answer(ctx, "coordinator", query) })
	return out
}

// sides are before a step (false) and after it. CI has all but those after a step that is followed by another:
// before that one all is stored that was, and what was sent has arrived. DISCREET_SOAK has them too.
func sides(i, steps int) []bool {
	if i == steps-1 || os.Getenv("DISCREET_SOAK") != "" {
		return []bool{false, true}
	}
	return []bool{false}
}

// A node is killed at each step from a request to what leaves, before it or after it: who asks again has the answer,
// nothing is charged twice, and what left is the same whenever it is asked for again, also of a node that is
// started once more.
func TestEachStepIsSurvived(t *testing.T) {
	dir, c := declared(t, func(d *Data) {
		d.Policy.Auto, d.Budget.Epsilon = epsilon("0.5"), epsilon("1000")
	})
	m := &mortal{T: t, steps: clustertest.WatchSteps(t), dir: dir, config: c}
	m.open()
	defer func() { m.Close() }()
	m.live(0)
	m.steps.Begin(dir)
	m.live(1)
	names := m.steps.Taken(dir)
	if len(names) < 7 {
		t.Fatalf("the steps are %q: this tests too little", names)
	}
	t.Logf("%d steps: %q", len(names), names)
	n := 1
	for i, name := range names {
		for _, after := range sides(i, len(names)) {
			n++
			before, reached := spent(t, m.Books), ""
			m.steps.StopAt(dir, i, after, func(step string) { reached, m.files = step, m.plain() })
			out := m.live(n)
			what := fmt.Sprintf("step %d, %s, after it: %v", i, name, after)
			if reached != name {
				t.Errorf("%s: stopped at %q", what, reached)
			}
			if got := spent(t, m.Books) - before; got != 0.125+0.25*0.25/2 {
				t.Errorf("%s: charged %v, want %v", what, got, 0.125+0.25*0.25/2)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m.open()
			if same, was := must(json.Marshal(m.live(n))), must(json.Marshal(out)); string(same) != string(was) {
				t.Errorf("%s: what left is %s, was %s", what, same, was)
			}
		}
	}
	if err := m.Verify(ctx); err != nil {
		t.Error(err)
	}
}
