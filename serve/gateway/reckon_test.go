//go:build cgo

package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestReckon: what an account gives to do that never ends, and does not look at its context,
// stalls that account and nobody else, until it ends.
func TestReckon(t *testing.T) {
	g := gatewaytest.Open(t, t.TempDir(), func(c *gateway.Config) { c.Thinking = 200 * time.Millisecond }).Gateway
	other := gateway.Asker{Account: gatewaytest.Owner, Door: "web"}
	end, ended := make(chan struct{}), make(chan struct{})
	if err := g.Reckon(t.Context(), anna, func(context.Context) error { defer close(ended); <-end; return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("work without end: %v", err)
	}
	nothing := func(context.Context) error { return nil }
	if err := g.Reckon(t.Context(), anna, nothing); !errors.Is(err, gateway.ErrBusy) {
		t.Errorf("more of the account whose work has not ended: %v", err)
	}
	if err := g.Reckon(t.Context(), other, nothing); err != nil {
		t.Errorf("work of another: %v", err)
	}
	close(end)
	<-ended
	if err := g.Reckon(t.Context(), anna, nothing); err != nil {
		t.Errorf("after it has ended: %v", err)
	}

	own := errors.New("own")
	if err := g.Reckon(t.Context(), anna, func(context.Context) error { return own }); !errors.Is(err, own) {
		t.Errorf("an error of its own: %v", err)
	}
	if err := g.Reckon(t.Context(), anna, func(ctx context.Context) error { <-ctx.Done(); return own }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("work that failed for its time: %v", err)
	}
	if err := g.Reckon(t.Context(), anna, func(ctx context.Context) error { <-ctx.Done(); return nil }); err != nil {
		t.Errorf("work that has an answer when its time is over: %v", err)
	}
	if err := g.Reckon(t.Context(), anna, func(context.Context) error { panic("canary") }); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a panic: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Reckon(gone, anna, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("of who has gone: %v", err)
	}
	if err := g.Reckon(t.Context(), anna, nothing); err != nil {
		t.Errorf("its place was kept: %v", err)
	}
}
