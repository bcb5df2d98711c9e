package people

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Who guesses is slowed, and nobody is shut out: others must not be able to close an
// account by failing at it, or at others beside it. Failures are counted for a name at an
// address, for an address, and for a name from everywhere, and each count halves in ten
// minutes. The more failures, the longer an attempt waits before it is looked at.
//
// A name that has signed in from an address is known there: it waits two seconds at most,
// whatever strangers do. Others wait half a minute at most. Attempts wait side by side, never
// behind one another, so that those of strangers make none of another's longer. How many
// wait is bounded, of an address and of a name there, and with it how fast an address can
// guess: where there are too many, one of those goes, by chance, that its name has most of.
// So who waits in a flood may have to try again, and is not kept out by it.
//
// Where a name has failed often at an address, one attempt of those that come within two
// seconds is looked at, each with the same chance: half a guess a second, and among n guesses
// a right password is let in once in n+1 attempts, however fast the others come.
//
// Whether a name is known must not tell strangers at the address that there is such an
// account. A keyed hash takes half of all names for known everywhere, whether they exist or
// not, so that waiting for two seconds tells little.
const (
	halfLife   = 10 * time.Minute
	longest    = 30 * time.Second
	everywhere = 2 * time.Second
	remembered = 10_000              // of each kind
	ofName     = 64                  // places of a name that are remembered: one account pushes out nobody else's
	trusted    = 30 * 24 * time.Hour // since the last success

	// How many wait: of an address, where names are known and where they are not, and of a
	// known name there.
	maxKnown, maxUnknown, maxOfName = 256, 128, 8

	guessing = 20 // failures of a name at an address beyond which one attempt in two seconds is looked at
)

// ErrTooMany: too many attempts of the address wait. Nothing was looked at.
var ErrTooMany = errors.New("too many attempts: try again later")

// A count is of failures.
type count struct {
	failures float64
	at       time.Time // of failures
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

// counts are those of one kind. When there are too many, the one that was not touched for longest
// is forgotten.
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
		if o := c.by[oldest]; oldest != key && (i > 8 || now.Sub(o.at) > time.Minute) {
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
	good                map[string]time.Time // when a name last signed in from an address, by place
	windows             map[string]*window   // by pair
	waiting             map[room][]*attempt
	chance              func(n int) int // below n
}

func newThrottle(chance func(n int) int) *throttle {
	fresh := func() counts { return counts{by: map[string]*count{}} }
	return &throttle{pairs: fresh(), hosts: fresh(), names: fresh(), good: map[string]time.Time{}, windows: map[string]*window{}, waiting: map[room][]*attempt{}, chance: chance}
}

// Host is what an address, with a port or without, is counted under wherever strangers are: of
// IPv6 the network of 64 bits that one customer has, and an IPv4 address in the form of IPv6
// as itself.
func Host(address string) string {
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

// A room is where attempts of an address wait.
type room struct {
	host  string
	known bool
}

// An attempt is one to sign in.
type attempt struct {
	of         *Accounts
	name, host string
	known      bool          // the name is, at the address; or a stranger is to believe so
	put        chan struct{} // closed when it has to go
}

func (try *attempt) pair() string { return try.name + "\x00" + try.host }

// place is what is remembered of a name and an address. It is keyed: who sees it and not the
// accounts' file learns nothing of either, but which places are of one name: they begin alike.
func (a *Accounts) place(name, host string) string {
	return string(a.mac("places of", name)[:prefix]) + string(a.mac("place", name, host)[:prefix])
}

// prefix is how many bytes the places of one name have in common: 128 bits, as those that tell
// them apart.
const prefix = 16

func (try *attempt) place() string { return try.of.place(try.name, try.host) }

// A window is of two seconds, in which one attempt of a name at an address is looked at.
type window struct {
	until time.Time
	came  int
	one   *attempt
}

func (try *attempt) room() room { return room{try.host, try.known} }

// tried is an attempt that has not waited.
func (a *Accounts) tried(name, address string) *attempt {
	if len(name) > 256 {
		name = name[:256] // no account has such a name
	}
	try := &attempt{of: a, name: name, host: Host(address), put: make(chan struct{})}
	try.known = a.throttle.knows(try.place(), a.now()) || a.mac("known", name, try.host)[0]&1 == 1
	return try
}

// attempt waits until a name may be tried from an address.
func (a *Accounts) attempt(ctx context.Context, name, address string) (*attempt, error) {
	try := a.tried(name, address)
	return try, try.wait(ctx)
}

func (try *attempt) wait(ctx context.Context) error {
	t := try.of.throttle
	d := t.enter(try, try.of.now())
	if d == 0 {
		return nil
	}
	defer t.leave(try)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-try.put:
			cancel(ErrTooMany)
		case <-ctx.Done():
		}
	}()
	err := try.of.options.Wait(ctx, d)
	select {
	case <-try.put:
		return ErrTooMany
	default:
		return err
	}
}

// Known reports whether somebody has signed in from an address under a name, lately. Nobody
// else is to see it: it tells that there is such an account.
func (a *Accounts) Known(name, address string) bool {
	return a.throttle.knows(a.place(name, Host(address)), a.now())
}

func (t *throttle) knows(place string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	good, ok := t.good[place]
	return ok && now.Sub(good) <= trusted
}

