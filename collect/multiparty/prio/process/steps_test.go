package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

// A living world has aggregators in this process, which are stopped at a step, cut off from all others, and
// opened again from what they have stored.
type living struct {
	*world
	steps *clustertest.Steps
	mu    sync.Mutex
	end   map[string]func() // by role: ends it, and returns when it has ended
}

// life begins a world whose connections all go through proxies. Its processes end, and their roles go on here.
func life(t *testing.T, steps *clustertest.Steps) *living {
	t.Helper()
	var links []string
	for _, from := range []string{"client", "collector", "leader"} {
		for _, to := range []string{"leader", "helper-1"} {
			links = append(links, from+">"+to)
		}
	}
	l := &living{world: begin(t, nil, links...), steps: steps, end: map[string]func(){}}
	for _, role := range l.task.Aggregators {
		if err := l.c.Stop(l.ctx, role); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range l.task.Aggregators {
		l.start(role)
	}
	t.Cleanup(func() {
		for _, role := range l.task.Aggregators {
			l.stop(role)
		}
	})
	return l
}

func (l *living) start(role string) {
	ctx, cancel := context.WithCancel(l.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := cluster.Run(ctx, l.c.Folder(role), []cluster.Profile{process.Profile()}, time.Now, slog.New(slog.DiscardHandler)); err != nil && ctx.Err() == nil {
			l.Error(err)
		}
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end[role] = func() { cancel(); <-ended }
}

func (l *living) stop(role string) {
	l.mu.Lock()
	end := l.end[role]
	l.mu.Unlock()
	end()
}

// links are the proxies of a role: it hears and says nothing where they are cut.
func (l *living) links(role string) (all []*clustertest.Proxy) {
	for name, p := range l.proxies {
		if from, to, _ := strings.Cut(name, ">"); from == role || to == role {
			all = append(all, p)
		}
	}
	return all
}

// batch has three votes collected, as a client and a collector do who ask until they are answered.
func (l *living) batch(name string) *process.Result {
	l.Helper()
	votes := l.votes(name, 0, 1, 1)
	l.upload(process.Stored, votes...)
	for { // the leader may be away
		s, err := l.client.Status(l.ctx, name)
		if err == nil && s[process.Stored] == 0 {
			break
		}
		if err != nil && !cluster.Passing(err) || l.ctx.Err() != nil {
			l.Fatal(err)
		}
		<-time.After(10 * time.Millisecond)
	}
	l.upload(process.Stored, votes...) // the same again, mostly after a restart
	r := l.total(name, 1, 2, 0, 0)
	l.upload(process.Stored, votes...) // and after the collection
	return r
}

// sides are before a step (false) and after it. CI has all but those after a step that is followed by another:
// before that one all is stored that was, and what was sent has arrived. DISCREET_SOAK has them too.
func sides(i, steps int) []bool {
	if i == steps-1 || os.Getenv("DISCREET_SOAK") != "" {
		return []bool{false, true}
	}
	return []bool{false}
}

// Each aggregator is killed at each step of a batch, from the first contribution to the total, before it or after it: all connections to it are cut at that moment, and it goes on from what it has stored. Each
// contribution counts once, the total is that of a run without a fault, asked again it is the same, and the
// budget is charged once, at both.
func TestEachStepIsSurvived(t *testing.T) {
	steps := clustertest.WatchSteps(t)
	for _, victim := range []string{"leader", "helper-1"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			l := life(t, steps)
			folder := filepath.Clean(l.c.Folder(victim))
			l.batch("first") // the task is introduced
			steps.Begin(folder)
			l.batch("measured")
			names := steps.Taken(folder)
			if len(names) < 4 {
				t.Fatalf("the steps are %q: this tests too little", names)
			}
			t.Logf("%d steps: %q", len(names), names)
			batches := 3 // with the last
			for i, name := range names {
				for _, after := range sides(i, len(names)) {
					batches++
					what := fmt.Sprintf("step-%d-%v", i, after)
					died := make(chan string, 1)
					var supervised sync.WaitGroup
					supervised.Go(func() {
						select {
						case step := <-died:
							if step != name {
								t.Errorf("%s: stopped at %q, want %q", what, step, name)
							}
						case <-l.ctx.Done():
							t.Errorf("%s: %q was not reached", what, name)
							return
						}
						l.stop(victim)
						steps.Revive(folder)
						for _, p := range l.links(victim) {
							p.Mend()
						}
						l.start(victim)
					})
					steps.StopAt(folder, i, after, func(step string) {
						for _, p := range l.links(victim) {
							p.Cut()
						}
						died <- step
					})
					r := l.batch(what)
					supervised.Wait()
					again := l.collect(what)
					if again.Collection != r.Collection || !slices.EqualFunc(again.Values, r.Values, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
						t.Errorf("%s: again the total is %v of %s, was %v of %s", what, again.Values, again.Collection, r.Values, r.Collection)
					}
					if r.Contributions != 3 {
						t.Errorf("%s: %d contributions count, want 3", what, r.Contributions)
					}
				}
			}
			// What was charged is 1,000 of 1,000,000 for each batch, at both.
			last := l.batch("last")
			for _, role := range l.task.Aggregators {
				var s process.Share
				if err := l.ask(l.collector, role, http.MethodGet, "/collections/"+last.Collection+"/share?batch=last", nil, &s); err != nil {
					t.Fatal(err)
				}
				if got, want := 1_000_000-s.Remaining.Epsilon.Float64(), float64(1000*batches); got != want {
					t.Errorf("%s has charged %v, want %v", role, got, want)
				}
			}
		})
	}
}

// The same with processes, for a few of the steps: a process kills itself by signal 9 before its n-th
// commit, while SQLite waits for the answer to whether it may, and is started again.
func TestProcessesDieAtAStep(t *testing.T) {
	t.Parallel()
	w := begin(t, nil)
	l := &living{world: w}
	l.batch("first")
	for _, c := range []struct {
		role string
		step int
	}{{"leader", 4}, {"helper-1", 2}} {
		if err := w.c.Stop(w.ctx, c.role); err != nil {
			t.Fatal(err)
		}
		clustertest.KillBefore(t, w.c.Folder(c.role), c.step)
		if err := w.c.Start(w.ctx, c.role); err != nil {
			t.Fatal(err)
		}
		var supervised sync.WaitGroup
		supervised.Go(func() {
			if !clustertest.Ended(w.ctx, t, w.c, c.role) {
				t.Errorf("%s did not die at its step %d", c.role, c.step)
				return
			}
			if err := w.c.Start(w.ctx, c.role); err != nil {
				t.Error(err)
			}
		})
		r := l.batch(fmt.Sprintf("%s-%d", c.role, c.step))
		supervised.Wait()
		if r.Contributions != 3 {
			t.Errorf("%s killed before step %d: %d contributions count, want 3", c.role, c.step, r.Contributions)
		}
	}
}
