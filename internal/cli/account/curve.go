package account

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/privacy"
)

// curve draws bounds over a range.
func (a *accounting) curve(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := terminal.CheckPlot(a.plot, false); err != nil {
		return err
	}
	draw := map[string]func(context.Context, []string) (plot.Plot, error){
		"": a.overDelta, "delta": a.overDelta, "epsilon": a.overEpsilon, "count": a.overCount,
		"trade-off": a.overTradeOff, "power": a.overPower, "order": a.overOrder, "runs": a.overRuns,
	}[a.over]
	p, err := draw(ctx, args)
	if err != nil {
		return err
	}
	if a.json {
		return t.WriteJSON(plotJSON(p))
	}
	return t.Draw(p, cmp.Or(a.plot, terminal.Here), false)
}

// plotJSON is a drawing as its numbers; what is not finite is null.
func plotJSON(p plot.Plot) any {
	type line struct {
		Name      string        `json:"name"`
		Guarantee bool          `json:"guarantee"`
		Points    [][2]*float64 `json:"points"`
	}
	lines := []line{}
	for _, l := range p.Lines {
		out := line{l.Name, !l.Dashed, [][2]*float64{}}
		for _, at := range l.Points {
			out.Points = append(out.Points, [2]*float64{bounds.Finite(at.X), bounds.Finite(at.Y)})
		}
		lines = append(lines, out)
	}
	return map[string]any{"title": p.Title, "x": p.X.Label, "y": p.Y.Label, "lines": lines}
}

// addBounds adds every accountant's bound at x. An estimate without a bound is a dashed
// line of its own.
func addBounds(f *plot.Family, r *accountant.Report, directions bool, x float64) {
	order := func(b accountant.Bound) int { return slices.Index(accountant.Names(), b.Accountant) }
	sorted := slices.SortedFunc(slices.Values(r.Bounds), func(b, c accountant.Bound) int { return order(b) - order(c) })
	for _, b := range sorted {
		v := bounds.Bracket(b)
		if math.IsInf(v.High, 1) && v.Estimate > 0 {
			f.Add(string(b.Accountant)+" (no guarantee)", true, x, v.Estimate)
			continue
		}
		if !directions || len(b.Directions) < 2 {
			f.Add(string(b.Accountant), false, x, v.High)
			continue
		}
		for _, d := range b.Directions {
			f.Add(fmt.Sprintf("%s, %s", b.Accountant, d.Direction), false, x, d.High)
		}
	}
}

// span returns n numbers from lo to hi; --from and --to replace these.
func (a *accounting) span(lo, hi float64, n int, logarithmic bool) ([]float64, error) {
	if a.from > 0 {
		lo = a.from
	}
	if a.to > 0 {
		hi = a.to
	}
	if hi <= lo {
		return nil, diagnostic.New("D112", diagnostic.Span{}, "the curve would go from %v to %v", lo, hi).Try("give --from and --to")
	}
	xs := make([]float64, n)
	for i := range xs {
		t := float64(i) / float64(n-1)
		if logarithmic {
			xs[i] = lo * math.Pow(hi/lo, t)
		} else {
			xs[i] = lo + t*(hi-lo)
		}
	}
	return xs, nil
}

// overDelta is every accountant's epsilon against delta; for several plans, the best one.
func (a *accounting) overDelta(ctx context.Context, args []string) (plot.Plot, error) {
	xs, err := a.span(1e-12, 1e-2, 41, true)
	if err != nil {
		return plot.Plot{}, err
	}
	return a.each(ctx, args, xs, (*accountant.Curve).Epsilon, plot.Plot{Title: "epsilon at delta", X: plot.Axis{Label: "delta", Log: true}, Y: plot.Axis{Label: "epsilon"}})
}

// overEpsilon is every accountant's delta against epsilon.
func (a *accounting) overEpsilon(ctx context.Context, args []string) (plot.Plot, error) {
	xs, err := a.span(0.05, 5, 41, false)
	if err != nil {
		return plot.Plot{}, err
	}
	return a.each(ctx, args, xs, (*accountant.Curve).Delta, plot.Plot{Title: "delta at epsilon", X: plot.Axis{Label: "epsilon"}, Y: plot.Axis{Label: "delta", Log: true}})
}

