package postgres

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/places"
)

// A session is one connection, from its greeting to its end. One goroutine runs it.
type session struct {
	server      *Server
	conn        *watched
	in          *pgproto3.Backend // decodes; what is sent is encoded into out
	out         []byte
	lost        error // why nothing more can be sent
	certificate *x509.Certificate
	greeting    *greeting
	running     *running
	place       *places.Place
	asker       gateway.Asker

	types       *pgtype.Map
	settings    settings
	told        map[string]string // of the settings reported
	transaction transaction
	statements  map[string]*prepared
	portals     map[string]*portal
	skipping    bool             // everything until Sync, after an error
	last        *discreet.Answer // for discreet.last_answer
}

// flushAt is how many bytes wait before they are sent without being asked for.
const flushAt = 32 << 10

// serve runs a connection that has a place among the strangers, until ctx ends; a statement
// may end later, with statements.
func (s *Server) serve(ctx, statements context.Context, conn net.Conn, place *places.Place) {
	defer func() { place.Leave() }()
	ctx, put := context.WithCancelCause(ctx)
	defer put(nil)
	defer func() {
		if r := recover(); r != nil { // one session's end is no other's
			s.options.Log.Error("session failed", "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack())) // not its value, which may quote one
		}
	}()
	signIn, signedIn := context.WithTimeout(ctx, s.options.Limits.SignIn)
	defer signedIn()
	// A deadline fails to be set on a connection that is gone, as the next read will tell.
	_ = conn.SetDeadline(s.options.Now().Add(s.options.Limits.SignIn))
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(past) })()

	raw, g, err := s.greet(signIn, conn)
	e := s.session(raw)
	e.greeting = g
	if c, ok := raw.(*encrypted); ok {
		e.certificate = c.certificate
	}
	if err != nil {
		e.end(ctx, err)
		return
	}
	if g == nil {
		return
	}
	if k, ok := s.options.Accounts.(knower); ok && k.Known(g.user, host(conn)) {
		// Who has signed in from there before does not wait among strangers.
		expected := s.expected.Take(g.user+" "+people.Host(conn.RemoteAddr().String()), func() { _ = conn.Close() })
		place.Leave()
		place = expected
	}
	e.in = pgproto3.NewBackend(e.conn, io.Discard)
	e.in.SetMaxBodyLen(maxToken)
	if err := e.enter(signIn); err != nil {
		e.end(ctx, err)
		return
	}
	if e.running, err = s.running.add(s.entropy, g.version); err != nil {
		s.options.Log.Error("begin session", "error", err)
		e.end(ctx, fatal("58000", "the session could not be opened"))
		return
	}
	defer s.running.remove(e.running)
	if e.place = s.members.Take(e.asker.Account.Name, func() { put(errPut); e.running.stop(errPut) }); e.place == nil {
		e.end(ctx, fatal("53300", "sorry, too many clients already").hint("close some of this account's connections"))
		return
	}
	defer e.place.Leave()
	defer func() { s.room.Keep(e, e.asker.Account.Name, 0) }()
	place.Leave()
	signedIn()
	_ = conn.SetDeadline(time.Time{})
	e.end(ctx, e.run(ctx, statements))
}

// session returns one that has said nothing yet.
func (s *Server) session(conn net.Conn) *session {
	return &session{
		server: s, conn: &watched{Conn: conn}, types: pgtype.NewMap(), settings: newSettings(), told: map[string]string{},
		statements: map[string]*prepared{}, portals: map[string]*portal{},
	}
}

// past is a deadline that wakes a reader.
var past = time.Unix(1, 0)

// enter signs the client in and settles what it asked for.
func (s *session) enter(ctx context.Context) error {
	g := s.greeting
	if g.user == "" {
		return fatal("28000", "no PostgreSQL user name specified in startup packet")
	}
	if g.asked > pgproto3.ProtocolVersion32 || len(g.unrecognised) > 0 {
		s.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: g.version, UnrecognizedOptions: g.unrecognised})
	}
	who, err := s.authenticate(ctx)
	if err != nil {
		return err
	}
	s.asker = who
	if g.database != database {
		return fatal("3D000", "database "+quote(g.database)+" does not exist").hint("the database is called " + database)
	}
	for _, v := range g.settings {
		if f := s.settings.begin(v); f != nil {
			f.fatal = true
			return f
		}
	}
	s.send(&pgproto3.AuthenticationOk{})
	return nil
}

// database is the only one.
const database = "discreet"

func quote(name string) string { return `"` + name + `"` }

func (s *session) address() string { return host(s.conn) }

// host is the address of a connection's client, without its port.
func host(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return host
}

// end says why a session ends, if the client can still hear it.
func (s *session) end(ctx context.Context, err error) {
	var f *failure
	var long *pgproto3.ExceededMaxBodyLenErr
	var timeout net.Error
	switch {
	case err == nil, s.lost != nil, errors.Is(err, errNotPostgres), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return
	case errors.As(err, &f):
	case errors.Is(context.Cause(ctx), errPut):
		f = fatal("53300", errPut.Error())
	case ctx.Err() != nil:
		f = fatal("57P01", errStopping.Error())
	case errors.As(err, &long):
		f = protocolViolation("invalid message length")
	case errors.As(err, &timeout) && timeout.Timeout():
		if s.running == nil {
			return // a stranger who says nothing is told nothing
		}
		f = fatal("57P05", "terminating connection due to idle-session timeout")
	case s.running == nil:
		f = protocolViolation("invalid message")
	default:
		f = protocolViolation("invalid frontend message")
	}
	_ = s.conn.SetWriteDeadline(s.server.options.Now().Add(time.Second))
	s.send(f.response("", 0, ""))
	_ = s.flush() // it is the end anyway
}

