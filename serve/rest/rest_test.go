//go:build cgo

package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/rest"
)

const grouped = `SELECT department, count(*) AS visits, avg(cost) AS price FROM visits GROUP BY department ORDER BY department`

// What spends nothing shares a gateway.
func TestFree(t *testing.T) {
	g := gatewaytest.New(t)
	for name, test := range map[string]func(*testing.T, *door){"Explain": testExplain, "SignIn": testSignIn, "Names": testNames, "Paths": testPaths, "Tables": testTables, "Account": testAccount} {
		t.Run(name, func(t *testing.T) { test(t, open(t, g)) })
	}
	balances, err := g.Budget(t.Context(), gateway.Asker{})
	if err != nil || balances[0].Spent.Rho.Sign() != 0 {
		t.Errorf("they spent %v: %v", balances[0].Spent, err)
	}
}

func TestQuery(t *testing.T) {
	d := open(t, gatewaytest.New(t))
	a := d.answer(t, asked{body: body(t, "sql", grouped, "rho", json.Number("0.0100"))})
	if len(a.Rows) != 8 || a.Intervals[0][1] == nil || a.Cost.Rho.String() != "0.01" || a.Remaining.Rho.Sign() <= 0 {
		t.Errorf("got %d rows, cost %v, remaining %v", len(a.Rows), a.Cost.Rho, a.Remaining)
	}
	a = d.answer(t, asked{body: body(t, "sql", "SELECT count(*) AS n FROM visits WHERE age > $1 AND sex = $2", "params", []any{50, "F"}, "rho", "1e-3", "confidence", 0.5)})
	if len(a.Rows) != 1 || a.Confidence != 0.5 || a.Cost.Rho.String() != "0.001" {
		t.Errorf("with parameters: %+v", a)
	}
	a = d.answer(t, asked{body: body(t, "sql", "SELECT patient_id / 100 AS a, count(DISTINCT patient_id) AS n FROM visits GROUP BY 1", "rho", "0.05")})
	if m := a.Mechanisms[len(a.Mechanisms)-1]; m.Column != "group selection" || m.Threshold < 2 {
		t.Errorf("of private groups: %+v", m)
	}
	if a := d.answer(t, asked{body: body(t, "sql", "SELECT name FROM departments")}); a.Cost.Rho.Sign() != 0 || len(a.Rows) != 8 {
		t.Errorf("what is public: %+v", a)
	}
}

// Who asks again is not charged again, unless that is asked for.
func TestRepetition(t *testing.T) {
	g := gatewaytest.New(t)
	d := open(t, g)
	statement := []any{"sql", grouped, "rho", "0.01"}
	first := d.answer(t, asked{body: body(t, statement...)})
	again := d.answer(t, asked{body: body(t, "rho", "1e-2", "sql", strings.ReplaceAll(grouped, " FROM", "\n  from"))})
	if first.Reused || !again.Reused || fmt.Sprint(first.Rows) != fmt.Sprint(again.Rows) {
		t.Errorf("first %v, again %v", first.Rows, again.Rows)
	}
	if fresh := d.answer(t, asked{body: body(t, append(statement, "fresh", true)...)}); fresh.Reused {
		t.Error("a fresh answer is a stored one")
	}
	balances, err := g.Budget(t.Context(), gateway.Asker{})
	if err != nil || balances[0].Spent.Rho.String() != "0.02" {
		t.Errorf("spent %v: %v", balances[0].Spent.Rho, err)
	}
}

func testExplain(t *testing.T, d *door) {
	r, text := d.ask(t, asked{path: "/v1/explain", body: body(t, "sql", grouped, "rho", "0.01")})
	var e discreet.Explanation
	_ = json.Unmarshal(text, &e) // events are interfaces: read below
	if r.StatusCode != http.StatusOK || !strings.Contains(string(text), `"expected_error":[{"column":"visits"`) {
		t.Errorf("status %d: %s", r.StatusCode, text)
	}
	r, text = d.ask(t, asked{path: "/v1/explain", body: body(t, "sql", "SELECT sqrt(count(*)) AS root FROM visits", "rho", "0.01")})
	if r.StatusCode != http.StatusOK || !strings.Contains(string(text), `"of":"count"`) {
		t.Errorf("status %d: %s", r.StatusCode, text)
	}
}