func (a *accounting) each(ctx context.Context, args []string, xs []float64, ask func(*accountant.Curve, float64) (*accountant.Report, error), p plot.Plot) (plot.Plot, error) {
	var f plot.Family
	a.points.Store(int64(len(args) * len(xs)))
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return plot.Plot{}, err
		}
		c := accountant.NewCurve(ctx, e, a.options)
		for _, x := range xs {
			if ctx.Err() != nil {
				return plot.Plot{}, ctx.Err()
			}
			a.reached.Add(1)
			r, err := a.chosen(ask(c, x))
			switch {
			case err != nil:
				return plot.Plot{}, err
			case len(args) == 1:
				addBounds(&f, r, a.directions, x)
			default:
				if b, ok := r.Best(); ok {
					f.Add(text, false, x, bounds.Bracket(b).High)
				}
			}
		}
	}
	if len(args) == 1 {
		p.Title += ": " + args[0]
	}
	p.Lines = f.All()
	p.Y.Log = p.Y.Log || f.Wide()
	return p, nil
}

// overCount is every accountant's epsilon at --delta of an event that happens k
// times, against k.
func (a *accounting) overCount(ctx context.Context, args []string) (plot.Plot, error) {
	if err := onePlan(args); err != nil {
		return plot.Plot{}, err
	}
	if a.delta == nil {
		return plot.Plot{}, diagnostic.New("D113", diagnostic.Span{}, "give a --delta")
	}
	e, err := a.event(args[0])
	if err != nil {
		return plot.Plot{}, err
	}
	xs, err := a.span(1, 350, 60, false)
	if err != nil {
		return plot.Plot{}, err
	}
	var f plot.Family
	last := 0
	a.points.Store(int64(len(xs)))
	for _, x := range xs {
		a.reached.Add(1)
		k := int(math.Round(x))
		if ctx.Err() != nil {
			return plot.Plot{}, ctx.Err()
		}
		if k == last {
			continue
		}
		last = k
		r, err := a.chosen(accountant.Epsilon(ctx, privacy.Repeat{Count: k, Event: e}, bounds.Below(a.delta), a.options))
		if err != nil {
			return plot.Plot{}, err
		}
		addBounds(&f, r, a.directions, float64(k))
		if pure, ok := e.(privacy.Pure); ok && a.misprinted {
			f.Add("misprinted (wrong)", true, float64(k), misprinted(pure.Epsilon.Float64(), bounds.Below(a.delta), k))
		}
	}
	return plot.Plot{
		Title: fmt.Sprintf("k * %s at delta %s", args[0], shown(a.delta)),
		X:     plot.Axis{Label: "k, how often the event happens"}, Y: plot.Axis{Label: "epsilon", Log: f.Wide()}, Lines: f.All(),
	}, nil
}

// overTradeOff is, for each plan, the least rate at which an attack misses members when it
// accuses others at a rate alpha (the trade-off function of Dong, Roth and Su 2022), as far
// as it is certified.
func (a *accounting) overTradeOff(ctx context.Context, args []string) (plot.Plot, error) {
	xs, err := a.span(0.001, 0.999, 61, false)
	if err != nil {
		return plot.Plot{}, err
	}
	var f plot.Family
	for _, x := range xs {
		f.Add("nothing is revealed", true, x, 1-x)
	}
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return plot.Plot{}, err
		}
		points, err := accountant.TradeOff(ctx, e, xs, a.options)
		if err != nil {
			return plot.Plot{}, bounds.Refused(err)
		}
		for _, at := range points {
			f.Add(text, false, at.X, at.Y.Low)
		}
	}
	return plot.Plot{Title: "what an attack must miss", X: plot.Axis{Label: "rate of false accusations (type I)"},
		Y: plot.Axis{Label: "rate of misses (type II), at least"}, Lines: f.All()}, nil
}

