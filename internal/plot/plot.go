// Package plot draws lines over numbers, as SVG, as PNG, or in a terminal.
//
// A drawing is a function of its data alone: the same plot gives the same bytes.
// What is not finite, or not positive on a logarithmic axis, leaves a gap in its
// line. Drawing knows nothing of privacy: whoever plots decides what may be seen.
package plot

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A Plot is some lines over two axes.
type Plot struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// An Axis is labelled, and logarithmic to the base 10 if Log is set.
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

// Formats are the endings of the file names that Write knows.
var Formats = []string{"svg", "png"}

// Format returns the format of a file by its name's ending.
func Format(name string) (string, error) {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	for _, f := range Formats {
		if f == format {
			return f, nil
		}
	}
	return "", fmt.Errorf("plot: want a file name that ends in .%s, got %q", strings.Join(Formats, " or ."), name)
}

var errEmpty = errors.New("plot: there is nothing to draw")

// The colours that people with any colour vision tell apart (Okabe and Ito 2008).
var colours = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff}, {0x99, 0x99, 0x99, 0xff},
}

// Write draws p in one of Formats.
func (p Plot) Write(w io.Writer, format string) error {
	if _, ok := p.bounds(); !ok {
		return errEmpty
	}
	drawing := plot.New()
	drawing.Title.Text = p.Title
	drawing.Title.Padding = vg.Points(6)
	drawing.Legend.Top, drawing.Legend.Left = true, true
	drawing.Legend.Padding = vg.Points(2)
	p.X.set(&drawing.X)
	p.Y.set(&drawing.Y)
	drawing.Add(plotter.NewGrid())
	for i, l := range p.Lines {
		for j, run := range p.runs(l) {
			line, err := plotter.NewLine(run)
			if err != nil {
				return fmt.Errorf("plot %s: %w", l.Name, err)
			}
			line.Color = colours[i%len(colours)]
			line.Width = vg.Points(1.6)
			if l.Dashed {
				line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
			}
			drawing.Add(line)
			if j == 0 {
				drawing.Legend.Add(l.Name, line)
			}
		}
	}
	reach(&drawing.X, p.X)
	reach(&drawing.Y, p.Y)
	out, err := drawing.WriterTo(16*vg.Centimeter, 11*vg.Centimeter, format)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}

func (a Axis) set(axis *plot.Axis) {
	axis.Label.Text = a.Label
	if a.Log {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.LogTicks{Prec: -1}
	}
}

func reach(axis *plot.Axis, a Axis) {
	if a.Max != 0 && a.has(a.Max) {
		axis.Max = max(axis.Max, a.Max)
	}
}

// runs cuts a line where a point cannot be drawn.
func (p Plot) runs(l Line) (runs []plotter.XYs) {
	var run plotter.XYs
	for _, at := range l.Points {
		if p.drawable(at) {
			run = append(run, plotter.XY(at))
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

func (a Axis) has(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && (!a.Log || x > 0)
}

// place returns where x lies on the axis, before scaling.
func (a Axis) place(x float64) float64 {
	if a.Log {
		return math.Log10(x)
	}
	return x
}

// A frame is the least rectangle around all points, in places.
type frame struct{ left, right, bottom, top float64 }

func (p Plot) bounds() (f frame, ok bool) {
	f = frame{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, l := range p.Lines {
		for _, at := range l.Points {
			if !p.drawable(at) {
				continue
			}
			x, y := p.X.place(at.X), p.Y.place(at.Y)
			f = frame{min(f.left, x), max(f.right, x), min(f.bottom, y), max(f.top, y)}
			ok = true
		}
	}
	if p.X.Max != 0 && p.X.has(p.X.Max) {
		f.right = max(f.right, p.X.place(p.X.Max))
	}
	if p.Y.Max != 0 && p.Y.has(p.Y.Max) {
		f.top = max(f.top, p.Y.place(p.Y.Max))
	}
	return f, ok
}
