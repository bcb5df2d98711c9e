package gateway

import (
	"context"
	"sync"
)

// An admission lets a bounded number of statements run. One account may have all but one of them,
// so that endless statements leave a place for others. Waiting statements are admitted in turn by
// account, so that many statements of one account do not delay a single one of another. At most
// half of those that may wait belong to one account.
type admission struct {
	mu      sync.Mutex
	share   int            // of an account, of those that run
	most    int            // of an account, of those that wait
	running map[string]int // by account
	free    int
	room    int                        // for more to wait
	waiting map[string][]chan struct{} // by account, each in the order of arrival
	turns   []string                   // accounts that wait, the next first
}

func newAdmission(concurrency, queue int) *admission {
	return &admission{share: max(1, concurrency-1), most: max(1, queue/2), running: map[string]int{},
		free: concurrency, room: queue, waiting: map[string][]chan struct{}{}}
}

// enter waits for its turn. Who enters leaves.
func (a *admission) enter(ctx context.Context, account string) (leave func(), err error) {
	a.mu.Lock()
	leave = sync.OnceFunc(func() { a.leave(account) })
	if a.free > 0 && a.running[account] < a.share {
		a.free--
		a.running[account]++
		a.mu.Unlock()
		return leave, nil
	}
	if a.room == 0 || len(a.waiting[account]) >= a.most {
		a.mu.Unlock()
		return nil, ErrBusy
	}
	a.room--
	turn := make(chan struct{})
	if len(a.waiting[account]) == 0 {
		a.turns = append(a.turns, account)
	}
	a.waiting[account] = append(a.waiting[account], turn)
	a.mu.Unlock()
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, w := range a.waiting[account] {
		if w == turn {
			a.drop(account, i)
			return nil, ctx.Err()
		}
	}
	a.end(account) // it was admitted at the same moment
	return nil, ctx.Err()
}

func (a *admission) leave(account string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(account)
}

// end takes a statement from those that run, and lets others in. The lock is held.
func (a *admission) end(account string) {
	a.free++
	if a.running[account]--; a.running[account] == 0 {
		delete(a.running, account)
	}
	for i := 0; a.free > 0 && i < len(a.turns); {
		next := a.turns[i]
		if a.running[next] >= a.share {
			i++
			continue
		}
		a.free--
		a.running[next]++
		a.turns = append(append(a.turns[:i:i], a.turns[i+1:]...), next)
		close(a.waiting[next][0])
		a.drop(next, 0)
	}
}

// drop takes one from those that wait. The lock is held.
func (a *admission) drop(account string, i int) {
	a.room++
	w := a.waiting[account]
	if w = append(w[:i:i], w[i+1:]...); len(w) > 0 {
		a.waiting[account] = w
		return
	}
	delete(a.waiting, account)
	for j, t := range a.turns {
		if t == account {
			a.turns = append(a.turns[:j:j], a.turns[j+1:]...)
			return
		}
	}
}
