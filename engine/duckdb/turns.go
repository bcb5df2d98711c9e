//go:build cgo

package duckdb

import (
	"context"
	"sync"
)

// turns are taken by who looks for the copy of a table: once for all who ask for it, while others go on.
type turns struct {
	mu  sync.Mutex
	all map[string]chan struct{} // by the folded names of tables; who puts a token there has the turn
}

// take waits for the turn of a table.
func (t *turns) take(ctx context.Context, name string) (done func(), err error) {
	t.mu.Lock()
	if t.all == nil {
		t.all = map[string]chan struct{}{}
	}
	turn, ok := t.all[name]
	if !ok {
		turn = make(chan struct{}, 1)
		t.all[name] = turn
	}
	t.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	}
}
