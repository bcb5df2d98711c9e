// Package mcp is the server's door for agents: the Model Context Protocol, over HTTP and, by
// a bridge, over standard input and output.
//
// Its tools ask what any program can ask over HTTP, and nothing else: it has no other way to data.
// A repetition is not charged: for a statement that was answered to the account before, the stored
// answer is returned.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/serve/request"
	"github.com/discreet-dp/discreet/serve/rest"
)

// An api asks the server over HTTP, or as if.
type api func(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error)

// New returns the handler of /mcp. It keeps no session: each request is the account's that
// makes it.
func New(inside http.Handler) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		server, err := newServer(within(inside, r))
		if err != nil {
			return nil // the request is refused
		}
		return server
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: request.MaxBytes,
		DisableLocalhostProtection: true}) // rest has looked at the name
}

// within asks a handler of the same process, on behalf of who made a request.
func within(inside http.Handler, of *http.Request) api {
	return func(_ context.Context, method, path string, body []byte) (int, []byte, error) {
		r, err := http.NewRequestWithContext(of.Context(), method, path, bytes.NewReader(body))
		if err != nil {
			return 0, nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Host, r.RemoteAddr = of.Host, of.RemoteAddr
		w := &recorded{header: http.Header{}}
		inside.ServeHTTP(w, r)
		return w.status, w.body.Bytes(), nil
	}
}

// A recorded response is kept.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorded) Header() http.Header { return w.header }

func (w *recorded) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorded) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// newServer offers the tools, prompts and resources over an api.
func newServer(ask api) (*mcp.Server, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "discreet", Title: "Discreet", Version: "1"},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	for _, t := range tools {
		output, err := rest.Schema(t.output)
		if err != nil {
			return nil, err
		}
		closed := false
		s.AddTool(&mcp.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: t.input, OutputSchema: output,
			// query spends, but what it spends a repetition does not spend again.
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.name != "query", DestructiveHint: &closed, OpenWorldHint: &closed, IdempotentHint: t.name != "query"}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				arguments := r.Params.Arguments
				if len(arguments) == 0 || string(arguments) == "null" {
					arguments = json.RawMessage("{}")
				}
				return t.call(ctx, ask, arguments)
			})
	}
	s.AddPrompt(&mcp.Prompt{Name: "ask", Title: "Ask private data a question", Description: "How to answer a question from private data without wasting its budget.",
		Arguments: []*mcp.PromptArgument{{Name: "question", Description: "The question, in plain words.", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "Ask private data a question",
				Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf(asking, r.Params.Arguments["question"])}}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: guideURI, Name: "guide", Title: "How to ask, and what intervals mean", MIMEType: "text/markdown"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: guideURI, MIMEType: "text/markdown", Text: guide}}}, nil
		})
	s.AddResource(&mcp.Resource{URI: tablesURI, Name: "tables", Title: "What may be asked about", MIMEType: "application/json"},
		func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			status, answer, err := ask(ctx, http.MethodGet, "/v1/tables", nil)
			if err != nil || status != http.StatusOK {
				return nil, errors.New("the tables cannot be read")
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: tablesURI, MIMEType: "application/json", Text: string(answer)}}}, nil
		})
	return s, nil
}

// A tool asks for one thing.
type tool struct {
	name, title, description string
	input                    json.RawMessage
	output                   string // the schema of its result, in openapi.json
	call                     func(ctx context.Context, ask api, arguments []byte) (*mcp.CallToolResult, error)
}

const free = `, "free": {"type": "boolean", "description": "Charge nothing: answered from what is stored, as precise as that is, or refused."}`

