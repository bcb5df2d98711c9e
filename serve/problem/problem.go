// Package problem gives every error the form in which programs see it: the members of the
// command's error object, as problem details over HTTP (RFC 9457) and as a tool's error for
// agents. The text of an error never depends on private data.
package problem

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/serve/gateway"
)

// A Problem is what went wrong. Its members are those of the command's error object.
type Problem struct {
	Status  int                 `json:"-"` // of HTTP
	Code    string              `json:"code"`
	Message string              `json:"message"`
	Line    int                 `json:"line"`
	Column  int                 `json:"column"`
	Length  int                 `json:"length"`
	Why     string              `json:"why"`
	Hint    string              `json:"hint"`
	Asked   *discreet.Remaining `json:"asked,omitempty"`
	Left    *discreet.Remaining `json:"left,omitempty"`

	// Approval is what an owner has to decide first, and then nothing went wrong.
	Approval string `json:"-"`
	// After is how long to wait before the next try; 0 where nothing says so.
	After time.Duration `json:"-"`
}

// Error returns code and message in a line.
func (p *Problem) Error() string { return "error[" + p.Code + "]: " + p.Message }

// of is a diagnostic with its status.
func of(status int, d *diagnostic.Diagnostic) *Problem {
	line, column := d.LineColumn()
	return &Problem{Status: status, Code: d.Code, Message: d.Message, Line: line, Column: column, Length: d.Length(), Why: d.Why, Hint: gateway.Hint(string(d.Way), "http", d.Hint)}
}

// Request refuses what is wrong with a request as HTTP has it; the status says what.
func Request(status int, message, hint string) *Problem {
	return &Problem{Status: status, Code: "D210", Message: message, Hint: hint}
}

// Of is the problem that an error is. Of an error that nobody foresaw it tells nothing.
func Of(err error) *Problem {
	var p *Problem
	var d *diagnostic.Diagnostic
	var r *discreet.Refusal
	var pending *gateway.Pending
	var often *gateway.RateError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &d): // of the request, or of a plan: no gateway was asked
		if unread[d.Code] {
			return of(http.StatusBadRequest, d)
		}
		return of(http.StatusForbidden, d)
	case errors.As(err, &pending) && pending.Denied:
		return &Problem{Status: http.StatusForbidden, Code: "D212", Message: "an owner has denied this statement", Why: pending.Why, Hint: "ask the owner, or ask for less"}
	case errors.As(err, &pending):
		return &Problem{Status: http.StatusAccepted, Code: "D214", Message: "an owner must approve this statement first",
			Why: "it is over a limit of the account", Hint: "send the same statement again when the owner has decided", Approval: pending.Approval}
	case errors.As(err, &often):
		return &Problem{Status: http.StatusTooManyRequests, Code: "D213", Message: often.Error(), Hint: "ask less often; nothing was charged", After: often.After}
	case errors.As(err, &r):
		p = &Problem{Code: r.Code, Message: r.Message, Line: r.Line, Column: r.Column, Length: r.Length, Why: r.Why, Hint: r.Hint, Asked: r.Asked, Left: r.Left}
	case errors.Is(err, discreet.ErrUnavailable):
		p = of(0, diagnostic.New("D100", diagnostic.Span{}, "the answer could not be computed").
			Because("the charge stays, and the owner has been told").Try("ask the owner, who finds the cause in the log"))
	}
	status := gateway.Of(err)
	if p == nil {
		p = unforeseen(status)
	}
	if p.Status = statuses[status]; p.Status == http.StatusTooManyRequests || status == gateway.Cancelled {
		p.After = time.Second
	}
	return p
}

// unread are the codes of input that could not be read.
var unread = map[string]bool{"D075": true, "D120": true, "D210": true}

// statuses are HTTP's for what kind of failure an error is.
var statuses = map[gateway.Status]int{
	gateway.Unavailable: http.StatusServiceUnavailable,
	gateway.Syntax:      http.StatusBadRequest,
	gateway.Table:       http.StatusBadRequest,
	gateway.Column:      http.StatusBadRequest,
	gateway.Refused:     http.StatusForbidden,
	gateway.Budget:      http.StatusPaymentRequired,
	gateway.Waiting:     http.StatusAccepted,
	gateway.KeyMismatch: http.StatusConflict,
	gateway.Rate:        http.StatusTooManyRequests,
	gateway.Cancelled:   http.StatusServiceUnavailable,
	gateway.NotAllowed:  http.StatusForbidden,
}

// unforeseen words what has no refusal of its own.
func unforeseen(status gateway.Status) *Problem {
	switch status {
	case gateway.Rate:
		return &Problem{Code: "D213", Message: "the server has too much to do", Hint: "try again in a moment"}
	case gateway.NotAllowed:
		return &Problem{Code: "D212", Message: "the account may not do this", Hint: "an owner may"}
	case gateway.Cancelled:
		return &Problem{Code: "D102", Message: "interrupted", Why: "the amount that was reserved stays spent, whatever was computed", Hint: "the history shows what was spent"}
	}
	return &Problem{Code: "D109", Message: "the server failed", Hint: "ask its operator, who finds the cause in the log"}
}

// MarshalDetails writes problem details (RFC 9457): the members of the error object beside
// those that every such document has.
func (p *Problem) MarshalDetails() ([]byte, error) {
	type members Problem
	return json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		*members
	}{"about:blank", http.StatusText(p.Status), p.Status, p.Message, (*members)(p)})
}
