package audit

import (
	"fmt"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/leakage"
)

// A leakReport is what the command prints.
type leakReport struct {
	Model     string           `json:"model"`
	Data      string           `json:"data"`
	Private   bool             `json:"private"`
	Notice    string           `json:"notice,omitempty"`
	Members   int              `json:"members"`
	Others    int              `json:"others"`
	Shadows   int              `json:"shadows"`
	Guarantee *learn.Guarantee `json:"guarantee"` // null: the model has no certificate
	Attacks   []attackReport   `json:"attacks"`
	// Bound is what membership proves where a fair coin decided it; else null.
	Bound *leakage.Bound `json:"bound"`
}

type attackReport struct {
	leakage.Report
	Allowed []float64 `json:"allowed,omitempty"` // the most that the certificate leaves at the target rates
}

// write prints a report for people.
func (r *leakReport) write(t *terminal.Terminal) {
	if r.Private {
		fmt.Fprintf(t.Out, "%s\n\n", terminal.Wrap(r.Notice, t.Paragraph()))
	}
	fmt.Fprintf(t.Out, "%d members, %d others", r.Members, r.Others)
	if r.Shadows > 0 {
		fmt.Fprintf(t.Out, ", %d shadow models", r.Shadows)
	}
	fmt.Fprint(t.Out, "\n\n")
	percent := func(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }
	g := terminal.Grid{{Title: "attack"}, {Title: "found at 0.1 % wrong", Right: true}, {Title: "at 1 %", Right: true}, {Title: "allowed", Right: true}, {Title: "AUC", Right: true}, {Title: "balanced accuracy", Right: true}}
	for _, x := range r.Attacks {
		allowed := "-"
		if x.Allowed != nil {
			allowed = percent(x.Allowed[0]) + ", " + percent(x.Allowed[1])
		}
		span := func(l leakage.Rate) string {
			return fmt.Sprintf("%s (%s to %s)", percent(l.TPR), percent(l.TPRLow), percent(l.TPRHigh))
		}
		for j, cell := range []string{x.Attack, span(x.Rates[0]), span(x.Rates[1]), allowed, fmt.Sprintf("%.3f", x.AUC), fmt.Sprintf("%.3f", x.BalancedAccuracy)} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
	if b := r.Bound; b != nil {
		fmt.Fprintf(t.Out, "\n%d of %d guesses are right: the training has epsilon %.3g at least, at delta %.3g, with confidence %v\n", b.Correct, b.Guesses, b.Epsilon, b.Delta, b.Confidence)
	}
	if r.Guarantee != nil {
		fmt.Fprintf(t.Out, "\nthe certificate says epsilon %.3g at delta %v\n", r.Guarantee.Epsilon, r.Guarantee.Delta)
	}
	t.Say("%s", auditNote)
}

func (a *modelAudit) draw(t *terminal.Terminal, curves []curve, r *leakReport, claim audit.Points) error {
	var ceilings []ceiling
	if claim != nil {
		g := r.Guarantee
		ceilings = append(ceilings, ceiling{fmt.Sprintf("allowed at epsilon %.3g, delta %v", g.Epsilon, g.Delta), claim[:1]})
		if len(claim) > 1 {
			ceilings = append(ceilings, ceiling{"allowed by the whole curve of the plan", claim})
		}
	}
	return t.Draw(drawn("who was trained on, told from "+a.model, curves, ceilings), a.plot, r.Private)
}
