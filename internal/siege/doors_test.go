//go:build cgo && linux

package siege_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An answer is what a client saw of one: the rows, as texts.
type answer struct {
	rows   []string
	reused bool // as HTTP and agents say; by the wire it is not said
}

// A client asks through one door, in a conversation of its own.
type client interface {
	// ask asks a statement, which may cost rho. An error is of a statement that was not
	// answered whole; the rows that came are there all the same.
	ask(ctx context.Context, sql, rho string) (answer, error)
	close()
}

// A refusal is an answer that says no.
type refusal struct {
	status int // of HTTP
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.text) }

// doors open conversations, one each.
var doors = map[string]func(ctx context.Context, v *server, name, token string) (client, error){
	"postgres": byWire, "http": byHTTP, "mcp": byAgent,
}

// wire is a client of PostgreSQL's protocol.
type wire struct{ *pgx.Conn }

func byWire(ctx context.Context, v *server, name, _ string) (client, error) {
	at := url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Host: v.Postgres, Path: "discreet", RawQuery: "sslmode=disable&application_name=siege"}
	conn, err := pgx.Connect(ctx, at.String())
	if err != nil {
		return nil, err
	}
	return wire{conn}, nil
}

func (w wire) ask(ctx context.Context, sql, rho string) (a answer, err error) {
	if _, err := w.Exec(ctx, "SET discreet.rho = '"+rho+"'"); err != nil {
		return a, err
	}
	return w.rows(ctx, sql)
}

func (w wire) rows(ctx context.Context, sql string) (a answer, err error) {
	rows, err := w.Query(ctx, sql)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return a, err
		}
		a.rows = append(a.rows, shown(values))
	}
	return a, rows.Err()
}

func (w wire) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.Close(ctx) // it fails where the server was killed
}

// shown is a row as a text that is the same through all doors.
func shown(values []any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// web is a client of HTTP.
type web struct {
	at, token string
	http.Client
}

func byHTTP(_ context.Context, v *server, _, token string) (client, error) {
	return &web{at: "http://" + v.HTTP, token: token, Client: http.Client{Transport: &http.Transport{}}}, nil
}

func (w *web) close() { w.CloseIdleConnections() }

func (w *web) ask(ctx context.Context, sql, rho string) (a answer, err error) {
	body, err := json.Marshal(map[string]string{"sql": sql, "rho": rho})
	if err != nil {
		return a, err
	}
	text, err := w.send(ctx, http.MethodPost, "/v1/query", body)
	if err != nil {
		return a, err
	}
	return read(text)
}

func (w *web) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.at+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	got, err := w.Do(r)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = &refusal{got.StatusCode, string(text)}
	}
	return text, err
}

// read reads an answer's JSON.
func read(text []byte) (a answer, err error) {
	var in struct {
		Rows   [][]any
		Reused bool
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return a, fmt.Errorf("%w: %.200s", err, text)
	}
	for _, row := range in.Rows {
		a.rows = append(a.rows, shown(row))
	}
	a.reused = in.Reused
	return a, nil
}

// agent is a client of the Model Context Protocol.
type agent struct {
	*sdk.ClientSession
	transport *http.Transport
}

// bearer adds a token.
type bearer struct {
	token string
	*http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.Transport.RoundTrip(r)
}

func byAgent(ctx context.Context, v *server, _, token string) (client, error) {
	t := &http.Transport{}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "siege", Version: "1"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{Endpoint: "http://" + v.HTTP + "/mcp", HTTPClient: &http.Client{Transport: bearer{token, t}}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	return &agent{s, t}, nil
}

func (g *agent) close() {
	g.transport.CloseIdleConnections()
	go g.Close() // it may wait for a server that was killed
}

func (g *agent) ask(ctx context.Context, sql, rho string) (a answer, err error) {
	r, err := g.CallTool(ctx, &sdk.CallToolParams{Name: "query", Arguments: map[string]any{"sql": sql, "rho": rho}})
	if err != nil {
		return a, err
	}
	if r.IsError {
		text, err := json.Marshal(r.StructuredContent)
		return a, errors.Join(&refusal{text: string(text)}, err)
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return a, err
	}
	return read(text)
}