// enter says how long an attempt waits, and gives it a place if it does.
func (t *throttle) enter(try *attempt, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := longest
	if try.known {
		most = everywhere
	}
	d := max(t.pairs.get(try.pair(), now).delay(3, most), t.hosts.get(try.host, now).delay(10, most), t.names.get(try.name, now).delay(10, everywhere))
	if d == 0 {
		return 0
	}
	if t.pairs.get(try.pair(), now).failures > guessing && !t.chosen(try, now) {
		close(try.put)
		return d
	}
	in, of := try.room(), maxUnknown
	if try.known {
		of = maxKnown
	}
	all := append(t.waiting[in], try)
	t.waiting[in] = all
	byName := map[string][]*attempt{}
	for _, other := range all {
		byName[other.name] = append(byName[other.name], other)
	}
	if try.known && len(byName[try.name]) > maxOfName {
		t.put(byName[try.name])
		return d
	}
	if len(all) <= of {
		return d
	}
	largest := 0
	for _, w := range byName {
		largest = max(largest, len(w))
	}
	var candidates []*attempt
	for _, other := range all {
		if len(byName[other.name]) == largest {
			candidates = append(candidates, other)
		}
	}
	t.put(candidates)
	return d
}

// chosen reports whether an attempt is the one of its window, in place of the one that was,
// until another is. The lock is held.
func (t *throttle) chosen(try *attempt, now time.Time) bool {
	w := t.windows[try.pair()]
	if w == nil || !now.Before(w.until) {
		for pair, other := range t.windows {
			if !now.Before(other.until) {
				delete(t.windows, pair)
			}
		}
		w = &window{until: now.Add(everywhere)}
		t.windows[try.pair()] = w
	}
	if w.came++; w.came > 1 && t.chance(w.came) != 0 {
		return false
	}
	if w.one != nil && slices.Contains(t.waiting[w.one.room()], w.one) {
		t.drop(w.one)
		close(w.one.put)
	}
	w.one = try
	return true
}

// put puts one of some attempts out. The lock is held.
func (t *throttle) put(some []*attempt) {
	one := some[t.chance(len(some))]
	t.drop(one)
	close(one.put)
}

// drop takes an attempt from those that wait. The lock is held.
func (t *throttle) drop(one *attempt) {
	in := one.room()
	if t.waiting[in] = slices.DeleteFunc(t.waiting[in], func(w *attempt) bool { return w == one }); len(t.waiting[in]) == 0 {
		delete(t.waiting, in)
	}
}

// leave gives back the place of an attempt that has waited.
func (t *throttle) leave(try *attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(try)
}

func (try *attempt) failed() { try.of.throttle.note(try, try.of.now(), false) }

func (try *attempt) succeeded(ctx context.Context) {
	now := try.of.now()
	try.of.throttle.note(try, now, true)
	// If it is not remembered beyond a restart, who is there waits as strangers do.
	_ = try.of.remember(ctx, try.place(), now)
}

// remember keeps in the file that a name has signed in from an address: once a day, so that
// sign-ins do not wait for the disk.
func (a *Accounts) remember(ctx context.Context, place string, now time.Time) error {
	const text = "INSERT INTO places VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET at = excluded.at"
	var at int64
	err := a.db.QueryRowContext(ctx, "SELECT at FROM places WHERE place = ?", []byte(place)).Scan(&at)
	if err == nil && now.Sub(time.Unix(at, 0)) < 24*time.Hour {
		return nil
	} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, text, []byte(place), now.Unix()); err != nil {
		return err
	}
	const forget = `DELETE FROM places WHERE at < ? OR place IN (SELECT place FROM places ORDER BY at DESC LIMIT 1000000000 OFFSET ?)
		OR place IN (SELECT place FROM places WHERE substr(place, 1, ?) = ? ORDER BY place = ? DESC, at DESC LIMIT 1000000000 OFFSET ?)`
	of := []byte(place)
	if _, err := tx.ExecContext(ctx, forget, now.Add(-trusted).Unix(), remembered, prefix, of[:min(prefix, len(of))], of, ofName); err != nil {
		return err
	}
	return tx.Commit()
}

// recall reads what was remembered.
func (a *Accounts) recall(ctx context.Context) error {
	rows, err := a.db.QueryContext(ctx, "SELECT place, at FROM places")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var place []byte
		var at int64
		if err := rows.Scan(&place, &at); err != nil {
			return err
		}
		a.throttle.good[string(place)] = time.Unix(at, 0)
	}
	return rows.Err()
}

func (t *throttle) note(try *attempt, now time.Time, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pair := t.pairs.get(try.pair(), now)
	if !good {
		pair.failures++
		t.hosts.get(try.host, now).failures++
		t.names.get(try.name, now).failures++
		return
	}
	pair.failures = 0
	place := try.place()
	_, known := t.good[place]
	t.good[place] = now
	if !known {
		t.forget(place, place[:prefix], ofName)
		t.forget(place, "", remembered)
	}
}

// forget forgets the oldest of the places that begin alike, but not the one that is new, where
// there are more than so many. The lock is held.
func (t *throttle) forget(fresh, prefix string, most int) {
	n, oldest := 0, ""
	for place, at := range t.good {
		if !strings.HasPrefix(place, prefix) {
			continue
		}
		n++
		if place != fresh && (oldest == "" || at.Before(t.good[oldest])) {
			oldest = place
		}
	}
	if n > most {
		delete(t.good, oldest)
	}
}
