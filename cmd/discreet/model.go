package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

func modelCommand() *Command {
	inspect := &Command{
		UsageLine: "inspect MODEL [--json]",
		Files:     true,
		For:       anyone,
		Of:        "model",
		Short:     "what a model was trained on, and what its guarantee is",
		Long: `It shows the certificate in a model's file: the data and the unit, the plan, the
guarantee by both accountants, who paid, how records become numbers, and the program
that trained it. A certificate is a statement of whoever signs for the file, no proof;
what was charged stands in the ledger. Of an ensemble that discreet label kept, which has
no guarantee, it shows what was declared.`,
		Examples: [2]string{"discreet model inspect income.model", "discreet model inspect income.model --json"},
	}
	wantJSON := inspect.Flags.Bool("json", false, "print JSON")
	inspect.Run = func(_ context.Context, t *terminal, args []string) error {
		t.json = *wantJSON
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "one model's file, please").Try("discreet %s", inspect.Line())
		}
		if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() && isEnsemble(args[0]) {
			return inspectEnsemble(t, args[0])
		}
		m, err := loadModel(args[0])
		if err != nil {
			return err
		}
		if *wantJSON {
			out := inspected{Model: args[0], Learner: m.Learner, Learned: m.Learned, Examples: m.data, Certificate: m.Certificate}
			if m.net != nil {
				spec, n := m.net.Spec(), len(m.net.Parameters())
				out.Network, out.Parameters, out.Learned = &spec, &n, nil
			}
			return t.writeJSON(out)
		}
		m.write(t)
		return nil
	}
	c := &Command{
		UsageLine: "model inspect MODEL",
		For:       anyone,
		Short:     "the certificate of a trained model",
		Long:      `What a model's file says of its origin. discreet predict and evaluate use the model.`,
		Examples:  [2]string{"discreet model inspect income.model", "discreet model inspect income.model --json"},
		Verbs:     []*Command{inspect},
	}
	c.Run = func(_ context.Context, t *terminal, _ []string) error {
		c.writeHelp(t.err)
		return errUsageShown
	}
	return c
}

// An inspected is a model's file as JSON, but for the weights.
type inspected struct {
	Model       string             `json:"model"`
	Network     *network.Spec      `json:"network,omitempty"`
	Parameters  *int               `json:"parameters,omitempty"`
	Learner     string             `json:"learner,omitempty"` // whose Learned is
	Learned     json.RawMessage    `json:"learned,omitempty"`
	Examples    modelData          `json:"examples"`
	Certificate *learn.Certificate `json:"certificate"`
}

// write prints the certificate.
func (m *model) write(t *terminal) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t.out, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	if m.net != nil {
		line("network", "%s, %d parameters", summary(m.net.Spec()), len(m.net.Parameters()))
	} else {
		line("model", "%s", printable(m.Learner))
	}
	if m.data.Classes != nil {
		line("predicts", "%s", printable(strings.Join(m.data.Classes, ", ")))
	} else if e := m.data.Encoding; e != nil && e.Target != nil {
		line("predicts", "%s, from %g to %g", e.Target.Name, e.Target.Lower, e.Target.Upper)
	} else if m.learned != nil {
		line("tells", "%s", strings.Join(m.learned.Names(), ", "))
	}
	if e := m.data.Encoding; e != nil {
		var names []string
		for _, c := range e.Columns {
			names = append(names, c.Name)
		}
		line("from", "%s (%d features)", printable(strings.Join(names, ", ")), e.Width())
	} else {
		line("from", "images of %d by %d", m.data.Shape[0], m.data.Shape[1])
	}
	c := m.Certificate
	if c == nil {
		line("guarantee", "none: it was trained without one")
		return
	}
	g := c.Guarantee
	line("data", "%s", printable(strings.Join(c.Data.Names, ", ")))
	if !c.Data.Public {
		line("unit", "%s, at most %d of its examples", printable(c.Data.Unit), c.Data.Bound)
	}
	if c.Data.Units > 0 {
		line("units", "%d (%s)", c.Data.Units, c.Data.Basis)
	}
	by := g.Accountant
	if g.Delta.Sign() > 0 {
		by = fmt.Sprintf("pld %s, rdp %s", orNone(g.PLD), orNone(g.RDP))
	}
	if c.Data.Public {
		line("guarantee", "none is needed: the data is public")
	} else {
		line("guarantee", "epsilon %s at delta %v, %v (%s)", upTo(g.Epsilon), g.Delta, g.Neighbours, by)
	}
	line("plan", "%s", g.Event)
	if p := (learn.Plan{}); json.Unmarshal(c.Plan, &p) == nil && p.Steps > 0 {
		rate := fmt.Sprintf("rate %g", p.Optimizer.Rate)
		if p.Optimizer.Schedule.Shape == optimizer.Constant {
			rate += " throughout"
		}
		line("training", "%s: %d steps of %d units, clip %g, noise multiplier %g, %s", c.Method, p.Steps, p.Batch, p.Clip.Norm, p.Noise.Multiplier, rate)
	} else {
		line("training", "%s", printable(c.Method))
	}
	if m.data.Count != "" {
		line("count", "%s, charged beside it", printable(m.data.Count))
	}
	if l := c.Limit; l != nil {
		line("limits", "%s noise: delta %.2g, charged beside the plan; rounding %.2g of the clip, in the guarantee", l.Sampler, l.Delta, l.Rounding)
	}
	line("paid by", "%s", printable(c.Ledger.Budget))
	if c.Ledger.Charged != "" {
		line("charged", "%s", printable(c.Ledger.Charged))
	}
	line("run", "%s", printable(c.Ledger.Run))
	line("statement", "%s", printable(c.Ledger.Statement))
	line("code", "%s", printable(codeText(c.Code)))
	line("date", "%s", c.Date.Format(time.RFC3339))
}

// codeText says in a line which program it was.
func codeText(c learn.Code) string {
	text := c.Module
	for _, part := range []string{c.Version, c.Revision, c.Go} {
		if part != "" {
			text += " " + part
		}
	}
	if c.Modified {
		text += ", modified"
	}
	return text
}
