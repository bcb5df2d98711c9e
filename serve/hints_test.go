//go:build cgo

package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/xdg-go/scram"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/mcp"
	"github.com/discreet-dp/discreet/serve/postgres"
	"github.com/discreet-dp/discreet/serve/rest"
	"github.com/discreet-dp/discreet/serve/web"
)

// ofTheShell is what only somebody at the shell can use: a command, or a flag.
var ofTheShell = regexp.MustCompile(`\bdiscreet [a-z]|(^|[\s("'])--[a-z]|\bflags?\b|command line`)

// TestHintsAreNotTheShells: whatever door refuses, and whatever it refuses, it tells nobody
// to use a command or a flag. Sent are the catalogue's smallest refused statements and those
// of the tests of parser, binder and stability, and what the budget and a request can be
// refused for.
func TestHintsAreNotTheShells(t *testing.T) {
	t.Run("statements", func(t *testing.T) {
		d := openDoors(t, gatewaytest.Open(t, t.TempDir(), withoutData(t)))
		seen := map[string]bool{}
		for i, sql := range refusedStatements(t) {
			for code := range d.explain(t, sql, i%10 == 0) {
				seen[code] = true
			}
		}
		for _, e := range diagnostic.Entries() {
			if e.Code < "D070" && e.Code != "D001" && !seen[e.Code] { // D001 is of bytes that no JSON holds
				t.Errorf("nothing was refused with %s", e.Code)
			}
		}
	})
	t.Run("budget", func(t *testing.T) {
		w := gatewaytest.Open(t, t.TempDir())
		d := openDoors(t, w)
		const count = "SELECT count(*) FROM visits"
		for code, how := range map[string]map[string]any{
			"D070": {"sql": count},
			"D071": {"sql": count, "rho": "0.1", "epsilon": "1"},
			"D072": {"sql": "SELECT seen_at, count(*) FROM visits GROUP BY seen_at", "epsilon": "1"},
			"D074": {"sql": "SELECT sum(cost) FROM visits", "epsilon": "1e-300"},
			"D075": {"sql": count, "rho": "0.1", "confidence": "2"},
			"D076": {"sql": count, "rho": "100"},
			"D210": {"sql": count, "rhoo": "1"},
			"D103": {"sql": "SELECT count(*) FROM visits WHERE " + strings.Repeat("date_trunc('month', ", 180) + "seen_at" + strings.Repeat(")", 180) + " > '2025-06-01'", "rho": "0.1"},
		} {
			d.ask(t, code, how)
		}
		d.account(t, "D120", "10 * gausian(3)", "gaussian(?)", "rdp('f')", "")
		d.account(t, "D121", "randomized_response(0.75)", "shuffled(100, pure(1))")
		if err := w.Ledger.Suspend(t.Context(), "patient", 0, "test", gatewaytest.Noon); err != nil {
			t.Fatal(err)
		}
		// The page has answered D071's statement if it took the rho: this one is another.
		d.ask(t, "D077", map[string]any{"sql": count, "rho": "0.2"})
	})
	t.Run("each door has words for each way", func(t *testing.T) {
		for _, way := range diagnostic.Ways() {
			for _, door := range []string{"postgres", "http", "mcp", "web"} {
				if h := gateway.Hint(string(way), door, ""); h == "" || ofTheShell.MatchString(h) {
					t.Errorf("%s at %s: %q", way, door, h)
				}
			}
		}
	})
}

// withoutData serves the catalog of the refused statements. No file of it exists: whatever is
// refused here is refused before an engine is asked, and the one that there is has the demo's
// tables.
func withoutData(t *testing.T) func(*gateway.Config) {
	return func(config *gateway.Config) {
		c, err := catalog.Load("../internal/stability/testdata/catalog.toml")
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: gatewaytest.Noon})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		config.Catalog, config.Ledger = c, l
	}
}

