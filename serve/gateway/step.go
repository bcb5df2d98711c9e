package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A pace delays what others can see of a statement to whole steps, counted from its arrival: that
// its answer is stored, that the answer leaves, and that a cancellation ends it. So an asker cannot
// choose which durations to distinguish, neither by when the statement is sent nor by when it is
// cancelled.
//
// Results that need no private data (refusals, stored answers, public answers) do not wait: their
// duration is no secret.
type pace struct {
	now  func() time.Time
	came time.Time
	step time.Duration // 0: nothing waits
}

// left is the time to the end of the step, a whole one at its end.
func (p pace) left() time.Duration {
	if p.step <= 0 {
		return 0
	}
	return p.step - max(0, p.now().Sub(p.came))%p.step
}

// wait waits for the end of the step.
func (p pace) wait() {
	if d := p.left(); d > 0 {
		<-time.After(d)
	}
}

// A bounded context is that of one statement. It ends when its client gives up, at the end
// of a step, and when its time is over.
type bounded struct {
	context.Context
	asker context.Context
	stop  func() bool
	ends  atomic.Pointer[func(cause error) bool] // which causes of the asker's end are its own; nil: all are
}

func (p pace) bound(ctx context.Context, most time.Duration) (*bounded, func()) {
	inner, end := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &bounded{Context: inner, asker: ctx}
	b.stop = context.AfterFunc(ctx, func() {
		p.wait()
		if ends := b.ends.Load(); ends == nil || (*ends)(context.Cause(ctx)) {
			end(context.Cause(ctx))
		}
	})
	timer := func() bool { return true }
	if most > 0 {
		// A timer that cancels, and no deadline, which would suspend the domain: how long the
		// server waits is its own choice.
		timer = time.AfterFunc(most, func() { end(ErrTime) }).Stop
	}
	return b, sync.OnceFunc(func() {
		b.stop()
		timer()
		end(nil)
	})
}

// keep lets the statement go on though its client gives up, but for causes that end it. It is too late where the client
// has.
func (b *bounded) keep(ends func(cause error) bool) error {
	if ends == nil {
		ends = func(error) bool { return false }
	}
	b.ends.Store(&ends)
	return context.Cause(b.asker)
}
