//go:build cgo

package multiparty

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// A hangUp is an engine during whose work the asker goes away.
type hangUp struct {
	engine.Engine
	cut func()
}

func (e hangUp) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	e.cut()
	return e.Engine.Exact(ctx, q)
}

// An asker who hangs up while the engine works loses no task: else the moment of the cut would
// tell how long the engine takes, and the charge would be for nothing.
func TestWhoHangsUpLosesNoTask(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5)}, parties: 2}).run()
	c, err := catalog.Load(filepath.Join(w.dir, "h1", "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	h := w.holders[0]
	if h.Database, err = discreet.Open(t.Context(), discreet.Config{Catalog: c, Engine: hangUp{e, cut}, Ledger: w.ledgers[0], Now: w.now}); err != nil {
		t.Fatal(err)
	}
	now, paused := w.now(), []time.Duration(nil)
	h.Now, h.pause = func() time.Time { return now }, func(d time.Duration) { paused = append(paused, d) }
	m := w.task(countAll)
	task, err := decodeTask(m.data, m.hash, w.federation, w.now())
	if err != nil {
		t.Fatal(err)
	}
	first, err := h.carryOut(ctx, m.hash, m.data, task, w.federation.Askers[0], now.Add(-120*time.Millisecond))
	if err != nil || ctx.Err() == nil {
		t.Fatalf("the task of who hung up: %v (the request: %v)", err, ctx.Err())
	}
	if !slices.Equal(paused, []time.Duration{30 * time.Millisecond}) {
		t.Errorf("120 ms after the task came the holder waited %v for its step", paused)
	}
	again, err := h.replied(t.Context(), m.hash, m.data, w.federation.Askers[0])
	if err != nil || string(again) != string(first) {
		t.Errorf("asked again the holder says %s, %v; want %s", again, err, first)
	}
}

// What others see of a task ends at a whole step after it came.
func TestTasksTakeWholeSteps(t *testing.T) {
	came := time.Unix(1000, 0)
	for after, want := range map[time.Duration]time.Duration{0: 50, 1: 49, 49: 1, 50: 50, 120: 30, -1000: 50} {
		h := &Holder{HolderOptions: HolderOptions{Now: func() time.Time { return came.Add(after * time.Millisecond) }}}
		if left := h.left(came); left != want*time.Millisecond {
			t.Errorf("after %d ms a task waits %v, want %d ms", after, left, want)
		}
	}
}