// What a request came to is HTTP's status, and the command's error object.
func TestProblems(t *testing.T) {
	d := open(t, gatewaytest.New(t))
	d.answer(t, asked{body: body(t, "sql", grouped, "rho", "0.001"), header: map[string]string{"Idempotency-Key": "one"}})
	for _, c := range []struct {
		name   string
		a      asked
		status int
		code   string
		says   string
	}{
		{"syntax", asked{body: body(t, "sql", "SELEC 1")}, 400, "D002", ""},
		{"column", asked{body: body(t, "sql", "SELECT nothing FROM visits", "rho", 1)}, 400, "D011", ""},
		{"table", asked{body: body(t, "sql", "SELECT 1 FROM nothing", "rho", 1)}, 400, "D010", ""},
		{"refused", asked{body: body(t, "sql", "SELECT age FROM visits", "rho", "0.01")}, 403, "D041", ""},
		{"no amount", asked{body: body(t, "sql", grouped)}, 403, "D070", "rho"},
		{"budget", asked{body: body(t, "sql", grouped, "rho", 10)}, 402, "D076", ""},
		{"key mismatch", asked{body: body(t, "sql", "SELECT count(*) FROM visits", "rho", "0.001"), header: map[string]string{"Idempotency-Key": "one"}}, 409, "D079", ""},
		{"no JSON", asked{body: "sql=SELECT"}, 400, "D210", ""},
		{"unknown member", asked{body: `{"sql": "SELECT 1", "rh": 1}`}, 400, "D210", `"rho"`},
		{"key", asked{body: body(t, "sql", grouped), header: map[string]string{"Idempotency-Key": "a b"}}, 400, "D210", "key"},
		{"form", asked{body: "sql=SELECT", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}, 415, "D210", ""},
		{"no type", asked{body: body(t, "sql", grouped), header: map[string]string{"Content-Type": ""}}, 415, "D210", ""},
		{"other characters", asked{body: body(t, "sql", grouped), header: map[string]string{"Content-Type": "application/json; charset=utf-16"}}, 415, "D210", ""},
		{"encoded", asked{body: body(t, "sql", grouped), header: map[string]string{"Content-Encoding": "gzip"}}, 415, "D210", ""},
		{"large", asked{body: `{"sql": "` + strings.Repeat("x", 1<<20) + `"}`}, 413, "D210", ""},
		{"Arrow", asked{body: body(t, "sql", grouped), header: map[string]string{"Accept": "application/vnd.apache.arrow.stream"}}, 406, "D210", "x-ndjson"},
		{"other form", asked{body: body(t, "sql", grouped), header: map[string]string{"Accept": "text/html, application/json;q=0"}}, 406, "D210", "x-ndjson"},
	} {
		if c.a.path == "" {
			c.a.path = "/v1/query"
		}
		p, _ := d.problem(t, c.a)
		if p.Status != c.status || p.Code != c.code || !strings.Contains(p.Message+p.Why+p.Hint, c.says) {
			t.Errorf("%s: %d %s %q %q %q, want %d %s %q", c.name, p.Status, p.Code, p.Message, p.Why, p.Hint, c.status, c.code, c.says)
		}
	}
	p, _ := d.problem(t, asked{path: "/v1/query", body: body(t, "sql", "SELECT\n  nothing FROM visits", "rho", 1)})
	if p.Line != 2 || p.Column != 3 || p.Length != 7 {
		t.Errorf("the place is %d:%d+%d", p.Line, p.Column, p.Length)
	}
	p, _ = d.problem(t, asked{path: "/v1/query", body: body(t, "sql", grouped, "rho", 10)})
	if fmt.Sprint(p.Asked["rho"]) != "10" || p.Left["rho"] == nil {
		t.Errorf("asked %v, left %v", p.Asked, p.Left)
	}
}

func testSignIn(t *testing.T, d *door) {
	for token, want := range map[string]int{"-": 401, "Basic YW5uYQ==": 401, "Bearer": 401, "Bearer  ": 401, "annas-token": 401, "Bearer nobodys": 401,
		"bearer annas-token": 200, "Bearer hurried": 429, "Bearer broken": 503} {
		r, text := d.ask(t, asked{method: http.MethodGet, path: "/v1/budget", token: token})
		if r.StatusCode != want {
			t.Errorf("%q: status %d, want %d", token, r.StatusCode, want)
		}
		challenge := r.Header.Get("WWW-Authenticate")
		if (want == 401) != strings.HasPrefix(challenge, "Bearer ") {
			t.Errorf("%q: challenge %q", token, challenge)
		}
		if want == 429 && r.Header.Get("Retry-After") == "" {
			t.Errorf("%q: it does not say when to come again", token)
		}
		if strings.Contains(string(text)+d.log.String(), "canary") || strings.Contains(string(text)+d.log.String(), "annas-token") {
			t.Errorf("%q: a secret in %s or %s", token, text, d.log)
		}
	}
	two := httptest.NewRequest(http.MethodGet, "/v1/budget", nil)
	two.Host = "localhost"
	two.Header["Authorization"] = []string{"Bearer annas-token", "Bearer olgas-token"}
	w := httptest.NewRecorder()
	if d.ServeHTTP(w, two); w.Code != 401 {
		t.Errorf("two tokens: status %d", w.Code)
	}
	if r, _ := d.ask(t, asked{method: http.MethodGet, path: "/openapi.json", token: "-"}); r.StatusCode != 200 {
		t.Errorf("the document needs a token: %d", r.StatusCode)
	}
}

