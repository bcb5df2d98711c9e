//go:build cgo

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestSignIn: who has signed in sees the overview, until he or she signs out.
func TestSignIn(t *testing.T) {
	s := open(t)
	stranger := s.client(t)
	if r := stranger.get(t, "/"); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/sign-in?to=%2F" {
		t.Errorf("a stranger is sent to %s %q", r.Status, r.Header.Get("Location"))
	}
	for _, wrong := range []url.Values{
		{"name": {"anna"}, "password": {"wrong"}}, {"name": {"nobody"}, "password": {gatewaytest.Password}}, {"name": {"anna"}}, {},
	} {
		r := stranger.post(t, "/sign-in", stranger.form(t, "/sign-in", wrong))
		if r.StatusCode != http.StatusUnauthorized || !strings.Contains(r.body, "The name or the password is wrong.") || len(r.Cookies()) != 0 {
			t.Errorf("%v: %s %v", wrong, r.Status, r.Cookies())
		}
	}
	c := s.signIn(t, "anna")
	if r := c.get(t, "/"); r.StatusCode != http.StatusOK || !strings.Contains(r.body, ">anna<") && !strings.Contains(r.body, ">anna ") {
		t.Errorf("%s\n%s", r.Status, r.body)
	}
	if r := c.post(t, "/sign-out", c.form(t, "/", url.Values{})); r.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out: %s", r.Status)
	}
	if r := c.get(t, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("after signing out: %s", r.Status)
	}
	if strings.Contains(s.log.String(), gatewaytest.Password) {
		t.Error("the log has a password in it")
	}
}

