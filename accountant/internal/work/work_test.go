package work

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestDo(t *testing.T) {
	m := New(t.Context())
	forever := func() error {
		for {
			m.Spend(3)
		}
	}
	err := m.Do(100, forever)
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "100 steps") {
		t.Errorf("a loop without end: %v", err)
	}
	if m.Spent() != 100 {
		t.Errorf("spent %d of 100", m.Spent())
	}
	own := errors.New("own")
	if err := m.Do(100, func() error { m.Spend(100); return own }); !errors.Is(err, own) || m.Spent() != 200 {
		t.Errorf("all that it may, and an error of its own: %v, spent %d", err, m.Spent())
	}
	for _, n := range []float64{math.Inf(1), math.NaN(), -1, 1e300, 101} {
		if err := m.Do(100, func() error { m.Need(n); return nil }); !errors.Is(err, ErrLimit) {
			t.Errorf("%v steps: %v", n, err)
		}
	}
}

// What an inner Do spends is spent of the outer one, which goes on after it.
func TestNested(t *testing.T) {
	m := New(t.Context())
	err := m.Do(100, func() error {
		for range 3 {
			if err := m.Do(30, func() error { m.Spend(31); return nil }); !strings.Contains(err.Error(), "30 steps") {
				t.Errorf("inner: %v", err)
			}
		}
		m.Spend(5) // 95 of 100
		err := m.Do(30, func() error { m.Spend(6); return nil })
		if !strings.Contains(err.Error(), "100 steps") {
			t.Errorf("an inner Do that the outer one stops: %v", err)
		}
		m.Spend(1)
		return nil
	})
	if !errors.Is(err, ErrLimit) {
		t.Errorf("outer: %v", err)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := New(ctx)
	after := 0
	err := m.Do(1<<40, func() error {
		m.Spend(1000)
		cancel()
		for ; ; after++ {
			m.Spend(1)
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if after > every {
		t.Errorf("it took %d steps after its context had ended", after)
	}
	if err := m.Do(1, func() error { t.Error("begun after the end"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = New(t.Context()).Do(1, func() error { panic("other") })
}
