package ledger

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A ledger of any measure admits an event as often as the filter says, is read back,
// verifies, and refuses the same domain under another measure.
func TestLedgerOfEveryMeasure(t *testing.T) {
	t.Parallel()
	event := privacy.Pure{Epsilon: eps("0.3")}
	for _, m := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP} {
		d := DomainBudget{ID: "patient", Measure: m, Epsilon: eps("2"), Delta: del("1e-6")}
		if m == filter.Pure {
			d.Delta = privacy.Delta{}
		}
		l, path := create(t, Options{Domains: []DomainBudget{d}})
		request := Request{Domain: "patient", Statement: "SELECT", Events: []privacy.Event{event}, Now: now}
		want := must(filter.Admitted(m, event, d.Epsilon, del("1e-6"), privacy.AddRemove)).Int64()
		for n := int64(0); ; n++ {
			_, err := l.Reserve(ctx, request)
			if errors.Is(err, ErrExhausted) {
				if n != want {
					t.Errorf("%s: admitted %d times, want %d", m, n, want)
				}
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = must(Open(ctx, path, Options{Domains: []DomainBudget{d}}))
		l.verifyOrFail(t)
		b := must(l.Balance(ctx, "patient"))
		if part := b.Spent.In(m)[0]; part.Amount.Sign() <= 0 {
			t.Errorf("%s: spent %v", m, b.Spent)
		}
		if implied := must(b.Implies()); implied.Epsilon.Cmp(d.Epsilon) > 0 {
			t.Errorf("%s: what is left implies epsilon %v", m, implied.Epsilon)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		other := d
		if other.Measure = filter.ZCDP; m == filter.ZCDP {
			other.Measure = filter.RDP
		}
		if _, err := Open(ctx, path, Options{Domains: []DomainBudget{other}}); !errors.Is(err, ErrBudgetDiffers) {
			t.Errorf("%s opened as %s: %v", m, other.Measure, err)
		}
	}
}

func TestLedgerRefuses(t *testing.T) {
	rogers := DomainBudget{ID: "patient", Measure: filter.Rogers, Epsilon: eps("1"), Delta: del("1e-6")}
	if _, err := Create(ctx, t.TempDir()+"/l", Options{Domains: []DomainBudget{rogers}, Now: now}); err == nil {
		t.Error("a ledger guarded by rogers was created")
	}
	// Every unit answers: nothing hides whether one is there.
	l, _ := create(t, Options{})
	var relation *privacy.RelationError
	_, err := l.Reserve(ctx, Request{Domain: "patient", Statement: "SELECT", Now: now,
		Events: []privacy.Event{privacy.RandomizedResponse{P: eps("0.6").Rat(), K: 2}}})
	if !errors.As(err, &relation) {
		t.Errorf("randomized response under add-remove: %v", err)
	}
}
