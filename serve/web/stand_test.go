//go:build cgo

package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people/journal"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/web"
)

// A clock is the time of a stand, which tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A stand is the pages of a real gateway, at an address of this machine.
type stand struct {
	gatewaytest.World
	*httptest.Server
	*clock
	log *locked
}

// locked is a buffer that many write to.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func open(t testing.TB, change ...func(*gateway.Config)) *stand {
	t.Helper()
	s := &stand{clock: &clock{now: gatewaytest.Noon}, log: &locked{}}
	path := filepath.Join(t.TempDir(), "discreet.ledger"+journal.Suffix)
	notes, err := journal.Open(t.Context(), journal.Options{Path: path, Now: s.Now, Every: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { notes.Close() })
	s.World = gatewaytest.Open(t, t.TempDir(), append(change, func(c *gateway.Config) { c.Journal = notes })...)
	h, err := web.New(web.Options{Gateway: s.Gateway, People: s.People, Journal: path, Now: s.Now, Log: slog.New(slog.NewJSONHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// A client is a browser without scripts.
type client struct {
	*http.Client
	of *stand
}

// A response is a page as it came.
type response struct {
	*http.Response
	body string
}

func (s *stand) client(t testing.TB) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// signIn returns a client that has signed in.
func (s *stand) signIn(t testing.TB, name string) *client {
	t.Helper()
	c := s.client(t)
	if r := c.post(t, "/sign-in", c.form(t, "/sign-in", url.Values{"name": {name}, "password": {gatewaytest.Password}})); r.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s cannot sign in: %s\n%s", name, r.Status, r.body)
	}
	return c
}

func (c *client) do(t testing.TB, r *http.Request) response {
	t.Helper()
	got, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{got, string(text)}
}

func (c *client) request(t testing.TB, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.of.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (c *client) get(t testing.TB, path string) response {
	t.Helper()
	return c.do(t, c.request(t, http.MethodGet, path, ""))
}

func (c *client) post(t testing.TB, path string, form url.Values) response {
	t.Helper()
	return c.do(t, c.request(t, http.MethodPost, path, form.Encode()))
}

var (
	tokenField = regexp.MustCompile(`name="token" value="([^"]*)"`)
	onceField  = regexp.MustCompile(`name="once" value="([^"]*)"`)
)

// form fills a form of a page in: with the token that the last of its forms carries, and its
// number if it has one.
func (c *client) form(t testing.TB, path string, values url.Values) url.Values {
	t.Helper()
	body := c.get(t, path).body
	all := tokenField.FindAllStringSubmatch(body, -1)
	if len(all) == 0 {
		t.Fatalf("%s has no form", path)
	}
	if once := onceField.FindStringSubmatch(body); once != nil {
		values.Set("once", once[1])
	}
	values.Set("token", all[len(all)-1][1])
	return values
}

// limit makes statements of an account wait that cost more, and quota bounds them in all.
func (s *stand) limit(t testing.TB, name, rho string) {
	t.Helper()
	s.bound(t, s.People.Limit, name, rho)
}

func (s *stand) quota(t testing.TB, name, rho string) {
	t.Helper()
	s.bound(t, s.People.Quota, name, rho)
}

func (s *stand) bound(t testing.TB, set func(ctx context.Context, by, of, domain string, most *ledger.Allowance) error, name, rho string) {
	t.Helper()
	var most ledger.Allowance
	var err error
	if most.Rho, err = privacy.ParseRho(rho); err == nil {
		err = set(t.Context(), "test", name, "patient", &most)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ask asks as an account does at another door.
func (s *stand) ask(t testing.TB, name, sql, rho string) {
	t.Helper()
	if err := s.try(t, name, sql, rho); err != nil {
		t.Fatal(err)
	}
}

// pending asks what waits for an owner.
func (s *stand) pending(t testing.TB, name, sql, rho string) {
	t.Helper()
	var p *gateway.Pending
	if err := s.try(t, name, sql, rho); !errors.As(err, &p) {
		t.Fatalf("it does not wait: %v", err)
	}
}

func (s *stand) try(t testing.TB, name, sql, rho string) error {
	t.Helper()
	spend, err := privacy.ParseRho(rho)
	if err != nil {
		t.Fatal(err)
	}
	who := gateway.Asker{Account: s.World.SignIn(t, name), Door: "postgres", Address: "127.0.0.1"}
	_, err = s.Query(t.Context(), who, sql, gateway.Options{Spend: discreet.Spend{Rho: spend}})
	return err
}
