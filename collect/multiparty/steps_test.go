//go:build cgo

package multiparty

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/internal/clustertest"
)

// A mortal world has members that stop at a step, and are opened again from what they have stored.
type mortal struct {
	*world
	steps *clustertest.Steps
}

func (m *mortal) folder(name string) string { return filepath.Join(m.dir, name) }

func (m *mortal) dead(name string) bool { return m.steps.Dead(m.folder(name)) }

// reach serves a member as long as it lives: a message of one that is dead is not there, and neither is
// the answer of one that dies while it answers.
func (m *mortal) reach(to Member, now func() http.Handler) {
	id := m.identity(to.Name)
	m.serve(to, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		from, _ := m.federation.who(id.caller(r))
		if m.dead(from.Name) || m.dead(to.Name) {
			panic(http.ErrAbortHandler)
		}
		said := httptest.NewRecorder()
		now().ServeHTTP(said, r)
		if m.dead(to.Name) {
			panic(http.ErrAbortHandler)
		}
		for key, all := range said.Header() {
			out.Header()[key] = all
		}
		out.WriteHeader(said.Code)
		out.Write(said.Body.Bytes())
	}))
}

// live opens all members.
func (m *mortal) live() *mortal {
	m.Helper()
	m.holders, m.parties = make([]*Holder, len(m.federation.Holders)), make([]*Party, len(m.federation.Parties))
	for i, of := range m.federation.Holders {
		m.revive(of.Name)
		m.reach(of, func() http.Handler { return m.holders[i].Handler() })
	}
	for i, of := range m.federation.Parties {
		m.revive(of.Name)
		m.reach(of, func() http.Handler { return m.parties[i].Handler() })
	}
	return m
}

// revive opens a member from what it has stored.
func (m *mortal) revive(name string) {
	m.Helper()
	m.steps.Revive(m.folder(name))
	for i, of := range m.federation.Holders {
		if of.Name != name {
			continue
		}
		h, l, accounts, err := openHolder(m.Context(), m.dir, name, m.federation, m.identity(name), time.Now, quiet())
		if err != nil {
			m.Fatal(err)
		}
		m.Cleanup(func() { h.Close(); accounts.Close(); l.Close() })
		m.holders[i] = h
		if len(m.ledgers) <= i {
			m.ledgers = append(m.ledgers, l)
		}
		m.ledgers[i] = l
	}
	for i, of := range m.federation.Parties {
		if of.Name != name {
			continue
		}
		p, err := OpenParty(m.Context(), PartyOptions{Name: name, Federation: m.federation, Identity: m.identity(name), State: filepath.Join(m.folder(name), "state"), Now: time.Now, Log: quiet()})
		if err != nil {
			m.Fatal(err)
		}
		m.Cleanup(func() { p.Close() })
		m.parties[i] = p
	}
}

// carryOut has every holder carry out a task, asking again as an asker does; a member that dies is revived.
// It returns what the last holder said that was asked.
func (m *mortal) carryOut(t made, victim string) (said string) {
	m.Helper()
	for _, h := range m.federation.Holders {
		for try := 0; ; try++ {
			said, _ = m.as("anna", h, http.MethodPut, "/tasks/"+t.hash, t.data)
			died := m.dead(victim)
			if died {
				m.revive(victim)
			}
			if said == "" || said == taskLost {
				break
			}
			if !died || try > 1 {
				m.Fatalf("%s says %s", h.Name, said)
			}
		}
		if said != "" {
			return said
		}
	}
	return said
}

// sides are before a step (false) and after it. CI has all but those after a step that is followed by another:
// before that one all is stored that was, and what was sent has arrived. DISCREET_SOAK has them too.
func sides(i, steps int) []bool {
	if i == steps-1 || os.Getenv("DISCREET_SOAK") != "" {
		return []bool{false, true}
	}
	return []bool{false}
}

