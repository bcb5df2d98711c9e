package gateway

import (
	"context"
	"sync"

	discreet "github.com/discreet-dp/discreet"
)

// A flight is what of equal statements only one may be at once: the others wait, and
// find its answer stored.
type flight struct {
	account     string
	fingerprint discreet.Fingerprint
	key         string // of idempotency
}

// flights are those under way. The zero value is ready.
type flights struct {
	mu  sync.Mutex
	now map[flight]chan struct{} // closed when it has ended
}

// take waits until no equal flight is under way, and begins one.
func (f *flights) take(ctx context.Context, of flight) (done func(), err error) {
	for {
		f.mu.Lock()
		other, busy := f.now[of]
		if !busy {
			if f.now == nil {
				f.now = map[flight]chan struct{}{}
			}
			mine := make(chan struct{})
			f.now[of] = mine
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				delete(f.now, of)
				close(mine)
			}, nil
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
