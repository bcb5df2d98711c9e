package web

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/places"
)

// A session is somebody who has signed in, in one browser. Its id is 256 random bits that
// only the browser keeps; here is their hash. The id is another one after every sign-in and
// from time to time, so that one which got away is soon of no use.
type session struct {
	account people.Account
	token   string // that its forms carry
	began   time.Time

	// The rest is guarded by the lock of sessions.
	seen    time.Time
	current digest    // the id that the browser is known to have
	since   time.Time // it has it
	offered time.Time // when another one was sent last
	ids     map[digest]*ticket
	message string // for the next page
	answers []*kept
	deeds   []*deed
	lapsed  bool // its account has ended: it only shows again what it did last
}

type digest [sha256.Size]byte

// A ticket is an id of a session: it was offered, then the browser comes with it, then
// another one replaces it. An offer that never arrives changes nothing, and one that arrives
// late is as good as one that does not.
type ticket struct {
	offered, replaced time.Time
	taken             bool
}

const (
	rotation = 15 * time.Minute // the age at which an id is replaced
	overlap  = 30 * time.Second // for which a replaced one still counts: a page has several requests under way
	offers   = 4                // ids of a session, at most

	sessionsOfAll     = 10_000
	sessionsOfAccount = 20
)

// sessions are those that there are.
type sessions struct {
	now        func() time.Time
	idle, life time.Duration

	mu   sync.Mutex
	byID map[digest]*session
	room *places.Room
	held int64            // bytes of answers that are kept
	of   map[string]int64 // of these those of an account
	ever int64            // how many answers were kept
}

func newSessions(now func() time.Time, idle, life time.Duration, room *places.Room) *sessions {
	return &sessions{room: cmp.Or(room, places.NewRoom(2*bytesOfAll)), now: now, idle: idle, life: life, byID: map[digest]*session{}, of: map[string]int64{}}
}

// random returns 256 bits that nobody can guess, as text.
func random() (string, error) {
	bits := make([]byte, 32)
	if _, err := entropy.New().Read(bits); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(bits), nil
}

// begin begins a session, and returns its id. Of an account, and of all, the one that was
// not seen for longest makes room.
func (s *sessions) begin(account people.Account) (id string, err error) {
	id, err = random()
	if err != nil {
		return "", err
	}
	token, err := random()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	all, own := map[*session]bool{}, map[*session]bool{}
	for _, other := range s.byID {
		if s.over(other, now) {
			s.forget(other)
			continue
		}
		all[other] = true
		if other.account.Name == account.Name {
			own[other] = true
		}
	}
	if len(own) >= sessionsOfAccount {
		s.forget(oldest(own))
	} else if len(all) >= sessionsOfAll {
		s.forget(oldest(all))
	}
	one := &session{account: account, token: token, began: now, seen: now, since: now, ids: map[digest]*ticket{}}
	one.current = s.name(one, id, now)
	one.ids[one.current].taken = true
	return id, nil
}

func oldest(of map[*session]bool) (least *session) {
	for one := range of {
		if least == nil || one.seen.Before(least.seen) {
			least = one
		}
	}
	return least
}

// over reports whether a session has expired. The lock is held.
func (s *sessions) over(one *session, now time.Time) bool {
	return now.Sub(one.seen) >= s.idle || now.Sub(one.began) >= s.life || now.Before(one.began)
}

// name gives a session another id. The lock is held.
func (s *sessions) name(one *session, id string, now time.Time) digest {
	at := digest(sha256.Sum256([]byte(id)))
	one.ids[at] = &ticket{offered: now}
	s.byID[at] = one
	return at
}

// forget ends a session. The lock is held.
func (s *sessions) forget(one *session) {
	for id := range one.ids {
		delete(s.byID, id)
	}
	clear(one.ids)
	for len(one.answers) > 0 {
		s.drop(one)
	}
}

// find returns the session of an id, or nil.
func (s *sessions) find(id string) *session {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, now := digest(sha256.Sum256([]byte(id))), s.now()
	one := s.byID[at]
	if one == nil {
		return nil
	}
	if s.over(one, now) {
		s.forget(one)
		return nil
	}
	switch t := one.ids[at]; {
	case !t.taken: // what was offered has arrived
		t.taken = true
		one.ids[one.current].replaced = now
		one.current, one.since = at, now
	case at != one.current && now.Sub(t.replaced) >= overlap:
		// An id from before, long after the browser came with the next: two hold this session,
		// and one of them is not who signed in.
		s.forget(one)
		return nil
	}
	one.seen = now
	s.fade(one)
	return one
}

// renew offers a session another id if the one that its browser comes with is old enough.
// The old one counts until the browser comes with the new: its answer may be lost.
func (s *sessions) renew(one *session, with string) (id string, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if sha256.Sum256([]byte(with)) != one.current || len(one.ids) == 0 || now.Sub(one.since) < rotation || now.Sub(one.offered) < overlap {
		return "", false
	}
	id, err := random()
	if err != nil {
		return "", false // the old one lasts until the session ends
	}
	one.offered = now
	at := s.name(one, id, now)
	for len(one.ids) > offers { // the one that was offered first goes
		oldest := at
		for other, t := range one.ids {
			if other != one.current && t.offered.Before(one.ids[oldest].offered) {
				oldest = other
			}
		}
		delete(s.byID, oldest)
		delete(one.ids, oldest)
	}
	return id, true
}

// lapse ends a session whose account has ended, as soon as nobody can click twice on what it
// did last.
func (s *sessions) lapse(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.lapsed = true
	for _, d := range one.deeds {
		if s.now().Sub(d.at) < repeats {
			return
		}
	}
	s.forget(one)
}

// hasLapsed reports whether a session's account has ended.
func (s *sessions) hasLapsed(one *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one.lapsed
}

// end ends a session.
func (s *sessions) end(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(one)
}

// leave leaves a message for the next page, and take takes it.
func (s *sessions) leave(one *session, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.message = message
}

func (s *sessions) take(one *session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	message := one.message
	one.message = ""
	return message
}

// The cookies: who has signed in, and whose sign-in form it is.
const (
	sessionCookie = "discreet"
	visitorCookie = "discreet-visitor"
)

// cookieName is a cookie's name at this server. Browsers keep the cookies of all ports of a
// host together, so the port is part of it; over TLS the prefix makes them refuse one that
// another host or another path has set.
func cookieName(r *http.Request, name string) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	if r.TLS != nil {
		name = "__Host-" + name
	}
	return name
}

func (v *visit) cookie(name string) string {
	c, err := v.r.Cookie(cookieName(v.r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// give sets a cookie until the browser ends; an empty value takes it away.
func (v *visit) give(name, value string) {
	c := &http.Cookie{Name: cookieName(v.r, name), Value: value, Path: "/", HttpOnly: true, Secure: v.r.TLS != nil, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}

// visitors are those who have not signed in. Nothing is kept of them: the token of their
// form is a keyed hash of their cookie.
type visitors struct{ key []byte }

func newVisitors() (visitors, error) {
	key := make([]byte, 32)
	if _, err := entropy.New().Read(key); err != nil {
		return visitors{}, fmt.Errorf("make key of visitors: %w", err)
	}
	return visitors{key}, nil
}

// token is what the form of a visitor carries; "" of one without a cookie.
func (v visitors) token(cookie string) string {
	if cookie == "" {
		return ""
	}
	h := hmac.New(sha256.New, v.key)
	h.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
