package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/people/journal"
	"github.com/discreet-dp/discreet/serve"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/mcp"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/postgres"
	"github.com/discreet-dp/discreet/serve/rest"
	"github.com/discreet-dp/discreet/serve/web"
)

// postgres makes the door of PostgreSQL clients. It and the doors of other servers of one ledger
// tell each other what is to be cancelled, until this process ends.
func (s *server) postgres(ctx context.Context, g *gateway.Gateway, room *places.Room) func(*tls.Config) (serve.Door, error) {
	return func(t *tls.Config) (serve.Door, error) {
		l := s.config.Limits
		door, err := postgres.New(postgres.Options{Gateway: g, Accounts: postgres.People{
			Accounts: s.accounts, Note: func(name, address string, err error) { g.SignedIn(name, "postgres", address, err) }}, TLS: t, RequireTLS: !s.config.Loopback(), Now: time.Now, Log: s.log,
			Limits: postgres.Limits{Connections: l.Connections, Results: int64(l.Results), Idle: time.Duration(l.Idle), Statement: time.Duration(l.Time)}, Room: room, Tell: s.Ledger.Tell})
		if err != nil {
			return nil, err
		}
		hearing, deaf := context.WithCancel(context.WithoutCancel(ctx)) // while statements end, too
		done := make(chan struct{})
		go func() { s.Ledger.Hear(hearing, nil, door.Hear); close(done) }()
		s.Keep(closing(func() error { deaf(); <-done; return nil }))
		return door, nil
	}
}

// closing is what is to be done when the process ends.
type closing func() error

func (c closing) Close() error { return c() }

// http makes the doors that share the HTTP port: programs, agents and, at every other
// address, people's pages.
func (s *server) http(g *gateway.Gateway, room *places.Room) (http.Handler, error) {
	programs := rest.New(rest.Options{Gateway: g, Hosts: s.config.Hosts, Log: s.log, Now: time.Now, Room: room, Agents: mcp.New, SignIn: s.signIn(g)})
	pages, err := web.New(web.Options{Gateway: g, People: s.accounts, Hosts: s.config.Hosts, Journal: s.LedgerPath + journal.Suffix, Now: s.Clock(), Idle: time.Duration(s.config.Limits.Idle), Log: s.log, Room: room})
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; strings.HasPrefix(p, "/v1/") || p == "/openapi.json" || p == "/mcp" {
			programs.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}), nil
}

// signIn signs in by a token, and notes who fails at it.
func (s *server) signIn(g *gateway.Gateway) rest.SignIn {
	return func(ctx context.Context, token, address string) (people.Account, error) {
		a, err := s.accounts.SignInToken(ctx, token, address)
		if err != nil { // successes are not noted: each request brings its token
			g.SignedIn("", "http", address, err)
		}
		return a, err
	}
}

// mayOperate reports whether a request has an owner's token. Who shows another is noted, as at
// the door of programs.
func mayOperate(signIn rest.SignIn) func(*http.Request) bool {
	return func(r *http.Request) bool {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			return false
		}
		address, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			address = r.RemoteAddr
		}
		a, err := signIn(r.Context(), token, address)
		return err == nil && a.Role == people.Owner
	}
}
