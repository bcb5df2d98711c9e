package clustertest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Proxy leads connections to an address, unless it is told to cut them. It counts and
// keeps what passes, so that tests can look for canaries in traffic.
type Proxy struct {
	to     string
	listen net.Listener
	cut    atomic.Bool
	mute   atomic.Bool
	after  atomic.Int64 // bytes of answers until a connection is cut; negative: never
	slow   atomic.Int64 // by which answers are late
	mu     sync.Mutex
	open   map[net.Conn]bool
	seen   []byte
	Keep   bool // keep the traffic for Seen; set before use
}

// NewProxy leads to an address until the test ends.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{to: to, listen: l, open: map[net.Conn]bool{}}
	p.after.Store(-1)
	var all sync.WaitGroup
	all.Go(func() { p.accept(&all) })
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		p.Cut()
		all.Wait()
	})
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listen.Addr().String() }

// Cut ends all connections, and new ones at once.
func (p *Proxy) Cut() {
	p.cut.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		shut(c)
	}
}

// Mend lets connections through again.
func (p *Proxy) Mend() { p.cut.Store(false); p.mute.Store(false); p.after.Store(-1); p.slow.Store(0) }

// Slow has answers come later by so much.
func (p *Proxy) Slow(by time.Duration) { p.slow.Store(int64(by)) }

// Mute loses answers from now on: the other side does what it is asked, and nobody learns it.
func (p *Proxy) Mute() { p.mute.Store(true) }

// CutAfter cuts each connection once so many bytes of answers have come through it: the
// other side has done what it was asked, and nobody learns it.
func (p *Proxy) CutAfter(answered int64) { p.after.Store(answered) }

// Seen is all that has passed, both ways.
func (p *Proxy) Seen() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.seen...)
}

func (p *Proxy) accept(all *sync.WaitGroup) {
	for {
		from, err := p.listen.Accept()
		if err != nil {
			return
		}
		all.Go(func() { p.lead(from) })
	}
}

func (p *Proxy) lead(from net.Conn) {
	defer shut(from)
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer shut(to)
	p.mu.Lock()
	p.open[from], p.open[to] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, from)
		delete(p.open, to)
		p.mu.Unlock()
	}()
	if p.cut.Load() {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pipe(to, from, nil); shut(from, to) })
	p.pipe(from, to, &p.after)
	shut(from, to)
	both.Wait()
}

// shut closes connections, which may be closed already.
func shut(all ...net.Conn) {
	for _, c := range all {
		c.Close() //nolint:errcheck // both ends are given up
	}
}

// pipe copies until the end, or until limit bytes.
func (p *Proxy) pipe(to io.Writer, from io.Reader, limit *atomic.Int64) {
	buffer, total := make([]byte, 32<<10), int64(0)
	for {
		n, err := from.Read(buffer)
		if limit != nil && limit.Load() >= 0 && total+int64(n) > limit.Load() {
			return
		}
		total += int64(n)
		if p.Keep {
			p.mu.Lock()
			p.seen = append(p.seen, buffer[:n]...)
			p.mu.Unlock()
		}
		if limit != nil && p.mute.Load() && err == nil {
			continue
		}
		if late := p.slow.Load(); limit != nil && late > 0 {
			<-time.After(time.Duration(late))
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
