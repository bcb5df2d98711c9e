package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// texts are words of any kind as strings.
func texts[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// runs says how often a filter admits an event.
func (a *accounting) runs(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := onePlan(args); err != nil {
		return err
	}
	e, err := a.event(args[0])
	if err != nil {
		return err
	}
	if a.epsilon == nil {
		return diagnostic.New("D113", diagnostic.Span{}, "give --epsilon, and for all filters except pure also --delta")
	}
	epsilon, delta, err := a.budget(a.epsilon)
	if err != nil {
		return err
	}
	if a.filter != "" {
		n, err := bounds.Admitted(ctx, a.filter, e, epsilon, delta, a.options)
		if err != nil {
			return uncharged(err)
		}
		if a.json {
			return t.WriteJSON(runsJSON(a.filter, n))
		}
		fmt.Fprintln(t.Out, n)
		return nil
	}
	all := []any{}
	g := terminal.Grid{{Title: "filter"}, {Title: "admits", Right: true}, {Title: "note", Most: noteWidth}}
	for _, name := range bounds.Filters() {
		cells := []string{string(name), "-", ""}
		n, err := bounds.Admitted(ctx, name, e, epsilon, delta, a.options)
		if err != nil {
			cells[2] = terminal.OneLine(err.Error())
		} else {
			cells[1] = n.String()
			all = append(all, runsJSON(name, n))
		}
		for j, cell := range cells {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	if a.json {
		return t.WriteJSON(map[string]any{"filters": all})
	}
	g.Write(t.Out)
	return nil
}

func runsJSON(name filter.Measure, n *big.Int) any {
	return struct {
		Filter   filter.Measure `json:"filter"`
		Admitted json.Number    `json:"admitted"`
	}{name, json.Number(n.String())}
}

func (a *accounting) budget(epsilon *big.Rat) (e privacy.Epsilon, d privacy.Delta, err error) {
	if e, err = privacy.NewEpsilon(epsilon); err == nil && a.delta != nil {
		d, err = privacy.NewDelta(a.delta)
	}
	if err != nil {
		err = diagnostic.New("D112", diagnostic.Span{}, "%v", err)
	}
	return e, d, err
}

// uncharged gives a filter's error the one form.
func uncharged(err error) error {
	d := diagnostic.New("D124", diagnostic.Span{}, "the filter cannot charge this plan").Because("%s", diagnostic.Cause(err))
	if errors.Is(err, filter.ErrUnsupported) {
		d.Try("wrap the event in a guarantee that the measure has, such as approx(eps, delta)")
	}
	return d
}
