// Package work makes a computation end: after a number of counted steps, which is the
// same on every machine, and when its context does.
//
// It guarantees that nothing is left of a computation that was stopped: Spend does not
// return then, so that no loop hands on a number that it did not finish. It guarantees no
// time: a step is about what an exponential function takes, some 10 ns.
package work

import (
	"context"
	"errors"
	"fmt"
)

// ErrLimit is wrapped where a computation needs more steps than it may take.
var ErrLimit = errors.New("limit of work")

// A Meter counts the steps of one goroutine. The nil Meter stops nobody.
type Meter struct {
	ctx   context.Context
	limit int64 // that stops first, for its name
	left  int64
	quiet int64 // steps until the context is asked again
	spent int64
}

// New returns a meter of which nothing can be spent but inside of Do.
func New(ctx context.Context) *Meter { return &Meter{ctx: ctx} }

// every is how many steps pass between two looks at the context: some 100 µs.
const every = 1 << 13

// stopped is what Spend panics with and Do recovers.
type stopped struct{ err error }

// Do runs f, which may spend limit steps, or what is left to an enclosing Do. The error is
// f's or, of an f that was stopped, wraps ErrLimit or the error of the context.
func (m *Meter) Do(limit int64, f func() error) (err error) {
	if m == nil {
		return f()
	}
	outer := *m
	if outer.limit == 0 || limit < outer.left {
		m.limit, m.left = limit, limit
	}
	defer func() {
		m.limit, m.left = outer.limit, outer.left-(m.spent-outer.spent)
		if r := recover(); r != nil {
			s, ok := r.(stopped)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	if err := m.ctx.Err(); err != nil {
		return err
	}
	return f()
}

// Spend counts n steps that are about to be taken. It returns only if they may be.
func (m *Meter) Spend(n int) {
	if m == nil {
		return
	}
	if n < 0 || int64(n) > m.left {
		m.spent, m.left = m.spent+m.left, 0
		panic(stopped{fmt.Errorf("needs more than %d steps: %w", m.limit, ErrLimit)})
	}
	m.spent += int64(n)
	m.left -= int64(n)
	if m.quiet -= int64(n); m.quiet < 0 {
		m.quiet = every
		if err := m.ctx.Err(); err != nil {
			panic(stopped{err})
		}
	}
}

// Need is Spend of a number of steps that may be more than an int holds, or none.
func (m *Meter) Need(n float64) {
	if !(n >= 0 && n < 1<<62) {
		n = -1
	}
	m.Spend(int(n))
}

// Left is how many steps the innermost Do may still spend.
func (m *Meter) Left() int64 {
	if m == nil {
		return 1 << 62
	}
	return m.left
}

// Spent is how many steps were counted so far.
func (m *Meter) Spent() int64 {
	if m == nil {
		return 0
	}
	return m.spent
}
