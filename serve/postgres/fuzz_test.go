package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A tape is a connection whose client says what is on it, a few bytes at a time, and hears
// everything. While a statement runs, a client that has said all is silent; when its server waits
// for more, it is gone.
type tape struct {
	net.Conn
	portion int // bytes

	mu      sync.Mutex
	waits   sync.Cond
	says    []byte
	silent  bool // no deadline is set: a statement runs
	expired bool
	heard   bytes.Buffer
}

func newTape(says []byte, portion int) *tape {
	t := &tape{says: says, portion: max(1, portion)}
	t.waits.L = &t.mu
	return t
}

func (t *tape) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case t.expired:
			return 0, os.ErrDeadlineExceeded
		case len(t.says) > 0:
			n := copy(p[:min(len(p), t.portion)], t.says)
			t.says = t.says[n:]
			return n, nil
		case !t.silent:
			return 0, io.EOF
		}
		t.waits.Wait()
	}
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard.Write(p)
}

func (t *tape) SetReadDeadline(d time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.silent, t.expired = d.IsZero(), !d.IsZero() && !d.After(past)
	t.waits.Broadcast()
	return nil
}

func (*tape) SetWriteDeadline(time.Time) error { return nil }
func (t *tape) SetDeadline(d time.Time) error  { return t.SetReadDeadline(d) }
func (*tape) Close() error                     { return nil }
func (*tape) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// messagesHeard are the first bytes of the messages that the client heard. It fails the test
// where they are no messages of a server's.
func (t *tape) messagesHeard(tb testing.TB) (kinds string) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := t.heard.Bytes(); len(rest) > 0; {
		size := len(rest) + 1
		if len(rest) >= 5 {
			size = 1 + int(binary.BigEndian.Uint32(rest[1:]))
		}
		if size > len(rest) {
			tb.Fatalf("after %q the server breaks off: %q", kinds, rest)
		}
		if _, err := pgproto3.NewFrontend(bytes.NewReader(rest[:size]), io.Discard).Receive(); err != nil {
			tb.Fatalf("after %q the server says what is no message: %q: %v", kinds, rest[:size], err)
		}
		kinds, rest = kinds+string(rest[:1]), rest[size:]
	}
	return kinds
}

// within fails the test unless f ends in time.
func within(t *testing.T, f func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the session does not end")
	}
}

