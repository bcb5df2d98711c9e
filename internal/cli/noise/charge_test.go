package noise

import (
	"context"
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A release that ends between its charge and its answer, because the process is
// killed or there are no random bits, stays spent, and is not taken back by its
// idempotency key: the same request charges anew. The error repeats no cause,
// which might know the values.
func TestNoiseChargesFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "discreet.ledger")
	budget, err := privacy.ParseEpsilon("100000")
	if err != nil {
		t.Fatal(err)
	}
	made, err := ledger.Create(t.Context(), path, ledger.Options{Now: time.Now(),
		Domains: []ledger.DomainBudget{{ID: "ward", Neighbours: privacy.AddRemove, Measure: filter.Pure, Epsilon: budget}}})
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	n := noising{command: geometricNoise(), domain: "ward"}
	n.LedgerPath, n.IdempotencyKey = path, "k"
	ctx := context.Background()
	defer n.Close()
	p, err := n.population(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		epsilon, err := privacy.ParseEpsilon("0.25")
		if err != nil {
			t.Fatal(err)
		}
		m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		a := additive{noising: n}
		d, err := a.whole("geometric", "", m, []*big.Int{big.NewInt(815)}, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.release(ctx, p, d, broken{}); err == nil || strings.Contains(err.Error(), "815") {
			t.Fatalf("a release without bits ended with %v", err)
		}
		// What another process finds, as after a crash of this one.
		l, err := ledger.Open(ctx, path, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Balance(ctx, "ward")
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"0.25", "0.5"}[i]; b.Spent.Epsilon.String() != want || b.Uncommitted != int64(i+1) {
			t.Errorf("after failure %d: spent %v, want %s; %d without an answer", i+1, b.Spent.Epsilon, want, b.Uncommitted)
		}
		l.Close()
	}
}

// broken is a source of bits that fails.
type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errors.New("no bits for 815") }