// A holder and a party are killed at each step of a task, before it or after it. The task is carried out
// all the same, from what they have stored and by the same messages: each holder is charged once, the sum is
// that of a run without a fault, and no share is left beside it. Only where a holder has been charged and has
// no shares yet is the task lost: it was charged, and no party has a share of it.
func TestEachStepIsSurvived(t *testing.T) {
	m := &mortal{layOut(t, setting{rows: [][]string{patients(0, 5), patients(9, 6)}, parties: 2}), clustertest.WatchSteps(t)}
	m.live()
	names := map[string][]string{}
	for _, victim := range []string{"h1", "p1"} {
		m.steps.Begin(m.folder(victim))
	}
	m.carryOut(m.task(countAll), "")
	for _, victim := range []string{"h1", "p1"} {
		names[victim] = m.steps.Taken(m.folder(victim))
		m.steps.Begin(m.folder(victim))
	}
	if len(names["h1"]) < 6 || len(names["p1"]) != 3 {
		t.Fatalf("the steps are %q: this tests too little", names)
	}
	lost := 0
	for _, victim := range []string{"h1", "p1"} {
		for i, name := range names[victim] {
			for _, after := range sides(i, len(names[victim])) {
				what := fmt.Sprintf("%s, step %d, before %s", victim, i, name)
				if after {
					what = fmt.Sprintf("%s, step %d, after %s", victim, i, name)
				}
				before := [2]float64{m.spent(0), m.spent(1)}
				task, reached := m.task(countAll), ""
				m.steps.StopAt(m.folder(victim), i, after, func(step string) { reached = step })
				said := m.carryOut(task, victim)
				if reached != name {
					t.Errorf("%s: stopped at %q", what, reached)
				}
				m.steps.Begin(m.folder(victim))
				if got := m.spent(0) - before[0]; got != 1000 {
					t.Errorf("%s: the first holder was charged %v, want 1000", what, got)
				}
				if said == taskLost {
					lost++
					for p := range m.parties {
						var shares int
						if err := m.parties[p].db.QueryRow("SELECT count(*) FROM shares WHERE task = ?", task.hash).Scan(&shares); err != nil || shares > 0 {
							t.Errorf("%s: the task is lost, and party %d has %d shares of it: %v", what, p, shares, err)
						}
					}
					if got := m.spent(1) - before[1]; got != 0 {
						t.Errorf("%s: the task is lost, and the second holder was charged %v", what, got)
					}
					t.Logf("%s: lost", what)
					continue
				}
				if got := m.spent(1) - before[1]; got != 1000 {
					t.Errorf("%s: the second holder was charged %v, want 1000", what, got)
				}
				m.concludes(task, 11)
				for p := range m.parties {
					var raw int
					if err := m.parties[p].db.QueryRow("SELECT count(*) FROM shares WHERE share IS NOT NULL").Scan(&raw); err != nil || raw != 0 {
						t.Errorf("%s: %d shares are left beside their sum at party %d: %v", what, raw, p, err)
					}
				}
			}
		}
	}
	t.Logf("%d steps of a holder, %d of a party; the task was lost %d times", len(names["h1"]), len(names["p1"]), lost)
	if lost == 0 || lost > 2 { // after the charge, and before the shares are stored
		t.Errorf("the task was lost %d times, want 1 or 2", lost)
	}
	for i := range m.ledgers {
		if err := m.ledgers[i].Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if a, err := m.ask(countAll, "1000"); err != nil || a.Rows[0][0] != int64(11) {
		t.Errorf("in the end: %v, %v", a, err)
	}
}

// The same with processes, for a few of the steps: a holder that was charged before its shares are stored, and
// before the first of them is known to have arrived; a party before it stores the sum.
func TestProcessesDieAtAStep(t *testing.T) {
	t.Parallel()
	c := clustertest.Up(t, federationProfile("1000000", patients(0, 20), patients(99, 11)), nil, nil)
	for _, k := range []struct {
		role string
		step int
		lost bool // the task, which the holder was charged for
	}{{"h1", 4, true}, {"h1", 5, false}, {"p1", 2, false}} {
		if err := c.Stop(t.Context(), k.role); err != nil {
			t.Fatal(err)
		}
		clustertest.KillBefore(t, c.Folder(k.role), k.step)
		if err := c.Start(t.Context(), k.role); err != nil {
			t.Fatal(err)
		}
		revived := make(chan error, 1)
		go func() {
			if !clustertest.Ended(t.Context(), t, c, k.role) {
				t.Errorf("%s did not die at its step %d", k.role, k.step)
			}
			revived <- c.Start(t.Context(), k.role)
		}()
		a, err := askAt(t, c, countAll, "1000", time.Minute)
		if lost := err != nil; lost != k.lost || lost && !strings.Contains(err.Error(), "shares were lost") || !lost && a.Rows[0][0] != int64(31) {
			t.Errorf("%s killed before step %d: %v, %v", k.role, k.step, a, err)
		}
		if err := <-revived; err != nil {
			t.Error(err)
		}
	}
	if a, err := askAt(t, c, countAll, "1000", time.Minute); err != nil || a.Rows[0][0] != int64(31) {
		t.Errorf("in the end: %v, %v", a, err)
	}
}
