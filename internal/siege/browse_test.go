//go:build cgo && linux

package siege_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve"
	"github.com/discreet-dp/discreet/serve/rest"
	pages "github.com/discreet-dp/discreet/serve/web"
)

// Routes are what a server answers over HTTP, and which of it was asked for.
type routes struct {
	mux *http.ServeMux
	mu  sync.Mutex
	not map[string]bool // asked for
}

func newRoutes() *routes {
	all := &routes{mux: http.NewServeMux(), not: map[string]bool{}}
	for _, of := range [][]string{serve.Routes(), rest.Routes(), pages.Routes()} {
		for _, pattern := range of {
			all.mux.Handle(pattern, http.NotFoundHandler())
			all.not[pattern] = true
		}
	}
	return all
}

func (r *routes) asked(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, pattern := r.mux.Handler(request)
	delete(r.not, pattern)
}

// A browser visits pages, without scripts, and throws what comes into a pit.
type browser struct {
	http.Client
	at  string
	pit *pit
	who string
}

func (p *pit) browser(t *testing.T, v *server, who string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "http://" + v.HTTP, p, who}
	if who != "" {
		if r := b.post(t, "/sign-in", b.form(t, "/sign-in", url.Values{"name": {who}, "password": {password}})); r.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s cannot sign in: %s", who, r.Status)
		}
	}
	return b
}

// visited is a response that was read.
type visited struct {
	*http.Response
	body string
}

func (b *browser) send(t *testing.T, method, path, body string) visited {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	b.pit.routes.asked(r)
	got, err := b.Do(r)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer got.Body.Close()
	var all bytes.Buffer
	if err := got.Header.Write(&all); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	from, _, _ := strings.Cut(path, "?")
	if strings.HasPrefix(from, "/ask/answer/") {
		if from = "/ask/answer"; strings.HasSuffix(path, "/csv") || strings.HasSuffix(path, "/json") {
			from = "download"
		}
	}
	b.pit.throw("page "+from, append(all.Bytes(), text...))
	return visited{got, string(text)}
}

func (b *browser) get(t *testing.T, path string) visited {
	t.Helper()
	return b.send(t, http.MethodGet, path, "")
}

func (b *browser) post(t *testing.T, path string, form url.Values) visited {
	t.Helper()
	return b.send(t, http.MethodPost, path, form.Encode())
}

var hiddenField = regexp.MustCompile(`name="(token|once|nonce)" value="([^"]*)"`)

// form fills in what the last form of a page hides.
func (b *browser) form(t *testing.T, path string, values url.Values) url.Values {
	t.Helper()
	for _, field := range hiddenField.FindAllStringSubmatch(b.get(t, path).body, -1) {
		values.Set(field[1], field[2])
	}
	return values
}

// browse visits every page, as an owner, as an analyst and as a stranger, asks statements there,
// and downloads what was answered.
func (s *stand) browse(t *testing.T, p *pit, v *server, statements []string) (answers int) {
	t.Helper()
	anna, olga, stranger := p.browser(t, v, "anna"), p.browser(t, v, "olga"), p.browser(t, v, "")
	ask := anna.form(t, "/ask", url.Values{"unit": {"rho"}, "amount": {amount}, "delta": {"1e-12"}})
	for _, sql := range statements {
		ask.Set("sql", sql)
		ask.Set("do", "explain")
		anna.post(t, "/ask/explain", ask)
		anna.post(t, "/ask", ask)
		ask.Set("do", "ask")
		if r := anna.post(t, "/ask", ask); r.StatusCode == http.StatusSeeOther {
			answers++
			for _, form := range []string{"", "/csv", "/json"} {
				anna.get(t, r.Header.Get("Location")+form)
			}
		}
	}
	style := regexp.MustCompile(`href="(/assets/[^"]*\.css)"`).FindStringSubmatch(stranger.get(t, "/sign-in").body)
	if style == nil {
		t.Fatal("the page for strangers has no style")
	}
	plan := url.Values{"plans": {"10 * gaussian(3)"}, "of": {"epsilon"}, "epsilon": {"1"}, "delta": {"1e-6"}, "relation": {"add-remove"}}
	for _, b := range []*browser{anna, olga, stranger} {
		for _, path := range []string{style[1], "/", "/ask?sql=" + url.QueryEscape(statements[0]), "/tables", "/history?kind=all", "/history?text=visits", "/accountant?" + plan.Encode(), "/mechanism", "/approvals?show=all", "/people",
			"/people/anna", "/ledger", "/audit", "/ask/answer/none", "/ask/answer/none/csv", "/nowhere"} {
			b.get(t, path)
		}
	}
	olga.post(t, "/people", olga.form(t, "/people", url.Values{"name": {"berta"}, "role": {"analyst"}}))
	olga.post(t, "/people/berta", olga.form(t, "/people/berta", url.Values{"do": {"limit"}, "domain": {domain}, "amount": {"0.5"}}))
	olga.post(t, "/ledger", olga.form(t, "/ledger", url.Values{}))
	olga.post(t, "/approvals", olga.form(t, "/people", url.Values{"do": {"grant"}, "id": {"1"}}))
	anna.post(t, "/sign-out", anna.form(t, "/ask", url.Values{}))
	return answers
}

// collector records what is sent to a collector of OpenTelemetry.
func (p *pit) collector(t *testing.T) *httptest.Server {
	t.Helper()
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p.throw("traces", append([]byte(r.URL.Path+" "), body...))
	}))
	t.Cleanup(c.Close)
	return c
}