// A page under another name cannot ask here, though its name leads here.
func testNames(t *testing.T, d *door) {
	for host, want := range map[string]int{"localhost": 200, "LOCALHOST:80": 200, "127.0.0.1": 200, "[::1]:8080": 200, "192.0.2.7:1": 200, "data.example": 200, "Data.Example:443": 200,
		"attacker.example": 421, "data.example.attacker.example": 421, "localhost.attacker.example:80": 421, "127.0.0.1.attacker.example": 421, "xdata.example": 421} {
		if r, _ := d.ask(t, asked{method: http.MethodGet, path: "/v1/budget", host: host}); r.StatusCode != want {
			t.Errorf("Host %s: status %d, want %d", host, r.StatusCode, want)
		}
	}
	for origin, want := range map[string]int{"http://data.example": 200, "https://DATA.example": 200, "http://attacker.example": 403, "null": 403, "http://data.example:81": 403, "data.example": 403} {
		r, _ := d.ask(t, asked{method: http.MethodGet, path: "/v1/budget", host: "data.example", header: map[string]string{"Origin": origin}})
		if r.StatusCode != want {
			t.Errorf("Origin %s: status %d, want %d", origin, r.StatusCode, want)
		}
		if r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("Origin %s is allowed to read", origin)
		}
	}
	if r, _ := d.ask(t, asked{method: http.MethodOptions, path: "/v1/query", header: map[string]string{"Access-Control-Request-Method": "POST"}}); r.StatusCode != 405 {
		t.Errorf("a preflight: status %d", r.StatusCode)
	}
}

func testPaths(t *testing.T, d *door) {
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/", 404}, {"GET", "/v1", 404}, {"GET", "/v1/query", 405}, {"POST", "/v1/tables", 405}, {"DELETE", "/v1/budget", 405},
		{"HEAD", "/v1/tables", 200}, {"GET", "/v1/tables/nothing", 404}, {"GET", "/v1/tables/visits", 200}, {"GET", "/mcp", 404},
		{"GET", "/v1/tables/..%2f..%2fetc%2fpasswd", 404}, {"GET", "/v1/history?limit=0", 400}, {"GET", "/v1/history?limit=5&limit=6", 400}, {"GET", "/v1/history?since=2", 400},
	} {
		r, text := d.ask(t, asked{method: c.method, path: c.path})
		if r.StatusCode != c.status {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.path, r.StatusCode, c.status, text)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Content-Security-Policy") == "" || r.Header.Get("Cache-Control") == "" {
			t.Errorf("%s %s lacks headers: %v", c.method, c.path, r.Header)
		}
		if c.status == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s %s does not say what is allowed", c.method, c.path)
		}
	}
}

// The forms are the command's, and a table that has not changed is not sent again.
func testTables(t *testing.T, d *door) {
	r, text := d.ask(t, asked{method: "GET", path: "/v1/tables"})
	if !strings.Contains(string(text), `{"name":"department","type":"text","domain":"the values of departments.name"}`) {
		t.Errorf("got %s", text)
	}
	tag := r.Header.Get("ETag")
	if r, text := d.ask(t, asked{method: "GET", path: "/v1/tables", header: map[string]string{"If-None-Match": `"x", ` + tag}}); r.StatusCode != 304 || len(text) > 0 {
		t.Errorf("with its tag: status %d, %q", r.StatusCode, text)
	}
	if r, _ := d.ask(t, asked{method: "GET", path: "/v1/tables/visits", header: map[string]string{"If-None-Match": tag}}); r.StatusCode != 200 {
		t.Errorf("another document with that tag: status %d", r.StatusCode)
	}
	if strings.Contains(string(text), "parquet") {
		t.Errorf("it says where the data are: %s", text)
	}
}

// A reader tells how many records it was given at most.
type reader struct {
	*gateway.Gateway
	most int
}

func (r *reader) History(ctx context.Context, who gateway.Asker, s ledger.Selection) ([]ledger.Entry, error) {
	all, err := r.Gateway.History(ctx, who, s)
	r.most = max(r.most, len(all))
	return all, err
}

