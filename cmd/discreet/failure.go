package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/verify"
)

// The exit codes. A refusal of the ledger is 3 only where the budget does not
// suffice; a missing, edited, restored or suspended ledger refuses like a
// catalog does.
const (
	exitAnswered = 0
	exitRefused  = 1 // the statement, the catalog or the ledger
	exitUsage    = 2 // the command line
	exitBudget   = 3 // asked for more than is left
	exitEngine   = 4 // the engine or the system failed, or the command was interrupted
)

// exitCode returns the exit code of a diagnostic's code.
func exitCode(code string) int {
	switch {
	case code == "D076":
		return exitBudget
	case code == "D070", code == "D071", code == "D073", code == "D075", code == "D143": // how the cost was asked for
		return exitUsage
	case code == "D140", code == "D181": // nobody is charged; parameters out of their range
		return exitUsage
	case code == "D117": // this build has no engine
		return exitEngine
	case code >= "D120": // a plan, or an audit, is refused as a statement is
		return exitRefused
	case code >= "D110":
		return exitUsage
	case code >= "D100":
		return exitEngine
	}
	return exitRefused
}

// errUsageShown ends a command that has printed its usage.
var errUsageShown = errors.New("usage shown")

// finish reports how a command ended and returns its exit code.
func (t *terminal) finish(ctx context.Context, err error) int {
	code := exitAnswered
	switch err {
	case errUsageShown:
		return exitUsage
	case errUnproved:
		err, code = nil, exitRefused
	}
	if err == nil {
		if err = t.out.lost(); err == nil {
			return code
		}
		err = diagnostic.New("D109", diagnostic.Span{}, "the output could not be written: %v", err).
			Because("a query that was asked is paid for").
			Try("with --key the same query returns its stored answer without paying again")
		t.json = false // there is no writing to out
	}
	if ctx.Err() != nil && !errors.Is(err, errUndecided) {
		err = diagnostic.New("D102", diagnostic.Span{}, "interrupted").
			Because("what was reserved before stays spent, whatever was computed").
			Try("discreet budget shows what was spent")
	}
	all := diagnose(err)
	if t.json {
		_ = t.writeJSON(errorJSON(all)) // there is nowhere left to say that it failed
	} else {
		for _, d := range all {
			t.writeDiagnostic(d)
		}
	}
	return exitCode(all[0].code)
}

// A failed is one thing to report.
type failed struct {
	code  string
	json  any
	write func(io.Writer) error
}

// diagnose gives every error the one form.
func diagnose(err error) []failed {
	var refusal *discreet.Refusal
	var problems catalog.Problems
	var exhausted *ledger.ExhaustedError
	var load *verify.LoadError
	var exposed *custody.Exposed
	var d *diagnostic.Diagnostic
	switch {
	case errors.As(err, &refusal):
		return []failed{{refusal.Code, refusal, refusal.Write}}
	case errors.As(err, &problems):
		var all []failed
		for _, d := range problems {
			all = append(all, diagnosed(d))
		}
		return all
	case errors.As(err, &load):
		return loadProblems(load)
	case errors.As(err, &exhausted):
		return []failed{budgetRefusal(exhausted)}
	case errors.As(err, &d):
	case errors.Is(err, discreet.ErrUnavailable):
		d = diagnostic.New("D100", diagnostic.Span{}, "the answer could not be computed").
			Because("the charge stays, and the owner has been told").
			Try("the owner looks at the log beside the ledger and runs discreet ledger acknowledge")
	case errors.As(err, &exposed):
		d = diagnostic.New("D099", diagnostic.Span{}, "%v", err).Try("%s", exposed.Fix)
	case refusesLedger(err):
		d = ledgerRefusal(err)
	default:
		d = diagnostic.New("D109", diagnostic.Span{}, "%v", err)
	}
	return []failed{diagnosed(d)}
}

