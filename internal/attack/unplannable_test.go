//go:build cgo

package attack_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
)

// What the engine cannot plan is refused before it is charged, whatever the
// data, and suspends nobody.
func TestUnplannable(t *testing.T) {
	p := neighbours(t, largePure, odd, hoarder(200))
	sql := "SELECT count(*) FROM visits WHERE " + strings.Repeat("date_trunc('month', ", 180) + "seen" + strings.Repeat(")", 180) + " > '2025-06-01'"
	var said []string
	for _, w := range []*world{p.d, p.neighbour} {
		_, err := w.Query(context.Background(), sql, pure("1"))
		var r *discreet.Refusal
		if !errors.As(err, &r) || r.Code != "D103" {
			t.Fatalf("answered with %v", err)
		}
		said = append(said, marshal(t, r))
		if b := must(w.ledger.Balance(context.Background(), "person")); b.Suspended || b.Spent.Epsilon.Float64() != 0 {
			t.Errorf("afterwards %+v", b)
		}
	}
	if said[0] != said[1] {
		t.Errorf("neighbours are told %s and %s", said[0], said[1])
	}
}
