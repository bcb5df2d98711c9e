//go:build cgo

package gateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestLooking: what is free and costs the processor's time waits in turn by account. One account has all but one
// of the places; its next question waits, whatever it is, and another account's does not.
func TestLooking(t *testing.T) {
	g := gatewaytest.New(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var leaves []func()
	for {
		leave, err := g.Look(gone, anna)
		if err != nil {
			break
		}
		if leaves = append(leaves, leave); len(leaves) > 10_000 {
			t.Fatal("there is no end of places")
		}
	}
	ask := func(ctx context.Context, who gateway.Asker) map[string]error {
		_, explained := g.Explain(ctx, who, grouped, rho(t, "0.01"))
		_, described := g.Describe(ctx, who, grouped, nil, gateway.Options{})
		leave, looked := g.Look(ctx, who)
		if looked == nil {
			leave()
		}
		return map[string]error{"explain": explained, "describe": described, "look": looked}
	}
	for what, err := range ask(gone, anna) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s beside %d questions of the same account: %v", what, len(leaves), err)
		}
	}
	for what, err := range ask(t.Context(), olga) {
		if err != nil {
			t.Errorf("%s of another account: %v", what, err)
		}
	}
	for _, leave := range leaves {
		leave()
	}
	for what, err := range ask(t.Context(), anna) {
		if err != nil {
			t.Errorf("%s afterwards: %v", what, err)
		}
	}
}
