package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/filter"
)

// What the writer remembers holds while it writes alone: another process spends, answers,
// suspends and edits in between, and the next transaction goes by what there is.
func TestRemembersWhileAlone(t *testing.T) {
	l, path := create(t, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("0.5")}}})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	first := must(l.Reserve(ctx, ask("0.1")))
	second := must(l.Reserve(ctx, ask("0.1"))) // remembered by now, as is the domain
	if err := other.Commit(ctx, first, []byte("other")); err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(ctx, first, []byte("mine")); !errors.Is(err, ErrExists) {
		t.Errorf("a second answer: %v", err)
	}
	if err := l.Commit(ctx, &Reservation{ID: second.ID, Domain: "another"}, nil); err == nil {
		t.Error("the reservation of another domain was answered")
	}
	if err := l.Commit(ctx, second, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(ctx, second, []byte("mine")); !errors.Is(err, ErrExists) {
		t.Errorf("a second answer of the same process: %v", err)
	}
	must(other.Reserve(ctx, ask("0.2")))
	if r, err := l.Reserve(ctx, ask("0.2")); !errors.Is(err, ErrExhausted) {
		t.Errorf("the other's spending was not seen: %v, %v", r, err)
	}
	if err := other.Suspend(ctx, "patient", 0, "a failure", now); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrSuspended) {
		t.Errorf("the other's suspension was not seen: %v", err)
	}
	l.verifyOrFail(t)
}

// A transaction that fails leaves nothing remembered of what it would have written.
func TestForgetsWhatFailed(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("0.3")}}})
	must(l.Reserve(ctx, ask("0.1")))
	failed := errors.New("planted")
	err := l.do(ctx, false, func(ctx context.Context, b *batch) error {
		p, err := ask("0.2").prepare(b.l.domains["patient"].filter, false)
		if err == nil {
			_, err = b.reserve(ctx, ask("0.2"), p)
		}
		if err == nil {
			b.failed = failed
		}
		return err
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.1" {
		t.Errorf("spent %v", b.Spent.Epsilon)
	}
	r := must(l.Reserve(ctx, ask("0.2"))) // had it been remembered, nothing would be left
	if err := l.Commit(ctx, r, nil); err != nil {
		t.Fatal(err)
	}
	l.verifyOrFail(t)
}
