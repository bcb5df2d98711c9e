package serve

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
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
