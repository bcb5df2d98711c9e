//go:build cgo && linux

package siege_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A cut is a way to the server that goes away.
type cut struct {
	net.Listener
	to     string
	after  int64 // so many bytes of the client's, or never if below 0
	answer bool  // of the server's instead
	how    string
	gone   chan struct{}
	once   sync.Once
	passed atomic.Int64
}

// ways in which a client goes away.
var ways = []string{"close", "reset", "half"}

// newCut opens a way to an address.
func newCut(t testing.TB, to string, after int64, answer bool, how string) *cut {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cut{Listener: l, to: to, after: after, answer: answer, how: how, gone: make(chan struct{})}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(near)
		}
	}()
	return c
}

// cut goes away now.
func (c *cut) cut() { c.once.Do(func() { close(c.gone) }) }

func (c *cut) carry(near net.Conn) {
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		near.Close()
		return
	}
	ended := make(chan struct{}, 2)
	pass := func(to io.Writer, from io.Reader, counts bool) {
		buffer := make([]byte, 1)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				if _, err := to.Write(buffer[:n]); err != nil {
					break
				}
				if counts && c.passed.Add(1) == c.after {
					c.cut()
				}
			}
			if err != nil {
				break
			}
		}
		ended <- struct{}{}
	}
	go pass(far, near, !c.answer)
	go pass(near, far, c.answer)
	select {
	case <-c.gone:
		switch tcp := far.(*net.TCPConn); c.how {
		case "reset":
			_ = tcp.SetLinger(0) // then closing resets
		case "half":
			_ = tcp.CloseWrite() // what the server still says is read to its end
			<-ended
		}
	case <-ended:
	}
	near.Close()
	far.Close()
}

// through asks a statement by a way that may go away.
func (s *stand) through(ctx context.Context, door, at, sql string) (answer, error) {
	v := &server{}
	v.Postgres, v.HTTP = at, at
	c, err := doors[door](ctx, v, "anna", s.tokens["anna"])
	if err != nil {
		return answer{}, err
	}
	defer c.close()
	return c.ask(ctx, sql, amount)
}

