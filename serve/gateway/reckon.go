package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Reckoning that reads no data has places of its own, apart from those of statements: of an
// account all but one, and so many more may wait.
const (
	reckoners      = 2
	reckoningQueue = 32
)

// thinking is how long work may take that reads no data, and how long it may wait, if the
// configuration does not say.
const thinking = 5 * time.Second

// Reckon does work that reads no data, such as accounting for a plan, for somebody who asks. A
// bounded number of such tasks runs at once, over all doors, in turn by account. The context of a
// task ends after Config.Thinking. A task that ignores its context is left behind and keeps its
// place until it ends, so that an endless task stalls its account and nobody else.
//
// The error is the task's own, or ErrBusy if its turn did not come in time, or
// context.DeadlineExceeded if it failed after its time was over. Read what the task wrote only if
// there is no error: a task that was left behind may still be writing.
func (g *Gateway) Reckon(ctx context.Context, who Asker, work func(context.Context) error) error {
	waiting, stop := context.WithTimeout(ctx, g.config.Thinking)
	leave, err := g.reckoning.enter(waiting, who.Account.Name)
	stop()
	switch {
	case ctx.Err() != nil:
		if err == nil {
			leave()
		}
		return ctx.Err()
	case err != nil:
		return ErrBusy
	}
	limited, cancel := context.WithTimeout(ctx, g.config.Thinking)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer leave()
		done <- guarded(limited, work)
	}()
	select {
	case err = <-done:
	case <-limited.Done():
		// What looks at its context says in a moment what it has found.
		select {
		case err = <-done:
		case <-time.After(time.Second):
			err = limited.Err()
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return context.DeadlineExceeded
	}
	return err
}

// errPanic stands for what a panic said, which is nobody's to know.
var errPanic = errors.New("the work panicked")

// guarded does work whose panic would be the process's end.
func guarded(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reckon: %w: %T", errPanic, r)
		}
	}()
	return work(ctx)
}
