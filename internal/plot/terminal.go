package plot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// markers tell the lines apart without colour.
const markers = "*o+x#@%&"

// WriteText draws p in characters on width columns and height rows, axes and
// legend not counted among the rows. Widths below 40 and heights below 8 are
// raised to these.
func (p Plot) WriteText(w io.Writer, width, height int) error {
	f, ok := p.bounds()
	if !ok {
		return errEmpty
	}
	labels := [2]string{p.Y.tick(f.top), p.Y.tick(f.bottom)}
	margin := max(len(labels[0]), len(labels[1]))
	c := newCanvas(max(width, 40)-margin-2, max(height, 8), f)
	for i := len(p.Lines) - 1; i >= 0; i-- { // the first lies on top
		p.trace(c, p.Lines[i], rune(markers[i%len(markers)]))
	}
	b := bufio.NewWriter(w)
	if p.Title != "" {
		fmt.Fprintln(b, p.Title)
	}
	fmt.Fprintln(b, p.Y.text())
	for i, row := range c.rows {
		label := ""
		switch i {
		case 0:
			label = labels[0]
		case len(c.rows) - 1:
			label = labels[1]
		}
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%*s |%s", margin, label, string(row)), " "))
	}
	left, right := p.X.tick(f.left), p.X.tick(f.right)
	gap := max(1, len(c.rows[0])-len(left)-len(right))
	fmt.Fprintf(b, "%*s +%s\n", margin, "", strings.Repeat("-", len(c.rows[0])))
	fmt.Fprintf(b, "%*s  %s%s%s\n", margin, "", left, centred(p.X.text(), gap), right)
	for i, l := range p.Lines {
		fmt.Fprintf(b, "%*s  %c %s\n", margin, "", markers[i%len(markers)], l.Name)
	}
	return b.Flush()
}

// trace marks a line column by column, so that steep parts have no gaps sideways
// and flat ones none at all.
func (p Plot) trace(c *canvas, l Line, mark rune) {
	for _, run := range p.runs(l) {
		for i, at := range run {
			x, y := p.X.place(at.X), p.Y.place(at.Y)
			c.mark(x, y, mark)
			if i == 0 {
				continue
			}
			x0, y0 := p.X.place(run[i-1].X), p.Y.place(run[i-1].Y)
			steps := max(1, int(2*math.Abs(c.column(x)-c.column(x0))))
			for s := range steps {
				t := float64(s) / float64(steps)
				c.mark(x0+t*(x-x0), y0+t*(y-y0), mark)
			}
		}
	}
}

type canvas struct {
	frame
	rows [][]rune
}

func newCanvas(width, height int, f frame) *canvas {
	c := &canvas{f, make([][]rune, height)}
	for i := range c.rows {
		c.rows[i] = []rune(strings.Repeat(" ", max(width, 1)))
	}
	return c
}

func (c *canvas) column(x float64) float64 {
	return share(x, c.left, c.right) * float64(len(c.rows[0])-1)
}

func (c *canvas) mark(x, y float64, mark rune) {
	row := (1 - share(y, c.bottom, c.top)) * float64(len(c.rows)-1)
	c.rows[int(math.Round(row))][int(math.Round(c.column(x)))] = mark
}

// share returns where x lies between lo and hi, from 0 to 1: in the middle where
// they are the same.
func share(x, lo, hi float64) float64 {
	if hi <= lo {
		return 0.5
	}
	return min(1, max(0, (x-lo)/(hi-lo)))
}

// tick prints the number at a place of the axis.
func (a Axis) tick(place float64) string {
	if a.Log {
		place = math.Pow(10, place)
	}
	return fmt.Sprintf("%.4g", place)
}

func (a Axis) text() string {
	if a.Log {
		return a.Label + " (log scale)"
	}
	return a.Label
}

func centred(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n > width {
		return strings.Repeat(" ", width)
	}
	left := (width - n) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", width-n-left)
}
