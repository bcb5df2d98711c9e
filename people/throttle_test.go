package people

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
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

// among returns the first address of a network, from one on, that takes a name for known there,
// or for unknown.
func (c *clinic) among(name string, known bool, network string, from int) string {
	for i := from; ; i++ {
		if address := fmt.Sprintf(network, i); c.tried(name, address).known == known {
			return address
		}
	}
}

// Who guesses waits longer and longer, whether there is such an account or not, and also
// across accounts; who stops is forgiven in time.
func TestGuessingIsSlowed(t *testing.T) {
	c := newClinic(t)
	for _, name := range []string{"anna", "nobody"} {
		for known, most := range map[bool]time.Duration{true: everywhere, false: longest} {
			c.pass(3 * time.Hour) // its failures elsewhere count, too
			address := c.among(name, known, "192.0.2.%d:1", len(name)*10)
			var delays []time.Duration
			for range 16 {
				delays = append(delays, c.fail(t, name, address))
			}
			for i, d := range delays {
				if i < 3 && d != 0 || i >= 4 && d == 0 || i > 4 && d < delays[i-1]*9/10 || d > most {
					t.Fatalf("%s, known %v: delays %v", name, known, delays)
				}
			}
			if delays[15] < most*9/10 {
				t.Errorf("%s, known %v: after 16 failures %v", name, known, delays[15])
			}
		}
	}
	for i := range 40 {
		c.fail(t, fmt.Sprint("name", i), "198.51.100.7:9")
	}
	name := "another"
	for c.tried(name, "198.51.100.7:9").known {
		name += "x"
	}
	if d := c.fail(t, name, "198.51.100.7:9"); d < longest*9/10 {
		t.Errorf("an address that tried 40 names waits %v", d)
	}
	c.pass(3 * time.Hour)
	if d := c.fail(t, name, "198.51.100.7:2"); d != 0 {
		t.Errorf("three hours later %v", d)
	}
}

// Half of all names are taken for known at an address, whether there is such an account or
// not: who waits for two seconds and not for thirty learns little.
func TestKnownTellsLittle(t *testing.T) {
	c := newClinic(t)
	known := map[string]int{}
	for i := range 400 {
		for _, name := range []string{"anna", "nobody"} {
			if c.tried(name, fmt.Sprintf("10.0.%d.%d", i/200, i%200)).known {
				known[name]++
			}
		}
	}
	for name, n := range known { // 400 throws of a coin are within 80 of 200 but for once in 10^15
		if n < 120 || n > 280 {
			t.Errorf("%s is taken for known at %d of 400 addresses", name, n)
		}
	}
	if c.Known("anna", "10.0.0.1") || len(known) != 2 {
		t.Error("nobody has signed in")
	}
}

// in signs in, and returns how long that waited.
func (c *clinic) in(t testing.TB, name, address string) time.Duration {
	t.Helper()
	c.waited = nil
	if _, err := c.SignIn(t.Context(), name, name+"'s", address); err != nil {
		t.Fatalf("%s from %s: %v", name, address, err)
	}
	if len(c.waited) == 0 {
		return 0
	}
	return c.waited[0]
}

// Others cannot close an account, neither by failing at it nor at others beside it: who has
// signed in where they are waits two seconds at most, and who has not half a minute.
func TestNobodyShutsAnothersAccount(t *testing.T) {
	c := newClinic(t)
	address := c.among("olga", false, "192.0.2.%d:1", 1)
	c.in(t, "anna", address)
	for i := range 2000 { // of a net of machines
		c.fail(t, "anna", fmt.Sprintf("198.51.%d.%d:5", i/200, i%200))
	}
	for i := range 100 { // of some beside her
		c.pass(everywhere) // faster ones are not looked at
		c.fail(t, "anna", address)
		c.fail(t, fmt.Sprint("name", i), address)
	}
	for range 2 * remembered { // and of many names, so that she is forgotten
		c.throttle.note(c.tried(fmt.Sprint("x", c.now().UnixNano()), address), c.now(), false)
		c.pass(time.Millisecond)
	}
	if d := c.in(t, "anna", address); d > everywhere {
		t.Errorf("where she was: %v", d)
	}
	if d := c.in(t, "anna", c.among("anna", false, "203.0.113.%d:2", 1)); d > everywhere {
		t.Errorf("from elsewhere: %v", d)
	}
	if d := c.in(t, "olga", address); d <= everywhere || d > longest {
		t.Errorf("who was never there: %v", d)
	}
}

