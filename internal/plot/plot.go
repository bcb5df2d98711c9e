// Package plot draws lines over numbers and estimates of groups, as SVG or in a terminal.
//
// A drawing is a function of its data alone: the same plot gives the same bytes.
// What is not finite, or not positive on a logarithmic axis, leaves a gap in its
// line. Drawing knows nothing of privacy: whoever plots decides what may be seen.
package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// A Drawing is what this package draws.
type Drawing interface {
	// WriteSVG draws for light and dark pages.
	WriteSVG(w io.Writer) error
	// WriteText draws in characters on width columns, axes and names included, and
	// height rows, axes and names not included.
	WriteText(w io.Writer, width, height int) error
}

// A Plot is some lines over two axes.
type Plot struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// An Axis is labelled, and logarithmic to the base 10 if Log is set. The label names
// the unit.
type Axis struct {
	Label string
	Log   bool
	Max   float64 // it reaches at least so far; as far as the points if 0
}

// A Line joins its points in their order.
type Line struct {
	Name   string
	Points []Point
	Dashed bool // for what is no guarantee
}

// A Point is one place of a line.
type Point struct{ X, Y float64 }

// CheckName returns an error unless a file's name says that it is SVG.
func CheckName(name string) error {
	if strings.EqualFold(filepath.Ext(name), ".svg") {
		return nil
	}
	return fmt.Errorf("plot: drawings are SVG: want a file name that ends in .svg, got %q", name)
}

var errEmpty = errors.New("plot: there is nothing to draw")

// merged returns p with lines that are the same drawn once, under both names: one
// would hide the other.
func (p Plot) merged() Plot {
	lines := make([]Line, 0, len(p.Lines))
	for _, l := range p.Lines {
		i := slices.IndexFunc(lines, func(m Line) bool { return m.Dashed == l.Dashed && slices.Equal(m.Points, l.Points) })
		if i < 0 {
			lines = append(lines, l)
			continue
		}
		lines[i].Name += " and " + l.Name
	}
	p.Lines = lines
	return p
}

// runs cuts a line where a point cannot be drawn.
func (p Plot) runs(l Line) (runs [][]Point) {
	var run []Point
	for _, at := range l.Points {
		if p.drawable(at) {
			run = append(run, at)
			continue
		}
		if run != nil {
			runs, run = append(runs, run), nil
		}
	}
	if run != nil {
		runs = append(runs, run)
	}
	return runs
}

func (p Plot) drawable(at Point) bool { return p.X.has(at.X) && p.Y.has(at.Y) }

// has reports whether an axis reaches x: differences of its numbers, and round numbers
// beyond them, are numbers too.
func (a Axis) has(x float64) bool {
	return math.Abs(x) <= 1e300 && (!a.Log || x >= 1e-300)
}

// scales fits both axes to the points, for so many ticks.
func (p Plot) scales(xTicks, yTicks int) (x, y scale, ok bool) {
	xs, ys := p.X.reach(), p.Y.reach()
	for _, l := range p.Lines {
		for _, run := range p.runs(l) {
			for _, at := range run {
				xs.include(at.X)
				ys.include(at.Y)
				ok = true
			}
		}
	}
	if !ok {
		return scale{}, scale{}, false
	}
	return xs.scale(xTicks, tight), ys.scale(yTicks, round), true
}
