package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// messages has one well-formed message of each type that a client can send, and some that it
// cannot.
func messages(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{
		"type unknown": {'?', 0, 0, 0, 4}, "type zero": {0, 0, 0, 0, 4}, "length below its own": {'Q', 0, 0, 0, 3}, "length negative": {'Q', 0xff, 0xff, 0xff, 0xff},
		"length huge": {'Q', 0x7f, 0xff, 0xff, 0xff}, "two megabytes": append([]byte{'Q', 0, 0x20, 0, 0}, make([]byte, 100)...), "HTTP": []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"text without end": {'Q', 0, 0, 0, 6, 'a', 'b'}, "text not UTF-8": {'Q', 0, 0, 0, 7, 0xff, 0xfe, 0},
		"more parameters than bytes": {'B', 0, 0, 0, 12, 0, 0, 0, 0, 0xff, 0xff, 0, 0},
	}
	for name, m := range map[string]pgproto3.FrontendMessage{
		"Query": query("SELECT 'x'"), "Parse": parse("s", "SELECT 'x'", 20), "Bind": bind("", "s", []byte("1")), "Execute": execute("", 0),
		"Describe": &pgproto3.Describe{ObjectType: 'S', Name: "s"}, "Describe of nothing": &pgproto3.Describe{ObjectType: 'X'}, "Close": &pgproto3.Close{ObjectType: 'P'},
		"Sync": &pgproto3.Sync{}, "Flush": &pgproto3.Flush{}, "CopyData": &pgproto3.CopyData{Data: []byte("x")}, "CopyDone": &pgproto3.CopyDone{},
		"CopyFail": &pgproto3.CopyFail{Message: "x"}, "FunctionCall": &pgproto3.FunctionCall{Function: 1}, "Terminate": &pgproto3.Terminate{},
		"Password": &pgproto3.PasswordMessage{Password: "secret"}, "SASLInitialResponse": &pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: []byte("n,,n=,r=abc")},
		"SASLInitialResponse, another mechanism": &pgproto3.SASLInitialResponse{AuthMechanism: "PLAIN", Data: []byte("n,,n=,r=abc")},
		"SASLInitialResponse, unasked binding":   &pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: []byte("p=tls-unique,,n=,r=abc")},
		"SASLResponse":                           &pgproto3.SASLResponse{Data: []byte("c=biws,r=abc,p=AAAA")},
		"startup again":                          &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna"}},
		"SSLRequest":                             &pgproto3.SSLRequest{}, "GSSEncRequest": &pgproto3.GSSEncRequest{}, "CancelRequest": &pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}},
	} {
		b, err := m.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	return all
}

// askedFor is a line that is to sign in now.
func (b *booth) askedFor(t *testing.T) *line {
	l := b.dial(t)
	l.say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
	l.until('R')
	return l
}

// states bring a connection into each phase that it can be in.
var states = map[string]func(*testing.T, *booth) *line{
	"connected":            func(t *testing.T, b *booth) *line { return b.dial(t) },
	"asked for a password": func(t *testing.T, b *booth) *line { return b.askedFor(t) },
	"challenged": func(t *testing.T, b *booth) *line {
		l := b.askedFor(t)
		l.say(&pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: []byte("n,,n=,r=abc")})
		l.until('R')
		return l
	},
	"ready": func(t *testing.T, b *booth) *line { return b.signIn(t) },
	"in a transaction": func(t *testing.T, b *booth) *line {
		l := b.signIn(t)
		l.say(query("BEGIN; DECLARE c CURSOR FOR SELECT 'rows 3'; FETCH c"))
		l.until('Z')
		return l
	},
	"in a failed transaction": func(t *testing.T, b *booth) *line {
		l := b.signIn(t)
		l.say(query("BEGIN"), query("oops"))
		l.until('Z')
		l.until('Z')
		return l
	},
	"in a series": func(t *testing.T, b *booth) *line {
		l := b.signIn(t)
		l.say(parse("s", "SELECT 'rows 3'"), bind("p", "s"), execute("p", 1), &pgproto3.Flush{})
		l.until('s')
		return l
	},
	"skipping": func(t *testing.T, b *booth) *line {
		l := b.signIn(t)
		l.say(execute("none", 0))
		return l
	},
}

