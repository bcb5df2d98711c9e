package serve

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/places"
)

// TestConnectionsOfHTTPAreShared: connections beyond the bound cost whoever has most one, and
// a connection counts for the account that asks on it. Nobody waits for a place.
func TestConnectionsOfHTTPAreShared(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { places.Count(r.Context(), r.Header.Get("Account")) })}
	watch(s)
	of := share(l, 10)
	go s.Serve(of)
	defer s.Close()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	asks := func(c net.Conn, account string) error {
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nAccount: %s\r\n\r\n", account); err != nil {
			return err
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			r.Body.Close()
		}
		return err
	}
	anna := dial()
	if err := asks(anna, "anna"); err != nil {
		t.Fatal(err)
	}
	for range 100 { // that say nothing
		dial()
	}
	for range 5 {
		if err := asks(dial(), "olga"); err != nil {
			continue // it came among strangers, and one of those had to go
		}
	}
	if err := asks(anna, "anna"); err != nil {
		t.Errorf("who has one connection lost it to those with many: %v", err)
	}
	if n := of.places.Taken(); n > 10 {
		t.Errorf("%d are taken", n)
	}
}

// A called connection is from the address that the test says.
type called struct {
	net.Conn
	from net.Addr
}

func (c called) RemoteAddr() net.Addr { return c.from }

// calls are connections that come one after the other.
type calls chan net.Conn

func (c calls) Accept() (net.Conn, error) {
	one, more := <-c
	if !more {
		return nil, net.ErrClosed
	}
	return one, nil
}

func (c calls) Close() error   { return nil }
func (c calls) Addr() net.Addr { return &net.TCPAddr{} }

// TestOneNetworkIsOneHost: who has a network of IPv6 has one share of the places, however many
// of its addresses he or she comes from, and so has an address of IPv4 in both of its forms. It
// rejects nothing that is right; counted by address, another loses its place with probability
// 1 - (3/4)^37.
func TestOneNetworkIsOneHost(t *testing.T) {
	for name, from := range map[string]string{"one /64": "[2001:db8:1:2::%x]:7000", "a zone": "[fe80::%x%%eth0]:7000", "IPv4 in IPv6": "[::ffff:192.0.2.1]:%d"} {
		t.Run(name, func(t *testing.T) {
			incoming := make(calls)
			l := share(incoming, 4)
			comes := func(from string) (client net.Conn) {
				t.Helper()
				at, err := netip.ParseAddrPort(from)
				if err != nil {
					t.Fatal(err)
				}
				client, server := net.Pipe()
				t.Cleanup(func() { client.Close(); server.Close() })
				go func() { incoming <- called{server, net.TCPAddrFromAddrPort(at)} }()
				if _, err := l.Accept(); err != nil {
					t.Fatal(err)
				}
				return client
			}
			other := comes("[2001:db8:1:3::1]:5000")
			for i := range 40 {
				if name == "IPv4 in IPv6" && i%2 == 1 {
					comes(fmt.Sprintf("192.0.2.1:%d", i+1))
					continue
				}
				comes(fmt.Sprintf(from, i+1))
			}
			if n := l.places.Taken(); n != 4 {
				t.Fatalf("%d are taken", n)
			}
			_ = other.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if _, err := other.Read(make([]byte, 1)); !os.IsTimeout(err) {
				t.Errorf("who has one connection lost it to a network with many: %v", err)
			}
		})
	}
}