func refusedStatements(t *testing.T) (all []string) {
	for _, e := range diagnostic.Entries() {
		if e.Code < "D070" && e.Example != "" {
			all = append(all, e.Example)
		}
	}
	wide := "SELECT count(*)" // for D056
	for age := range 201 {
		wide += fmt.Sprintf(", count(*) FILTER (WHERE age = %d)", age)
	}
	all = append(all, wide+" FROM visits")
	for _, of := range []string{"sqlparse", "bind", "stability"} {
		files, err := filepath.Glob("../internal/" + of + "/testdata/refuse/*.sql")
		if err != nil || files == nil {
			t.Fatalf("%s has no refused statements: %v", of, err)
		}
		for _, f := range files {
			cases, err := diagnostictest.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				all = append(all, c.SQL)
			}
		}
	}
	return all
}

// doors are the four ways to one gateway.
type doors struct {
	url, token string
	agent      *sdk.ClientSession
	psql       *pgx.Conn
	browser    *http.Client
	form       string // the token of the form
	pages      string
}

type scramAccounts struct{ *people.Accounts }

func (a scramAccounts) Scram(ctx context.Context, name, address string, binding *scram.ChannelBinding) (postgres.Conversation, error) {
	return a.Accounts.Scram(ctx, name, address, binding)
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

var formToken = regexp.MustCompile(`name="token" value="([^"]*)"`)

func openDoors(t *testing.T, w gatewaytest.World) *doors {
	t.Helper()
	d := &doors{}
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d.token, err = w.People.AddToken(t.Context(), "test", gatewaytest.Analyst.Name, "test", gatewaytest.Noon.AddDate(1, 0, 0))
	must()
	server := httptest.NewServer(rest.New(rest.Options{Gateway: w.Gateway, SignIn: w.People.SignInToken, Agents: mcp.New}))
	t.Cleanup(server.Close)
	d.url = server.URL
	d.agent, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: d.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(d.token)}}, nil)
	must()
	t.Cleanup(func() { d.agent.Close() })

	wire, err := postgres.New(postgres.Options{Gateway: w.Gateway, Accounts: scramAccounts{w.People}, Now: time.Now})
	must()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- wire.Serve(ctx, l) }()
	t.Cleanup(func() { stop(); <-served })
	d.psql, err = pgx.Connect(t.Context(), fmt.Sprintf("postgres://anna:%s@%s/discreet?sslmode=disable", url.PathEscape(gatewaytest.Password), l.Addr()))
	must()
	t.Cleanup(func() { d.psql.Close(context.Background()) })

	h, err := web.New(web.Options{Gateway: w.Gateway, People: w.People, Now: func() time.Time { return gatewaytest.Noon }})
	must()
	pages := httptest.NewServer(h)
	t.Cleanup(pages.Close)
	d.pages = pages.URL
	jar, err := cookiejar.New(nil)
	must()
	d.browser = &http.Client{Jar: jar}
	in := url.Values{"name": {"anna"}, "password": {gatewaytest.Password}, "token": {formToken.FindStringSubmatch(d.page(t, "/sign-in", nil))[1]}}
	d.page(t, "/sign-in", in)
	all := formToken.FindAllStringSubmatch(d.page(t, "/ask", nil), -1)
	d.form = all[len(all)-1][1]
	return d
}

// page returns a page, or what a form is answered with.
func (d *doors) page(t *testing.T, path string, form url.Values) string {
	t.Helper()
	var r *http.Response
	var err error
	if form == nil {
		r, err = d.browser.Get(d.pages + path)
	} else {
		r, err = d.browser.PostForm(d.pages+path, form)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// notice is what a page says in its refusal, without the statement.
var notice = regexp.MustCompile(`(?s)<div class="notice bad".*?</div>`)

// said holds what a door says against the words of the shell.
func said(t *testing.T, door, sql string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		for _, word := range ofTheShell.FindAllString(part, -1) {
			if !strings.Contains(sql, strings.TrimSpace(word)) {
				t.Errorf("%s says of\n%s\nin the words of the shell (%q):\n%s", door, sql, word, part)
			}
		}
	}
}

type problem struct{ Code, Message, Why, Hint string }

func (d *doors) post(t *testing.T, path string, members map[string]any) (p problem) {
	t.Helper()
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	got, err := (&http.Client{Transport: bearer(d.token)}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(&p); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p
}

// agentSays calls a tool and returns its error's code.
func (d *doors) agentSays(t *testing.T, tool, sql string, members map[string]any) string {
	t.Helper()
	r, err := d.agent.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: members})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s returns %+v", tool, r)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		said(t, "mcp", sql, text)
	}
	code, _, _ := strings.Cut(strings.TrimPrefix(text, "error["), "]")
	return code
}

