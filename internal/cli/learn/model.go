package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// Model is discreet model.
func Model() *command.Command {
	inspect := &command.Command{
		UsageLine: "inspect MODEL [--json]",
		Files:     true,
		For:       command.Anyone,
		Of:        "model",
		Short:     "what a model was trained on, and what its guarantee is",
		Long: `It shows the certificate in a model's file: the data and the unit, the plan, the
guarantee of all that is in it, who paid, how records become numbers, and the program
that trained it. A certificate is a statement of whoever signs for the file, no proof;
what was charged stands in the ledger. Of an ensemble that discreet label kept, which has
no guarantee, it shows what was declared.`,
		Examples: [2]string{"discreet model inspect income.model", "discreet model inspect income.model --json"},
	}
	wantJSON := inspect.Flags.Bool("json", false, "print JSON")
	inspect.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = *wantJSON
		if len(args) != 1 {
			return diagnostic.New("D113", diagnostic.Span{}, "name the file of one model").Try("discreet %s", inspect.Line())
		}
		if info, err := os.Stat(args[0]); err == nil && info.Mode().IsRegular() && input.IsEnsemble(args[0]) {
			return inspectEnsemble(t, args[0])
		}
		m, err := input.LoadModel(args[0])
		if err != nil {
			return err
		}
		if *wantJSON {
			out := inspected{Model: args[0], Learner: m.Learner, Learned: m.Learned, Examples: m.Data, Certificate: m.Certificate}
			if m.Net != nil {
				spec, n := m.Net.Spec(), len(m.Net.Parameters())
				out.Network, out.Parameters, out.Learned = &spec, &n, nil
			}
			return t.WriteJSON(out)
		}
		writeModel(t, m)
		return nil
	}
	c := &command.Command{
		UsageLine: "model inspect MODEL",
		For:       command.Anyone,
		Short:     "the certificate of a trained model",
		Long:      `What a model's file says of its origin. discreet predict and evaluate use the model.`,
		Examples:  [2]string{"discreet model inspect income.model", "discreet model inspect income.model --json"},
		Verbs:     []*command.Command{inspect},
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

// An inspected is a model's file as JSON, but for the weights.
type inspected struct {
	Model       string             `json:"model"`
	Network     *network.Spec      `json:"network,omitempty"`
	Parameters  *int               `json:"parameters,omitempty"`
	Learner     string             `json:"learner,omitempty"` // which made Learned
	Learned     json.RawMessage    `json:"learned,omitempty"`
	Examples    input.ModelData    `json:"examples"`
	Certificate *learn.Certificate `json:"certificate"`
}

// codeText names in a line the program that trained it.
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

// writeModel prints the certificate.
func writeModel(t *terminal.Terminal, m *input.Model) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t.Out, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	if m.Net != nil {
		line("network", "%s, %d parameters", summary(m.Net.Spec()), len(m.Net.Parameters()))
	} else {
		line("model", "%s", terminal.Printable(m.Learner))
	}
	if m.Data.Classes != nil {
		line("predicts", "%s", terminal.Printable(strings.Join(m.Data.Classes, ", ")))
	} else if e := m.Data.Encoding; e != nil && e.Target != nil {
		line("predicts", "%s, from %g to %g", e.Target.Name, e.Target.Lower, e.Target.Upper)
	} else if m.Fitted != nil {
		line("tells", "%s", strings.Join(m.Fitted.Names(), ", "))
	}
	if e := m.Data.Encoding; e != nil {
		var names []string
		for _, c := range e.Columns {
			names = append(names, c.Name)
		}
		line("from", "%s (%d features)", terminal.Printable(strings.Join(names, ", ")), e.Width())
	} else {
		text := fmt.Sprintf("images of %d by %d", m.Data.Shape[0], m.Data.Shape[1])
		if s := m.Data.Scattering; s != nil {
			text += fmt.Sprintf(", as scattering coefficients of scale %d and %d angles, normalized image by image in %d groups", s.Scale, s.Angles, s.Groups)
		}
		line("from", "%s", text)
	}
	c := m.Certificate
	if c == nil {
		line("guarantee", "none: it was trained without one")
		return
	}
	g := c.Guarantee
	line("data", "%s", terminal.Printable(strings.Join(c.Data.Names, ", ")))
	if !c.Data.Public {
		line("unit", "%s, at most %d of its examples", terminal.Printable(c.Data.Unit), c.Data.Bound)
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
		line("training", "%s", terminal.Printable(c.Method))
	}
	if c.Data.Count != "" {
		line("count", "%s, in the guarantee", terminal.Printable(c.Data.Count))
	}
	if l := c.Limit; l != nil {
		line("limits", "%s noise: delta %.2g; rounding %.2g of the clip; both in the guarantee", l.Sampler, l.Delta, l.Rounding)
	}
	line("paid by", "%s", terminal.Printable(c.Ledger.Budget))
	if c.Ledger.Charged != "" {
		line("charged", "%s", terminal.Printable(c.Ledger.Charged))
	}
	line("run", "%s", terminal.Printable(c.Ledger.Run))
	line("statement", "%s", terminal.Printable(c.Ledger.Statement))
	line("code", "%s", terminal.Printable(codeText(c.Code)))
	line("date", "%s", c.Date.Format(time.RFC3339))
}
