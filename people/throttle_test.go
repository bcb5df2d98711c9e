package people

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// fail signs in with a wrong password, and returns how long that waited.
func (c *clinic) fail(t testing.TB, name, address string) time.Duration {
	t.Helper()
	c.waited = nil
	if _, err := c.SignIn(t.Context(), name, "wrong", address); err != ErrSignIn {
		t.Fatalf("%s from %s: %v", name, address, err)
	}
	var sum time.Duration
	for _, d := range c.waited {
		sum += d
	}
	return sum
}

// Who guesses waits longer and longer, whether there is such an account or not, and also
// across accounts; who stops is forgiven in time.
func TestGuessingIsSlowed(t *testing.T) {
	c := newClinic(t)
	for _, name := range []string{"anna", "nobody"} {
		address := "192.0.2.1:1"
		if name == "nobody" {
			address = "192.0.2.2:1"
		}
		var delays []time.Duration
		for range 16 {
			delays = append(delays, c.fail(t, name, address))
		}
		for i, d := range delays {
			if i < 3 && d != 0 || i >= 4 && d == 0 || i > 4 && d < delays[i-1]*9/10 || d > longest {
				t.Fatalf("%s: delays %v", name, delays)
			}
		}
		if delays[15] < longest*9/10 {
			t.Errorf("%s: after 16 failures %v", name, delays[15])
		}
	}
	sprayed := time.Duration(0)
	for i := range 40 {
		sprayed = c.fail(t, fmt.Sprint("name", i), "198.51.100.7:9")
	}
	if sprayed < longest*9/10 {
		t.Errorf("an address that tried 40 names waits %v", sprayed)
	}
	c.pass(3 * time.Hour)
	if d := c.fail(t, "anna", "192.0.2.1:2"); d != 0 {
		t.Errorf("three hours later %v", d)
	}
}

// Others cannot close an account: from where it has signed in lately it is not delayed by
// them, and from elsewhere by two seconds at most.
func TestNobodyShutsAnothersAccount(t *testing.T) {
	c := newClinic(t)
	in := func(address string) time.Duration {
		t.Helper()
		c.waited = nil
		if _, err := c.SignIn(t.Context(), "anna", "anna's", address); err != nil {
			t.Fatalf("anna from %s: %v", address, err)
		}
		if len(c.waited) == 0 {
			return 0
		}
		return c.waited[0]
	}
	in("192.0.2.1:1")
	for i := range 2000 { // of a net of machines
		c.fail(t, "anna", fmt.Sprintf("198.51.%d.%d:5", i/200, i%200))
	}
	for range 100 { // of one beside her
		c.fail(t, "olga", "192.0.2.1:7")
	}
	if d := in("192.0.2.1:2"); d != 0 {
		t.Errorf("where she was: %v", d)
	}
	if d := in("203.0.113.5:2"); d == 0 || d > everywhere {
		t.Errorf("from elsewhere: %v", d)
	}
}

// Many attempts at once guess no faster than one after another, and few may wait.
func TestAttemptsOfAnAddressQueue(t *testing.T) {
	c := newClinic(t)
	for range 6 {
		c.fail(t, "anna", "192.0.2.1:1")
	}
	c.waited = nil
	var wg sync.WaitGroup
	start, refused := c.now(), 0
	var mu sync.Mutex
	hold := make(chan struct{})
	c.options.Wait = func(_ context.Context, d time.Duration) error {
		mu.Lock()
		c.waited = append(c.waited, d)
		mu.Unlock()
		<-hold
		return nil
	}
	for range 100 {
		wg.Go(func() {
			_, err := c.attempt(t.Context(), "anna", "192.0.2.1:1")
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, ErrTooMany) {
				if refused++; refused == 100-queue {
					close(hold)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !c.now().Equal(start) || len(c.waited) != queue {
		t.Fatalf("%d wait", len(c.waited))
	}
	seen := map[time.Duration]bool{}
	for _, d := range c.waited {
		seen[d] = true
	}
	if len(seen) != queue {
		t.Errorf("some wait side by side: %v", c.waited)
	}
	c.options.Wait = func(context.Context, time.Duration) error { return nil }
	if _, err := c.attempt(t.Context(), "anna", "192.0.2.1:1"); err != nil {
		t.Errorf("when they have gone: %v", err)
	}
}

// What is remembered of strangers is bounded.
func TestCountsAreBounded(t *testing.T) {
	c := counts{by: map[string]*count{}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5 * remembered {
		c.get(fmt.Sprint(i), now)
	}
	if len(c.by) > remembered+1 || len(c.order) != len(c.by) {
		t.Errorf("%d counts, %d in order", len(c.by), len(c.order))
	}
}

func TestHosts(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1:5432": "192.0.2.1/32", "192.0.2.1": "192.0.2.1/32", "[::ffff:192.0.2.1]:9": "192.0.2.1/32",
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64", "2001:db8:1:2::9": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
		"": "", "@": "@",
	} {
		if got := host(address); got != want {
			t.Errorf("%q: %q, not %q", address, got, want)
		}
	}
}
