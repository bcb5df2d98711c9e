// Package postgres is Discreet's door for PostgreSQL's clients: psql, drivers, notebooks and
// business intelligence tools speak to it as to a PostgreSQL server.
//
// A [Server] speaks the wire protocol, versions 3.0 and 3.2: it signs people in by
// SCRAM-SHA-256, keeps their session's settings, prepared statements, portals and cursors,
// and carries each question to the gateway, which alone decides what is answered and what it
// costs. Questions about the catalog are answered from what the owner has declared.
//
// It guarantees that no statement reaches the gateway before its sender is signed in, that a
// portal asks once however often its rows are fetched, that transactions change settings
// alone (what was spent stays spent), and that a message, however it is formed, costs bounded
// memory and ends no other session.
//
// It does not guarantee PostgreSQL's meaning of transactions: there is nothing that could be
// rolled back. It knows nothing of privacy.
package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/internal/sparing"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
)

// Options are what a Server is made of.
type Options struct {
	Gateway  Gateway
	Accounts Accounts
	Catalog  Catalog // a pgcatalog.Server if nil

	// TLS holds the server's certificate; without it connections are in the clear.
	TLS *tls.Config
	// RequireTLS refuses clients that do not ask for TLS.
	RequireTLS bool

	// Now is the machine's clock, by which connections have their deadlines.
	Now func() time.Time
	// Log receives what went wrong, without statements or values; discarded if nil.
	Log    *slog.Logger
	Limits Limits
	// Room is what results may take together, if other doors share it.
	Room *places.Room
	// Tell passes a word on to the servers beside this one, whose Hear is called with it: a balancer
	// may bring a request to cancel to any of them. nil: there are none.
	Tell func(ctx context.Context, word string) error
}

// Limits bound what clients can hold and for how long. Zero means the default.
type Limits struct {
	Connections int           // signed in at the same time; 1,000
	Strangers   int           // connected and not signed in yet, and as many of whom the server expects; 200
	SignIn      time.Duration // from the connection to the end of signing in, with the delay after failures; 1 min
	Idle        time.Duration // between messages; 1 h
	Statement   time.Duration // a statement, with its waiting; 10 min
	Write       time.Duration // until a client takes what it asked for; 5 min
	Grace       time.Duration // for statements that run when the server ends; 5 s
	Message     int           // bytes of one message of a person who is signed in; 1 MiB
	Statements  int           // prepared, in one session; 1,000
	Portals     int           // open, in one session; 100
	Results     int64         // bytes of the results that a session's cursors and portals hold; 64 MiB
	// ResultsOfAll are the bytes that all sessions hold together, with what is being sent; 512 MiB.
	// Options.Room stands in its place.
	ResultsOfAll int64
	Held         int // bytes of a session's statements and parameters; 4 MiB
}

func (l Limits) withDefaults() Limits {
	number := func(n *int, otherwise int) {
		if *n == 0 {
			*n = otherwise
		}
	}
	duration := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	number(&l.Connections, 1000)
	number(&l.Strangers, 200)
	duration(&l.SignIn, time.Minute)
	duration(&l.Idle, time.Hour)
	duration(&l.Statement, 10*time.Minute)
	duration(&l.Write, 5*time.Minute)
	duration(&l.Grace, 5*time.Second)
	number(&l.Message, 1<<20)
	number(&l.Statements, 1000)
	number(&l.Portals, 100)
	number(&l.Held, 4<<20)
	if l.Results == 0 {
		l.Results = 64 << 20
	}
	if l.ResultsOfAll == 0 {
		l.ResultsOfAll = 512 << 20
	}
	return l
}

// toldPerMinute bounds what strangers can make this server tell others: a request to cancel comes
// before anybody signs in.
const toldPerMinute = 600

// pause is the time between attempts to accept a connection where one failed.
const pause = 100 * time.Millisecond

// A Server serves PostgreSQL's clients.
type Server struct {
	options   Options
	entropy   *entropy.Source
	running   *registry
	room      *places.Room
	started   time.Time
	strangers *places.Places // of connections that are not signed in, by their addresses
	expected  *places.Places // of those, in which somebody signs in who has before, by account and address
	members   *places.Places // of those that are signed in, by account
	told      *sparing.Lines // words to other servers
}

// New returns a Server.
func New(o Options) (*Server, error) {
	if o.Gateway == nil || o.Accounts == nil || o.Now == nil {
		return nil, errors.New("postgres: a server needs a gateway, accounts and a clock")
	}
	if o.RequireTLS && o.TLS == nil {
		return nil, errors.New("postgres: TLS is required and there is no certificate")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Catalog == nil {
		o.Catalog = pgcatalog.New()
	}
	o.Limits = o.Limits.withDefaults()
	e := entropy.New()
	chance := func(n int) int {
		v, err := e.Uint64()
		if err != nil { // always the same one harms no share
			return 0
		}
		return int(v % uint64(n))
	}
	return &Server{
		options: o, started: o.Now(), entropy: e, running: newRegistry(), room: cmp.Or(o.Room, places.NewRoom(o.Limits.ResultsOfAll)),
		strangers: places.New(places.Options{Most: o.Limits.Strangers, Yield: true, Chance: chance}),
		expected:  places.New(places.Options{Most: o.Limits.Strangers, Yield: true, Chance: chance}),
		members:   places.New(places.Options{Most: o.Limits.Connections, Chance: chance}),
		told:      &sparing.Lines{Now: o.Now, Minute: toldPerMinute},
	}, nil
}

// tell passes a word on.
func (s *Server) tell(ctx context.Context, word string) {
	if s.options.Tell == nil {
		return
	}
	if may, _ := s.told.Write(); !may {
		return
	}
	if err := s.options.Tell(ctx, word); err != nil && ctx.Err() == nil {
		s.options.Log.Warn("a request to cancel was not passed on", "error", err)
	}
}

// Hear does what a server beside this one has told. Words that it does not know are for others.
func (s *Server) Hear(word string) { s.running.heard(word) }

// Serve answers the connections of l until ctx ends. Then it closes l, tells the sessions,
// gives statements that run a while to end, and returns when the last session has.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var sessions sync.WaitGroup
	defer sessions.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	statements, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() {
		_ = l.Close() // Accept says so
		time.AfterFunc(s.options.Limits.Grace, func() { kill(errStopping) })
	})()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("accept connection: %w", err)
			}
			s.options.Log.Error("accept connection", "error", err) // too many open files, mostly: it passes
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		// Connections that do not sign in are closed when others need their places.
		place := s.strangers.Take(people.Host(conn.RemoteAddr().String()), func() { _ = conn.Close() })
		sessions.Go(func() {
			defer conn.Close() //nolint:errcheck // there is nobody to tell
			s.serve(ctx, statements, conn, place)
		})
	}
}
