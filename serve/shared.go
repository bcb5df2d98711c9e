package serve

import (
	"context"
	"net"
	"net/http"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/places"
)

// A shared listener accepts every connection and shares a bounded number of places among their
// addresses: an address with many loses one to an address with fewer.
type shared struct {
	net.Listener
	places *places.Places
}

func share(l net.Listener, most int) *shared {
	return &shared{l, places.New(places.Options{Most: most, Yield: true, Chance: chance(entropy.New())})}
}

// chance draws a number below n; always the same where there is no randomness, which harms
// no share.
func chance(e *entropy.Source) func(n int) int {
	return func(n int) int {
		v, err := e.Uint64()
		if err != nil {
			return 0
		}
		return int(v % uint64(n))
	}
}

// A holding connection has a place.
type holding struct {
	net.Conn
	place *places.Place
}

// Accept accepts the next connection.
func (s *shared) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &holding{c, s.places.Take("address "+people.Host(c.RemoteAddr().String()), func() { _ = c.Close() })}, nil
}

// Close closes the connection and gives its place back.
func (h *holding) Close() error {
	h.place.Leave()
	return h.Conn.Close()
}

// holder is what holds a connection's place, below TLS or not.
func holder(c net.Conn) *holding {
	if below, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = below.NetConn()
	}
	h, _ := c.(*holding)
	return h
}

// watch tells the places which connections are at work, and requests whose place theirs is.
func watch(s *http.Server) {
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if h := holder(c); h != nil {
			h.place.Busy(state == http.StateActive)
		}
	}
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if h := holder(c); h != nil {
			return places.In(ctx, h.place)
		}
		return ctx
	}
}
