//go:build cgo

package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/serve/gateway"
)

// What markup, and what turns text round, wherever it is said.
const (
	markup = `<img src=x onerror=alert(1)>`
	turned = "\u202e"
)

// hostileNames is a catalog with names and values that are markup.
func hostileNames(t *testing.T) func(*gateway.Config) {
	return func(c *gateway.Config) {
		text, err := os.ReadFile(c.Catalog.Path)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(c.Catalog.Path)
		more := `
[tables."<img src=x onerror=alert(1)>"]
source = "hostile.csv"
public = true
[tables."<img src=x onerror=alert(1)>".columns]
"</script><script>alert(2)</script>" = { type = "text" }
"n" = { type = "integer" }
[views."</pre><img src=x onerror=alert(4)>"]
sql = "SELECT n AS \"<img src=x onerror=alert(5)>\" FROM departments AS d, (SELECT '<img src=x onerror=alert(6)>' AS n) AS e"
`
		if err := os.WriteFile(filepath.Join(dir, "hostile.csv"), []byte("a,n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		parsed, err := catalog.Parse(c.Catalog.Path, string(text)+more)
		if err != nil {
			t.Fatal(err)
		}
		c.Catalog = parsed
	}
}

// TestNamesAreText: names of tables, columns, accounts and values, and the text of
// statements and reasons, are text on every page: no markup, and nothing that turns it round.
func TestNamesAreText(t *testing.T) {
	s := open(t, hostileNames(t))
	anna, olga := s.signIn(t, "anna"), s.signIn(t, "olga")
	s.limit(t, "anna", "0.05")
	hostile := "SELECT '" + markup + "' AS \"<b>x\", count(*) AS \"" + markup + "\" FROM visits -- " + turned + "</pre>" + markup
	form := func(c *client, sql, amount, do string) url.Values {
		return c.form(t, "/ask", url.Values{"sql": {sql}, "unit": {"rho"}, "amount": {amount}, "do": {do}})
	}
	var pages []string
	seen := func(where, body string) {
		t.Helper()
		pages = append(pages, where)
		for _, bad := range []string{"<img", "<b>x", "<script>alert", "</td><img", "</pre><img"} {
			if strings.Contains(body, bad) {
				at := strings.Index(body, bad)
				t.Errorf("%s has %s: ...%s...", where, bad, body[max(0, at-100):min(len(body), at+100)])
			}
		}
		if strings.Contains(strings.ReplaceAll(body, hostile, ""), turned) && !strings.HasPrefix(where, "ask") && !strings.HasPrefix(where, "/ask") && where != "sign-in" { // these repeat what was written, to who wrote it
			t.Errorf("%s has a character that turns text round", where)
		}
	}
	r := anna.post(t, "/ask", form(anna, hostile, "0.01", "ask"))
	if r.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s\n%s", r.Status, r.body)
	}
	answer := anna.get(t, r.Header.Get("Location"))
	seen("ask: answer", answer.body)
	if !strings.Contains(answer.body, "&lt;img src=x onerror=alert(1)&gt;") {
		t.Errorf("the answer lacks what was asked:\n%s", answer.body)
	}
	for _, sql := range []string{hostile, `SELECT "` + markup + `" FROM visits`, `SELECT count(*) FROM "` + markup[:10] + `"`, markup, "SELECT '" + turned + markup} {
		seen("ask: explained "+sql, anna.post(t, "/ask", form(anna, sql, "0.01", "explain")).body)
		seen("ask: part "+sql, anna.post(t, "/ask/explain", form(anna, sql, "0.01", "")).body)
		seen("ask: asked "+sql, anna.post(t, "/ask", form(anna, sql, markup, "ask")).body)
	}
	if r := anna.post(t, "/ask", form(anna, hostile, "0.06", "ask")); r.StatusCode != http.StatusAccepted {
		t.Errorf("over the limit: %s", r.Status)
	}
	seen("approvals", olga.get(t, "/approvals").body)
	if r := olga.post(t, "/approvals", olga.form(t, "/approvals", url.Values{"do": {"deny"}, "id": {approvalOf(t, olga)}, "why": {turned + markup}})); r.StatusCode != http.StatusSeeOther {
		t.Errorf("denied: %s\n%s", r.Status, r.body)
	}
	seen("asked again", anna.post(t, "/ask", form(anna, hostile, "0.06", "ask")).body)
	if _, err := s.People.AddToken(t.Context(), "test", "anna", markup, s.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	stranger := s.client(t)
	seen("sign-in", stranger.post(t, "/sign-in", stranger.form(t, "/sign-in", url.Values{"name": {turned + markup}, "password": {"x"}, "to": {"/\"" + markup}})).body)
	seen("people: add", olga.post(t, "/people", olga.form(t, "/people", url.Values{"name": {markup}, "role": {"analyst"}})).body)
	for _, path := range []string{"/", "/ask", "/ask?sql=" + url.QueryEscape(hostile), "/tables", "/history", "/history?kind=all&text=" + url.QueryEscape(markup), "/history?analyst=" + url.QueryEscape(markup),
		"/history?from=" + url.QueryEscape(markup), "/people", "/people/anna", "/people/" + url.PathEscape(markup), "/approvals?show=all", "/ledger", "/audit", "/audit?account=" + url.QueryEscape(markup), "/" + url.PathEscape(markup),
		"/sign-in?to=" + url.QueryEscape("/"+markup)} {
		seen(path, olga.get(t, path).body)
		seen(path, anna.get(t, path).body)
	}
	for path, want := range map[string]string{"/tables": "&lt;img src=x onerror=alert(1)&gt;", "/ask": `\u003cimg src=x onerror=alert(1)\u003e`, "/history": `\u{202E}`, "/approvals?show=all": `\u{202E}`, "/audit": `\u{202E}`} {
		if body := olga.get(t, path).body; !strings.Contains(body, want) {
			t.Errorf("%s lacks %s: the test plants nothing there", path, want)
		}
	}
	t.Logf("%d pages", len(pages))
}

func approvalOf(t *testing.T, c *client) string {
	t.Helper()
	_, after, found := strings.Cut(c.get(t, "/approvals").body, `name="id" value="`)
	id, _, _ := strings.Cut(after, `"`)
	if !found {
		t.Fatal("nothing waits")
	}
	return id
}

// nonce is what differs from one page to the next.
var nonce = regexp.MustCompile(`data-nonce="[^"]*"|name="token" value="[^"]*"`)

// TestHiddenTables: what an account may not see is nowhere, and is told from what there is
// not by nothing.
func TestHiddenTables(t *testing.T) {
	s := open(t)
	if err := s.People.Tables(t.Context(), "test", "anna", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	c := s.signIn(t, "anna")
	for _, path := range []string{"/", "/ask", "/tables", "/history"} {
		r := c.get(t, path)
		for _, word := range []string{"visits", "patient", "cost\"", "seen_at"} {
			if r.StatusCode != http.StatusOK || strings.Contains(strings.ReplaceAll(r.body, "patient's", ""), word) {
				t.Errorf("%s: %s has %s", path, r.Status, word)
			}
		}
	}
	ask := func(table string) string {
		body := c.post(t, "/ask/explain", c.form(t, "/ask", url.Values{"sql": {"SELECT count(*) FROM " + table}, "unit": {"rho"}, "amount": {"0.01"}})).body
		return strings.ReplaceAll(body, table, "TABLE")
	}
	if hidden, none := ask("visits"), ask("vizits"); hidden != none || !strings.Contains(hidden, "D010") {
		t.Errorf("a hidden table\n%s\nand none\n%s", hidden, none)
	}
	for _, path := range []string{"/people", "/people/anna", "/approvals", "/ledger", "/audit"} {
		r, none := c.get(t, path), c.get(t, "/no-such-page")
		if r.StatusCode != http.StatusNotFound || nonce.ReplaceAllString(r.body, "") != nonce.ReplaceAllString(none.body, "") {
			t.Errorf("an owner's page %s: %s\n%s", path, r.Status, r.body)
		}
		if r := c.post(t, path, c.form(t, "/", url.Values{"do": {"disable"}, "name": {"x"}, "role": {"owner"}})); r.StatusCode != http.StatusNotFound {
			t.Errorf("an owner's form %s: %s", path, r.Status)
		}
	}
}

// raw sends bytes, and returns the statuses of all responses.
func raw(t *testing.T, address, text string) (statuses []int) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses
		}
		_, _ = io.Copy(io.Discard, r.Body)
		statuses = append(statuses, r.StatusCode)
	}
}

