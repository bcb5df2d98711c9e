// Package sparing lets strangers write a bounded number of lines a minute into a log. What
// is left out is counted, and the next line that is written says how many there were.
package sparing

import (
	"sync"
	"time"
)

// Lines are those of strangers, in one log. The zero value is not ready: it has no clock.
type Lines struct {
	Now    func() time.Time
	Minute int // lines in one

	mu      sync.Mutex
	since   time.Time
	written int
	left    int
}

// Write reports whether a line may be written, and how many were left out before it.
func (l *Lines) Write() (may bool, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.Now(); now.Sub(l.since) >= time.Minute || now.Before(l.since) {
		l.since, l.written = now, 0
	}
	if l.written >= l.Minute {
		l.left++
		return false, 0
	}
	l.written++
	left, l.left = l.left, 0
	return true, left
}
