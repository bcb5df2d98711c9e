package gateway

import (
	"context"
	"errors"
	"testing"
)

// enters begins to enter and returns what tells when it has.
func (a *admission) enters(ctx context.Context, account string) <-chan func() {
	in := make(chan func(), 1)
	go func() {
		leave, err := a.enter(ctx, account)
		if err != nil {
			leave = nil
		}
		in <- leave
	}()
	return in
}

// TestAdmission: an account runs all but one of the statements that may run, waits in half
// of the places, and others go before its next one.
func TestAdmission(t *testing.T) {
	a := newAdmission(3, 4)
	enter := func(account string) func() {
		t.Helper()
		leave, err := a.enter(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first, second := enter("anna"), enter("anna")
	third := a.enters(t.Context(), "anna") // waits, though there is a place
	for waiting := 0; waiting < 1; {
		a.mu.Lock()
		waiting = len(a.waiting["anna"])
		a.mu.Unlock()
	}
	other := enter("olga")
	gone, cancel := context.WithCancel(t.Context())
	fourth := a.enters(gone, "anna")
	for waiting := 0; waiting < 2; {
		a.mu.Lock()
		waiting = len(a.waiting["anna"])
		a.mu.Unlock()
	}
	if _, err := a.enter(t.Context(), "anna"); !errors.Is(err, ErrBusy) {
		t.Errorf("a fifth waits: %v", err)
	}
	cancel()
	if leave := <-fourth; leave != nil {
		t.Error("who has gone was admitted")
	}
	first()
	first() // twice is once
	(<-third)()
	second()
	other()
	if a.free != 3 || a.room != 4 || len(a.running)+len(a.waiting)+len(a.turns) != 0 {
		t.Errorf("afterwards: %+v", a)
	}
}