func TestBudgetAndHistory(t *testing.T) {
	g := &reader{Gateway: gatewaytest.New(t)}
	d := open(t, g)
	for i := range 5 {
		d.answer(t, asked{body: body(t, "sql", fmt.Sprintf("SELECT count(*) FROM visits WHERE age > %d", i), "rho", "0.001")})
	}
	d.answer(t, asked{body: body(t, "sql", "SELECT count(*) FROM visits", "rho", "0.001"), token: "Bearer olgas-token"})
	_, text := d.ask(t, asked{method: "GET", path: "/v1/budget"})
	if !strings.Contains(string(text), `"spent":{"measure":"zcdp","epsilon":0,"delta":0,"rho":0.006}`) {
		t.Errorf("got %s", text)
	}
	type page struct {
		History []struct {
			Record    int64
			Analyst   string
			Statement string
			User      any
		}
		Before *int64
	}
	read := func(path, token string) (p page) {
		_, text := d.ask(t, asked{method: "GET", path: path, token: token})
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p
	}
	var seen []string
	path := "/v1/history?limit=2"
	for pages := 0; ; pages++ {
		p := read(path, "Bearer annas-token")
		for _, e := range p.History {
			if e.Analyst != "anna" || e.User != nil {
				t.Errorf("anna sees %+v", e)
			}
			seen = append(seen, e.Statement[len(e.Statement)-1:])
		}
		if p.Before == nil {
			break
		}
		if path = fmt.Sprintf("/v1/history?limit=2&before=%d", *p.Before); pages > 5 {
			t.Fatal("the pages have no end")
		}
	}
	if got := strings.Join(seen, ""); got != "43210" {
		t.Errorf("anna's statements, the newest first: %s", got)
	}
	if g.most != 3 {
		t.Errorf("for pages of 2 records %d were read", g.most)
	}
	all := read("/v1/history", "Bearer olgas-token")
	if len(all.History) < 8 || all.History[0].Analyst != "olga" {
		t.Errorf("the owner sees %+v", all)
	}
}

func testAccount(t *testing.T, d *door) {
	r, text := d.ask(t, asked{path: "/v1/account", body: `{"plan": "10 * gaussian(3)", "delta": 1e-6}`})
	if r.StatusCode != 200 || !strings.Contains(string(text), `"best":{"accountant":"gdp","epsilon":{"low":5.18`) {
		t.Errorf("status %d: %s", r.StatusCode, text)
	}
	for plan, want := range map[string]int{"10 * gausian(3)": 400, `rdp("/etc/passwd")`: 400, "gaussian(?)": 400, "1e300 * gaussian(1e-300)": 0} {
		r, text := d.ask(t, asked{path: "/v1/account", body: body(t, "plan", plan, "delta", "1e-6")})
		if want != 0 && r.StatusCode != want || strings.Contains(string(text), "root:") {
			t.Errorf("%s: status %d, want %d: %s", plan, r.StatusCode, want, text)
		}
	}
}

func TestLines(t *testing.T) {
	d := open(t, gatewaytest.New(t))
	statement := body(t, "sql", grouped, "rho", "0.01")
	key := map[string]string{"Idempotency-Key": "k", "Accept": "application/x-ndjson"}
	r, text := d.ask(t, asked{path: "/v1/query", body: statement, header: key})
	if r.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("as %s: %s", r.Header.Get("Content-Type"), text)
	}
	whole := d.answer(t, asked{body: statement, header: map[string]string{"Idempotency-Key": "k", "Accept": "application/json;q=0.9, application/x-ndjson;q=0.1"}})
	want, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{"rows": []any{}, "intervals": []any{}}
	n := 0
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); n++ {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if row, is := line["row"]; is {
			got["rows"] = append(got["rows"].([]any), row)
			got["intervals"] = append(got["intervals"].([]any), line["intervals"])
			continue
		}
		for name, value := range line {
			got[name] = value
		}
	}
	var wanted map[string]any
	if err := json.Unmarshal(want, &wanted); err != nil {
		t.Fatal(err)
	}
	if wanted["reused"] != true {
		t.Errorf("the second answer is not the first: %s", want)
	}
	for _, name := range []string{"notes", "reused"} { // a stored answer says that it is one
		delete(wanted, name)
		delete(got, name)
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(wanted); g != w || n != 10 {
		t.Errorf("%d lines:\n%s\nare not\n%s", n, g, w)
	}
}

// pendingGateway lets an owner decide first; its panics carry a secret.
type pendingGateway struct{ rest.Gateway }

