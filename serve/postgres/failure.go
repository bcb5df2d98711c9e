package postgres

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/postgres/pgcatalog"
)

// A failure is what an ErrorResponse says. A fatal one ends the session.
type failure struct {
	state   string // SQLSTATE
	message string
	detail  string
	tip     string
	line    int    // in the text that failed, from 1, with column; 0 where there is no place
	column  int    // in characters, from 1
	byte    int    // the place in bytes, from 1, where it is known so
	at      *piece // the text that failed, where it is not the statement that ran
	fatal   bool
	routine string // of PostgreSQL's, where drivers look at it
}

func (f *failure) Error() string { return f.message }

func fail(state, message string) *failure { return &failure{state: state, message: message} }

func fatal(state, message string) *failure {
	return &failure{state: state, message: message, fatal: true}
}

func (f *failure) hint(text string) *failure   { f.tip = text; return f }
func (f *failure) reason(text string) *failure { f.detail = text; return f }

func protocolViolation(message string) *failure { return fatal("08P01", message) }

// Causes of the end of a statement.
var (
	errCancelled = errors.New("canceling statement due to user request")
	errTimeout   = errors.New("canceling statement due to statement timeout")
	errGone      = errors.New("the client has gone")
	errPut       = errors.New("terminating connection: all are taken, and this account has most")
	errStopping  = errors.New("terminating connection due to administrator command")
)

// failed turns the error of a statement into what the client is told. Errors that are not
// made for it say nothing.
func failed(ctx context.Context, err error) *failure {
	var f *failure
	var r *discreet.Refusal
	var d *diagnostic.Diagnostic
	var pending *gateway.Pending
	var often *gateway.RateError
	var c *pgcatalog.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &r):
		state := stateOf(gateway.Of(err))
		if r.Code == "D221" {
			state = "54000" // program_limit_exceeded
		}
		return &failure{
			state: state, message: "[" + r.Code + "] " + r.Message, detail: r.Why, tip: r.Hint,
			line: r.Line, column: r.Column,
		}
	case errors.As(err, &d): // of a script, which the gateway has not seen
		line, column := d.LineColumn()
		return &failure{state: scriptState(d.Code), message: "[" + d.Code + "] " + d.Message, detail: d.Why, tip: gateway.Hint(string(d.Way), "postgres", d.Hint), line: line, column: column}
	case errors.As(err, &c):
		return &failure{state: c.SQLState, message: c.Message, tip: c.Hint, byte: c.Position}
	case errors.As(err, &pending) && !pending.Denied:
		return fail("55000", pending.Error()).hint("send the statement again when an owner has granted it")
	case errors.Is(err, people.ErrEnded):
		return fatal("28000", people.ErrEnded.Error())
	case errors.As(err, &often):
		return fail("53000", "[D213] "+often.Error()).hint("ask less often; nothing was charged")
	case errors.Is(err, people.ErrTooMany):
		return fail("53300", people.ErrTooMany.Error())
	}
	switch gateway.Of(err) {
	case gateway.Rate:
		return fail("53000", gateway.ErrBusy.Error()).hint("send it again later")
	case gateway.NotAllowed:
		return fail("42501", err.Error())
	}
	if cause := context.Cause(ctx); cause != nil {
		switch {
		case errors.Is(cause, errTimeout), errors.Is(cause, context.DeadlineExceeded):
			return fail("57014", errTimeout.Error())
		case errors.Is(cause, errCancelled), errors.Is(cause, errGone):
			return fail("57014", errCancelled.Error())
		}
		if errors.Is(cause, errPut) {
			return fatal("53300", errPut.Error())
		}
		return fatal("57P01", errStopping.Error())
	}
	if errors.Is(err, discreet.ErrUnavailable) {
		return fail("58000", discreet.ErrUnavailable.Error())
	}
	return fail("58000", "the statement could not be answered").hint("the owner finds the reason in the server's log")
}

// stateOf gives the SQLSTATE of a refusal.
func stateOf(status gateway.Status) string {
	switch status {
	case gateway.Syntax:
		return "42601"
	case gateway.Table:
		return "42P01"
	case gateway.Column:
		return "42703"
	case gateway.Budget:
		return "53400"
	case gateway.Waiting:
		return "55000"
	case gateway.KeyMismatch:
		return "22023"
	case gateway.Rate:
		return "53000"
	case gateway.Cancelled:
		return "57014"
	case gateway.Unavailable:
		return "58000"
	}
	return "42501"
}

// scriptState is the SQLSTATE of what a session's commands are refused with.
func scriptState(code string) string {
	switch code {
	case "D006", "D007", "D057": // well-formed, and not done here
		return "42501"
	}
	return "42601"
}

// response is the message of a failure within a script: text is what failed, which begins at
// the byte offset start of the script.
func (f *failure) response(script string, start int, text string) *pgproto3.ErrorResponse {
	severity := "ERROR"
	if f.fatal {
		severity = "FATAL"
	}
	m := &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: f.state, Message: f.message, Detail: f.detail, Hint: f.tip, Routine: f.routine,
	}
	at, ok := offset(text, f.line, f.column)
	if f.byte > 0 {
		at, ok = f.byte-1, true
	}
	if ok && start+at <= len(script) {
		m.Position = int32(utf8.RuneCountInString(script[:start+at])) + 1
	}
	return m
}

// offset returns the byte offset of a place that is given by line and column.
func offset(text string, line, column int) (int, bool) {
	if line < 1 || column < 1 {
		return 0, false
	}
	at := 0
	for range line - 1 {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return 0, false
		}
		at += i + 1
	}
	for range column - 1 {
		if at >= len(text) {
			break
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at, true
}
