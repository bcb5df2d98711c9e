package account

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// calibrate finds a plan's unknown.
func (a *accounting) calibrate(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := onePlan(args); err != nil {
		return err
	}
	plan, err := a.plan(args[0])
	if err != nil {
		return err
	}
	switch {
	case !plan.Unknown():
		return diagnostic.New("D120", diagnostic.Span{}, "the plan has no unknown").
			Try("write ? for the number to find, as in gaussian(?)")
	case a.epsilon == nil || a.delta == nil:
		return diagnostic.New("D113", diagnostic.Span{}, "give the target: --epsilon and --delta").
			Try("--delta 0 asks for pure differential privacy")
	}
	if len(a.only) > 1 {
		return diagnostic.New("D115", diagnostic.Span{}, "calibrate asks one accountant, or all for the best")
	}
	c, err := accountant.Calibrate(ctx, plan, bounds.Below(a.epsilon), bounds.Below(a.delta), a.options)
	if err != nil {
		return unreachable(err)
	}
	if a.json {
		return t.WriteJSON(struct {
			Plan       string          `json:"plan"`
			Value      float64         `json:"value"`
			Low        float64         `json:"low"`
			High       float64         `json:"high"`
			Accountant accountant.Name `json:"accountant"`
		}{args[0], c.Value, c.Low, c.High, c.Accountant})
	}
	fmt.Fprintln(t.Out, strconv.FormatFloat(c.Value, 'g', -1, 64))
	t.Say("the exact value lies between %v and %v; bounded by %s, within epsilon %s at delta %s",
		c.Low, c.High, c.Accountant, bounds.Decimal(a.epsilon), bounds.Decimal(a.delta))
	return nil
}

// unreachable gives a search's error the one form.
func unreachable(err error) error {
	if errors.Is(err, accountant.ErrUnreachable) {
		return diagnostic.New("D123", diagnostic.Span{}, "no value of ? meets the target").
			Because("%s", diagnostic.Cause(err)).
			Try("discreet account bounds the plan for a value of your own, and says what costs how much")
	}
	return bounds.Refused(err)
}