// A right token waits for nobody; a wrong one is told so late.
func TestTokensWaitForNobody(t *testing.T) {
	c := newClinic(t)
	token := must(c.AddToken(t.Context(), "shell", "tina", "job", c.now().AddDate(1, 0, 0)))
	for range 40 {
		if _, err := c.SignInToken(t.Context(), token[:len(token)-3]+"AAA", "192.0.2.1:1"); err != ErrSignIn {
			t.Fatal(err)
		}
	}
	c.waited = nil
	if _, err := c.SignInToken(t.Context(), token, "192.0.2.1:1"); err != nil || len(c.waited) != 0 {
		t.Errorf("the right one: %v, waited %v", err, c.waited)
	}
	if _, err := c.SignInToken(t.Context(), token[:len(token)-3]+"AAA", "192.0.2.1:1"); err != ErrSignIn || len(c.waited) != 1 {
		t.Errorf("a wrong one: %v, waited %v", err, c.waited)
	}
}

// Attempts wait side by side. Few of an address may wait, and fewer of a name that is known
// there: then one goes, of the name that has most.
func TestFewWait(t *testing.T) {
	c := newClinic(t)
	const address = "192.0.2.1:1"
	for i := range 40 {
		c.fail(t, fmt.Sprint("before", i), address)
	}
	c.throttle.note(c.tried("anna", address), c.now(), true)
	var mu sync.Mutex
	waits := map[string]int{}
	ended := map[string]int{}
	var all sync.WaitGroup
	hold := make(chan struct{})
	c.options.Wait = func(ctx context.Context, d time.Duration) error {
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	begin := func(name string) {
		all.Go(func() {
			_, err := c.attempt(t.Context(), name, address)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				waits[name]++
			case errors.Is(err, ErrTooMany):
				ended[name]++
			default:
				t.Error(err)
			}
		})
	}
	waiting := func() (n int) {
		c.throttle.mu.Lock()
		defer c.throttle.mu.Unlock()
		for _, w := range c.throttle.waiting {
			n += len(w)
		}
		return n
	}
	stranger := "stranger"
	for c.tried(stranger, address).known {
		stranger += "x"
	}
	begin("anna")
	for waiting() < 1 {
		runtime.Gosched()
	}
	for range 3 * maxUnknown { // of one name: they put out their own
		begin(stranger)
	}
	for i := range 3 * maxKnown { // of many, half of which are taken for known, as she is
		if name := fmt.Sprint("many", i); !c.tried(name, address).known {
			begin(name)
		}
	}
	done := func() int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, k := range ended {
			n += k
		}
		return n
	}
	begun := 1 + 3*maxUnknown
	for i := range 3 * maxKnown {
		if !c.tried(fmt.Sprint("many", i), address).known {
			begun++
		}
	}
	for done() < begun-1-maxUnknown {
		runtime.Gosched()
	}
	for range 3 * maxOfName {
		begin("anna")
	}
	for done() < begun-1-maxUnknown+1+3*maxOfName-maxOfName {
		runtime.Gosched()
	}
	if n := waiting(); n != maxUnknown+maxOfName {
		t.Errorf("%d wait", n)
	}
	close(hold)
	all.Wait()
	if waits["anna"] != maxOfName || waits[stranger] > 1 {
		t.Errorf("of anna %d were let in; of one stranger's name %d", waits["anna"], waits[stranger])
	}
	if len(c.throttle.waiting) != 0 {
		t.Errorf("afterwards %d rooms are left", len(c.throttle.waiting))
	}
}

