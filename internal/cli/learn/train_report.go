package learn

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/cli/terminal"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/learn"
)

// A trained is what the command prints.
type trained struct {
	Model     string          `json:"model"`
	Source    string          `json:"data"`
	Unit      string          `json:"unit"`
	PerUnit   int             `json:"max_per_unit"`
	Method    string          `json:"method"`
	Guarantee learn.Guarantee `json:"guarantee"`
	Count     string          `json:"count,omitempty"` // the event of a noisy count, which the guarantee includes
	Units     int64           `json:"units,omitempty"` // 0: the run does not depend on it
	Basis     learn.Basis     `json:"basis,omitempty"`
	*descent
	Charged   string              `json:"charged"`
	Ledger    string              `json:"ledger"` // the domain that paid; "nobody" without one
	Public    bool                `json:"public,omitempty"`
	Remaining *discreet.Remaining `json:"remaining,omitempty"`
}

// A descent is a run of DP-SGD.
type descent struct {
	Steps int     `json:"steps"`
	Batch int64   `json:"batch"`
	Clip  float64 `json:"clip"`
	Noise float64 `json:"noise_multiplier"`
	Rate  float64 `json:"rate"`
}

// report prints what was made and what it cost.
func (v *training) report(ctx context.Context, t *terminal.Terminal, j *job, charged string, d *descent, m *learn.Model) error {
	c := m.Certificate
	if v.Public {
		charged = ""
	}
	out := trained{Model: v.out, Source: v.Source(), Unit: c.Data.Unit, PerUnit: c.Data.Bound, Method: c.Method, Guarantee: c.Guarantee, Count: c.Data.Count,
		Units: c.Data.Units, Basis: c.Data.Basis, descent: d, Charged: charged, Ledger: c.Ledger.Budget, Public: v.Public}
	if v.Ledger != nil && !j.unpaid {
		left, err := j.budget.Left(ctx)
		if err != nil {
			return err
		}
		remaining := terminal.InMeasure(j.budget.Filter().Measure(), left)
		out.Remaining = &remaining
	}
	if v.json {
		return t.WriteJSON(out)
	}
	g := c.Guarantee
	if v.Public {
		fmt.Fprintf(t.Out, "%s: of public data, which cost nothing\n", v.out)
		return nil
	}
	fmt.Fprintf(t.Out, "%s: epsilon %s at delta %v for %s, with at most %d of its examples\n", v.out, upTo(g.Epsilon), g.Delta, c.Data.Unit, c.Data.Bound)
	if out.Count != "" {
		t.Say("%s", t.Paint(terminal.Dim, fmt.Sprintf("that is of the model and of the count of units, %s", out.Count)))
	}
	switch {
	case j.unpaid:
		t.Say("%s", unpaid)
	case out.Remaining != nil:
		t.Say("%s", t.Paint(terminal.Dim, fmt.Sprintf("charged %s to %s; left %s", cmp.Or(out.Charged, "nothing"), out.Ledger, terminal.AmountsText(*out.Remaining, terminal.Down))))
	}
	return nil
}

// upTo prints an epsilon in four digits, rounded up.
func upTo(x float64) string {
	r := new(big.Rat).SetFloat64(x)
	if r == nil {
		return fmt.Sprint(x)
	}
	return numeric.FormatRat(terminal.Up(r, 4))
}
