// Package rest is the server's interface for programs: JSON over HTTP, as
// /openapi.json describes it.
//
// It guarantees that nothing is answered to who has not shown the token of an account, nor
// under a name that is not the server's; that nothing in a request is ignored; that a
// statement that is charged is finished and its answer stored, whether or not its asker
// waits for it, so that who asks again is not charged again, and another ends with its
// request; and that no error and no log line depends on private data, or has a token, a statement or a parameter in it.
//
// It does not limit how long or how often somebody asks: that is the gateway's and the
// server's.
package rest

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/hosts"
	"github.com/discreet-dp/discreet/serve/internal/sparing"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/serve/request"
)

// A Gateway is what answers: a *gateway.Gateway.
type Gateway interface {
	Query(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Answer, error)
	Explain(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Explanation, error)
	Catalog(who gateway.Asker) *catalog.Catalog
	Budget(ctx context.Context, who gateway.Asker) ([]ledger.Balance, error)
	History(ctx context.Context, who gateway.Asker, s ledger.Selection) ([]ledger.Entry, error)
	Reckon(ctx context.Context, who gateway.Asker, work func(context.Context) error) error
}

// A SignIn returns the account whose token it is; people.ErrSignIn if it is nobody's. It is
// people.Accounts.SignInToken.
type SignIn func(ctx context.Context, token, address string) (people.Account, error)

// Options are what the handler is made of.
type Options struct {
	Gateway Gateway
	SignIn  SignIn
	// Hosts are the names of the server, beside its addresses and localhost.
	Hosts []string
	// Log receives a line for each request, of strangers 60 a minute. Discarded if nil.
	Log *slog.Logger
	// Now is the machine's clock, by which lines are counted; one that stands if nil.
	Now func() time.Time
	// Room is what answers may take together while they are sent; nil: nothing bounds it.
	Room *places.Room
	// Agents makes the handler of /mcp, which asks api; nil for none. A request that it
	// makes with the context of one that it was given is made by the same account.
	Agents func(api http.Handler) http.Handler
}

type handler struct {
	Options
	mux       *http.ServeMux
	strangers *sparing.Lines
}

// New returns the handler of /v1, /openapi.json and /mcp.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	h := &handler{Options: o, mux: http.NewServeMux(), strangers: &sparing.Lines{Now: o.Now, Minute: 60}}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	for path, m := range h.routes() {
		h.mux.Handle(path, m)
	}
	if o.Agents != nil {
		agents := o.Agents(h)
		h.mux.Handle(agentsPath, h.signedIn(func(w http.ResponseWriter, r *http.Request) error {
			agent := through(Who(r.Context()), "mcp")
			of := &sending{room: o.Room, account: agent.Account.Name, copies: copiesOfAgents}
			defer of.end()
			agents.ServeHTTP(w, r.WithContext(context.WithValue(context.WithValue(r.Context(), who{}, agent), sending{}, of)))
			return nil
		}))
	}
	h.mux.Handle("/", failing(func(http.ResponseWriter, *http.Request) error {
		return problem.Request(http.StatusNotFound, "there is nothing at this path", "/openapi.json describes what there is")
	}))
	return h
}

const agentsPath = "/mcp"

// routes are the paths that there are beside that of agents.
func (h *handler) routes() map[string]methods {
	return map[string]methods{
		"/openapi.json":     {http.MethodGet: openAPI},
		"/v1/query":         {http.MethodPost: h.signedIn(h.query)},
		"/v1/explain":       {http.MethodPost: h.signedIn(h.explain)},
		"/v1/account":       {http.MethodPost: h.signedIn(h.account)},
		"/v1/tables":        {http.MethodGet: h.signedIn(h.tables)},
		"/v1/tables/{name}": {http.MethodGet: h.signedIn(h.tables)},
		"/v1/budget":        {http.MethodGet: h.signedIn(h.budget)},
		"/v1/history":       {http.MethodGet: h.signedIn(h.history)},
	}
}

