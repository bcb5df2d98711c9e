package gateway

import (
	"errors"
	"testing"
	"time"
)

// TestRates: an account asks so often a minute and no more, all together too; what is
// refused does not count, and who is refused is told when to come again.
func TestRates(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := newMeter(Rates{Account: 6, All: 10})
	asked := func(account string, times int) (passed int, last *RateError) {
		for range times {
			err := m.ask(account, now)
			if err == nil {
				passed++
			} else if !errors.As(err, &last) {
				t.Fatal(err)
			}
		}
		return passed, last
	}
	if n, e := asked("anna", 100); n != 6 || e == nil || e.All || e.After <= 0 || e.After > 10*time.Second {
		t.Errorf("anna asked %d times: %v", n, e)
	}
	if n, e := asked("bert", 100); n != 4 || e == nil || !e.All || e.After != time.Minute {
		t.Errorf("bert asked %d times: %v", n, e)
	}
	now = now.Add(5 * time.Second)
	if _, e := asked("bert", 1); e == nil || e.After != time.Minute {
		t.Errorf("bert is told how often others ask: %v", e)
	}
	now = now.Add(-5 * time.Second)
	now = now.Add(10 * time.Second)
	if n, _ := asked("anna", 100); n != 1 {
		t.Errorf("after a sixth of a minute anna asked %d times", n)
	}
	now = now.Add(time.Hour)
	if n, _ := asked("anna", 100); n != 6 {
		t.Errorf("an hour saves up %d times", n)
	}
	if n, _ := asked("carl", 100); n != 4 {
		t.Errorf("carl asked %d times", n)
	}
	if Of(&RateError{}) != Rate {
		t.Errorf("it is %v", Of(&RateError{}))
	}
	m = newMeter(Rates{})
	if n, _ := asked("anna", 10_000); n != 10_000 {
		t.Errorf("without rates: %d", n)
	}
}
