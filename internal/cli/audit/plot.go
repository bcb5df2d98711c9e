package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/privacy"
)

// draw plays the attack at many epsilons and writes the drawing.
func (a *auditing) draw(ctx context.Context, t *terminal.Terminal, secret []bool) error {
	p, err := a.curve(ctx, t, secret)
	if err != nil {
		return unplayable(err)
	}
	if err := t.Draw(p, a.plot, true); err != nil {
		return err
	}
	if secret != nil {
		t.Say("%s", auditPrivate)
	}
	return nil
}

// curve is an attack's success against epsilon, drawn under what the theorem allows.
func (a *auditing) curve(ctx context.Context, t *terminal.Terminal, secret []bool) (plot.Plot, error) {
	from, to, points := 0.1, 10.0, 13
	if a.verb == "reconstruct" {
		to, points = 1000, 17
	}
	var f plot.Family
	a.epsilons = nil
	for i := range points {
		x := from * math.Pow(to/from, float64(i)/float64(points-1))
		r := new(big.Rat)
		if r.SetFloat64(x) == nil {
			return plot.Plot{}, fmt.Errorf("epsilon %v is not finite", x)
		}
		e, err := privacy.NewEpsilon(numeric.CeilDigits(r, 4))
		if err != nil {
			return plot.Plot{}, err
		}
		a.epsilons = append(a.epsilons, e)
	}
	for i := range 101 {
		x := from * math.Pow(to/from, float64(i)/100)
		f.Add("allowed by the theorem", false, x, audit.SuccessBound(x, 0))
	}
	step, done := t.Progress(ctx, "attacking", a.runs*len(a.opponents()))
	defer done()
	for _, o := range a.opponents() {
		r, err := a.against(ctx, o, secret, step)
		if err != nil {
			return plot.Plot{}, err
		}
		switch o.answers {
		case "exact":
			f.Add("exact answers", true, from, r.Success)
			f.Add("exact answers", true, to, r.Success)
		case "bounded":
			name := fmt.Sprintf("noise within ±%.3g", a.within)
			f.Add(name, true, from, r.Success)
			f.Add(name, true, to, r.Success)
		default:
			name := "discreet"
			if o.queries != a.asked() {
				name = "discreet, asked once"
			}
			f.Add(name, true, o.epsilon.Float64(), r.Success)
		}
	}
	f.Add("guessing", true, from, 0.5)
	f.Add("guessing", true, to, 0.5)
	title := map[string]string{
		"difference": "differencing: two counts, one unit apart", "threshold": "threshold probing",
		"average": fmt.Sprintf("averaging %d answers", a.queries), "reconstruct": fmt.Sprintf("linear reconstruction from %d counts", a.queries),
	}[a.verb]
	return plot.Plot{Title: title, X: plot.Axis{Label: "epsilon of all answers together", Log: true},
		Y: plot.Axis{Label: "share of secrets guessed right", Max: 1}, Lines: f.All()}, nil
}
