//go:build cgo

package web_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

var secretField = regexp.MustCompile(`class="secret">([^<]*)<`)

// TestFormsCountOnce: a second click on what makes a password shows the password that holds,
// also where it ends the session that clicks; later the same form does nothing, and another
// form does what it says.
func TestFormsCountOnce(t *testing.T) {
	s := open(t)
	olga := s.signIn(t, "olga")
	if err := s.People.Add(t.Context(), "test", "berta", people.Owner, gatewaytest.Password); err != nil {
		t.Fatal(err)
	}
	twice := func(path string, form url.Values) (password string) {
		t.Helper()
		var answers [4]response
		var clicks sync.WaitGroup
		for i := range answers {
			clicks.Go(func() { answers[i] = olga.post(t, path, form) })
		}
		clicks.Wait()
		for _, a := range answers {
			found := secretField.FindStringSubmatch(a.body)
			if a.StatusCode != http.StatusOK || found == nil || password != "" && found[1] != password {
				t.Fatalf("%s: %s\n%s", path, a.Status, a.body)
			}
			password = found[1]
		}
		return password
	}
	holds := func(name, password string) bool {
		t.Helper()
		_, err := s.People.SignIn(t.Context(), name, password, "127.0.0.1")
		return err == nil
	}
	add := olga.form(t, "/people", url.Values{"name": {"bert"}, "role": {"analyst"}})
	if !holds("bert", twice("/people", add)) {
		t.Error("the password that was shown is not bert's")
	}
	rotate := olga.form(t, "/people/anna", url.Values{"do": {"rotate"}})
	password := twice("/people/anna", rotate)
	if !holds("anna", password) {
		t.Error("the password that was shown is not anna's")
	}
	s.pass(2 * time.Minute)
	if r := olga.post(t, "/people/anna", rotate); r.StatusCode != http.StatusConflict || strings.Contains(r.body, password) || !holds("anna", password) {
		t.Errorf("the same form later: %s\n%s", r.Status, r.body)
	}
	if another := twice("/people/anna", olga.form(t, "/people/anna", url.Values{"do": {"rotate"}})); another == password || !holds("anna", another) {
		t.Error("another form gives no other password")
	}
	if r := olga.post(t, "/people/anna", url.Values{"do": {"rotate"}, "token": rotate["token"]}); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a form without its number: %s", r.Status)
	}
	self := olga.form(t, "/people/olga", url.Values{"do": {"rotate"}})
	own := twice("/people/olga", self)
	if !holds("olga", own) || twice("/people/olga", self) != own {
		t.Error("the password that was shown is not olga's")
	}
	for range 2 {
		if r := olga.get(t, "/people"); r.StatusCode != http.StatusSeeOther {
			t.Errorf("the session goes on under another password: %s", r.Status)
		}
	}
	if r := olga.post(t, "/people/olga", url.Values{"do": {"rotate"}, "token": rotate["token"], "once": {"made up"}}); r.StatusCode != http.StatusSeeOther {
		t.Errorf("a form of a session that has ended: %s", r.Status)
	}
	s.pass(2 * time.Minute)
	if r := olga.post(t, "/people/olga", self); r.StatusCode == http.StatusOK || strings.Contains(r.body, own) {
		t.Errorf("the same form later: %s", r.Status)
	}
	if r := olga.post(t, "/people/olga", self); r.StatusCode != http.StatusSeeOther {
		t.Errorf("the session is still there: %s", r.Status)
	}

	// A session whose account was disabled does not begin again with it, also where it did something just before.
	berta := s.signIn(t, "berta")
	if r := berta.post(t, "/people", berta.form(t, "/people", url.Values{"name": {"carl"}, "role": {"analyst"}})); r.StatusCode != http.StatusOK {
		t.Fatalf("berta adds carl: %s", r.Status)
	}
	for _, act := range []func(context.Context, string, string) error{s.People.Disable, s.People.Enable} {
		if err := act(t.Context(), "test", "berta"); err != nil {
			t.Fatal(err)
		}
		if r := berta.get(t, "/people"); r.StatusCode != http.StatusSeeOther {
			t.Errorf("the session of a disabled account: %s", r.Status)
		}
	}
}

