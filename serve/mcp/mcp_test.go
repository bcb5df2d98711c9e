//go:build cgo

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/mcp"
	"github.com/discreet-dp/discreet/serve/rest"
)

const grouped = "SELECT department, count(*) AS visits FROM visits GROUP BY department"

// world is a server with a token of anna's.
func world(t *testing.T) (g *gateway.Gateway, url, token string) {
	t.Helper()
	w := gatewaytest.Open(t, t.TempDir())
	token, err := w.People.AddToken(t.Context(), "test", gatewaytest.Analyst.Name, "agent", gatewaytest.Noon.AddDate(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rest.New(rest.Options{Gateway: w.Gateway, SignIn: w.People.SignInToken, Agents: mcp.New}))
	t.Cleanup(server.Close)
	return w.Gateway, server.URL, token
}

// bearer adds a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func overHTTP(t *testing.T, url, token string) *sdk.ClientSession {
	return connect(t, &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}})
}

// overPipe is a bridge in this process.
func overPipe(t *testing.T, url, token string) *sdk.ClientSession {
	fromClient, toBridge := io.Pipe()
	fromBridge, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Bridge(context.WithoutCancel(t.Context()), fromClient, toClient, url, token)
		toClient.Close()
	}()
	s := connect(t, &sdk.IOTransport{Reader: fromBridge, Writer: toBridge})
	t.Cleanup(func() {
		toBridge.Close()
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the bridge: %v", err)
		}
	})
	return s
}

