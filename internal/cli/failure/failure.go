// Package failure gives every error its one form, on the terminal and in JSON, and the
// command its exit code. An error's text never depends on private data.
package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/terminal"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/report"
)

// ErrUsageShown ends a command that has printed its usage.
var ErrUsageShown = errors.New("usage shown")

// Finish reports how a command ended and returns its exit code.
func Finish(t *terminal.Terminal, ctx context.Context, err error) int {
	code := diagnostic.ExitAnswered
	switch err {
	case ErrUsageShown:
		return diagnostic.ExitUsage
	case ErrUnproved:
		err, code = nil, diagnostic.ExitRefused
	}
	if err == nil {
		if err = t.Out.Lost(); err == nil {
			return code
		}
		err = diagnostic.New("D109", diagnostic.Span{}, "the output could not be written: %v", err).
			Because("the charge of a query that was asked stays").
			Try("with --key the same query returns its stored answer without paying again")
		t.JSON = false // standard output cannot be written
	}
	if ctx.Err() != nil && !errors.Is(err, ErrUndecided) {
		err = diagnostic.New("D102", diagnostic.Span{}, "interrupted").
			Because("the amount that was reserved stays spent, whatever was computed").
			Try("discreet budget shows what was spent")
	}
	all := diagnose(err)
	if t.JSON {
		_ = t.WriteJSON(errorJSON(all)) // an error here cannot be reported
	} else {
		for _, d := range all {
			if d.write != nil {
				writeDiagnostic(t, d)
			}
		}
	}
	return diagnostic.ExitOf(all[0].code)
}

// A failed is one thing to report.
type failed struct {
	code  string
	json  any
	write func(io.Writer) error // nil where another says it, too
}

// diagnose gives every error the one form.
func diagnose(err error) []failed {
	var refusal *discreet.Refusal
	var problems diagnostic.List
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
		return gather(all, problems)
	case errors.As(err, &load):
		return loadProblems(load)
	case errors.As(err, &exhausted):
		return []failed{budgetRefusal(exhausted)}
	case errors.As(err, &d):
	case errors.Is(err, discreet.ErrUnavailable):
		d = diagnostic.New("D100", diagnostic.Span{}, "the answer could not be computed").
			Because("the charge stays, and the owner has been told").
			Try("the owner looks at the log beside the ledger and runs discreet ledger acknowledge DOMAIN")
	case errors.As(err, &exposed):
		d = diagnostic.New("D099", diagnostic.Span{}, "%v", err).Try("%s", exposed.Fix)
	case RefusesLedger(err):
		d = ledgerRefusal(err)
	default:
		d = diagnostic.New("D109", diagnostic.Span{}, "%v", err)
	}
	return []failed{diagnosed(d)}
}

// RefusesLedger reports whether an error refuses the ledger as it is. A busy ledger and a
// full disk are failures of the system.
func RefusesLedger(err error) bool {
	for _, sentinel := range []error{ledger.ErrMissing, ledger.ErrExists, ledger.ErrTampered, ledger.ErrRolledBack, ledger.ErrElsewhere, ledger.ErrOtherCatalog, ledger.ErrMoved,
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
	case errors.Is(err, ledger.ErrElsewhere):
		hint = "if its owner knows that the database has all that was spent: discreet ledger anchor, which the ledger records"
	case errors.Is(err, ledger.ErrOtherCatalog):
		hint = "give every server the same catalog, and reload or start again those that have another"
	case errors.Is(err, ledger.ErrMoved):
		hint = "the catalog says where the ledger is: [ledger] url = { env = \"DISCREET_LEDGER\" }"
	case errors.Is(err, ledger.ErrUnknownDomain):
		hint = "the owner enters a new domain of the catalog with discreet ledger add DOMAIN"
	case errors.Is(err, ledger.ErrSuspended):
		code, hint = "D077", "the owner runs: discreet ledger acknowledge DOMAIN"
	case errors.Is(err, ledger.ErrIdempotencyKey):
		code, hint = "D079", "use a fresh key for each release"
	case errors.Is(err, ledger.ErrGuardDiffers):
		hint = "if the owner wants this: discreet ledger confirm DOMAIN, which the ledger records; otherwise put the old catalog back"
	case errors.Is(err, ledger.ErrSecondDomain):
		hint = "each domain would spend a budget of its own on the same records; if the owner wants this, write also_in = [\"DOMAIN\"] in the catalog"
	case errors.Is(err, ledger.ErrBudgetDiffers):
		hint = "a budget cannot be changed: the owner gives the population a new domain, or takes the change back"
	}
	return diagnostic.New(code, diagnostic.Span{}, "%v", err).Try("%s", hint)
}

