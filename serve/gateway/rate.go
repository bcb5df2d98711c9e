package gateway

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rates bound how often is asked: statements and explanations a minute, and as many
// descriptions. An
// account may ask a minute's worth at once, and goes on as the minute passes. 0 bounds
// nothing.
type Rates struct {
	Account int // of each account
	All     int // of all together
}

// A RateError says that was asked too often, and when it may be again. Of the rate that all
// share, this is always a minute: the true time would tell how often the others ask.
type RateError struct {
	All   bool // by all accounts together
	After time.Duration
}

func (e *RateError) Error() string {
	who := "this account asks"
	if e.All {
		who = "all accounts together ask"
	}
	return fmt.Sprintf("%s more often than the server allows: try again in %v", who, e.After.Round(time.Second)+time.Second)
}

// A meter holds what is asked against the rates.
type meter struct {
	rates Rates

	mu       sync.Mutex
	all      *rate.Limiter
	accounts map[string]*rate.Limiter
}

func newMeter(r Rates) *meter {
	return &meter{rates: r, all: limiter(r.All), accounts: map[string]*rate.Limiter{}}
}

// limiter lets so many a minute through; nil lets all.
func limiter(minute int) *rate.Limiter {
	if minute <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(minute)), minute)
}

// ask counts one question of an account, or refuses it. What an account is refused counts
// against nobody.
func (m *meter) ask(account string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.accounts[account]
	if own == nil && m.rates.Account > 0 { // accounts are the owner's to make: there are few
		own = limiter(m.rates.Account)
		m.accounts[account] = own
	}
	took := take(own, now)
	if after := took.DelayFrom(now); after > 0 {
		took.CancelAt(now)
		return &RateError{After: after}
	}
	of := take(m.all, now)
	if of.DelayFrom(now) > 0 {
		of.CancelAt(now)
		took.CancelAt(now)
		return &RateError{All: true, After: time.Minute}
	}
	return nil
}

// take reserves one of a limiter.
func take(l *rate.Limiter, now time.Time) *rate.Reservation {
	if l == nil {
		l = rate.NewLimiter(rate.Inf, 0)
	}
	return l.ReserveN(now, 1)
}