var tools = []tool{
	{"list_tables", "List tables", "Say what may be asked about: tables, columns, types, bounds and public domains. Free, and nothing is revealed by it.",
		json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"table": {"type": "string", "description": "One table; all if absent."}}}`), "Tables",
		func(ctx context.Context, ask api, arguments []byte) (*mcp.CallToolResult, error) {
			name, err := request.ParseTable(arguments)
			if err != nil {
				return refused(problem.Of(err)), nil
			}
			if name != "" {
				name = "/" + url.PathEscape(name)
			}
			return result(ask(ctx, http.MethodGet, "/v1/tables"+name, nil))
		}},
	{"explain", "Explain a statement", "Say what a statement would cost, how large the error of its answer would be (expected_error), and what remains. Free: call it before query, until the cost and the error are worth it.",
		statementSchema(free), "Explanation", post("/v1/explain")},
	{"query", "Answer a statement", "Answer a statement with calibrated noise. It spends the privacy budget, which never comes back: explain first. Beside each noisy value stand its lower and upper bound (intervals); say them with the value. A statement that was answered before costs nothing again.",
		statementSchema(`, "fresh": {"type": "boolean", "description": "Pay again for a statement that was answered before. Each call with it is charged; leave it out."}` + free), "Answer", post("/v1/query")},
	{"budget", "Show the budget", "Say what was spent of each domain's privacy budget and what remains. Free.",
		json.RawMessage(`{"type": "object", "additionalProperties": false}`), "Budget",
		func(ctx context.Context, ask api, arguments []byte) (*mcp.CallToolResult, error) {
			if err := request.ParseNothing(arguments); err != nil {
				return refused(problem.Of(err)), nil
			}
			return result(ask(ctx, http.MethodGet, "/v1/budget", nil))
		}},
}

// statementSchema describes the arguments of tools that take a statement.
func statementSchema(more string) json.RawMessage {
	return json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["sql"], "properties": {
		"sql": {"type": "string", "description": "One SELECT statement in PostgreSQL's SQL whose result is aggregates (count, sum, avg, ...), perhaps by group."},
		"params": {"type": "array", "items": {"type": ["string", "number", "boolean", "null", "array"]}, "description": "The values of $1, $2 and so on; a list for x = ANY ($1)."},
		"rho": {"type": ["string", "number"], "description": "What the answer may cost where the budget's measure is zcdp, as \"0.01\"."},
		"epsilon": {"type": ["string", "number"], "description": "What the answer may cost in the other measures."},
		"delta": {"type": ["string", "number"], "description": "With epsilon or rho, if the measure has one."},
		"accuracy": {"type": ["string", "number"], "description": "Instead of rho and epsilon: the error that counts and sums may have, in their own unit, as \"150\". What it costs follows; explain says it for free."},
		"confidence": {"type": ["string", "number"], "description": "Of the intervals, between 0 and 1."}` + more + `}}`)
}

// post sends a tool's arguments as they are.
func post(path string) func(context.Context, api, []byte) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, ask api, arguments []byte) (*mcp.CallToolResult, error) {
		return result(ask(ctx, http.MethodPost, path, arguments))
	}
}

// result is what the server answered. What it refused is the tool's error, not the
// protocol's: the model is to see it.
func result(status int, answer []byte, err error) (*mcp.CallToolResult, error) {
	var p problem.Problem
	switch {
	case err != nil:
		return refused(&problem.Problem{Code: "D109", Message: "the server cannot be reached", Hint: "ask its operator; nothing says whether the statement was charged, but a repetition is not charged again"}), nil
	case status == http.StatusOK:
		answer = bytes.TrimSpace(answer)
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(answer), Content: []mcp.Content{&mcp.TextContent{Text: string(answer)}}}, nil
	case status == http.StatusAccepted:
		var pending struct{ Approval string }
		if err := json.Unmarshal(answer, &pending); err != nil {
			return nil, errors.New("the server's answer cannot be read")
		}
		return refused(&problem.Problem{Code: "D214", Message: "an owner must approve this statement first: approval " + pending.Approval,
			Why: "it is over a limit of the account", Hint: "send the same statement again when the owner has decided; do not ask for the same thing in parts"}), nil
	}
	if err := json.Unmarshal(answer, &p); err != nil || p.Code == "" {
		return refused(&problem.Problem{Code: "D109", Message: fmt.Sprintf("the server answers %d %s", status, http.StatusText(status)), Hint: "ask its operator"}), nil
	}
	return refused(&p), nil
}

// refused is a tool's error.
func refused(p *problem.Problem) *mcp.CallToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, "error[%s]: %s", p.Code, p.Message)
	if p.Line > 0 {
		fmt.Fprintf(&text, " (line %d, column %d)", p.Line, p.Column)
	}
	if p.Why != "" {
		fmt.Fprintf(&text, "\nwhy: %s", p.Why)
	}
	if p.Hint != "" {
		fmt.Fprintf(&text, "\nhint: %s", p.Hint)
	}
	return &mcp.CallToolResult{IsError: true, StructuredContent: map[string]any{"error": p}, Content: []mcp.Content{&mcp.TextContent{Text: text.String()}}}
}
