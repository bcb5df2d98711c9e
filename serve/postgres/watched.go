package postgres

import (
	"errors"
	"net"
	"sync"
)

// A watched connection notices that the client is gone while nobody reads from it: a
// goroutine of its own waits for the next byte, which the next Read returns.
type watched struct {
	net.Conn
	ahead chan reading // what the goroutine finds; nil when there is none

	mu     sync.Mutex
	gone   func()
	broken bool // it was found so while nobody read
}

type reading struct {
	first byte
	err   error
}

// watch calls gone, at most once, when the connection breaks before unwatch, or has broken.
func (w *watched) watch(gone func()) {
	w.mu.Lock()
	broken := w.broken
	w.gone = gone
	w.mu.Unlock()
	if broken {
		gone()
		return
	}
	if w.ahead != nil { // it waits since an earlier statement
		return
	}
	ahead := make(chan reading, 1)
	w.ahead = ahead
	go func() {
		var b [1]byte
		_, err := w.Conn.Read(b[:])
		ahead <- reading{b[0], err}
		if timeout := net.Error(nil); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
			return // something came, or the server ends
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.broken = true; w.gone != nil {
			w.gone()
		}
	}()
}

func (w *watched) unwatch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = nil
}

// Read returns the byte that was read ahead first. Only the session reads.
func (w *watched) Read(p []byte) (int, error) {
	if w.ahead == nil || len(p) == 0 {
		return w.Conn.Read(p)
	}
	r := <-w.ahead
	w.ahead = nil
	if r.err != nil {
		return 0, r.err
	}
	p[0] = r.first
	return 1, nil
}