// hear reads until the connection ends or n bytes are there, within the line's deadline.
func (l *line) hear() error {
	_, err := io.Copy(io.Discard, l.Conn)
	return err
}

// TestEveryMessageInEveryState sends each message whole and cut off after each byte, in each
// phase. The client then says no more: the server answers what it can and ends the session.
// It does not hang, does not fail, and serves the next.
func TestEveryMessageInEveryState(t *testing.T) {
	for state, bring := range states {
		t.Run(state, func(t *testing.T) {
			b := open(t, nil)
			for name, m := range messages(t) {
				cuts := []int{1, 4, len(m) - 1, len(m)}
				for _, n := range cuts {
					if n > len(m) || n < 1 {
						continue
					}
					l := bring(t, b)
					if _, err := l.Write(m[:n]); err != nil {
						t.Fatal(err)
					}
					_ = l.Conn.(*net.TCPConn).CloseWrite() // it fails where the server was faster
					if err := l.hear(); err != nil && isTimeout(err) {
						t.Errorf("%s, %d of %d bytes: the session does not end", name, n, len(m))
					}
					l.Close()
				}
			}
			l := b.signIn(t)
			l.say(query("SELECT 'x'"))
			if got := l.until('Z'); got != "T D(row 0) C(SELECT 1) Z(I)" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// TestMessagesAreBounded: what does not fit ends the session, with the reason.
func TestMessagesAreBounded(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Message = 1000; o.Limits.Held = 3000 })
	l := b.signIn(t)
	l.say(query("SELECT '" + strings.Repeat("x", 1000) + "'"))
	if got := l.until('E'); got != "E(08P01)" {
		t.Errorf("a long message: %s", got)
	}
	l = b.signIn(t)
	for range 10 {
		l.say(parse(strings.Repeat("s", 10), "SELECT '"+strings.Repeat("x", 900)+"'"), &pgproto3.Close{ObjectType: 'S', Name: strings.Repeat("s", 10)}, &pgproto3.Sync{})
		if got := l.until('Z'); got != "1 3 Z(I)" {
			t.Errorf("one statement after the other: %s", got)
		}
	}
	for i, want := range []string{"1 Z(I)", "1 Z(I)", "1 Z(I)", "E(54000) Z(I)"} {
		l.say(parse(string(rune('a'+i)), "SELECT '"+strings.Repeat("x", 900)+"'"), &pgproto3.Sync{})
		if got := l.until('Z'); got != want {
			t.Errorf("statement %d: %s, not %s", i, got, want)
		}
	}
	l = b.signIn(t)
	for i := range 101 {
		l.say(query("DECLARE c" + strings.Repeat("x", i%50) + string(rune('a'+i/50)) + " CURSOR WITH HOLD FOR SELECT 'x'"))
		want := "C(DECLARE CURSOR) Z(I)"
		if i == 100 {
			want = "E(54000) Z(I)"
		}
		if got := l.until('Z'); got != want {
			t.Fatalf("cursor %d: %s", i, got)
		}
	}
	// Before it is known who speaks, little is read.
	l = b.askedFor(t)
	long := &pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: bytes.Repeat([]byte("n"), maxToken)}
	l.say(long)
	if got := l.until('E'); got != "E(08P01)" {
		t.Errorf("a long token: %s", got)
	}
}

// TestHeldResultsAreBounded: cursors hold a bounded number of bytes together; one that is
// closed makes room.
func TestHeldResultsAreBounded(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Results = 400_000 })
	l := b.signIn(t)
	for i, want := range []string{"C(DECLARE CURSOR) T D(row 0) C(FETCH 1) Z(I)", "C(DECLARE CURSOR) T D(row 0) C(FETCH 1) Z(I)", "C(DECLARE CURSOR) E(54000) Z(I)"} {
		l.say(query(fmt.Sprintf("DECLARE c%d CURSOR WITH HOLD FOR SELECT 'rows 3000'; FETCH c%d", i, i)))
		if got := l.until('Z'); got != want {
			t.Errorf("cursor %d: %s", i, got)
		}
	}
	l.say(query("CLOSE c0; DECLARE d CURSOR WITH HOLD FOR SELECT 'rows 3000'; FETCH d"))
	if got := l.until('Z'); got != "C(CLOSE CURSOR) C(DECLARE CURSOR) T D(row 0) C(FETCH 1) Z(I)" {
		t.Errorf("after one was closed: %s", got)
	}
	l.say(query("CLOSE ALL"), parse("s", "SELECT 'rows 3000'"), bind("p", "s"), bind("q", "s"), bind("r", "s"), execute("p", 1), execute("q", 1), execute("r", 1), &pgproto3.Sync{})
	l.until('Z')
	if got := l.until('Z'); !strings.HasSuffix(got, "E(54000) Z(I)") {
		t.Errorf("portals: %s", got)
	}
}

