package people

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Who guesses is slowed, and nobody is shut out: others must not be able to close an
// account by failing at it. Failures are counted for a name at an address, for an address,
// and for a name from everywhere, and each count halves in ten minutes.
//
// A name at an address, and an address, wait longer with every failure, up to half a
// minute; the attempts of an address wait behind one another, so that many at once guess
// no faster, and few may wait. A name from everywhere waits two seconds at most. Where a
// name has signed in lately from an address, only its own failures there delay it.
const (
	halfLife   = 10 * time.Minute
	longest    = 30 * time.Second
	everywhere = 2 * time.Second
	remembered = 10_000              // of each kind
	trusted    = 30 * 24 * time.Hour // since the last success
	queue      = 16                  // attempts of an address that wait
)

// ErrTooMany: too many attempts of the address wait already. Nothing was looked at.
var ErrTooMany = errors.New("too many attempts: try again later")

// A count is of failures.
type count struct {
	failures float64
	at       time.Time // of failures
	free     time.Time // when the next attempt may begin
	good     time.Time // when it last signed in
	waiting  int
}

func (c *count) fall(now time.Time) {
	if d := now.Sub(c.at); d > 0 {
		c.failures *= math.Exp2(-d.Seconds() / halfLife.Seconds())
	}
	c.at = now
}

// delay after so many failures beyond some that are free.
func (c *count) delay(free float64, most time.Duration) time.Duration {
	if c.failures <= free {
		return 0
	}
	return time.Duration(min(float64(most), float64(250*time.Millisecond)*math.Exp2(min(c.failures-free, 20)-1)))
}

// counts are those of one kind, of which the one that was not touched for longest is
// forgotten.
type counts struct {
	by    map[string]*count
	order []string // as they came; a name may stand there more than once
}

func (c *counts) get(key string, now time.Time) *count {
	n := c.by[key]
	if n == nil {
		n = &count{at: now}
		c.by[key] = n
		c.order = append(c.order, key)
	}
	n.fall(now)
	for i := 0; len(c.by) > remembered && i < len(c.order); i++ { // a second chance for what has failed lately
		oldest := c.order[0]
		c.order = c.order[1:]
		if o := c.by[oldest]; oldest != key && o.waiting == 0 && (i > 8 || now.Sub(o.at) > time.Minute) {
			delete(c.by, oldest)
			break
		}
		c.order = append(c.order, oldest)
	}
	return n
}

type throttle struct {
	mu                  sync.Mutex
	pairs, hosts, names counts
}

func newThrottle() *throttle {
	return &throttle{pairs: counts{by: map[string]*count{}}, hosts: counts{by: map[string]*count{}}, names: counts{by: map[string]*count{}}}
}

// host is what an address is counted under: of IPv6 the network that one customer has.
func host(address string) string {
	if at, err := netip.ParseAddrPort(address); err == nil {
		address = at.Addr().String()
	}
	at, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	at = at.Unmap().WithZone("")
	bits := 32
	if at.Is6() {
		bits = 64
	}
	network, err := at.Prefix(bits)
	if err != nil {
		return address
	}
	return network.String()
}

// An attempt is one to sign in.
type attempt struct {
	of         *Accounts
	name, host string
	queued     *counts // it waits behind others of this kind
}

func (try *attempt) pair() string { return try.name + "\x00" + try.host }

// attempt waits until a name may be tried from an address.
func (a *Accounts) attempt(ctx context.Context, name, address string) (*attempt, error) {
	if len(name) > 256 {
		name = name[:256] // no account has such a name
	}
	try := &attempt{of: a, name: name, host: host(address)}
	d, err := a.throttle.enter(try, a.now())
	if err != nil || d == 0 {
		return try, err
	}
	err = a.options.Wait(ctx, d)
	a.throttle.leave(try)
	return try, err
}

func (t *throttle) enter(try *attempt, now time.Time) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pair, at, name := t.pairs.get(try.pair(), now), t.hosts.get(try.host, now), t.names.get(try.name, now)
	behind := pair
	d := pair.delay(3, longest)
	if pair.good.IsZero() || now.Sub(pair.good) > trusted {
		d = max(d, name.delay(10, everywhere))
		if h := at.delay(10, longest); h > d {
			d, behind = h, at
		}
	}
	if d == 0 {
		return 0, nil
	}
	if behind.waiting >= queue {
		return 0, ErrTooMany
	}
	behind.waiting++
	try.queued = &t.pairs
	if behind == at {
		try.queued = &t.hosts
	}
	start := now
	if behind.free.After(now) {
		start = behind.free
	}
	behind.free = start.Add(d)
	return behind.free.Sub(now), nil
}

// leave gives back the place of an attempt that has waited.
func (t *throttle) leave(try *attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := try.pair()
	if try.queued == &t.hosts {
		key = try.host
	}
	if c := try.queued.by[key]; c != nil { // one that waits is not forgotten
		c.waiting--
	}
}

func (try *attempt) failed() { try.of.throttle.note(try, try.of.now(), false) }

func (try *attempt) succeeded() { try.of.throttle.note(try, try.of.now(), true) }

func (t *throttle) note(try *attempt, now time.Time, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pair := t.pairs.get(try.pair(), now)
	if good {
		pair.failures, pair.good = 0, now
		return
	}
	pair.failures++
	t.hosts.get(try.host, now).failures++
	t.names.get(try.name, now).failures++
}