// refusesLedger reports whether a ledger cannot be used as it is. That it is
// busy or its disk full is a failure of the system.
func refusesLedger(err error) bool {
	for _, sentinel := range []error{ledger.ErrMissing, ledger.ErrExists, ledger.ErrTampered, ledger.ErrRolledBack,
		ledger.ErrKey, ledger.ErrUnknownDomain, ledger.ErrBudgetDiffers, ledger.ErrGuardDiffers, ledger.ErrSecondDomain, ledger.ErrSuspended, ledger.ErrIdempotencyKey} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

func ledgerRefusal(err error) *diagnostic.Diagnostic {
	code, hint := "D078", ""
	switch {
	case errors.Is(err, ledger.ErrExists):
		code, hint = "D098", "to see what was spent: discreet budget; for a new domain: discreet ledger add DOMAIN"
	case errors.Is(err, ledger.ErrMissing):
		hint = "name the ledger with --ledger FILE and its anchor with --anchor FILE; the owner makes a ledger with discreet ledger create"
	case errors.Is(err, ledger.ErrKey):
		hint = "name the key's file with --ledger-key FILE; a ledger has its key, or none, for good"
	case errors.Is(err, ledger.ErrTampered):
		hint = "the owner looks at the file; discreet ledger verify says where it is damaged"
	case errors.Is(err, ledger.ErrRolledBack):
		hint = "the owner puts the newest ledger back"
	case errors.Is(err, ledger.ErrUnknownDomain):
		hint = "the owner enters a new domain of the catalog with discreet ledger add DOMAIN"
	case errors.Is(err, ledger.ErrSuspended):
		code, hint = "D077", "the owner runs: discreet ledger acknowledge"
	case errors.Is(err, ledger.ErrIdempotencyKey):
		code, hint = "D079", "use a fresh key for each release"
	case errors.Is(err, ledger.ErrGuardDiffers):
		hint = "if the owner wants it so: discreet ledger confirm DOMAIN, which is recorded; otherwise the catalog is put back"
	case errors.Is(err, ledger.ErrSecondDomain):
		hint = "each domain would spend a budget of its own on the same records; if the owner wants it so: also_in = [\"DOMAIN\"] in the catalog"
	case errors.Is(err, ledger.ErrBudgetDiffers):
		hint = "a budget is for good: the owner gives the population a new domain, or takes the change back"
	}
	return diagnostic.New(code, diagnostic.Span{}, "%v", err).Try("%s", hint)
}

// budgetRefusal is the refusal of a release that no statement makes.
func budgetRefusal(e *ledger.ExhaustedError) failed {
	asked, left := inMeasure(e.Measure, e.Asked), inMeasure(e.Measure, e.Left)
	d := diagnostic.New("D076", diagnostic.Span{}, "the budget of domain %q does not suffice", e.Domain).
		Because("the release would cost %s, and %s is left", amountsText(asked, up), amountsText(left, down)).
		Try("ask for at most what is left: what was spent does not come back")
	f := diagnosed(d)
	f.json = struct {
		errorFields
		Asked discreet.Remaining `json:"asked"`
		Left  discreet.Remaining `json:"left"`
	}{f.json.(errorFields), asked, left}
	return f
}

// errorFields are what every refusal has in JSON.
type errorFields struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Source  string `json:"source,omitempty"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Length  int    `json:"length"`
	Why     string `json:"why"`
	Hint    string `json:"hint"`
}

func diagnosed(d *diagnostic.Diagnostic) failed {
	line, column := d.LineColumn()
	return failed{d.Code, errorFields{d.Code, d.Message, d.Source, line, column, d.Length(), d.Why, d.Hint}, d.Write}
}

// errorJSON is the contract's form of what was refused; further refusals of
// the same catalog stand beside the first.
func errorJSON(all []failed) any {
	var more []any
	for _, f := range all[1:] {
		more = append(more, f.json)
	}
	return struct {
		Error any   `json:"error"`
		More  []any `json:"more,omitempty"`
	}{all[0].json, more}
}

// writeDiagnostic prints a refusal, for people with its head in red.
func (t *terminal) writeDiagnostic(f failed) {
	var b strings.Builder
	f.write(&b) //nolint:errcheck // a strings.Builder does not fail
	head, rest, _ := strings.Cut(b.String(), ": ")
	fmt.Fprint(t.err, t.paint(red, head)+": "+rest)
}

var _ json.Marshaler = (*discreet.Refusal)(nil) // its form is the contract's
