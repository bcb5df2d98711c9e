package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/privacy"
)

// A labelled is what label prints as JSON.
type labelled struct {
	Labels   []rowLabel `json:"labels"`
	Classes  []string   `json:"classes,omitempty"` // their names, in the order of the labels
	Asked    int        `json:"asked"`
	Answered int        `json:"answered"`
	// Stopped is "budget" if the budget was exhausted before all queries were asked, "plan" if
	// the plan did not reserve enough to ask and answer all of them, else null.
	Stopped   *string         `json:"stopped"`
	Reserved  *reservedPlan   `json:"reserved,omitempty"`
	Events    []privacy.Event `json:"events"`
	Domain    string          `json:"domain"`
	Remaining any             `json:"remaining"`
	Kept      string          `json:"ensemble,omitempty"` // the file of --save-ensemble
}

// A reservedPlan is what was charged in place of Events.
type reservedPlan struct {
	Tests   int           `json:"tests"`
	Answers int           `json:"answers"`
	Charged privacy.Event `json:"charged"`
}

type rowLabel struct {
	Row   int    `json:"row"`
	Label int32  `json:"label"`
	Class string `json:"class,omitempty"`
}

// release answers and prints. Without a plan it prints label by label, so that no label
// that was paid for is lost.
func (l *labelling) release(ctx context.Context, t *terminal.Terminal, a *pate.Aggregator, p *pate.Plan, v *electorate, b budget.Budget) error {
	out := &labelled{Labels: []rowLabel{}, Classes: v.data.Classes, Domain: b.Name(), Kept: l.save}
	csv := pate.NewLabelsWriter(t.Out)
	csv.Classes = v.data.Classes
	write := func(row int, label int32) error {
		if !l.json {
			return csv.Write(row, label)
		}
		if label != pate.NoLabel {
			one := rowLabel{Row: row, Label: label}
			if v.data.Classes != nil {
				one.Class = v.data.Classes[label]
			}
			out.Labels = append(out.Labels, one)
		}
		return nil
	}
	run, err := l.answered(ctx, t, a, p, v, write)
	out.Asked, out.Answered = run.Asked(), run.Answered
	exhausted := errors.Is(err, budget.ErrExceeded)
	if err != nil && (!exhausted || run.Asked() == 0) {
		if run.Asked() > 0 {
			t.Say("%d queries were asked and %d answered; they stay paid", out.Asked, out.Answered)
		}
		return err
	}
	stopped := ""
	switch {
	case exhausted:
		stopped = "budget"
	case p != nil && (run.Beyond > 0 || p.Queries() < l.asked(v)):
		stopped = "plan"
	}
	if stopped != "" {
		out.Stopped = &stopped
	}
	test, answer := a.Events()
	if test != nil && out.Asked > 0 {
		out.Events = append(out.Events, privacy.Repeat{Count: out.Asked, Event: test})
	}
	if out.Answered > 0 {
		out.Events = append(out.Events, privacy.Repeat{Count: out.Answered, Event: answer})
	}
	if p != nil {
		out.Reserved = &reservedPlan{p.Tests(), p.Answers(), p.Charge()}
	}
	left, err := b.Left(ctx)
	if err != nil {
		return err
	}
	remaining := terminal.InMeasure(b.Filter().Measure(), left)
	out.Remaining = remaining
	if l.json {
		return t.WriteJSON(out)
	}
	t.Say("%d queries asked, %d answered", out.Asked, out.Answered)
	if p != nil && p.Queries() < l.asked(v) {
		t.Say("the plan has only the first %d of %d queries", p.Queries(), l.asked(v))
	}
	if run.Beyond > 0 {
		t.Say("%d more reached the threshold, beyond the answers that were reserved", run.Beyond)
	}
	if exhausted {
		t.Say("the budget of domain %q does not suffice for more", b.Name())
	}
	if r := out.Reserved; r != nil {
		t.Say("%s", t.Paint(terminal.Dim, fmt.Sprintf("charged: %v for a plan of %d tests and %d answers", r.Charged, r.Tests, r.Answers)))
	}
	for _, e := range out.Events {
		t.Say("%s", t.Paint(terminal.Dim, "cost: "+e.String()))
	}
	t.Say("%s", t.Paint(terminal.Dim, "left: "+terminal.RemainingText(remaining)))
	return nil
}

// asked is the number of queries to ask.
func (l *labelling) asked(v *electorate) int {
	n := 0
	switch {
	case v.votes != nil:
		n = v.votes.Len()
	case v.public != nil:
		n = v.public.Len()
	}
	if l.queries > 0 {
		n = int(min(int64(n), l.queries))
	}
	return n
}

// answered asks all queries, and hands over each label as soon as it may leave.
func (l *labelling) answered(ctx context.Context, t *terminal.Terminal, a *pate.Aggregator, p *pate.Plan, v *electorate, write func(int, int32) error) (*pate.Run, error) {
	step, done := t.Progress(ctx, "labelling", v.votes.Len())
	defer done()
	if p == nil {
		return a.Label(ctx, v.votes, func(row int, label int32) error {
			step()
			return write(row, label)
		})
	}
	run, err := p.Label(ctx, v.votes)
	if err != nil {
		return run, err
	}
	for row, label := range run.Labels {
		step()
		if err := write(row, label); err != nil {
			return run, err
		}
	}
	return run, nil
}
