// Package places shares a bounded number of connections among those who connect, and a bounded
// number of bytes among those who hold results (Room).
//
// It guarantees that no more places are taken than there are. If all are taken, a client that has
// fewer than another still gets one: the other loses a place, an idle one if possible. So nobody
// closes a door for others by connecting often.
//
// It does not guarantee that a place is kept: the client with the most places can lose one. The
// caller chooses what a client is: an address, an account.
package places

import (
	"context"
	"slices"
	"sync"
)

// Options of New.
type Options struct {
	Most int
	// Yield says what happens if a client that has the most places asks for another: one of those
	// with the most loses a place, by chance. Without Yield the client gets none.
	Yield bool
	// Chance draws a number below n.
	Chance func(n int) int
}

// Places are shared by all who take one. They are safe for concurrent use.
type Places struct {
	options Options
	mu      sync.Mutex
	by      map[string][]*Place
	taken   int
}

// New returns places that are free.
func New(o Options) *Places { return &Places{options: o, by: map[string][]*Place{}} }

// A Place is taken until it is left, or its holder has been put out.
type Place struct {
	of   *Places
	key  string
	out  func()
	busy bool
	gone bool
}

// Take takes a place for a key. out is called, on another goroutine, if the place is to be
// given up for somebody else: it is left then. Without a place it returns nil.
func (p *Places) Take(key string, out func()) *Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.options.Most {
		largest := 0
		for _, held := range p.by {
			largest = max(largest, len(held))
		}
		if !p.options.Yield && len(p.by[key]) >= largest-1 { // it would have as many as who has most
			return nil
		}
		p.put(largest)
	}
	one := &Place{of: p, key: key, out: out}
	p.by[key] = append(p.by[key], one)
	p.taken++
	return one
}

// put puts out one place of a key that has so many. The lock is held.
func (p *Places) put(largest int) {
	var idle, all []*Place
	for _, held := range p.by {
		if len(held) < largest {
			continue
		}
		all = append(all, held...)
		for _, one := range held {
			if !one.busy {
				idle = append(idle, one)
			}
		}
	}
	if len(idle) > 0 {
		all = idle
	}
	one := all[p.options.Chance(len(all))]
	p.leave(one)
	go one.out()
}

// leave gives a place back, once. The lock is held.
func (p *Places) leave(one *Place) {
	if one.gone {
		return
	}
	one.gone = true
	p.taken--
	p.drop(one)
}

// drop takes a place from its key. The lock is held.
func (p *Places) drop(one *Place) {
	if p.by[one.key] = slices.DeleteFunc(p.by[one.key], func(o *Place) bool { return o == one }); len(p.by[one.key]) == 0 {
		delete(p.by, one.key)
	}
}

// Taken is how many places are.
func (p *Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Leave gives the place back. It may be called again.
func (one *Place) Leave() {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.of.leave(one)
}

// Busy says whether the holder is at something that others should not end.
func (one *Place) Busy(is bool) {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.busy = is
}

// Count makes the place count for another key from here on.
func (one *Place) Count(key string) {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	if one.gone || one.key == key {
		return
	}
	one.of.drop(one)
	one.key = key
	one.of.by[key] = append(one.of.by[key], one)
}

type key struct{}

// In returns a context with a place that it can be counted by.
func In(ctx context.Context, one *Place) context.Context { return context.WithValue(ctx, key{}, one) }

// Count makes the context's place, if it has one, count for another key.
func Count(ctx context.Context, of string) {
	if one, ok := ctx.Value(key{}).(*Place); ok && one != nil {
		one.Count(of)
	}
}
