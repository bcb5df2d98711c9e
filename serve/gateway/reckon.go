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

// Reckon does work that reads no data, such as accounting for a plan, for somebody who asks.
// Of all doors a bounded number works at once, in turn by account, and its context ends after
// Config.Thinking. Work that does not look at its context is left behind; it keeps its place
// until it has ended, so that what never ends stalls its account and nobody else.
//
// The error is the work's own, ErrBusy where its turn did not come in time, and
// context.DeadlineExceeded of what failed when its time was over. What the work wrote may be
// read only where there is none: what was left behind may still be writing.
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