// TestAnswersAreNotPiledUp: a client that asks and does not read makes the server wait, not grow.
func TestAnswersAreNotPiledUp(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Write = 300 * time.Millisecond })
	l := b.signIn(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ask, err := query("SELECT 'rows 2000'").Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20_000 {
		if _, err := l.Write(ask); err != nil {
			break // the server has given up
		}
	}
	waitFor(t, func() bool { return b.server.members.Taken() == 0 }) // it gives up
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+(64<<20) {
		t.Errorf("the heap has grown from %d to %d bytes", before.HeapAlloc, after.HeapAlloc)
	}
}

// TestStrangersWait: connections that do not sign in end, and are few: where there are more,
// one of those that wait goes, and who has just come can sign in.
func TestStrangersWait(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Strangers = 3; o.Limits.SignIn = 500 * time.Millisecond })
	var silent []*line
	for range 30 {
		silent = append(silent, b.dial(t))
	}
	waitFor(t, func() bool { return b.server.strangers.Taken() <= 3 })
	if _, err := silent[0].Write([]byte{0}); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) { // a byte now and then does not help
		t.Fatal(err)
	}
	for _, l := range silent {
		if err := l.hear(); isTimeout(err) {
			t.Error("a silent stranger is kept")
		}
	}
	b.signIn(t)
}

// expecting are accounts that know one of theirs.
type expecting struct{ everybody }

func (expecting) Known(name, _ string) bool { return name == "anna" }

// TestExpectedDoNotWaitAmongStrangers: who signed in from an address before is put out by no
// number of strangers there.
func TestExpectedDoNotWaitAmongStrangers(t *testing.T) {
	b := open(t, func(o *Options) { o.Accounts = expecting{}; o.Limits.Strangers = 3 })
	anna := b.dial(t)
	anna.say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
	waitFor(t, func() bool { return b.server.expected.Taken() == 1 })
	for range 30 {
		b.dial(t)
	}
	waitFor(t, func() bool { return b.server.strangers.Taken() == 3 && b.server.expected.Taken() == 1 })
	anna.prove()
	if got := anna.until('Z'); !strings.HasSuffix(got, "Z(I)") {
		t.Errorf("anna: %s", got)
	}
}

// A caller listens for connections that the test makes, from addresses that it says.
type caller chan net.Conn

func (c caller) Accept() (net.Conn, error) {
	one, more := <-c
	if !more {
		return nil, net.ErrClosed
	}
	return one, nil
}

func (c caller) Close() error   { return nil }
func (c caller) Addr() net.Addr { return &net.TCPAddr{} }

type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }

