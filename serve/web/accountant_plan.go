package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A planResult is what the accountants say of one plan.
type planResult struct {
	Number            int
	Text              string
	Before, At, After string           // the text around the place of what is wrong
	Wrong             *problem.Problem // and then there is nothing else
	Found, FoundBy    string           // the plan's unknown
	High, Low, By     string           // the best bound
	Rows              []boundRow
	Missing           string // who did not finish
	Warnings          []warningRow
	Filters           []filterRow
	event             privacy.Event
	best              accountant.Name
	certain           bool // some accountant has a bound
}

type (
	boundRow   struct{ Accountant, High, Low, Direction, Note string }
	warningRow struct{ Text, Instead, Bound string }
	filterRow  struct{ Name, Admits, Note string }
)

// planTime is what the bounds of all plans may take, each its share.
const planTime = 4 * time.Second

// reckon accounts for all plans. The bounds come first; the curve has what is left of the time.
func (a *accounting) reckon(ctx context.Context) error {
	a.Many, a.Results = len(a.plans) > 1, nil
	of, at := "ε", "δ = "+a.Delta
	if !a.asksEpsilon() {
		of, at = "δ", "ε = "+a.Epsilon
	}
	a.At = of + " at " + at
	for i, text := range a.plans {
		r := &planResult{Number: i + 1, Text: text}
		a.Results = append(a.Results, r)
		// A plan that takes all its time leaves the others theirs.
		own, stop := context.WithTimeout(ctx, planTime/time.Duration(len(a.plans)))
		err := a.account(own, r)
		stop()
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			r.Wrong = late()
		case err != nil:
			r.refuse(err)
		}
	}
	return a.draw(ctx)
}

// refuse says what is wrong with a plan, and where.
func (r *planResult) refuse(err error) {
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) {
		r.Wrong = problem.Of(err)
		return
	}
	p := *problem.Of(d)
	if relation, is := strings.CutPrefix(d.Hint, "--relation "); is { // of the command
		p.Hint = "choose the relation " + relation
	}
	if d.Text == r.Text && d.Span.Start >= 0 && d.Span.Start < d.Span.End && d.Span.End <= len(r.Text) {
		r.Before, r.At, r.After = r.Text[:d.Span.Start], r.Text[d.Span.Start:d.Span.End], r.Text[d.Span.End:]
	}
	r.Wrong = &p
}

// account accounts for one plan.
func (a *accounting) account(ctx context.Context, r *planResult) error {
	p, err := bounds.ReadPlan(r.Text, nil)
	if err != nil {
		return err
	}
	if p.Unknown() {
		c, err := accountant.Calibrate(ctx, p, bounds.Below(a.epsilon), bounds.Below(a.delta), a.options)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return err
		case errors.Is(err, accountant.ErrUnreachable):
			return diagnostic.New("D123", diagnostic.Span{}, "%v", err).Try("put a number of your own for ?: its bounds say what costs how much")
		case err != nil:
			return bounds.Refused(err)
		}
		value, err := numeric.FromFloat(c.Value)
		if err != nil {
			return bounds.Refused(err)
		}
		if r.event, err = p.With(value); err != nil {
			return bounds.Refused(err)
		}
		r.Found = fmt.Sprintf("%s = %s", p.Parameter().Name, tidy(strconv.FormatFloat(c.Value, 'g', -1, 64)))
		r.FoundBy = fmt.Sprintf("the value for ? that keeps to ε %s at δ %s, bounded by %s", a.Epsilon, a.Delta, c.Accountant)
	} else if r.event, err = bounds.Event(p, r.Text, a.options.Neighbours); err != nil {
		return err
	}
	if err := a.report(ctx, r); err != nil {
		return err
	}
	return a.runs(ctx, r)
}

// report asks the accountants at the one target.
func (a *accounting) report(ctx context.Context, r *planResult) error {
	var report *accountant.Report
	var err error
	if a.asksEpsilon() {
		report, err = accountant.Epsilon(ctx, r.event, bounds.Below(a.delta), a.options)
	} else {
		report, err = accountant.Delta(ctx, r.event, bounds.Below(a.epsilon), a.options)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return bounds.Refused(err)
	}
	for _, b := range report.Bounds {
		v := bounds.Bracket(b)
		row := boundRow{string(b.Accountant), tidy(bounds.AtMost(v.High)), tidy(bounds.AtLeast(v.Low)), string(b.Direction), b.Note}
		if math.IsInf(v.High, 1) && v.Estimate > 0 && !math.IsInf(v.Estimate, 1) {
			row.High = "none (about " + tidy(strconv.FormatFloat(v.Estimate, 'g', 6, 64)) + ")"
		}
		r.Rows = append(r.Rows, row)
	}
	var missing []string
	for _, f := range report.Refused {
		r.Rows = append(r.Rows, boundRow{Accountant: string(f.Accountant), High: "–", Note: f.Why})
		if f.Unfinished {
			missing = append(missing, string(f.Accountant))
		}
	}
	r.Missing = strings.Join(missing, ", ")
	r.High, r.Low, r.By = "none", "", ""
	if best, ok := report.Best(); ok {
		r.High, r.Low, r.By, r.best, r.certain = r.Rows[0].High, r.Rows[0].Low, r.Rows[0].Accountant, best.Accountant, true
	}
	for _, w := range report.Warnings {
		said := warningRow{Text: w.Text}
		if w.Instead != nil {
			said.Instead = w.Instead.String()
		}
		if w.Bound != nil {
			said.Bound = tidy(bounds.AtMost(bounds.Bracket(*w.Bound).High))
		}
		r.Warnings = append(r.Warnings, said)
	}
	return nil
}

// filterWork bounds the steps of a guarantee in a filter's measure.
const filterWork = accountant.DefaultWork / 10

// runs counts how often each filter admits the plan within epsilon and delta.
func (a *accounting) runs(ctx context.Context, r *planResult) error {
	epsilon, err := privacy.NewEpsilon(a.epsilon)
	if err != nil {
		return problem.Request(http.StatusBadRequest, "epsilon: "+err.Error(), "")
	}
	delta, err := privacy.NewDelta(a.delta)
	if err != nil {
		return problem.Request(http.StatusBadRequest, "delta: "+err.Error(), "")
	}
	o := a.options
	o.Work = filterWork
	for _, name := range bounds.Filters() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		row := filterRow{Name: string(name)}
		if n, err := bounds.Admitted(ctx, name, r.event, epsilon, delta, o); err != nil {
			row.Admits, row.Note = "–", err.Error()
		} else {
			row.Admits = tidy(n.String())
		}
		r.Filters = append(r.Filters, row)
	}
	return nil
}

// tidy writes 1e-5 for 1e-05, and a count of more than 15 digits in short.
func tidy(number string) string {
	mantissa, exponent, is := strings.Cut(number, "e")
	if !is || exponent == "" { // "none" has no exponent
		if len(number) > 15 && !strings.Contains(number, ".") {
			return fmt.Sprintf("%s…e%d", number[:4], len(number)-4) // rounded down
		}
		return number
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	if exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0"); exponent == "" {
		return mantissa
	}
	return mantissa + "e" + sign + exponent
}
