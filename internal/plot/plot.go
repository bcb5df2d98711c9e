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
	Zero  bool    // it reaches 0
	Kind  Kind
}

// A Kind says what the numbers of an axis stand for.
type Kind uint8

const (
	Amounts Kind = iota // 12,000
	Keys                // numbers that name something, as years do: 2024
	Moments             // seconds since 1970, as dates and times
	Clock               // seconds since midnight, as times of a day
)

// A Line joins its points in their order.
type Line struct {
	Name   string
	Points []Point
	Dashed bool // for what is no guarantee
	// Ranges are drawn as whiskers, one at each point, and the points as dots. There are as
	// many as points, or none.
	Ranges []Range
	Loose  bool // nothing joins the points
	Filled bool // what lies between the line and 0 is filled, and the line itself not drawn
}

// A Range is how far a value can be off: from Low to High. It is Unknown, or of no length
// where a value is exact.
type Range struct{ Low, High float64 }

// Unknown is the range of a value of which nothing is known.
func Unknown() Range { return Range{math.NaN(), math.NaN()} }

// IsUnknown reports whether nothing is known.
func (r Range) IsUnknown() bool { return math.IsNaN(r.Low) || math.IsNaN(r.High) }

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
		i := slices.IndexFunc(lines, func(m Line) bool { return m.Dashed == l.Dashed && slices.Equal(m.Points, l.Points) && l.Ranges == nil })
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

// scales fits both axes to the points and their ranges, for so many ticks.
func (p Plot) scales(xTicks, yTicks int) (x, y scale, ok bool) {
	xs, ys := p.X.reach(), p.Y.reach()
	for _, l := range p.Lines {
		for i, at := range l.Points {
			if !p.drawable(at) {
				continue
			}
			xs.include(at.X)
			ys.include(at.Y)
			if r, known := p.whisker(l, i); known {
				ys.include(r.Low)
				ys.include(r.High)
			}
			ok = true
		}
	}
	if !ok {
		return scale{}, scale{}, false
	}
	if p.dotted() {
		xs.widen(0.03)
		ys.widen(0.03) // whiskers end within it
	}
	return xs.scale(xTicks, tight), ys.scale(yTicks, loose), true
}

// whisker is the range of a point, as far as it can be drawn.
func (p Plot) whisker(l Line, i int) (r Range, known bool) {
	if l.Ranges == nil || l.Ranges[i].IsUnknown() {
		return Range{}, false
	}
	r = l.Ranges[i]
	return r, p.Y.has(r.Low) && p.Y.has(r.High)
}

// dotted reports whether points have ranges, so that they are drawn as dots.
func (p Plot) dotted() bool {
	return slices.ContainsFunc(p.Lines, func(l Line) bool { return l.Ranges != nil })
}
