//go:build cgo

package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestPolicyOfPages: no page lets a browser take anything from elsewhere, run what stands in
// a page, or stand in another's.
func TestPolicyOfPages(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "olga")
	for _, path := range []string{"/", "/nowhere", "/assets/x/style.css", "/sign-out"} {
		r := c.get(t, path)
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, want)
			}
		}
		for _, never := range []string{"unsafe-", "http:", "https:", "data:", "*"} {
			if strings.Contains(policy, never) {
				t.Errorf("%s: the policy %q has %s", path, policy, never)
			}
		}
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if strings.Contains(r.body, "style=\"") || strings.Contains(r.body, "<style") || strings.Contains(r.body, "onclick") {
			t.Errorf("%s has styles or scripts inline", path)
		}
	}
	if a, b := c.get(t, "/").Header.Get("Content-Security-Policy"), c.get(t, "/").Header.Get("Content-Security-Policy"); a == b {
		t.Error("two pages have one nonce")
	}
}

// TestForeignForms: a form counts with the token of its session, from this server's pages.
func TestForeignForms(t *testing.T) {
	s := open(t)
	c, other := s.signIn(t, "anna"), s.signIn(t, "anna")
	good := c.form(t, "/", url.Values{})
	for _, test := range []struct {
		what   string
		token  string
		header http.Header
		want   int
	}{
		{"no token", "", nil, http.StatusForbidden},
		{"another session's", other.form(t, "/", url.Values{}).Get("token"), nil, http.StatusForbidden},
		{"another origin", good.Get("token"), http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
		{"no origin", good.Get("token"), http.Header{"Origin": {"null"}}, http.StatusForbidden},
		{"another site", good.Get("token"), http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		{"another site of this host", good.Get("token"), http.Header{"Sec-Fetch-Site": {"same-site"}}, http.StatusForbidden},
		{"as JSON", good.Get("token"), http.Header{"Content-Type": {"application/json"}}, http.StatusForbidden},
		{"its own", good.Get("token"), http.Header{"Origin": {s.URL}, "Sec-Fetch-Site": {"same-origin"}}, http.StatusSeeOther},
	} {
		r := c.request(t, http.MethodPost, "/sign-out", url.Values{"token": {test.token}}.Encode())
		for name, value := range test.header {
			r.Header[name] = value
		}
		if got := c.do(t, r); got.StatusCode != test.want {
			t.Errorf("%s: %s", test.what, got.Status)
		}
	}

	// Who signs a stranger's browser in to an account of his own reads what is asked there.
	stranger := s.client(t)
	form := url.Values{"name": {"anna"}, "password": {gatewaytest.Password}, "token": {stranger.form(t, "/sign-in", url.Values{}).Get("token")}}
	if r := s.client(t).post(t, "/sign-in", form); r.StatusCode != http.StatusForbidden {
		t.Errorf("a sign-in form of another browser: %s", r.Status)
	}
	if r := stranger.post(t, "/sign-in", form); r.StatusCode != http.StatusSeeOther {
		t.Errorf("its own: %s", r.Status)
	}
}

// TestNamesOfTheServer: pages are there under the server's names alone.
func TestNamesOfTheServer(t *testing.T) {
	s := open(t)
	c := s.client(t)
	for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost": http.StatusOK, "127.0.0.1:1": http.StatusOK, "localhost.evil.example": http.StatusMisdirectedRequest} {
		r := c.request(t, http.MethodGet, "/sign-in", "")
		r.Host = host
		if got := c.do(t, r); got.StatusCode != want {
			t.Errorf("%s: %s", host, got.Status)
		}
	}
}

// TestAssets: each is at an address with its digest, and nothing else is.
func TestAssets(t *testing.T) {
	s := open(t)
	c := s.client(t)
	body := c.get(t, "/sign-in").body
	_, at, _ := strings.Cut(body, `<link rel="stylesheet" href="`)
	at, _, _ = strings.Cut(at, `"`)
	r := c.get(t, at)
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") || r.body == "" {
		t.Errorf("%s: %s %v", at, r.Status, r.Header)
	}
	for _, path := range []string{"/assets/", "/assets/x/style.css", "/assets/../web.go", "/assets/%2e%2e/web.go", "/assets/x/../../page.go", "/assets//etc/passwd", "/..%2f..%2fetc%2fpasswd",
		strings.Replace(at, "plot.css", "templates/layout.html", 1), strings.Replace(at, "plot.css", "..%2fpage.go", 1), "/templates/layout.html", "/.git/config"} {
		if r := c.get(t, path); r.StatusCode == http.StatusOK || strings.Contains(r.body, "package web") || strings.Contains(r.body, "{{") {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

// TestCookiesOverTLS: a session over TLS never goes over a connection without.
func TestCookiesOverTLS(t *testing.T) {
	s := open(t)
	tls := httptest.NewTLSServer(s.Config.Handler)
	defer tls.Close()
	c := s.client(t)
	c.Transport = tls.Client().Transport
	plain := s.Server
	defer func() { s.Server = plain }()
	s.Server = tls
	r := c.post(t, "/sign-in", c.form(t, "/sign-in", url.Values{"name": {"anna"}, "password": {gatewaytest.Password}}))
	if r.StatusCode != http.StatusSeeOther || len(r.Cookies()) == 0 || r.Header.Get("Strict-Transport-Security") == "" {
		t.Fatalf("%s %v", r.Status, r.Header)
	}
	for _, cookie := range r.Cookies() {
		if !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || !strings.HasPrefix(cookie.Name, "__Host-discreet") {
			t.Errorf("the cookie is %v", cookie)
		}
	}
}

// TestLogOfStrangers: who has not signed in fills no disk by asking.
func TestLogOfStrangers(t *testing.T) {
	s := open(t)
	stranger, anna := s.client(t), s.signIn(t, "anna")
	before := strings.Count(s.log.String(), "\n")
	for range 200 {
		stranger.get(t, "/assets/nothing")
	}
	if n := strings.Count(s.log.String(), "\n") - before; n > 60 {
		t.Errorf("%d lines of 200 requests in a minute", n)
	}
	before = strings.Count(s.log.String(), `"account":"anna"`)
	anna.get(t, "/")
	if strings.Count(s.log.String(), `"account":"anna"`) != before+1 {
		t.Error("an account's request has no line")
	}
}
