package audit

import (
	"math"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/learn/leakage"
)

// A curve is a named ROC.
type curve struct {
	name string
	roc  *leakage.ROC
}

// A ceiling is a named guarantee, drawn as the success that it allows the best attack.
type ceiling struct {
	name     string
	tradeOff audit.TradeOff
}

// drawn are curves on logarithmic axes, where the few who are found out for certain
// can be seen, under the ceilings of guarantees.
func drawn(title string, curves []curve, ceilings []ceiling) plot.Plot {
	p := plot.Plot{Title: title, X: plot.Axis{Label: "false positive rate", Log: true, Max: 1}, Y: plot.Axis{Label: "true positive rate", Log: true, Max: 1}}
	least := 1.0 // the finest false positive rate that any curve resolves
	for _, c := range curves {
		least = min(least, c.roc.Resolution())
	}
	for _, c := range curves {
		line := plot.Line{Name: c.name}
		last := 0.0
		for _, s := range c.roc.Steps() {
			if s.FPR > 0 && s.FPR != last { // the foot of the step: nothing is known between two steps
				line.Points = append(line.Points, plot.Point{X: s.FPR, Y: lastTPR(line.Points)})
			}
			line.Points = append(line.Points, plot.Point{X: max(s.FPR, least), Y: s.TPR})
			last = s.FPR
		}
		p.Lines = append(p.Lines, thin(line))
	}
	const points = 120
	for _, c := range ceilings {
		line := plot.Line{Name: c.name, Dashed: true}
		for i := range points + 1 {
			x := math.Pow(least, 1-float64(i)/points)
			line.Points = append(line.Points, plot.Point{X: x, Y: c.tradeOff.Power(x)})
		}
		p.Lines = append(p.Lines, line)
	}
	p.Lines = append(p.Lines, plot.Line{Name: "guessing", Dashed: true, Points: []plot.Point{{X: least, Y: least}, {X: 1, Y: 1}}})
	return p
}

func lastTPR(points []plot.Point) float64 {
	if len(points) == 0 {
		return 0
	}
	return points[len(points)-1].Y
}

// thin leaves out points that lie within a pixel of the last one kept.
func thin(l plot.Line) plot.Line {
	out := plot.Line{Name: l.Name, Dashed: l.Dashed}
	for i, at := range l.Points {
		if !(at.Y > 0) {
			continue
		}
		if n := len(out.Points); n > 0 && i < len(l.Points)-1 {
			last := out.Points[n-1]
			if math.Abs(math.Log(at.X/last.X)) < 0.004 && math.Abs(math.Log(at.Y/last.Y)) < 0.004 {
				continue
			}
		}
		out.Points = append(out.Points, at)
	}
	return out
}