// TestDownloadsAreNoFormulas: what a spreadsheet opens has no text that it runs, and numbers in
// it are numbers.
func TestDownloadsAreNoFormulas(t *testing.T) {
	s := open(t)
	anna := s.signIn(t, "anna")
	r := anna.post(t, "/ask", anna.form(t, "/ask", url.Values{"sql": {`SELECT '=HYPERLINK("//evil")' AS "@SUM(A1)", -2 AS b, '-2' AS c, '+x' AS d, count(*) - 1000000 AS n FROM visits`}, "unit": {"rho"}, "amount": {"0.01"}, "do": {"ask"}}))
	if r.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s\n%s", r.Status, r.body)
	}
	file := anna.get(t, r.Header.Get("Location")+"/csv")
	rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v\n%s", err, file.body)
	}
	if got := strings.Join(append(rows[0][:4:4], rows[1][:4]...), " "); got != `'@SUM(A1) b c d '=HYPERLINK("//evil") -2 -2 '+x` || !strings.HasPrefix(rows[1][4], "-") {
		t.Errorf("%s and %s", got, rows[1][4])
	}
}

// TestForeignPages: to a browser that another page sent nothing is shown and nothing is done, whether
// somebody has signed in or not, and no session is touched.
func TestForeignPages(t *testing.T) {
	s := open(t)
	anna, stranger := s.signIn(t, "anna"), s.client(t)
	for _, path := range []string{"/", "/ask?sql=SELECT+count(*)+FROM+visits", "/history", "/tables", "/ask/answer/x/csv", "/ask/answer/x", "/accountant", "/mechanism", "/people", "/sign-in", "/nothing"} {
		for site, foreign := range map[string]bool{"cross-site": true, "same-site": true, "unheard-of": true, "same-origin": false, "none": false, "": false} {
			var bodies []string
			for _, c := range []*client{anna, stranger} {
				r := c.request(t, http.MethodGet, path, "")
				if site != "" {
					r.Header.Set("Sec-Fetch-Site", site)
				}
				got := c.do(t, r)
				led := strings.Contains(got.body, "Another page led here")
				if led != foreign || foreign && (got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0) {
					t.Errorf("%s from %s: %s %v", path, site, got.Status, got.Cookies())
				}
				bodies = append(bodies, regexp.MustCompile(`nonce="[^"]*"`).ReplaceAllString(got.body, ""))
			}
			if foreign && bodies[0] != bodies[1] {
				t.Errorf("%s tells a page of %s whether somebody has signed in", path, site)
			}
		}
	}
}

// TestForeignPagesInABrowser: a page at another port of the host, which has the cookies sent, and
// one of another host let a browser that is signed in ask for pages, in every way that pages have.
// The server sees nobody ask; who follows a link there can go on.
func TestForeignPagesInABrowser(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.tab(t, chromium(t), desktop)
	p.signIn(t, "anna")
	const work = "/ask?sql=SELECT+count(*)+FROM+visits+WHERE+age+%3C+41"
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>evil</title><link rel=icon href=data:,><link rel=prefetch href="%[1]s&prefetch"><img src="%[1]s&img"><iframe src="%[1]s&frame"></iframe><link rel=stylesheet href="%[1]s&style"><script src="%[1]s&script"></script>
<form id=f action="%[1]s"><input name=sql value="SELECT 1"></form><a id=go href="%[1]s">go</a><script>
Promise.allSettled(['&fetch','&again'].map(x => fetch(%[1]q + x, {mode: 'no-cors', credentials: 'include'}))).then(() => document.title = 'done')</script>`, s.URL+work)
	}))
	defer evil.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(evil.URL, "http://"), ":")
	asked := func() int { return strings.Count(s.log.String(), `"path":"/ask","status":200`) }
	sent := func() int { return strings.Count(s.log.String(), `"path":"/ask","status":403`) }
	before := asked()
	for _, from := range []string{evil.URL, "http://localhost:" + port} { // the same site, and another
		was := sent()
		p.run(t, chromedp.Navigate(from), chromedp.Poll(`document.title == 'done'`, nil))
		if n := sent() - was; n < 5 {
			t.Errorf("%s made the browser send %d requests", from, n)
		}
		p.run(t, chromedp.Click("#go"), chromedp.WaitVisible("main a.button"))
		var title string
		p.run(t, chromedp.Title(&title))
		if !strings.HasPrefix(title, "Another page led here") || asked() != before {
			t.Errorf("from %s: %q, and %d pages were shown", from, title, asked()-before)
		}
	}
	if explained := strings.Count(s.log.String(), "explain"); explained > 0 {
		t.Errorf("%d explanations", explained)
	}
	p.run(t, chromedp.Click("main a.button"), chromedp.WaitVisible("#explained"))
	if asked() != before+1 {
		t.Error("who goes on is not shown the page")
	}
	for _, refused := range []string{"Failed to load resource", "Refused to", "MIME", "ERR_BLOCKED", "frame-ancestors"} { // what the foreign page caused
		p.forgive(refused)
	}
}