// Who guesses often at a name from an address is looked at once in two seconds, however many
// guesses come, and whoever is right among them has the chance of each. It is so whether the
// name is known there or not, and hinders nobody elsewhere.
func TestGuessesAtAPlace(t *testing.T) {
	c := newClinic(t)
	for known := range map[bool]bool{true: true, false: false} {
		address := c.among("anna", known, "192.0.2.%d:1", 1)
		for range guessing + 1 {
			c.throttle.note(c.tried("anna", address), c.now(), false)
		}
		const windows, guesses = 4000, 4
		looked, right := 0, 0
		for range windows {
			c.pass(everywhere)
			mine := int(must(entropy.New().Uint64()) % (guesses + 1))
			tries := make([]*attempt, guesses+1)
			for i := range tries {
				tries[i] = c.tried("anna", address)
				c.throttle.enter(tries[i], c.now())
			}
			for i, try := range tries {
				select {
				case <-try.put:
					continue
				default:
				}
				c.throttle.leave(try)
				c.throttle.note(try, c.now(), false)
				looked++
				if i == mine {
					right++
				}
			}
		}
		// 4000 throws of a fifth: 800, of variance 640, and within 160 but for once in 10^9.
		if looked != windows || right < 640 || right > 960 {
			t.Errorf("known %v: of %d windows %d attempts are looked at, and %d of them are right", known, windows, looked, right)
		}
		if len(c.throttle.windows) > 1 || len(c.throttle.waiting) != 0 {
			t.Errorf("%d windows and %d rooms are left", len(c.throttle.windows), len(c.throttle.waiting))
		}
	}
	if d := c.in(t, "anna", c.among("anna", false, "203.0.113.%d:2", 1)); d > everywhere {
		t.Errorf("from elsewhere: %v", d)
	}
}

// Where a name has signed in outlives the server for a month, and what keeps it names neither.
func TestPlacesAreRemembered(t *testing.T) {
	c := newClinic(t)
	c.in(t, "anna", "192.0.2.1:1")
	fail := func() {
		if _, err := c.SignIn(t.Context(), "olga", "wrong", "192.0.2.1:1"); err != ErrSignIn {
			t.Fatal(err)
		}
	}
	fail()
	again := func(want bool) {
		t.Helper()
		a := c.open(t)
		if a.Known("anna", "192.0.2.1:77") != want || a.Known("olga", "192.0.2.1:1") || a.Known("anna", "192.0.2.2:1") {
			t.Errorf("at %v anna is known: %v", c.now(), !want)
		}
	}
	again(true)
	c.pass(20 * 24 * time.Hour)
	c.in(t, "anna", "192.0.2.1:1")
	c.pass(20 * 24 * time.Hour)
	again(true) // a month begins anew each time
	c.pass(20 * 24 * time.Hour)
	again(false)
	var place []byte
	var n int
	if err := c.db.QueryRowContext(t.Context(), "SELECT place, count(*) FROM places").Scan(&place, &n); err != nil || n != 1 || len(place) != 32 {
		t.Errorf("%d places, %x: %v", n, place, err)
	}
}

// An account that signs in from many networks pushes out its own places, and nobody else's,
// neither in memory nor in the file.
func TestPlacesOfAName(t *testing.T) {
	c := newClinic(t)
	c.in(t, "olga", "192.0.2.1:1")
	for i := range ofName + 6 {
		c.pass(time.Minute)
		c.in(t, "anna", fmt.Sprintf("[2001:db8:0:%x::1]:1", i))
	}
	for where, a := range map[string]*Accounts{"memory": c.Accounts, "the file": c.open(t)} {
		known := 0
		for i := range ofName + 6 {
			if a.Known("anna", fmt.Sprintf("[2001:db8:0:%x::2]:1", i)) {
				known++
			}
		}
		if known != ofName || a.Known("anna", "[2001:db8::1]:1") || !a.Known("anna", fmt.Sprintf("[2001:db8:0:%x::1]:1", ofName+5)) || !a.Known("olga", "192.0.2.1:9") {
			t.Errorf("%s has %d places of anna", where, known)
		}
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
		if got := Host(address); got != want {
			t.Errorf("%q: %q, not %q", address, got, want)
		}
	}
}
