package gateway

import (
	"context"
	"errors"
	"fmt"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// ErrBusy: as many statements wait as may.
var ErrBusy = errors.New("too many statements are waiting")

// ErrNotAllowed: the account may not do this.
var ErrNotAllowed = errors.New("the account may not do this")

// ErrTime: the statement took longer than the server lets one take. What it was charged
// stays.
var ErrTime = errors.New("the statement took too long; what it was charged stays")

// ErrHours: the account may not ask at this time.
var ErrHours = errors.New("the account may not ask at this time")

// ErrColumns: whoever asks does not take the columns that the answer would have. Nothing was charged.
var ErrColumns = errors.New("the answer would have other columns than are taken; nothing was charged")

// A Pending error says that an owner must decide before the statement is answered, or has
// decided against it.
type Pending struct {
	Approval string
	Denied   bool
	Why      string // it was denied
}

func (p *Pending) Error() string {
	if p.Denied {
		return fmt.Sprintf("an owner has denied this statement (approval %s): %s", p.Approval, p.Why)
	}
	return fmt.Sprintf("an owner must approve this statement first: approval %s", p.Approval)
}

// A Status is what kind of failure an error is. Every door has a code for each.
type Status int

// The kinds.
const (
	Unavailable Status = iota // the server or the engine; also what is not known
	Syntax                    // not a statement that is read
	Table                     // that does not exist
	Column                    // that does not exist
	Refused                   // by the theory, types or limits
	Budget                    // does not suffice
	Waiting                   // for an owner's decision
	KeyMismatch               // the idempotency key was used for something else, or is unfinished
	Rate                      // too much at once
	Cancelled
	NotAllowed
)

func (s Status) String() string {
	return [...]string{"unavailable", "syntax", "table", "column", "refused", "budget", "waiting", "key", "rate", "cancelled", "not_allowed"}[s]
}

// Of returns what kind of failure err is.
func Of(err error) Status {
	var r *discreet.Refusal
	var p *Pending
	var often *RateError
	switch {
	case errors.As(err, &often):
		return Rate
	case errors.As(err, &p) && p.Denied:
		return NotAllowed
	case errors.As(err, &p):
		return Waiting
	case errors.As(err, &r):
		return ofCode(r.Code)
	case errors.Is(err, ErrColumns):
		return Refused
	case errors.Is(err, ErrBusy), errors.Is(err, ledger.ErrTooMany), errors.Is(err, people.ErrTooMany):
		return Rate
	case errors.Is(err, ErrNotAllowed), errors.Is(err, ErrHours), errors.Is(err, people.ErrEnded):
		return NotAllowed
	case errors.Is(err, ErrTime), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	}
	return Unavailable
}

func ofCode(code string) Status {
	switch {
	case code <= "D005":
		return Syntax
	case code == "D010":
		return Table
	case code == "D011" || code == "D012":
		return Column
	case code == "D076":
		return Budget
	case code == "D079":
		return KeyMismatch
	case code == "D077" || code == "D078" || code >= "D100" && code < "D110":
		return Unavailable
	}
	return Refused
}
