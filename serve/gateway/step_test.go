//go:build cgo

package gateway_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestSteps: that private data have been read shows after a whole step from when the
// statement came, in the answer and in what others see of the ledger, and giving up ends the
// statement then, no earlier. What reads no private data does not wait.
func TestSteps(t *testing.T) {
	const step = 500 * time.Millisecond
	slow := gatewaytest.NewSlow()
	g := gatewaytest.Open(t, t.TempDir(), slow.In, func(c *gateway.Config) { c.Step, c.Now = step, time.Now }).Gateway
	unanswered := func() int64 {
		t.Helper()
		all, err := g.Budget(t.Context(), anna)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Uncommitted
	}
	time.Sleep(step / 3) // no statement comes when the clock's own steps begin
	came := time.Now()
	answered := make(chan time.Duration, 1)
	go func() {
		if _, err := g.Query(t.Context(), anna, grouped, rho(t, "0.001")); err != nil {
			t.Error(err)
		}
		answered <- time.Since(came)
	}()
	<-slow.Asked
	slow.May <- struct{}{}
	<-slow.Ended
	for early := true; early; {
		select {
		case took := <-answered:
			if early = false; took < step {
				t.Errorf("an answer after %v, of steps of %v", took, step)
			}
		default:
			if n := unanswered(); n != 1 && time.Since(came) < step {
				t.Fatalf("after %v the ledger shows that the answer is there", time.Since(came))
			}
		}
	}
	// Giving up.
	ctx, cancel := context.WithCancel(t.Context())
	came = time.Now()
	go func() {
		_, err := g.Query(ctx, anna, "SELECT count(*) FROM visits", rho(t, "0.001"))
		if err == nil {
			t.Error("it was answered")
		}
		answered <- time.Since(came)
	}()
	<-slow.Asked
	cancel()
	if err := <-slow.Ended; !errors.Is(err, context.Canceled) || time.Since(came) < step {
		t.Errorf("it ended after %v, of steps of %v: %v", time.Since(came), step, err)
	}
	if took := <-answered; took < step {
		t.Errorf("who gave up was told after %v", took)
	}
}

// TestCountedSteps: steps are counted from when a statement came, not by the clock, whose
// steps a client could begin at any instant of its own choice.
func TestCountedSteps(t *testing.T) {
	came := time.Date(2026, 1, 1, 12, 0, 0, int(37*time.Millisecond), time.UTC)
	for after, want := range map[time.Duration]time.Duration{0: 50 * time.Millisecond, time.Millisecond: 49 * time.Millisecond, 49 * time.Millisecond: time.Millisecond,
		50 * time.Millisecond: 50 * time.Millisecond, 120 * time.Millisecond: 30 * time.Millisecond, -time.Second: 50 * time.Millisecond} {
		if got := gateway.Left(came, came.Add(after), 50*time.Millisecond); got != want {
			t.Errorf("after %v: %v, not %v", after, got, want)
		}
	}
	if got := gateway.Left(came, came.Add(time.Second), 0); got != 0 {
		t.Errorf("without steps: %v", got)
	}
}