func (pendingGateway) Query(_ context.Context, _ gateway.Asker, sql string, _ gateway.Options) (*discreet.Answer, error) {
	switch sql {
	case "panic":
		panic("canary-of-the-data")
	case "unavailable":
		return nil, fmt.Errorf("query: %w", discreet.ErrUnavailable)
	case "other":
		return nil, errors.New("canary-of-the-data")
	}
	return nil, &gateway.Pending{Approval: "A7"}
}

func TestPending(t *testing.T) {
	d := open(t, pendingGateway{})
	r, text := d.ask(t, asked{path: "/v1/query", body: body(t, "sql", "SELECT 1")})
	if r.StatusCode != 202 || strings.TrimSpace(string(text)) != `{"approval":"A7"}` {
		t.Errorf("status %d: %s", r.StatusCode, text)
	}
}

// What fails says the same whatever failed, to the asker and in the log.
func TestFailuresTellNothing(t *testing.T) {
	d := open(t, pendingGateway{})
	for sql, want := range map[string]string{"panic": "D109", "unavailable": "D100", "other": "D109"} {
		p, _ := d.problem(t, asked{path: "/v1/query", body: body(t, "sql", sql)})
		if p.Status != 503 || p.Code != want {
			t.Errorf("%s: %+v", sql, p)
		}
		if strings.Contains(fmt.Sprint(p)+d.log.String(), "canary") {
			t.Errorf("%s: a secret in %+v or %s", sql, p, d.log)
		}
	}
}

// A log line tells what was asked of the server, not what was asked of the data.
func TestLog(t *testing.T) {
	d := open(t, gatewaytest.New(t))
	d.answer(t, asked{body: body(t, "sql", "SELECT count(*) FROM visits WHERE sex = $1 AND department = 'canary'", "params", []any{"canary"}, "rho", "0.001"),
		header: map[string]string{"Idempotency-Key": "canary"}})
	if log := d.log.String(); strings.Contains(log, "canary") || strings.Contains(log, "SELECT") || !strings.Contains(log, `"account":"anna"`) || !strings.Contains(log, `"path":"/v1/query"`) {
		t.Errorf("the log: %s", log)
	}
}

// Strangers fill no log: of their requests a bounded number has a line.
func TestLogOfStrangers(t *testing.T) {
	d := open(t, gatewaytest.New(t))
	for range 300 {
		d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://data.example/v1/tables", nil))
	}
	if n := bytes.Count(d.log.Bytes(), []byte("\n")); n != 60 {
		t.Errorf("%d lines of 300 requests", n)
	}
	d.answer(t, asked{body: body(t, "sql", "SELECT name FROM departments")})
	if !strings.Contains(d.log.String(), `"account":"anna"`) {
		t.Error("an account's request has no line")
	}
}

// TestGoneAsker: a statement that is charged goes on though its asker has gone, and who asks
// again with the same key gets its answer. One that costs nothing ends with its asker.
func TestGoneAsker(t *testing.T) {
	slow := gatewaytest.NewSlow()
	g := gatewaytest.Open(t, t.TempDir(), slow.In).Gateway
	d := open(t, g)
	served := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.ServeHTTP(w, r)
		served <- struct{}{}
	}))
	defer server.Close()
	leave := func(statement, key string) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/query", strings.NewReader(statement))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer annas-token")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		gone := make(chan error, 1)
		go func() {
			r, err := http.DefaultClient.Do(r)
			if err == nil {
				r.Body.Close()
			}
			gone <- err
		}()
		<-slow.Asked
		leave()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Fatalf("the asker has not gone: %v", err)
		}
	}
	spent := func() string {
		t.Helper()
		balances, err := g.Budget(t.Context(), gateway.Asker{Account: gatewaytest.Owner})
		if err != nil {
			t.Fatal(err)
		}
		return balances[0].Spent.Rho.String()
	}
	leave(body(t, "sql", "SELECT count(*) FROM departments"), "free")
	select {
	case err := <-slow.Ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("what costs nothing ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("what costs nothing goes on without its asker")
	}
	<-served
	statement := body(t, "sql", grouped, "rho", "0.01")
	leave(statement, "again")
	select {
	case err := <-slow.Ended:
		t.Fatalf("what was charged ended with %v", err)
	case <-time.After(100 * time.Millisecond): // the server has noticed by then, mostly
	}
	close(slow.May)
	<-served
	if got := spent(); got != "0.01" {
		t.Errorf("when the asker has gone, %s is spent", got)
	}
	a := d.answer(t, asked{body: statement, header: map[string]string{"Idempotency-Key": "again"}})
	if got := spent(); got != "0.01" || len(a.Rows) != 8 {
		t.Errorf("asked twice, %s is spent", got)
	}
}
