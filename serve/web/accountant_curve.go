package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/people"
)

// curvePoints is how many epsilons a curve has: one more than a power of two, so that it is
// filled from coarse to fine.
const curvePoints = 33

// least is the smallest delta that is drawn; the axis would lose the others.
const leastDelta = 1e-18

// draw draws delta against epsilon: of one plan by every accountant, of several the best.
func (a *accounting) draw(ctx context.Context) error {
	drawn := slices.DeleteFunc(slices.Clone(a.Results), func(r *planResult) bool { return r.Wrong != nil || !r.certain })
	if len(drawn) == 0 {
		return nil
	}
	top, err := a.top(ctx, drawn)
	if err != nil {
		return err
	}
	curve := map[string][]float64{} // by name, as high as the epsilons; NaN where nothing is known
	var names []string
	set := func(name string, i int, y float64) {
		if curve[name] == nil {
			names = append(names, name)
			curve[name] = slices.Repeat([]float64{math.NaN()}, curvePoints)
		}
		curve[name][i] = y
	}
	asked := make([]*accountant.Curve, len(drawn))
	for j, r := range drawn {
		o := a.options
		if a.Many {
			o.Accountant = r.best
		}
		asked[j] = accountant.NewCurve(ctx, r.event, o)
	}
	reached := 0
	for _, i := range coarseToFine(curvePoints) {
		for j, r := range drawn {
			report, err := asked[j].Delta(top * float64(i) / (curvePoints - 1))
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			if err != nil {
				continue // a point that nobody bounds is left out
			}
			for _, b := range report.Bounds {
				name := string(b.Accountant)
				if a.Many {
					name = r.name()
				}
				if y := b.Delta.High; y <= 1 {
					set(name, i, y)
				}
			}
		}
		if ctx.Err() != nil {
			break
		}
		reached++
	}
	if reached < curvePoints {
		a.Missing = fmt.Sprintf("The time was over: the curve has %d of %d points.", reached, curvePoints)
	}
	if !a.Many {
		order := func(name string) int { return slices.Index(accountant.Names(), accountant.Name(name)) }
		slices.SortFunc(names, func(x, y string) int { return order(x) - order(y) })
	}
	return a.drawing(top, names, curve)
}

// top is the greatest epsilon of the curve: where delta is a thousandth of what is asked for,
// or twice the epsilon that is asked at.
func (a *accounting) top(ctx context.Context, drawn []*planResult) (float64, error) {
	top, _ := a.epsilon.Float64()
	if top *= 2; !a.asksEpsilon() && top > 0 {
		return min(top, 1e6), nil
	}
	delta, _ := a.delta.Float64()
	delta = max(delta/1000, leastDelta)
	far := 0.0
	for _, r := range drawn {
		report, err := accountant.Epsilon(ctx, r.event, delta, accountant.Options{Neighbours: a.options.Neighbours, Accountant: r.best})
		if errors.Is(ctx.Err(), context.Canceled) {
			return 0, ctx.Err()
		}
		if err != nil {
			continue
		}
		if best, ok := report.Best(); ok {
			far = max(far, best.Epsilon.High)
		}
	}
	if far > 0 && far < 1e6 {
		return far, nil
	}
	return max(1, min(top, 1e6)), nil
}

// coarseToFine lists 0 to n-1, where n-1 is a power of two: the ends first, then always the
// middles.
func coarseToFine(n int) []int {
	all := []int{n - 1, 0}
	for step := n - 1; step > 1; step /= 2 {
		for i := step / 2; i < n; i += step {
			all = append(all, i)
		}
	}
	return all
}

// drawing makes the curve and its numbers.
func (a *accounting) drawing(top float64, names []string, curve map[string][]float64) error {
	p := plot.Plot{Title: "δ against ε", X: plot.Axis{Label: "ε", Zero: true}, Y: plot.Axis{Label: "δ at most", Log: true}}
	if a.Many {
		p.Title += ", the best bound of each plan"
	} else {
		p.Title += ", by each accountant"
	}
	epsilon := func(i int) float64 { return top * float64(i) / (curvePoints - 1) }
	a.Columns = names
	for _, name := range names {
		line := plot.Line{Name: name}
		for i, y := range curve[name] {
			if !(y >= leastDelta) {
				y = math.NaN()
			}
			line.Points = append(line.Points, plot.Point{X: epsilon(i), Y: y})
		}
		if slices.ContainsFunc(line.Points, func(at plot.Point) bool { return at.Y < 1 }) {
			p.Lines = append(p.Lines, line)
		}
	}
	for i := range curvePoints {
		row := []string{strconv.FormatFloat(epsilon(i), 'g', 4, 64)}
		known := false
		for _, name := range names {
			cell := "–"
			if y := curve[name][i]; !math.IsNaN(y) {
				cell, known = tidy(bounds.AtMost(y)), true
			}
			row = append(row, cell)
		}
		if known {
			a.Numbers = append(a.Numbers, row)
		}
	}
	if len(p.Lines) == 0 {
		return nil
	}
	if delta, _ := a.delta.Float64(); a.asksEpsilon() && delta >= leastDelta {
		p.Lines = append(p.Lines, plot.Line{Name: "δ " + tidy(a.Delta), Dashed: true, Points: []plot.Point{{X: 0, Y: delta}, {X: top, Y: delta}}})
	}
	var err error
	a.Curve, err = figure(p)
	return err
}

// name is what a plan's line is called.
func (r *planResult) name() string {
	text := people.Shown(r.Text)
	if utf8.RuneCountInString(text) > 48 {
		text = string([]rune(text)[:47]) + "…"
	}
	return fmt.Sprintf("%d: %s", r.Number, text)
}
