package discreet

import (
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
)

// A Refusal says what is refused, where, why, and the way out. It is made from
// the statement, the catalog and the state of the budget; never from data.
type Refusal struct {
	Code    string // "D014"; discreet help D014 explains it
	Message string
	Why     string
	Hint    string
	// Way names what the hint tells to do where its words are the command's, such as
	// "explain": a program that shows refusals elsewhere may word it itself. Empty where the
	// hint's words hold everywhere.
	Way string
	// Line and Column (in characters, from 1) and Length say where in the
	// statement; 0 where there is no place.
	Line, Column, Length int
	// Asked and Left are set when the budget does not suffice.
	Asked, Left *Remaining

	diagnostic *diagnostic.Diagnostic
	cause      error
}

// Error returns place, code and message in a line.
func (r *Refusal) Error() string { return r.diagnostic.Error() }

// Unwrap returns the sentinel of package ledger behind a refusal of the
// ledger's, such as ledger.ErrExhausted.
func (r *Refusal) Unwrap() error { return r.cause }

// Write prints the refusal in full, with the statement's line and a caret.
func (r *Refusal) Write(w io.Writer) error { return r.diagnostic.Write(w) }

// MarshalJSON writes the contract's form of an error.
func (r *Refusal) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string     `json:"code"`
		Message string     `json:"message"`
		Line    int        `json:"line"`
		Column  int        `json:"column"`
		Length  int        `json:"length"`
		Why     string     `json:"why"`
		Hint    string     `json:"hint"`
		Asked   *Remaining `json:"asked,omitempty"`
		Left    *Remaining `json:"left,omitempty"`
	}{r.Code, r.Message, r.Line, r.Column, r.Length, r.Why, r.Hint, r.Asked, r.Left})
}

// shortly names amounts in six digits, for people; a refusal's fields have them exactly.
func shortly(parts []filter.Part, round func(*big.Rat, int) *big.Rat) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		amount := round(p.Amount.Rat(), 6)
		texts[i] = p.Name + " " + numeric.FormatRat(amount)
		if f, _ := amount.Float64(); len(numeric.FormatRat(amount)) > 9 { // exact enough for six digits
			texts[i] = p.Name + " " + strconv.FormatFloat(f, 'g', 6, 64)
		}
	}
	return strings.Join(texts, ", ")
}

// refusal turns what the stages and the ledger refuse with into a *Refusal;
// other errors pass.
func refusal(err error) error {
	var d *diagnostic.Diagnostic
	out := &Refusal{}
	var exhausted *ledger.ExhaustedError
	var quota *ledger.QuotaError
	switch {
	case errors.As(err, &d):
	case errors.As(err, &exhausted):
		asked, left := remaining(exhausted.Measure, exhausted.Asked), remaining(exhausted.Measure, exhausted.Left)
		d = diagnostic.New("D076", diagnostic.Span{}, "the budget of domain %q does not suffice", exhausted.Domain).
			Because("the statement would cost %s, and %s is left", shortly(asked.Positive(), numeric.CeilDigits), shortly(left.In(left.Measure), numeric.FloorDigits)).
			Try("ask for at most what is left: what was spent does not come back")
		out.Asked, out.Left, out.cause = &asked, &left, ledger.ErrExhausted
	case errors.As(err, &quota):
		asked, left := remaining(quota.Measure, quota.Asked), remaining(quota.Measure, quota.Left)
		d = diagnostic.New("D076", diagnostic.Span{}, "the quota of %s in domain %q does not suffice", quota.Holder, quota.Domain).
			Because("the statement would cost %s, and %s is left of the quota", shortly(asked.Positive(), numeric.CeilDigits), shortly(left.In(left.Measure), numeric.FloorDigits)).
			Try("ask for at most what is left, or ask an owner for more")
		out.Asked, out.Left, out.cause = &asked, &left, ledger.ErrQuota
	case errors.Is(err, ledger.ErrSuspended):
		d = diagnostic.New("D077", diagnostic.Span{}, "the domain is suspended until its owner acknowledges a failure").
			Because("an earlier answer could not be computed, which can depend on the data").
			Try("the owner runs: discreet ledger acknowledge DOMAIN").By(diagnostic.Acknowledge)
		out.cause = ledger.ErrSuspended
	case errors.Is(err, ledger.ErrVersion):
		d = diagnostic.New("D263", diagnostic.Span{}, "a version of the data was declared while the answer was computed").
			Because("the answer would be the average of a stored one, of the version before, and of rows that may be of this one; what was charged stays charged").
			Try("ask again: of this version it is charged as a whole")
		out.cause = ledger.ErrVersion
	case errors.Is(err, ledger.ErrGuardDiffers):
		d = diagnostic.New("D078", diagnostic.Span{}, "the ledger guards other data than the catalog declares").
			Because("this statement was read with a catalog that the owner has not confirmed").
			Try("load the catalog again; the owner runs: discreet ledger confirm DOMAIN").By(diagnostic.Confirm)
		out.cause = ledger.ErrGuardDiffers
	case errors.Is(err, ledger.ErrOtherCatalog):
		d = diagnostic.New("D078", diagnostic.Span{}, "another server of this ledger answers by another catalog").
			Because("a statement would not mean the same at both; nothing was charged").
			Try("the operator gives all servers one catalog, and reloads those that have another")
		out.cause = ledger.ErrOtherCatalog
	case errors.Is(err, ledger.ErrIdempotencyKey):
		d = diagnostic.New("D079", diagnostic.Span{}, "the idempotency key was used for another statement").
			Try("use a fresh key for each statement")
		out.cause = ledger.ErrIdempotencyKey
	case errors.Is(err, ledger.ErrUnfinished):
		d = diagnostic.New("D079", diagnostic.Span{}, "the request of this idempotency key was charged and never answered").
			Because("it was interrupted, and what it was charged stays").Try("use a fresh key; the statement is charged anew")
		out.cause = ledger.ErrUnfinished
	default:
		return err
	}
	out.diagnostic = d
	out.Code, out.Message, out.Why, out.Hint, out.Way = d.Code, d.Message, d.Why, d.Hint, string(d.Way)
	out.Line, out.Column = d.LineColumn()
	out.Length = d.Length()
	return out
}
