// Package bounds is what the accountants say of a plan, asked in text and answered in the
// form that programs read: of the command account and of the server alike. It reads no data,
// no catalog and no ledger.
package bounds

import (
	"errors"
	"math"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// ParseEpsilon reads an epsilon that is asked about and not spent: it may be 0.
func ParseEpsilon(text string) (*big.Rat, error) {
	r, err := numeric.ParseRat(text)
	if err != nil {
		return nil, err
	}
	e, err := privacy.NewEpsilon(r)
	return e.Rat(), err
}

// ParseDelta reads a delta that is asked about and not spent: it may be 0.
func ParseDelta(text string) (*big.Rat, error) {
	r, err := numeric.ParseRat(text)
	if err != nil {
		return nil, err
	}
	d, err := privacy.NewDelta(r)
	return d.Rat(), err
}

// Below returns a float64 that is not above r, so that the target asked about is never
// looser than the one written.
func Below(r *big.Rat) float64 {
	f, _ := r.Float64()
	if exact := new(big.Rat); exact.SetFloat64(f) != nil && exact.Cmp(r) > 0 {
		f = math.Nextafter(f, 0)
	}
	return f
}

// ReadPlan reads a plan. A plan may name files if open reads them; it may be nil.
func ReadPlan(text string, open func(name string) ([]byte, error)) (plan.Plan, error) {
	p, err := plan.Read(text, open)
	if err != nil {
		return plan.Plan{}, misread(text, err)
	}
	return p, nil
}

// Event is what a plan means, which must have no unknown and fit the neighbours.
func Event(p plan.Plan, text string, n privacy.Neighbours) (privacy.Event, error) {
	if p.Unknown() {
		return nil, diagnostic.New("D120", diagnostic.Span{}, "the plan has an unknown").
			Try("discreet account calibrate %q finds it, with --epsilon and --delta", text).By(diagnostic.FindUnknown)
	}
	e, err := p.Event()
	if err != nil {
		return nil, misread(text, err)
	}
	return e, holds(e, n)
}

// holds refuses an event that does not speak of the neighbours.
func holds(e privacy.Event, n privacy.Neighbours) error {
	if err := privacy.Holds(e, n); err != nil {
		d := diagnostic.New("D121", diagnostic.Span{}, "%v", err)
		for _, other := range []privacy.Neighbours{privacy.ReplaceOne, privacy.AddRemove, privacy.ReplaceSpecial} {
			if privacy.Holds(e, other) == nil {
				return d.Try("--relation %v", other).By(diagnostic.OtherRelation)
			}
		}
		return d
	}
	return nil
}

// misread draws a plan's error under the plan.
func misread(text string, err error) error {
	var s *plan.SyntaxError
	var file *diagnostic.Diagnostic
	if errors.As(err, &file) {
		return file
	}
	if !errors.As(err, &s) {
		return diagnostic.New("D120", diagnostic.Span{}, "%v", err)
	}
	end := min(s.Offset+max(s.Length, 1), len(text))
	d := diagnostic.New("D120", diagnostic.Span{Start: min(s.Offset, end), End: end}, "%s", s.Message).In("plan", text)
	if s.Hint != "" {
		d.Try("%s", s.Hint)
	}
	return d
}

// Refused gives an accountant's error the one form.
func Refused(err error) error {
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	return diagnostic.New("D122", diagnostic.Span{}, "%s", strings.TrimPrefix(err.Error(), "account: "))
}

// Bracket is the bracket of the one that a bound bounds.
func Bracket(b accountant.Bound) accountant.Bracket {
	if b.Epsilon != nil {
		return *b.Epsilon
	}
	return *b.Delta
}