// overPower is, for each plan, the greatest rate at which membership inference finds
// members, against its rate of false accusations.
func (a *accounting) overPower(ctx context.Context, args []string) (plot.Plot, error) {
	xs, err := a.span(1e-6, 0.5, 61, true)
	if err != nil {
		return plot.Plot{}, err
	}
	var f plot.Family
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return plot.Plot{}, err
		}
		points, err := accountant.Power(ctx, e, xs, a.options)
		if err != nil {
			return plot.Plot{}, bounds.Refused(err)
		}
		for _, at := range points {
			f.Add(text, false, at.X, at.Y.High)
		}
	}
	for _, x := range xs {
		f.Add("guessing", true, x, x)
	}
	return plot.Plot{Title: "power of membership inference", X: plot.Axis{Label: "rate of false accusations", Log: true},
		Y: plot.Axis{Label: "share of members found, at most", Log: true}, Lines: f.All()}, nil
}

// overOrder is, for each plan, the Rényi divergence of each order.
func (a *accounting) overOrder(ctx context.Context, args []string) (plot.Plot, error) {
	orders := a.options.Orders
	if orders == nil {
		xs, err := a.span(1.1, 64, 41, true)
		if err != nil {
			return plot.Plot{}, err
		}
		orders = xs
	}
	var f plot.Family
	for _, text := range args {
		e, err := a.event(text)
		if err != nil {
			return plot.Plot{}, err
		}
		points, err := accountant.RenyiCurve(ctx, e, orders, a.options)
		if err != nil {
			return plot.Plot{}, bounds.Refused(err)
		}
		for _, at := range points {
			f.Add(text, false, at.X, at.Y.High)
		}
	}
	return plot.Plot{Title: "Rényi divergence", X: plot.Axis{Label: "order", Log: true},
		Y: plot.Axis{Label: "divergence at most", Log: f.Wide()}, Lines: f.All()}, nil
}

// overRuns is how often each filter admits an event before a budget is spent,
// against the budget's epsilon at --delta.
func (a *accounting) overRuns(ctx context.Context, args []string) (plot.Plot, error) {
	if err := onePlan(args); err != nil {
		return plot.Plot{}, err
	}
	e, err := a.event(args[0])
	if err != nil {
		return plot.Plot{}, err
	}
	if a.delta == nil {
		return plot.Plot{}, diagnostic.New("D113", diagnostic.Span{}, "give a --delta")
	}
	xs, err := a.span(0.2, 2, 40, false)
	if err != nil {
		return plot.Plot{}, err
	}
	var f plot.Family
	for _, x := range xs {
		r := new(big.Rat)
		if r.SetFloat64(x) == nil {
			return plot.Plot{}, fmt.Errorf("epsilon %v is not finite", x)
		}
		epsilon, delta, err := a.budget(r)
		if err != nil {
			return plot.Plot{}, err
		}
		for _, name := range bounds.Filters() {
			if a.filter != "" && name != a.filter {
				continue
			}
			n, err := filter.Admitted(name, e, epsilon, delta, a.options.Neighbours)
			if err != nil {
				if a.filter != "" {
					return plot.Plot{}, uncharged(err)
				}
				continue // this filter has no charge for the event
			}
			count, _ := new(big.Float).SetInt(n).Float64()
			f.Add(string(name), false, x, count)
		}
	}
	return plot.Plot{Title: fmt.Sprintf("runs of %s that a filter admits, delta %s", args[0], shown(a.delta)),
		X: plot.Axis{Label: "epsilon"}, Y: plot.Axis{Label: "runs admitted"}, Lines: f.All()}, nil
}

// shown prints a number for a title: 1e-5, not 1e-05.
func shown(r *big.Rat) string { return strings.Replace(bounds.Decimal(r).String(), "e-0", "e-", 1) }

// misprinted is the advanced composition of k ε-DP releases as a tutorial of the
// Sherpa.ai framework prints it, without the factor ε in the first term. It is no
// theorem: it is drawn to be recognised.
func misprinted(epsilon, delta float64, k int) float64 {
	n := float64(k)
	return math.Sqrt(2*n*math.Log(1/delta)) + n*epsilon*math.Expm1(epsilon)
}