// budgetRefusal is the refusal of a release that comes from no statement.
func budgetRefusal(e *ledger.ExhaustedError) failed {
	asked, left := terminal.InMeasure(e.Measure, e.Asked), terminal.InMeasure(e.Measure, e.Left)
	d := diagnostic.New("D076", diagnostic.Span{}, "the budget of domain %q does not suffice", e.Domain).
		Because("the release would cost %s, and %s is left", terminal.AmountsText(asked, terminal.Up), terminal.AmountsText(left, terminal.Down)).
		Try("ask for at most what is left: what was spent does not come back")
	f := diagnosed(d)
	f.json = struct {
		errorFields
		Asked discreet.Remaining `json:"asked"`
		Left  discreet.Remaining `json:"left"`
	}{f.json.(errorFields), asked, left}
	return f
}

// errorFields are the members of every refusal in JSON.
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

// Attributes are an error's code, message, reason and way out, for a log of the owner's.
func Attributes(err error) []any {
	f, ok := diagnose(err)[0].json.(errorFields)
	if !ok {
		return []any{"error", err.Error()}
	}
	all := []any{"code", f.Code, "error", f.Message}
	if f.Line > 0 {
		all = append(all, "line", f.Line, "column", f.Column)
	}
	return append(all, "why", f.Why, "hint", f.Hint)
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

// writeDiagnostic prints a refusal; on a terminal its head is red.
func writeDiagnostic(t *terminal.Terminal, f failed) {
	var b strings.Builder
	f.write(&b) //nolint:errcheck // a strings.Builder does not fail
	head, rest, _ := strings.Cut(terminal.Fit(t.Err, b.String()), ": ")
	fmt.Fprint(t.Err, t.Paint(terminal.Red, head)+": "+rest)
}

var _ json.Marshaler = (*discreet.Refusal)(nil) // its form is the contract's

// Undrawn replaces an error that occurs after the charge, because that error may depend
// on the values.
func Undrawn() error {
	return diagnostic.New("D109", diagnostic.Span{}, "the release could not be drawn").Because("the charge stays")
}

// ParameterRefusal gives a mechanism's refusal the one form.
func ParameterRefusal(err error) error {
	if errors.Is(err, mechanism.ErrParameter) {
		return diagnostic.New("D142", diagnostic.Span{}, "%s", diagnostic.Cause(err))
	}
	return err
}

// loadProblems are the diagnostics of packages that cannot be read.
func loadProblems(e *verify.LoadError) (all []failed) {
	for _, p := range e.Problems {
		d := diagnostic.New("D150", diagnostic.Span{}, "%s", p.Text)
		if p.Hint != "" {
			d.Try("%s", p.Hint)
		}
		if text, err := os.ReadFile(p.File); err == nil {
			d.In(shortPath(p.File), string(text)).Span = spanAt(string(text), p.Line, p.Column)
		}
		all = append(all, diagnosed(d))
	}
	if all == nil {
		all = []failed{diagnosed(diagnostic.New("D150", diagnostic.Span{}, "%v", e))}
	}
	return all
}

// ErrUnproved ends a command that has printed its verdicts, if not every claim is proved.
var ErrUnproved = errors.New("not every claim is proved")

// ErrUndecided ends a run that was interrupted.
var ErrUndecided = errors.New("interrupted")

// shortPath names a file as seen from the current folder.
func shortPath(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	return report.Relative(dir, file)
}

// spanAt is the character at a line and a column of bytes, or nothing.
func spanAt(text string, line, column int) diagnostic.Span {
	start := 0
	for range line - 1 {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return diagnostic.Span{}
		}
		start += i + 1
	}
	at := start + column - 1
	if line < 1 || column < 1 || at >= len(text) {
		return diagnostic.Span{}
	}
	return diagnostic.Span{Start: at, End: at + 1}
}