// FuzzConversation plays what follows the sign-in: no series of bytes makes a session panic,
// or last once its client has gone; what it says are messages, and it is ready once for each
// question and Sync that it has read.
func FuzzConversation(f *testing.F) {
	for _, m := range messages(f) {
		f.Add(m, 100)
	}
	for _, series := range [][]pgproto3.FrontendMessage{
		{parse("s", "SELECT $1", 20), bind("p", "s", []byte("7")), &pgproto3.Describe{ObjectType: 'P', Name: "p"}, execute("p", 1), &pgproto3.Sync{},
			query("BEGIN; DECLARE c CURSOR FOR SELECT 'rows 3'; FETCH BACKWARD 2 c; COPY (SELECT 'types') TO STDOUT (FORMAT csv); EXPLAIN SELECT 'x'; SHOW ALL")},
		{parse("", "SELECT $1", 1007), &pgproto3.Describe{ObjectType: 'S'}, bind("", "", []byte("{1,NULL}")), execute("", 0), &pgproto3.Sync{}, &pgproto3.Sync{}},
		{parse("", "SELECT 'types'"), &pgproto3.Bind{ResultFormatCodes: []int16{1}}, &pgproto3.Describe{ObjectType: 'P'}, execute("", 1), execute("", 0), &pgproto3.Flush{}, &pgproto3.Sync{}},
		{query("SET discreet.rho = '0.1'; PREPARE p (int) AS SELECT $1; EXECUTE p (1); SAVEPOINT a"), query("BEGIN; SAVEPOINT a; ROLLBACK TO a; oops; COMMIT"), query("DEALLOCATE ALL; DISCARD ALL; SELECT 'wait'")},
	} {
		var all []byte
		for _, m := range series {
			var err error
			if all, err = m.Encode(all); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(all, 1000)
		f.Add(all, 1)
	}
	server, err := New(Options{Gateway: newOracle(), Catalog: nothing{}, Accounts: everybody{}, Now: time.Now, Limits: Limits{Statement: 10 * time.Millisecond}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, says []byte, portion int) {
		conn := newTape(says, portion)
		s := server.session(conn)
		s.greeting = &greeting{version: pgproto3.ProtocolVersion30, user: "anna"}
		s.in = pgproto3.NewBackend(s.conn, io.Discard)
		if err := s.in.SetAuthType(pgproto3.AuthTypeSASLContinue); err != nil { // as the sign-in leaves it
			t.Fatal(err)
		}
		var err error
		if s.running, err = server.running.add(server.entropy, pgproto3.ProtocolVersion30); err != nil {
			t.Fatal(err)
		}
		defer server.running.remove(s.running)
		var ended error
		within(t, func() {
			ended = s.run(t.Context(), context.Background())
			s.end(t.Context(), ended)
		})
		heard := conn.messagesHeard(t)
		asked := 1 // for the first
		client := pgproto3.NewBackend(bytes.NewReader(says), io.Discard)
		client.SetMaxBodyLen(server.options.Limits.Message)
		if err := client.SetAuthType(pgproto3.AuthTypeSASLContinue); err != nil {
			t.Fatal(err)
		}
		for {
			m, err := client.Receive()
			if _, over := m.(*pgproto3.Terminate); err != nil || over {
				break
			}
			_, synced := m.(*pgproto3.Sync)
			_, simple := m.(*pgproto3.Query)
			_, call := m.(*pgproto3.FunctionCall)
			if synced || simple || call {
				asked++ // fewer while it skips, which takes an error
			}
		}
		if n := strings.Count(heard, "Z"); n > asked || n < asked && !strings.Contains(heard, "E") {
			t.Fatalf("ready %d times of %d: %q (%v)", n, asked, heard, ended)
		}
	})
}

// FuzzGreeting plays what comes before: a start-up packet and a sign-in, or anything else. Nobody
// without the password gets in.
func FuzzGreeting(f *testing.F) {
	startup := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion32, Parameters: map[string]string{"user": "a", "options": `-c discreet.rho=0.1 --x=\ y`, "_pq_.a": "b"}}
	for _, series := range [][]pgproto3.FrontendMessage{
		{startup}, {&pgproto3.SSLRequest{}}, {&pgproto3.GSSEncRequest{}}, {&pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}}},
		{&pgproto3.SSLRequest{}, &pgproto3.GSSEncRequest{}, startup, &pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: []byte("n,,n=,r=abc")}, &pgproto3.SASLResponse{Data: []byte("c=biws,r=abc,p=AAAA")}},
		{startup, &pgproto3.PasswordMessage{Password: "secret"}},
	} {
		var all []byte
		for _, m := range series {
			var err error
			if all, err = m.Encode(all); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(all, 1000)
	}
	f.Add(binary.BigEndian.AppendUint32(nil, 8), 1)
	server, err := New(Options{Gateway: newOracle(), Catalog: nothing{}, Accounts: everybody{}, Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, says []byte, portion int) {
		conn := newTape(says, portion)
		within(t, func() {
			raw, g, err := server.greet(t.Context(), conn)
			s := server.session(raw)
			if s.greeting = g; err == nil && g != nil {
				s.in = pgproto3.NewBackend(s.conn, io.Discard)
				s.in.SetMaxBodyLen(maxToken)
				if err = s.enter(t.Context()); err == nil {
					t.Errorf("signed in without a password: %q", says)
				}
			}
			s.end(t.Context(), err)
		})
		for conn.heard.Len() > 0 && conn.heard.Bytes()[0] == 'N' { // what refuses to encrypt is a letter alone
			conn.heard.Next(1)
		}
		conn.messagesHeard(t)
		if g := readable(says); g != nil {
			settings := newSettings()
			for _, v := range g.settings {
				if f := settings.begin(v); f == nil && !strings.Contains(v.name, ".") && parameters[v.name].name == "" {
					t.Errorf("%q is taken for a setting", v.name)
				}
			}
		}
	})
}

// readable is the greeting of a start-up packet that stands first, or nil.
func readable(says []byte) *greeting {
	body, err := readStartup(newTape(says, len(says)))
	if err != nil || binary.BigEndian.Uint32(body)>>16 != 3 {
		return nil
	}
	g, err := readGreeting(body)
	if err != nil {
		return nil
	}
	return g
}