// session is the cookie by which a client is known.
func (c *client) session(t testing.TB) *http.Cookie {
	t.Helper()
	at, err := url.Parse(c.of.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range c.Jar.Cookies(at) {
		if strings.HasPrefix(one.Name, "discreet-") && !strings.HasPrefix(one.Name, "discreet-visitor") {
			return one
		}
	}
	t.Fatal("there is no session")
	return nil
}

// with asks for a page by a session's id alone.
func (c *client) with(t testing.TB, cookie *http.Cookie, path string) response {
	t.Helper()
	r := c.request(t, http.MethodGet, path, "")
	r.AddCookie(cookie)
	return c.of.client(t).do(t, r)
}

// TestSessionsEnd: by rest, by age, and with the account.
func TestSessionsEnd(t *testing.T) {
	s := open(t)
	signed := func(c *client) bool { return c.get(t, "/").StatusCode == http.StatusOK }
	c := s.signIn(t, "anna")
	s.pass(59 * time.Minute)
	if !signed(c) {
		t.Error("a session ends before it has rested for an hour")
	}
	s.pass(time.Hour)
	if signed(c) {
		t.Error("a session that rested for an hour goes on")
	}
	c = s.signIn(t, "anna")
	for range 23 {
		s.pass(30 * time.Minute)
		if !signed(c) {
			t.Fatal("a session ends within twelve hours")
		}
	}
	s.pass(30 * time.Minute)
	if signed(c) {
		t.Error("a session goes on after twelve hours")
	}

	c, other := s.signIn(t, "anna"), s.signIn(t, "olga")
	if err := s.People.Disable(t.Context(), "test", "anna"); err != nil {
		t.Fatal(err)
	}
	if signed(c) {
		t.Error("the session of a disabled account goes on")
	}
	if err := s.People.Enable(t.Context(), "test", "anna"); err != nil {
		t.Fatal(err)
	}
	if signed(c) || !signed(other) {
		t.Error("a session begins again, or another's has ended")
	}
	c = s.signIn(t, "anna")
	if err := s.People.Rotate(t.Context(), "test", "anna", gatewaytest.Password); err != nil {
		t.Fatal(err)
	}
	if signed(c) {
		t.Error("a session goes on under another password")
	}
}

// TestSessionIDsRotate: an id is replaced while it is used; the one before counts for as
// long as requests may be under way, and who comes with it later ends the session: two hold it.
func TestSessionIDsRotate(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	first := c.session(t)
	s.pass(20 * time.Minute)
	c.get(t, "/")
	second := c.session(t)
	if second.Value == first.Value {
		t.Fatal("the id is the same after twenty minutes")
	}
	c.get(t, "/") // with the second
	if r := c.with(t, first, "/"); r.StatusCode != http.StatusOK {
		t.Errorf("a request that was under way: %s", r.Status)
	}
	s.pass(time.Minute)
	if r := c.with(t, first, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the id from before: %s", r.Status)
	}
	if r := c.with(t, second, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the session that two hold goes on: %s", r.Status)
	}
}

// TestLostRenewals: an id that never reaches the browser signs nobody out, nor one that arrives
// after another; who comes with an old one after the new one was used is still found out.
func TestLostRenewals(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	first := c.session(t)
	offered := func(with *http.Cookie) *http.Cookie {
		t.Helper()
		r := c.with(t, with, "/")
		if r.StatusCode != http.StatusOK {
			t.Fatalf("signed out: %s", r.Status)
		}
		for _, cookie := range r.Cookies() {
			if cookie.Name == first.Name {
				return cookie
			}
		}
		return nil
	}
	var late *http.Cookie
	for i := range 20 { // all answers with another id are lost
		s.pass(20 * time.Minute)
		next := offered(first)
		if next == nil {
			t.Fatalf("after %d answers were lost, no other id is offered", i)
		}
		late = next
		if offered(first) != nil { // a second request at the same time
			t.Fatal("two ids are offered at once")
		}
	}
	s.pass(40 * time.Second)
	second := offered(first)
	if offered(second) != nil {
		t.Fatal("a fresh id is replaced")
	}
	s.pass(10 * time.Second)
	offered(first) // was under way
	s.pass(time.Hour / 2)
	offered(late) // an answer that took long has arrived after the other
	s.pass(time.Minute)
	if r := c.with(t, second, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("an id that was replaced: %s", r.Status)
	}
	if r := c.with(t, late, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the session that two hold goes on: %s", r.Status)
	}
}

// TestSignInMakesAnotherSession: no id from before counts after it, so that nobody can
// give somebody else a session to sign in to.
func TestSignInMakesAnotherSession(t *testing.T) {
	s := open(t)
	c := s.client(t)
	planted := &http.Cookie{Name: s.signIn(t, "anna").session(t).Name, Value: "planted-by-another"}
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.Jar.SetCookies(at, []*http.Cookie{planted})
	r := c.post(t, "/sign-in", c.form(t, "/sign-in", url.Values{"name": {"anna"}, "password": {gatewaytest.Password}}))
	if r.StatusCode != http.StatusSeeOther || c.session(t).Value == planted.Value {
		t.Errorf("%s, and the session is %q", r.Status, c.session(t).Value)
	}
	if r := c.with(t, planted, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the planted id: %s", r.Status)
	}
	for _, cookie := range r.Cookies() {
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("the cookie is %v", cookie)
		}
	}
}

// TestSessionsAreBounded: of an account the session that rested longest makes room.
func TestSessionsAreBounded(t *testing.T) {
	s := open(t)
	first, other := s.signIn(t, "anna"), s.signIn(t, "olga")
	var last *client
	for range 20 {
		s.pass(time.Second)
		last = s.signIn(t, "anna")
	}
	if r := first.get(t, "/"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the first of 21 sessions: %s", r.Status)
	}
	for _, c := range []*client{last, other} {
		if r := c.get(t, "/"); r.StatusCode != http.StatusOK {
			t.Errorf("another session: %s", r.Status)
		}
	}
}

// TestWhereSignInLeads: to a page of this server, whatever a link says.
func TestWhereSignInLeads(t *testing.T) {
	s := open(t)
	for to, want := range map[string]string{
		"/": "/", "/history?x=1": "/history?x=1", "": "/", "https://evil.example/": "/", "//evil.example/": "/", `/\evil.example`: "/",
		"/\t/evil.example": "/", "javascript:alert(1)": "/", "/sign-out": "/", "evil": "/", "/%09/evil.example": "/%09/evil.example",
	} {
		c := s.client(t)
		r := c.post(t, "/sign-in", c.form(t, "/sign-in", url.Values{"name": {"anna"}, "password": {gatewaytest.Password}, "to": {to}}))
		if got := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("to %q: %s %q, want %q", to, r.Status, got, want)
		}
	}
}