// send puts a message into the buffer.
func (s *session) send(m pgproto3.BackendMessage) {
	if s.lost != nil {
		return
	}
	out, err := m.Encode(s.out)
	if err != nil {
		s.lost = err
		return
	}
	if s.out = out; len(out) >= flushAt {
		_ = s.flush() // kept in lost
	}
}

// flush sends what is in the buffer.
func (s *session) flush() error {
	if s.lost == nil && len(s.out) > 0 {
		if s.running != nil {
			_ = s.conn.SetWriteDeadline(s.server.options.Now().Add(s.server.options.Limits.Write))
		}
		_, s.lost = s.conn.Write(s.out)
	}
	if cap(s.out) > 2*flushAt {
		s.out = nil
	}
	s.out = s.out[:0]
	return s.lost
}

// run is the loop of messages of a client that is signed in.
func (s *session) run(ctx, statements context.Context) error {
	s.in.SetMaxBodyLen(s.server.options.Limits.Message)
	s.report()
	s.send(&pgproto3.BackendKeyData{ProcessID: s.running.number, SecretKey: s.running.key})
	if err := s.ready(); err != nil {
		return err
	}
	for {
		if s.lost != nil {
			return s.lost
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = s.conn.SetReadDeadline(s.server.options.Now().Add(s.server.options.Limits.Idle))
		if ctx.Err() != nil { // it ended while the deadline was set
			return ctx.Err()
		}
		m, err := s.in.Receive()
		if err != nil {
			return err
		}
		if _, ok := m.(*pgproto3.Terminate); ok {
			return nil
		}
		if err := s.message(statements, m); err != nil {
			return err
		}
	}
}

// message answers one message. Its error ends the session.
func (s *session) message(ctx context.Context, m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Query:
		if s.skipping {
			return nil
		}
		return s.simple(ctx, m.String)
	case *pgproto3.FunctionCall:
		if s.skipping {
			return nil
		}
		if err := s.refuse(fail("0A000", "function calls by message are not supported").hint("ask with SELECT"), piece{}); err != nil {
			return err
		}
		return s.ready()
	case *pgproto3.Sync:
		s.skipping = false
		s.settle(true)
		return s.ready()
	case *pgproto3.Flush:
		return s.flush()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // left over from a COPY that failed, as PostgreSQL takes it
	case *pgproto3.Parse, *pgproto3.Bind, *pgproto3.Describe, *pgproto3.Execute, *pgproto3.Close:
		if s.skipping {
			return nil
		}
		if f, at := s.extended(ctx, m); f != nil {
			s.skipping = true
			return s.refuse(f, at)
		}
		return nil
	}
	return protocolViolation("invalid frontend message type")
}

// refuse tells a failure, and breaks the transaction. It returns a fatal one.
func (s *session) refuse(f *failure, at piece) error {
	s.transaction.broken(&s.settings)
	if f.fatal {
		return f
	}
	s.send(f.response(at.script, at.start, at.text))
	return s.flush() // as PostgreSQL: whoever sent no Sync hears it, too
}

// notice tells something that is no failure.
func (s *session) notice(severity, state, message string) {
	m := pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: state, Message: message}
	s.send(&m)
}

// report tells the settings that have changed since they were told.
func (s *session) report() {
	for _, name := range reported {
		value := s.settings.show(name)
		if told, ok := s.told[name]; !ok || told != value {
			s.told[name] = value
			s.send(&pgproto3.ParameterStatus{Name: name, Value: value})
		}
	}
}

// ready says that the next statement may come.
func (s *session) ready() error {
	s.server.room.Keep(s, s.asker.Account.Name, s.held(nil))
	s.report()
	s.send(&pgproto3.ReadyForQuery{TxStatus: s.transaction.status()})
	return s.flush()
}

// work runs f under the limits of one statement: its time, a request to cancel it, and the
// client's presence.
func (s *session) work(ctx context.Context, f func(context.Context) error) error {
	ctx, done := s.running.statement(ctx)
	defer done()
	if s.place != nil {
		s.place.Busy(true)
		defer s.place.Busy(false)
	}
	// A timer that cancels: the caller has given up, at a time that is the caller's choice. A
	// deadline would be a failure for want of resources, which suspends the domain.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(s.settings.timeout(s.server.options.Limits.Statement), func() { cancel(errTimeout) }).Stop()
	_ = s.conn.SetReadDeadline(time.Time{})
	s.conn.watch(func() { s.running.stop(errGone) })
	defer s.conn.unwatch()
	// The account's rights are read again for each statement; a session can also have ended.
	account, err := s.asker.Account.Current(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	s.asker.Account = account
	if err := f(ctx); err != nil {
		return failed(ctx, err)
	}
	return nil
}