// quiet waits until a server runs nothing and holds no more descriptors than it did.
func (s *stand) quiet(t *testing.T, v *server, most int) {
	t.Helper()
	w := &web{at: "http://" + v.HTTP, token: s.tokens["olga"]}
	defer w.CloseIdleConnections()
	said, n := "", 0
	for range 6000 {
		text, err := w.send(t.Context(), "GET", "/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.CloseIdleConnections()
		said, n = string(text), descriptors(t, v)
		if strings.Contains(said, "discreet_statements_running 0") && strings.Contains(said, "discreet_statements_waiting 0") && n <= most {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d descriptors of %d, and\n%s", n, most, said)
}

func descriptors(t *testing.T, v *server) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", v.PID))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestGoneClients: clients go away (close, reset, say no more) after each byte of a
// conversation that they sent or got, and while the server is held before each kind of call of
// theirs. A statement is charged once or not at all, what anybody heard of it is stored, and who
// asks again gets it, free if it was stored. In the end the server runs nothing, holds no
// descriptor and no goroutine for them, and answers. CI takes a share of the bytes and calls.
func TestGoneClients(t *testing.T) {
	s := newStand(t, "3000", "anna")
	v := s.serve(t)
	// The server grows to its size first.
	for door := range doors {
		ctx, cancel := bounded(t)
		at := v.HTTP
		if door == "postgres" {
			at = v.Postgres
		}
		if _, err := s.through(ctx, door, at, small(0)); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	most := descriptors(t, v) + 4 // connections of the engine's and of the books' pools
	number := 0
	cases := map[string]int{}
	type leaver struct {
		sql  string
		rows []string
		err  error
	}
	var left []leaver
	leave := func(door string, c *cut, sql string, act func()) {
		ctx, cancel := bounded(t)
		defer cancel()
		done := make(chan leaver)
		go func() {
			a, err := s.through(ctx, door, c.Addr().String(), sql)
			done <- leaver{sql, a.rows, err}
		}()
		act()
		l := <-done
		left = append(left, l)
		c.Close()
	}
	share := int64(1)
	if !soak() {
		share = 97
	}
	for d, door := range slices.Sorted(maps.Keys(doors)) {
		to := v.HTTP
		if door == "postgres" {
			to = v.Postgres
		}
		for _, answer := range []bool{false, true} {
			number++
			whole := newCut(t, to, -1, answer, "close")
			leave(door, whole, small(number), func() {})
			for i := int64(d) + 1; i < whole.passed.Load(); i += share {
				number++
				leave(door, newCut(t, to, i, answer, ways[number%3]), small(number), func() {})
				cases[door+": byte"]++
			}
		}
		// Held, so that the client leaves while the server is where it is.
		seen, _ := s.killed(t, s.serve(t), door, small(1_000_000+d), instant{})
		for i, at := range instants(seen) {
			if edge := i == 0 || seen[i-1] != at.call; !edge || !soak() && i%7 != 0 {
				continue
			}
			number++
			w := watchCalls(t, v, holds, at.call, at.n)
			c := newCut(t, to, -1, false, ways[number%3])
			leave(door, c, small(number), func() {
				held := make(chan bool, 1)
				go func() { held <- w.held() }()
				select {
				case <-held:
					cases[door+": held"]++
				case <-time.After(time.Second): // this time the call is not made so often
				}
				c.cut()
				time.Sleep(5 * time.Millisecond) // the server may notice, or not
				w.leave(t)
			})
		}
		s.quiet(t, v, most)
	}
	t.Logf("%d statements, %v", number, cases)
	s.strangers(t, v)
	s.quiet(t, v, most)

	// The books of the running server.
	b := s.books(t)
	stored := 0
	for _, l := range left {
		asked := b.of("anna", l.sql)
		committed := len(asked) == 1 && asked[0].Committed
		switch {
		case len(asked) > 1:
			t.Errorf("%s is charged %d times", l.sql, len(asked))
		case (l.err == nil || len(l.rows) > 0) && !committed:
			t.Errorf("%s was heard, and is not stored", l.sql)
		}
		if committed && l.err != nil {
			stored++
		}
		ctx, cancel := bounded(t)
		a, err := s.through(ctx, "http", v.HTTP, l.sql)
		cancel()
		if err != nil || a.reused != committed || l.err == nil && !slices.Equal(a.rows, l.rows) {
			t.Errorf("%s asked again: %v reused %v where stored is %v: %v", l.sql, a.rows, a.reused, committed, err)
		}
	}
	t.Logf("%d were answered, and their clients had gone", stored)
	s.quiet(t, v, most)

	// Its goroutines are in the owner's log when it crashes.
	if err := v.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	<-v.ended
	dump, err := os.ReadFile(s.path("discreet.ledger.log"))
	if err != nil || !bytes.Contains(dump, []byte("goroutine ")) {
		t.Fatalf("no goroutines: %v", err)
	}
	if many := regexp.MustCompile(`(?m)^.*(postgres\.\(\*session\)|gateway\.\(\*Gateway\)\.Query|rest\.\(\*handler\)|mcp\.\().*$`).FindAllString(string(dump), -1); len(many) > 0 {
		t.Errorf("%d goroutines serve clients that have gone: %.2000s", len(many), many)
	}
}

// strangers try what is refused: another password, database, account, TLS that there is not.
func (s *stand) strangers(t *testing.T, v *server) {
	t.Helper()
	for name, change := range map[string]func(*url.URL){
		"another password": func(u *url.URL) { u.User = url.UserPassword("anna", "guess") },
		"no password":      func(u *url.URL) { u.User = url.UserPassword("anna", "") },
		"another account":  func(u *url.URL) { u.User = url.UserPassword("nobody", password) },
		"another database": func(u *url.URL) { u.Path = "postgres" },
		"TLS":              func(u *url.URL) { u.RawQuery = "sslmode=require" },
	} {
		at := url.URL{Scheme: "postgres", User: url.UserPassword("anna", password), Host: v.Postgres, Path: "discreet", RawQuery: "sslmode=disable"}
		change(&at)
		ctx, cancel := bounded(t)
		if c, err := pgx.Connect(ctx, at.String()); err == nil {
			t.Errorf("%s: let in", name)
			c.Close(ctx)
		}
		cancel()
	}
}