// TestOneNetworkIsOneHost: a network of IPv6 has one share of the places of strangers, and of
// those whom the server expects, from however many of its addresses somebody connects. It rejects
// nothing that is right; counted by address, another loses its place with probability 1 - (3/4)^37.
func TestOneNetworkIsOneHost(t *testing.T) {
	for name, user := range map[string]string{"strangers": "nobody", "expected": "anna"} {
		t.Run(name, func(t *testing.T) {
			server, err := New(Options{Gateway: newOracle(), Catalog: nothing{}, Accounts: expecting{}, Now: time.Now, Limits: Limits{Strangers: 4}})
			if err != nil {
				t.Fatal(err)
			}
			places := server.strangers
			if name == "expected" {
				places = server.expected
			}
			calls := make(caller)
			go server.Serve(t.Context(), calls) // it ends with its listener
			comes := func(ip string, taken int) (gone chan struct{}) {
				gone = make(chan struct{})
				near, far := net.Pipe()
				t.Cleanup(func() { near.Close() })
				calls <- from{far, &net.TCPAddr{IP: net.ParseIP(ip), Port: 5000}}
				hello, err := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": user, "database": "discreet"}}).Encode(nil)
				if err != nil {
					t.Fatal(err)
				}
				if name == "expected" {
					if _, err := near.Write(hello); err != nil {
						t.Fatal(err)
					}
				}
				go func() { _, _ = io.Copy(io.Discard, near); close(gone) }()
				// An expected one comes through a place of strangers, which it must not lose on the way.
				waitFor(t, func() bool { return places.Taken() >= taken && (name == "strangers" || server.strangers.Taken() == 0) })
				return gone
			}
			other := comes("2001:db8:1:3::1", 1)
			for i := range 40 {
				comes(fmt.Sprintf("2001:db8:1:2::%x", i+1), min(i+2, 4))
			}
			waitFor(t, func() bool { return places.Taken() == 4 })
			select {
			case <-other:
				t.Error("who has one connection lost it to a network with many")
			case <-time.After(50 * time.Millisecond):
			}
			close(calls)
		})
	}
}

// TestConnectionsAreShared: an account gets no more connections than there are, and loses an
// idle one to an account that has fewer.
func TestConnectionsAreShared(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Connections = 3 })
	busy, idle := b.signIn(t), b.signIn(t)
	third := b.signIn(t)
	busy.say(query("SELECT 'wait'"))
	<-b.waiting
	third.say(query("SELECT 'wait'"))
	<-b.waiting
	ask := func(name string) *line {
		l := b.dial(t)
		l.say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": name, "database": "discreet"}})
		l.prove()
		return l
	}
	if got := ask("anna").until('E'); !strings.HasSuffix(got, "E(53300)") {
		t.Errorf("a fourth of the same account: %s", got)
	}
	if got := ask("olga").until('Z'); !strings.HasSuffix(got, "Z(I)") {
		t.Errorf("of another account: %s", got)
	}
	if got := idle.until('E'); got != "E(53300)" {
		t.Errorf("whose place it was: %s", got)
	}
	select {
	case err := <-b.ended:
		t.Errorf("a statement ended: %v", err)
	default:
	}
	busy.Close()
	waitFor(t, func() bool { return b.server.members.Taken() < 3 })
	b.signIn(t)
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for range 2000 {
		if what() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it does not come")
}

func TestIdleSessionsEnd(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Idle = 100 * time.Millisecond })
	l := b.signIn(t)
	if got := l.until('E'); got != "E(57P05)" {
		t.Errorf("an idle session: %s", got)
	}
}