// TestSmuggling: a request whose length can be read in two ways is refused, and what follows
// it on the connection is not read.
func TestSmuggling(t *testing.T) {
	s := open(t)
	at := s.Listener.Addr().String()
	const second = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	for name, test := range map[string]struct {
		head, body string
	}{
		"two lengths":                  {"Content-Length: 5\r\nContent-Length: 6", "token="},
		"a length and chunks":          {"Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"},
		"chunks and a length":          {"Transfer-Encoding: chunked\r\nContent-Length: 6", "0\r\n\r\n"},
		"two encodings":                {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"},
		"an unknown encoding":          {"Transfer-Encoding: xchunked", "0\r\n\r\n"},
		"an encoding with a tab":       {"Transfer-Encoding:\tchunked", "0\r\n\r\n"},
		"a blank before the colon":     {"Content-Length : 6", "token="},
		"a sign in the length":         {"Content-Length: +6", "token="},
		"a folded head":                {"Content-Length: 6\r\n Transfer-Encoding: chunked", "token="},
		"a line that ends in a return": {"X: y\rContent-Length: 6", "token="},
		"chunks":                       {"Transfer-Encoding: chunked", "6\r\ntoken=\r\n0\r\n\r\n"},
	} {
		got := raw(t, at, "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"+test.head+"\r\n\r\n"+test.body+second)
		if len(got) != 1 || got[0] < 400 || got[0] == http.StatusNotFound {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := raw(t, at, "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\ntoken="+second); len(got) != 2 || got[0] != http.StatusForbidden || got[1] != http.StatusNotFound {
		t.Errorf("a right form, and another request: %v", got)
	}
}

// TestSlowAndLargeForms: a form that does not come, or does not end, holds nothing for long.
func TestSlowAndLargeForms(t *testing.T) {
	s := open(t)
	slow := httptest.NewUnstartedServer(s.Config.Handler)
	slow.Config.ReadTimeout = 100 * time.Millisecond // the server's is 30 seconds
	slow.Start()
	defer slow.Close()
	at := slow.Listener.Addr().String()
	head := "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n"
	if got := raw(t, at, fmt.Sprintf(head, 1000)+"name=anna"); len(got) != 1 || got[0] != http.StatusBadRequest {
		t.Errorf("a form that does not come whole: %v", got)
	}
	if got := raw(t, at, fmt.Sprintf(head, 1<<40)+"name=anna"); len(got) != 1 || got[0] < 400 {
		t.Errorf("a form of a terabyte: %v", got)
	}
	c := s.signIn(t, "anna")
	if r := c.post(t, "/sign-out", url.Values{"token": {strings.Repeat("x", 20<<10)}}); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 20 KiB: %s", r.Status)
	}
}