// Routes are what the handler answers, as patterns of http.ServeMux, for who looks at all of it.
func Routes() []string {
	all := []string{http.MethodPost + " " + agentsPath}
	for path, m := range (&handler{}).routes() {
		for method := range m {
			all = append(all, method+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &observed{ResponseWriter: w}
	defer func() {
		if v := recover(); v != nil {
			if err, is := v.(error); is && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			// What the panic says is nobody's to know: it can have come from anywhere.
			h.Log.ErrorContext(r.Context(), "request failed", "panic", fmt.Sprintf("%T", v))
			if seen.status == 0 {
				write(seen, r, problem.Of(errors.New("panic")))
			}
		}
		log := h.Log
		if seen.account == "" { // strangers fill no disk
			may, left := h.strangers.Write()
			if !may {
				return
			}
			if left > 0 {
				log = log.With("not_logged", left)
			}
		}
		log.InfoContext(r.Context(), "request", "method", r.Method, "path", cmp.Or(r.Pattern, "none"), "status", seen.status,
			"account", seen.account, "code", seen.code, "address", address(r))
	}()
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	head.Set("Cache-Control", "no-store")
	head.Set("Vary", "Authorization, Accept, Origin")
	if err := hosts.Check(r, h.Hosts); err != nil {
		write(seen, r, problem.Of(err))
		return
	}
	h.mux.ServeHTTP(seen, r)
}

// An observed writer knows what its request came to.
type observed struct {
	http.ResponseWriter
	status        int
	account, code string
}

func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return o.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// methods are the handlers of a path.
type methods map[string]failing

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	serve, is := m[method]
	if !is {
		for allowed := range m { // there is one
			w.Header().Add("Allow", allowed)
		}
		serve = func(http.ResponseWriter, *http.Request) error {
			return problem.Request(http.StatusMethodNotAllowed, "this path has no "+r.Method, "use "+w.Header().Get("Allow"))
		}
	}
	serve.ServeHTTP(w, r)
}

// A failing handler returns what is to be answered instead.
type failing func(w http.ResponseWriter, r *http.Request) error

func (f failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := f(w, r); err != nil {
		write(w, r, problem.Of(err))
	}
}

type who struct{}

// Who is who has signed in to make the request that a context is of.
func Who(ctx context.Context) gateway.Asker {
	asker, _ := ctx.Value(who{}).(gateway.Asker)
	return asker
}

func through(a gateway.Asker, door string) gateway.Asker {
	a.Door = door
	return a
}

// signedIn serves those who show a token, and what asks on behalf of somebody who has.
func (h *handler) signedIn(serve failing) failing {
	return func(w http.ResponseWriter, r *http.Request) error {
		if Who(r.Context()).Account.Name != "" {
			return serve(w, r)
		}
		unknown := &problem.Problem{Status: http.StatusUnauthorized, Code: "D211", Message: "nobody has signed in",
			Why: "every request carries the token of an account", Hint: `send the header "Authorization: Bearer TOKEN"; an owner makes tokens`}
		given := r.Header.Values("Authorization")
		if len(given) != 1 {
			return unknown
		}
		scheme, token, _ := strings.Cut(given[0], " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			return unknown
		}
		account, err := h.SignIn(r.Context(), token, address(r))
		if errors.Is(err, people.ErrSignIn) {
			unknown.Message, unknown.Why = "the token is no account's", "it is unknown, has expired, or its account is disabled"
			return unknown
		}
		if err != nil {
			return err
		}
		if o, is := w.(*observed); is {
			o.account = account.Name
		}
		places.Count(r.Context(), "account "+account.Name)
		asker := gateway.Asker{Account: account, Door: "http", Address: address(r)}
		return serve(w, r.WithContext(context.WithValue(r.Context(), who{}, asker)))
	}
}

// address is the client's, as the connection has it: what a header says anybody can write.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// body reads a request's JSON.
func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	media, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || parameters["charset"] != "" && !strings.EqualFold(parameters["charset"], "utf-8") {
		return nil, problem.Request(http.StatusUnsupportedMediaType, "the request is not sent as JSON", "send the header Content-Type: application/json")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, problem.Request(http.StatusUnsupportedMediaType, "the request is encoded", "send it as it is, without Content-Encoding")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, request.MaxBytes))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, problem.Request(http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is longer than %d bytes", request.MaxBytes), "send less")
	}
	if err != nil {
		return nil, problem.Request(http.StatusBadRequest, "the request did not arrive whole", "send it again")
	}
	return text, nil
}

// send writes a result as JSON.
func send(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // who has gone is told nothing
	return nil
}

// write answers a problem, or the approval that a statement waits for.
func write(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	if o, is := w.(*observed); is {
		o.code = p.Code
	}
	head := w.Header()
	head.Set("Content-Type", "application/problem+json")
	switch p.Status {
	case http.StatusUnauthorized:
		challenge := `Bearer realm="discreet"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		head.Set("WWW-Authenticate", challenge)
	case http.StatusAccepted:
		head.Set("Content-Type", "application/json")
	}
	if p.After > 0 {
		head.Set("Retry-After", fmt.Sprint(int((p.After+time.Second-1)/time.Second)))
	}
	text, err := p.MarshalDetails()
	if p.Approval != "" {
		text, err = json.Marshal(map[string]string{"approval": p.Approval})
	}
	if err != nil { // nothing in it can fail
		text = []byte("{}")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(text, '\n')) // who has gone is told nothing
}
