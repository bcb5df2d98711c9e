package account

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// compare puts the best bounds of several plans side by side.
func (a *accounting) compare(ctx context.Context, t *terminal.Terminal, args []string) error {
	if len(args) < 2 {
		return diagnostic.New("D113", diagnostic.Span{}, "name two plans or more").Try("discreet account compare 'PLAN' 'PLAN' ... --delta D")
	}
	var all []bounds.Report
	of, _, _ := a.asked()
	g := terminal.Grid{{Title: "plan"}, {Title: of + " at most", Right: true}, {Title: "at least", Right: true}, {Title: "accountant"}, {Title: "note", Most: noteWidth}}
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return err
		}
		r, err := a.report(ctx, e)
		if err != nil {
			return err
		}
		all = append(all, bounds.NewReport(r, a.epsilon, a.delta))
		cells := []string{text, "none", "", "", ""}
		if b, ok := r.Best(); ok {
			v := bounds.Bracket(b)
			cells = []string{text, bounds.AtMost(v.High), bounds.AtLeast(v.Low), string(b.Accountant), terminal.OneLine(b.Note)}
		}
		for j, cell := range cells {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	if a.json {
		return t.WriteJSON(map[string]any{"plans": all})
	}
	fmt.Fprintf(t.Out, "%s\n\n", a.targetText())
	g.Write(t.Out)
	return nil
}
