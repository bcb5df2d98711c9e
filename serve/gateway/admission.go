package gateway

import (
	"context"
	"sync"
)

// An admission lets a bounded number of statements run. Those that wait are admitted in
// turn by account, so that nobody's many statements delay another's one.
type admission struct {
	mu      sync.Mutex
	free    int
	room    int                        // for more to wait
	waiting map[string][]chan struct{} // by account, each in the order of arrival
	turns   []string                   // accounts that wait, the next first
}

func newAdmission(concurrency, queue int) *admission {
	return &admission{free: concurrency, room: queue, waiting: map[string][]chan struct{}{}}
}

// enter waits for its turn. Who enters leaves.
func (a *admission) enter(ctx context.Context, account string) (leave func(), err error) {
	a.mu.Lock()
	if a.free > 0 {
		a.free--
		a.mu.Unlock()
		return a.leave, nil
	}
	if a.room == 0 {
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
		return a.leave, nil
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
	a.pass() // it was admitted at the same moment
	return nil, ctx.Err()
}

func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pass()
}

// pass gives a place to the next account's oldest statement. The lock is held.
func (a *admission) pass() {
	if len(a.turns) == 0 {
		a.free++
		return
	}
	account := a.turns[0]
	a.turns = append(a.turns[1:], account)
	close(a.waiting[account][0])
	a.drop(account, 0)
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
