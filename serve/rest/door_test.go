//go:build cgo

package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/rest"
	"github.com/google/jsonschema-go/jsonschema"
)

// A door is a handler, and the document that its responses are held against.
type door struct {
	http.Handler
	document *document
	log      *bytes.Buffer
}

func open(t *testing.T, g rest.Gateway) *door {
	t.Helper()
	log := &bytes.Buffer{}
	return &door{rest.New(rest.Options{Gateway: g, SignIn: signIn, Hosts: []string{"data.example"}, Log: slog.New(slog.NewJSONHandler(log, nil))}), readDocument(t), log}
}

// signIn knows two tokens.
func signIn(_ context.Context, token, _ string) (people.Account, error) {
	switch token {
	case "annas-token":
		return gatewaytest.Analyst, nil
	case "olgas-token":
		return gatewaytest.Owner, nil
	case "hurried":
		return people.Account{}, gateway.ErrBusy
	case "broken":
		return people.Account{}, errors.New("canary-of-the-accounts")
	}
	return people.Account{}, people.ErrSignIn
}

// A document is openapi.json, with a closed schema of each kind of response.
type document struct {
	paths   map[string]map[string]operation
	schemas map[string]*jsonschema.Resolved
	shared  map[string]response
}

type operation struct {
	Responses map[string]response
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		}
	}
}

func readDocument(t testing.TB) *document {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	// A member that the document does not have is no member of a response.
	text = bytes.ReplaceAll(text, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))
	var doc struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas   map[string]any
			Responses map[string]response
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	d := &document{doc.Paths, map[string]*jsonschema.Resolved{}, doc.Components.Responses}
	for name := range doc.Components.Schemas {
		closed, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": closedUp(doc.Components.Schemas)})
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(closed, &s); err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		if d.schemas[name], err = s.Resolve(nil); err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
	}
	return d
}

// closedUp lets no object have members that are not described, where any are.
func closedUp(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = closedUp(member)
		}
		if _, described := v["properties"]; described && v["type"] == "object" {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = closedUp(v[i])
		}
		return out
	}
	return v
}

// check holds a response against the document.
func (d *document) check(t *testing.T, method, path string, r *http.Response, text []byte) {
	t.Helper()
	if strings.HasPrefix(path, "/v1/tables/") {
		path = "/v1/tables/{name}"
	}
	path, _, _ = strings.Cut(path, "?")
	op, is := d.paths[path][strings.ToLower(method)]
	if !is {
		return
	}
	described, is := op.Responses[fmt.Sprint(r.StatusCode)]
	if !is {
		t.Errorf("%s %s answers %d, which is not described", method, path, r.StatusCode)
		described = op.Responses["default"]
	}
	if name, is := strings.CutPrefix(described.Ref, "#/components/responses/"); is {
		described = d.shared[name]
	}
	media := r.Header.Get("Content-Type")
	content, is := described.Content[media]
	if !is {
		if len(text) > 0 {
			t.Errorf("%s %s answers %d as %q, which is not described", method, path, r.StatusCode, media)
		}
		return
	}
	schema := d.schemas[strings.TrimPrefix(content.Schema.Ref, "#/$defs/")]
	if schema == nil {
		return
	}
	all := [][]byte{text}
	if media == "application/x-ndjson" {
		all = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	for _, one := range all {
		var v any
		if err := json.Unmarshal(one, &v); err != nil {
			t.Errorf("%s %s: %v: %s", method, path, err, one)
		} else if err := schema.Validate(v); err != nil {
			t.Errorf("%s %s answers %d other than described: %v\n%s", method, path, r.StatusCode, err, one)
		}
	}
}

// An asked is a request; what is empty is as it should be.
type asked struct {
	method, path, body string
	host               string
	token              string // "-" for none
	header             map[string]string
}

func (d *door) ask(t *testing.T, a asked) (*http.Response, []byte) {
	t.Helper()
	if a.method == "" {
		a.method = http.MethodPost
	}
	r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
	r.Host = "127.0.0.1:8080"
	if a.host != "" {
		r.Host = a.host
	}
	switch a.token {
	case "":
		r.Header.Set("Authorization", "Bearer annas-token")
	case "-":
	default:
		r.Header.Set("Authorization", a.token)
	}
	if a.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	d.document.check(t, a.method, a.path, w.Result(), w.Body.Bytes())
	return w.Result(), w.Body.Bytes()
}

// body is a statement's JSON.
func body(t *testing.T, members ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A problem is the error object with HTTP's status.
type problem struct {
	Status                   int
	Type, Title, Detail      string
	Code, Message, Why, Hint string
	Line, Column, Length     int
	Asked, Left              map[string]any
}

func (d *door) problem(t *testing.T, a asked) (problem, http.Header) {
	t.Helper()
	r, text := d.ask(t, a)
	var p problem
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatalf("%s %s: %v: %s", a.method, a.path, err, text)
	}
	if p.Status != r.StatusCode || r.Header.Get("Content-Type") != "application/problem+json" || p.Detail != p.Message || p.Title != http.StatusText(p.Status) {
		t.Errorf("%s %s: status %d and %+v as %s", a.method, a.path, r.StatusCode, p, r.Header.Get("Content-Type"))
	}
	return p, r.Header
}

func (d *door) answer(t *testing.T, a asked) *discreet.Answer {
	t.Helper()
	a.path = "/v1/query"
	r, text := d.ask(t, a)
	if r.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", r.StatusCode, text)
	}
	out := &discreet.Answer{}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}