// wireSays runs a script, and returns the code of its error.
func (d *doors) wireSays(t *testing.T, sql string) string {
	t.Helper()
	_, err := d.psql.PgConn().Exec(t.Context(), sql).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		said(t, "postgres", sql, e.Message, e.Detail, e.Hint)
		code, _, _ := strings.Cut(strings.TrimPrefix(e.Message, "["), "]")
		return code
	}
	if d.psql.IsClosed() {
		t.Fatalf("%s ends the session: %v", sql, err)
	}
	return ""
}

// explain sends a statement to all doors, or to those that take time only where it is told,
// and returns what codes it was refused with.
func (d *doors) explain(t *testing.T, sql string, everywhere bool) map[string]bool {
	t.Helper()
	codes := map[string]bool{}
	members := map[string]any{"sql": sql, "rho": "0.01"}
	p := d.post(t, "/v1/explain", members)
	said(t, "http", sql, p.Message, p.Why, p.Hint)
	codes[p.Code] = true
	if !strings.ContainsRune(sql, 0) {
		d.wireSays(t, sql)
		d.wireSays(t, "EXPLAIN "+sql)
	}
	if e, _ := diagnostic.Explain(p.Code); everywhere || p.Code == "D004" || e.Example == sql {
		d.agentSays(t, "explain", sql, members)
		page := d.page(t, "/ask/explain", url.Values{"sql": {sql}, "unit": {"rho"}, "amount": {"0.01"}, "token": {d.form}})
		said(t, "web", sql, html.UnescapeString(notice.FindString(page)))
	}
	return codes
}

// ask asks all doors for a refusal with a code.
func (d *doors) ask(t *testing.T, code string, members map[string]any) {
	t.Helper()
	sql := members["sql"].(string)
	p := d.post(t, "/v1/query", members)
	said(t, "http", sql, p.Message, p.Why, p.Hint)
	if p.Code != code || code != "D071" && p.Hint == "" {
		t.Errorf("%s over HTTP: %+v", code, p)
	}
	if code == "D210" { // the tool's own schema refuses it
		return
	}
	if got := d.agentSays(t, "query", sql, members); got != code {
		t.Errorf("%s to an agent: %s", code, got)
	}
	script := "RESET ALL; "
	form := url.Values{"sql": {sql}, "do": {"ask"}, "token": {d.form}}
	for name, value := range members {
		if name == "rho" || name == "epsilon" {
			form.Set("unit", name)
			form.Set("amount", value.(string))
		} else {
			form.Set(name, value.(string))
		}
		if name != "sql" {
			script += fmt.Sprintf("SET discreet.%s = '%s'; ", name, value)
		}
	}
	d.wireSays(t, script+sql)
	page := d.page(t, "/ask", form)
	if text := notice.FindString(page); text == "" && code != "D071" {
		t.Errorf("%s on a page:\n%s", code, page)
	} else {
		said(t, "web", sql, html.UnescapeString(text))
	}
}

// account asks for what plans cost that are refused.
func (d *doors) account(t *testing.T, code string, plans ...string) {
	t.Helper()
	for _, plan := range plans {
		p := d.post(t, "/v1/account", map[string]any{"plan": plan, "delta": "1e-6"})
		if said(t, "http", plan, p.Message, p.Why, p.Hint); p.Code != code && plan != "" {
			t.Errorf("%s: %+v", plan, p)
		}
	}
}