// TestCancel: who knows number and key ends what runs, and nobody else.
func TestCancel(t *testing.T) {
	for name, version := range map[string]uint32{"3.0": pgproto3.ProtocolVersion30, "3.2": pgproto3.ProtocolVersion32} {
		t.Run(name, func(t *testing.T) {
			b := open(t, nil)
			l := b.dial(t)
			l.say(&pgproto3.StartupMessage{ProtocolVersion: version, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
			l.prove()
			var key pgproto3.BackendKeyData
			for {
				m := l.receive()
				if k, ok := m.(*pgproto3.BackendKeyData); ok {
					key = pgproto3.BackendKeyData{ProcessID: k.ProcessID, SecretKey: bytes.Clone(k.SecretKey)}
				}
				if _, ok := m.(*pgproto3.ReadyForQuery); ok {
					break
				}
			}
			cancel := func(number uint32, key []byte) {
				c := b.dial(t)
				c.say(&pgproto3.CancelRequest{ProcessID: number, SecretKey: key})
				if err := c.hear(); err != nil {
					t.Error(err)
				}
			}
			l.say(query("SELECT 'wait'"))
			<-b.waiting
			wrong := bytes.Clone(key.SecretKey)
			wrong[len(wrong)-1] ^= 1
			cancel(key.ProcessID, wrong)
			cancel(key.ProcessID, wrong[:4])
			cancel(key.ProcessID+1, key.SecretKey)
			select {
			case err := <-b.ended:
				t.Fatalf("a wrong key ends the statement: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			cancel(key.ProcessID, key.SecretKey)
			if err := <-b.ended; !errors.Is(err, errCancelled) {
				t.Errorf("it ended with %v", err)
			}
			if got := l.until('Z'); got != "E(57014) Z(I)" {
				t.Errorf("cancelled: %s", got)
			}
			cancel(key.ProcessID, key.SecretKey) // nothing runs
			l.say(query("SELECT 'x'"))
			if got := l.until('Z'); got != "T D(row 0) C(SELECT 1) Z(I)" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestCancelElsewhere: a request to cancel that another server gets ends what runs here, with
// number and key and not without, and strangers make a server tell the others so often and no more.
func TestCancelElsewhere(t *testing.T) {
	b := open(t, nil)
	var told atomic.Int64
	other := open(t, func(o *Options) {
		o.Tell = func(_ context.Context, word string) error {
			told.Add(1)
			if strings.Contains(word, "secret key") {
				t.Errorf("it tells the key: %q", word)
			}
			b.server.Hear(word)
			return nil
		}
	})
	for name, version := range map[string]uint32{"3.0": pgproto3.ProtocolVersion30, "3.2": pgproto3.ProtocolVersion32} {
		t.Run(name, func(t *testing.T) {
			l := b.dial(t)
			l.say(&pgproto3.StartupMessage{ProtocolVersion: version, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
			l.prove()
			var number uint32
			var key []byte
			for number == 0 {
				if k, ok := l.receive().(*pgproto3.BackendKeyData); ok {
					number, key = k.ProcessID, bytes.Clone(k.SecretKey)
				}
			}
			l.until('Z')
			cancel := func(number uint32, key []byte) {
				c := other.dial(t)
				c.say(&pgproto3.CancelRequest{ProcessID: number, SecretKey: key})
				if err := c.hear(); err != nil {
					t.Error(err)
				}
			}
			l.say(query("SELECT 'wait'"))
			<-b.waiting
			wrong := bytes.Clone(key)
			wrong[len(wrong)-1] ^= 1
			cancel(number, wrong)
			cancel(number, append(key, 0))
			cancel(number+1, key)
			for _, word := range []string{"", "cancel", fmt.Sprintf("cancel %d ", number), fmt.Sprintf("cancel %d %x", number, key), cancelling(number, key) + " ", "other " + cancelling(number, key), cancelling(number, []byte("secret key"))} {
				b.server.Hear(word)
			}
			select {
			case err := <-b.ended:
				t.Fatalf("a wrong key ends the statement: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			cancel(number, key)
			if err := <-b.ended; !errors.Is(err, errCancelled) {
				t.Errorf("it ended with %v", err)
			}
			if got := l.until('Z'); got != "E(57014) Z(I)" {
				t.Errorf("cancelled: %s", got)
			}
		})
	}
	for range 2 * toldPerMinute {
		other.server.tell(t.Context(), "x")
	}
	if told.Load() != toldPerMinute {
		t.Errorf("%d words were told, want %d", told.Load(), toldPerMinute)
	}
}

func TestStatementsEndInTime(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Statement = time.Minute })
	l := b.signIn(t)
	l.say(query("SET statement_timeout = '50ms'; SELECT 'wait'"))
	if got := l.until('Z'); got != "C(SET) E(57014) Z(I)" {
		t.Errorf("after its time: %s", got)
	}
	<-b.ended
}

// TestGoneClientsAskNoMore: a statement whose client has gone is ended, simple or not.
func TestGoneClientsAskNoMore(t *testing.T) {
	b := open(t, nil)
	for name, ask := range map[string][]pgproto3.FrontendMessage{
		"simple": {query("SELECT 'wait'; SELECT 'x'")}, "extended": {parse("", "SELECT 'wait'"), bind("", ""), execute("", 0), &pgproto3.Sync{}},
		"cursor": {query("BEGIN; DECLARE c CURSOR FOR SELECT 'wait'; FETCH c")}, "copy": {query("COPY (SELECT 'wait') TO STDOUT")},
	} {
		l := b.signIn(t)
		l.say(ask...)
		<-b.waiting
		before := b.asked.Load()
		l.Close()
		select {
		case err := <-b.ended:
			if !errors.Is(err, errGone) {
				t.Errorf("%s: it ended with %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the statement goes on without a client", name)
		}
		waitFor(t, func() bool { return b.server.members.Taken() == 0 })
		if n := b.asked.Load(); n != before {
			t.Errorf("%s: %d more were asked", name, n-before)
		}
	}
}

// TestServerEnds: idle sessions end at once, statements that run have their time.
func TestServerEnds(t *testing.T) {
	b := open(t, func(o *Options) { o.Limits.Grace = 200 * time.Millisecond })
	idle, busy, stranger := b.signIn(t), b.signIn(t), b.dial(t)
	busy.say(query("SELECT 'wait'"))
	<-b.waiting
	ended := make(chan struct{})
	began := time.Now()
	go func() { b.stop(); close(ended) }()
	if got := idle.until('E'); got != "E(57P01)" {
		t.Errorf("an idle session: %s", got)
	}
	if err := <-b.ended; !errors.Is(err, errStopping) || time.Since(began) < 150*time.Millisecond {
		t.Errorf("the statement ended with %v after %v", err, time.Since(began))
	}
	if got := busy.until('E'); got != "E(57P01)" {
		t.Errorf("a busy session: %s", got)
	}
	if err := stranger.hear(); isTimeout(err) {
		t.Error("a stranger is kept")
	}
	<-ended
}

// TestRowsAskOnce: a portal asks once, each Bind anew.
func TestRowsAskOnce(t *testing.T) {
	b := open(t, nil)
	l := b.signIn(t)
	asked := func(want int32, all ...pgproto3.FrontendMessage) {
		t.Helper()
		before := b.asked.Load()
		l.say(append(all, &pgproto3.Sync{})...)
		l.until('Z')
		if n := b.asked.Load() - before; n != want {
			t.Errorf("%v: asked %d times, not %d", all[0], n, want)
		}
	}
	asked(0, parse("s", "SELECT 'rows 5'"), &pgproto3.Describe{ObjectType: 'S', Name: "s"}, bind("", "s"), &pgproto3.Describe{ObjectType: 'P'})
	asked(1, bind("p", "s"), execute("p", 2), execute("p", 2), execute("p", 0), execute("p", 0))
	asked(2, bind("p", "s"), bind("q", "s"), execute("p", 2), execute("q", 2), execute("p", 2))
	l.say(query("BEGIN; DECLARE c CURSOR FOR SELECT 'rows 5'"))
	l.until('Z')
	before := b.asked.Load()
	l.say(query("FETCH c; FETCH c; MOVE LAST c; FETCH FIRST c; ROLLBACK"))
	l.until('Z')
	if n := b.asked.Load() - before; n != 1 {
		t.Errorf("a cursor asked %d times", n)
	}
}
