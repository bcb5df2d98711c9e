package ledger

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// A key's first value is its value, for everybody, and is paid for once.
func TestRegister(t *testing.T) {
	l, path := create(t, Options{})
	first := ask("0.3")
	first.IdempotencyKey = "run/0"
	if value, err := l.Registered(ctx, first); value != nil || err != nil {
		t.Fatal(value, err)
	}
	if r, err := l.Register(ctx, first, []byte(`"a"`)); err != nil || r.Answer != nil || r.Charge.Epsilon.String() != "0.3" {
		t.Fatal(r, err)
	}
	again := first
	again.Analyst = "bob"
	for range 2 {
		if r, err := l.Register(ctx, again, []byte(`"b"`)); err != nil || string(r.Answer) != `"a"` || r.Charge.Epsilon.Sign() != 0 {
			t.Fatal(r, err)
		}
		l.Close()
		l = must(Open(ctx, path, Options{}))
	}
	defer l.Close()
	if value, err := l.Registered(ctx, again); string(value) != `"a"` || err != nil {
		t.Error(value, err)
	}
	if _, err := l.Registered(ctx, ask("0.1")); err == nil {
		t.Error("no key")
	}
	other := first
	other.Statement = "another"
	if _, err := l.Register(ctx, other, []byte(`"c"`)); !errors.Is(err, ErrIdempotencyKey) {
		t.Errorf("another statement under the key: %v", err)
	}
	// An analyst's idempotency key is another thing, though it reads the same.
	if r, err := l.Reserve(ctx, first); err != nil || r.Answer != nil {
		t.Errorf("a reservation got a register: %v, %v", r, err)
	}
	much := ask("0.9")
	much.IdempotencyKey = "run/1"
	if _, err := l.Register(ctx, much, []byte(`"d"`)); !errors.Is(err, ErrExhausted) {
		t.Errorf("0.9 of 0.4: %v", err)
	}
	if _, err := l.Reserve(ctx, Request{Domain: "patient", Now: now}); err == nil {
		t.Error("a reservation of nothing")
	}
	// What was refused left the key free; nothing is charged for no events.
	free := ask("0.9")
	free.IdempotencyKey, free.Events = "run/1", nil
	if r, err := l.Register(ctx, free, []byte(`"e"`)); err != nil || r.Answer != nil || r.Charge.Epsilon.Sign() != 0 {
		t.Error(r, err)
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.6" || b.Uncommitted != 1 {
		t.Errorf("spent %v, %d without an answer", b.Spent.Epsilon, b.Uncommitted)
	}
	l.verifyOrFail(t)
}

// Of many that write one key at once, through two Ledgers, all read the same value
// and one pays.
func TestRegisterIsWrittenOnce(t *testing.T) {
	l, path := create(t, Options{})
	m := must(Open(ctx, path, Options{}))
	defer m.Close()
	got := make([]string, 40)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			r := ask("0.4")
			r.IdempotencyKey = "run/0"
			mine := fmt.Sprintf(`"%d"`, i)
			made, err := []*Ledger{l, m}[i%2].Register(ctx, r, []byte(mine))
			switch {
			case err != nil:
				t.Error(err)
			case made.Answer == nil:
				got[i] = mine
			default:
				got[i] = string(made.Answer)
			}
		})
	}
	wg.Wait()
	for _, g := range got {
		if g != got[0] {
			t.Errorf("%s and %s", got[0], g)
		}
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.4" || b.Uncommitted != 0 {
		t.Errorf("spent %v, %d without an answer", b.Spent.Epsilon, b.Uncommitted)
	}
	l.verifyOrFail(t)
}
