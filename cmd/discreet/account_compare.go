package main

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// compare puts the best bounds of several plans side by side.
func (a *accounting) compare(ctx context.Context, t *terminal, args []string) error {
	if len(args) < 2 {
		return diagnostic.New("D113", diagnostic.Span{}, "name two plans or more").Try("discreet account compare 'PLAN' 'PLAN' ... --delta D")
	}
	var all []reportJSON
	of, _, _ := a.asked()
	g := grid{{title: "plan"}, {title: of + " at most", right: true}, {title: "at least", right: true}, {title: "accountant"}, {title: "note"}}
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return err
		}
		r, err := a.report(ctx, e)
		if err != nil {
			return err
		}
		all = append(all, a.reportJSON(r))
		cells := []string{text, "none", "", "", ""}
		if b, ok := r.Best(); ok {
			v := bracketOf(b)
			cells = []string{text, upText(v.High), downText(v.Low), b.Accountant, shorten(b.Note, noteWidth)}
		}
		for j, cell := range cells {
			g[j].cells = append(g[j].cells, cell)
		}
	}
	if a.json {
		return t.writeJSON(map[string]any{"plans": all})
	}
	fmt.Fprintf(t.out, "%s\n\n", a.targetText())
	g.write(t.out)
	return nil
}