// call calls a tool, and holds what it returns against the tool's schema.
func call(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) (out map[string]any, refused bool, text string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	out, _ = r.StructuredContent.(map[string]any)
	if len(r.Content) == 1 {
		text = r.Content[0].(*sdk.TextContent).Text
	}
	if out == nil || text == "" {
		t.Fatalf("%s returns %+v", tool, r)
	}
	if r.IsError {
		return out, true, text
	}
	for listed, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if listed.Name != tool {
			continue
		}
		encoded, err := json.Marshal(listed.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(encoded, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if err := resolved.Validate(map[string]any(out)); err != nil {
			t.Errorf("%s returns other than its schema: %v", tool, err)
		}
	}
	return out, false, text
}

func spent(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	balances, err := g.Budget(t.Context(), gateway.Asker{})
	if err != nil {
		t.Fatal(err)
	}
	return balances[0].Spent.Rho.String()
}

// A session works the same over both transports.
func TestAgent(t *testing.T) {
	for name, open := range map[string]func(*testing.T, string, string) *sdk.ClientSession{"http": overHTTP, "bridge": overPipe} {
		t.Run(name, func(t *testing.T) {
			g, url, token := world(t)
			agent(t, g, open(t, url, token))
		})
	}
}

func agent(t *testing.T, g *gateway.Gateway, s *sdk.ClientSession) {
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "budget explain list_tables query" {
		t.Errorf("the tools are %s", got)
	}
	if init := s.InitializeResult(); init == nil || !strings.Contains(init.Instructions, "explain is free") {
		t.Errorf("the instructions: %+v", init)
	}
	if _, refused, text := call(t, s, "list_tables", nil); refused || !strings.Contains(text, `"department"`) {
		t.Errorf("the tables: %s", text)
	}
	if _, refused, text := call(t, s, "list_tables", map[string]any{"table": "../budget"}); !refused || !strings.Contains(text, "D010") {
		t.Errorf("a table that does not exist: %s", text)
	}
	if e, refused, text := call(t, s, "explain", map[string]any{"sql": grouped, "rho": 0.01}); refused || e["expected_error"] == nil || e["remaining"] == nil {
		t.Errorf("explain: %s", text)
	}
	if got := spent(t, g); got != "0" {
		t.Errorf("before the query %s is spent", got)
	}
	first, refused, text := call(t, s, "query", map[string]any{"sql": grouped, "rho": "0.01"})
	if refused || first["cost"].(map[string]any)["rho"] != 0.01 || first["remaining"] == nil || first["reused"] == true {
		t.Errorf("query: %s", text)
	}
	// A retry is another call, with another id.
	again, _, text := call(t, s, "query", map[string]any{"sql": grouped, "rho": "0.01"})
	if again["reused"] != true || spent(t, g) != "0.01" {
		t.Errorf("a retry: %s is spent: %s", spent(t, g), text)
	}
	if _, _, text := call(t, s, "query", map[string]any{"sql": grouped, "rho": "0.01", "fresh": true}); spent(t, g) != "0.02" {
		t.Errorf("a fresh answer: %s is spent: %s", spent(t, g), text)
	}
	if b, _, text := call(t, s, "budget", map[string]any{}); len(b["domains"].([]any)) != 1 || !strings.Contains(text, `"spent":{"measure":"zcdp","epsilon":0,"delta":0,"rho":0.02}`) {
		t.Errorf("budget: %s", text)
	}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		says      string
	}{
		{"query", map[string]any{"sql": "SELECT age FROM visits", "rho": 1}, "error[D041]"},
		{"query", map[string]any{"sql": grouped}, "error[D070]"},
		{"query", map[string]any{"sql": grouped, "rho": 100}, "error[D076]"},
		{"query", map[string]any{"sql": "SELECT nothing FROM visits", "rho": 1}, "(line 1, column 8)"},
		{"query", map[string]any{"rho": 1}, "there is no statement"},
		{"query", map[string]any{"sql": grouped, "ro": 1}, `did you mean "rho"`},
		{"query", map[string]any{"sql": grouped, "rho": "a lot"}, "error[D210]"},
		{"budget", map[string]any{"domain": "patient"}, "error[D210]"},
		{"list_tables", map[string]any{"table": 5}, "error[D210]"},
	} {
		out, refused, text := call(t, s, c.tool, c.arguments)
		if problem, _ := out["error"].(map[string]any); !refused || !strings.Contains(text, c.says) || problem["code"] == nil {
			t.Errorf("%s %v: %s", c.tool, c.arguments, text)
		}
	}
	if got := spent(t, g); got != "0.02" {
		t.Errorf("after refusals %s is spent", got)
	}
	p, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask", Arguments: map[string]string{"question": "Which department is busiest?"}})
	if err != nil || !strings.Contains(p.Messages[0].Content.(*sdk.TextContent).Text, "Which department is busiest?") {
		t.Errorf("the prompt: %+v, %v", p, err)
	}
	for uri, says := range map[string]string{"discreet://guide": "Explain before you query", "discreet://tables": `"tables":[`} {
		r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(r.Contents[0].Text, says) {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
}

// Nobody comes in without a token, and the history says through which account.
func TestNobody(t *testing.T) {
	g, url, token := world(t)
	for _, bad := range []string{"", "discreet_0000000000000000_AAAA", token + "x"} {
		r, err := (&http.Client{Transport: bearer(bad)}).Post(url+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("with %q: status %d", bad, r.StatusCode)
		}
	}
	s := overPipe(t, url, "discreet_0000000000000000_AAAA")
	if _, refused, text := call(t, s, "budget", nil); !refused || !strings.Contains(text, "D211") {
		t.Errorf("a bridge with nobody's token: %s", text)
	}
	call(t, overHTTP(t, url, token), "query", map[string]any{"sql": grouped, "rho": "0.01"})
	h, err := g.History(t.Context(), gateway.Asker{Account: gatewaytest.Owner}, ledger.Selection{})
	if err != nil || len(h) == 0 {
		t.Fatal(err)
	}
	found := false
	for _, e := range h {
		found = found || e.Kind == "reserve" && e.Analyst == gatewaytest.Analyst.Name
	}
	if !found {
		t.Errorf("anna's statement is not on record: %+v", h)
	}
}

// A panic under a tool is that call's failure alone: tools run in goroutines of their own.
type panicking struct{ rest.Gateway }

func (panicking) Budget(context.Context, gateway.Asker) ([]ledger.Balance, error) { panic("canary") }

func TestPanic(t *testing.T) {
	signIn := func(context.Context, string, string) (people.Account, error) { return gatewaytest.Analyst, nil }
	server := httptest.NewServer(rest.New(rest.Options{Gateway: panicking{}, SignIn: signIn, Agents: mcp.New}))
	defer server.Close()
	_, refused, text := call(t, overHTTP(t, server.URL, "any"), "budget", nil)
	if !refused || strings.Contains(text, "canary") || !strings.Contains(text, "D109") {
		t.Errorf("got %s", text)
	}
}

// A token goes to no server in clear.
func TestBridgeRefuses(t *testing.T) {
	for _, server := range []string{"", "data.example", "http://data.example", "ftp://127.0.0.1", "http://anna:secret@127.0.0.1", "http://localhost.attacker.example", "https://data.example/?x=1"} {
		if err := mcp.Bridge(t.Context(), strings.NewReader(""), io.Discard, server, "secret-token"); !errors.Is(err, mcp.ErrServer) || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%q: %v", server, err)
		}
	}
	// Nor does it follow a server that sends it elsewhere.
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	if _, refused, text := call(t, overPipe(t, first.URL, "secret-token"), "budget", nil); !refused || asked {
		t.Errorf("the bridge follows: %v, %s", asked, text)
	}
}

// Python's client sees the same, and checks results against the tools' schemas itself.
func TestPythonClient(t *testing.T) {
	python := filepath.Join("..", "..", "bench", "peers", "venv-clients", "bin", "python")
	if err := exec.CommandContext(t.Context(), python, "-c", "import mcp").Run(); err != nil {
		t.Skip("skip: Python's mcp is not installed; 'bench/peers/setup clients' installs it")
	}
	g, url, token := world(t)
	c := exec.CommandContext(t.Context(), python, "testdata/client.py", url+"/mcp", token)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "8 rows, cost 0.01, again True, refused True" || spent(t, g) != "0.01" {
		t.Errorf("Python's client: %s; %s is spent", got, spent(t, g))
	}
}
