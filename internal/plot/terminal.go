package plot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/cells"
)

// markers tell the lines apart without colour.
const markers = "*o+x#@%&"

// WriteText draws p in characters on width columns and height rows, axes and
// names not counted among the rows. Widths below 40 and heights below 8 are
// raised to these.
func (p Plot) WriteText(w io.Writer, width, height int) error {
	width, height = max(width, 40), max(height, 8)
	p = p.merged()
	apart := 14 // from number to number
	if p.dotted() {
		apart = 9
	}
	x, y, ok := p.scales(width/apart, height/4)
	if !ok {
		return errEmpty
	}
	margin := 0
	for _, t := range y.ticks {
		margin = max(margin, cells.Width(t.label))
	}
	g := newGrid(width-margin-2, height)
	for i := len(p.Lines) - 1; i >= 0; i-- { // the first lies on top
		if l := p.Lines[i]; !l.Loose {
			p.trace(g, x, y, l, p.joint(i))
		}
	}
	for i := len(p.Lines) - 1; i >= 0; i-- {
		p.scatter(g, x, y, i)
	}
	labels := make([]string, height)
	for _, t := range y.ticks {
		labels[g.row(y.share(t.place))] = t.label
	}
	b := bufio.NewWriter(w)
	for _, head := range []string{p.Title, p.Y.text()} {
		for _, line := range fold(head, width) {
			fmt.Fprintln(b, line)
		}
	}
	for i, cells := range g {
		post := "│"
		if labels[i] != "" {
			post = "┤"
		}
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%*s %s%s", margin, labels[i], post, string(cells)), " "))
	}
	g.abscissa(b, x, margin)
	for _, line := range fold(p.X.text(), len(g[0])) {
		fmt.Fprintf(b, "%*s  %s\n", margin, "", strings.TrimRight(centred(line, len(g[0])), " "))
	}
	for i, l := range p.Lines {
		name := fold(l.Name, width-margin-4)
		for j, line := range name {
			mark := ' '
			if j == 0 {
				mark = p.mark(i)
			}
			fmt.Fprintf(b, "%*s  %c %s\n", margin, "", mark, line)
		}
	}
	return b.Flush()
}

// mark is what a line is told by.
func (p Plot) mark(i int) rune {
	if p.Lines[i].Ranges != nil {
		return dots[i%len(dots)]
	}
	return rune(markers[i%len(markers)])
}

// joint is what stands between the points of a line.
func (p Plot) joint(i int) rune {
	if p.Lines[i].Ranges != nil {
		return '·'
	}
	return p.mark(i)
}

// scatter marks the points that have ranges, and these.
func (p Plot) scatter(g grid, x, y scale, i int) {
	l := p.Lines[i]
	for k, at := range l.Points {
		if l.Ranges == nil || !p.drawable(at) {
			continue
		}
		if r, known := p.whisker(l, k); known {
			low, high := g.row(y.at(r.Low)), g.row(y.at(r.High)) // rows count from above
			for row := high; row <= low; row++ {
				g[row][g.column(x.at(at.X))] = '│'
			}
		}
		g.mark(x.at(at.X), y.at(at.Y), p.mark(i))
	}
}

// trace marks a line column by column, so that steep parts have no gaps sideways
// and flat ones none at all.
func (p Plot) trace(g grid, x, y scale, l Line, mark rune) {
	for _, run := range p.runs(l) {
		var x0, y0 float64
		for i, at := range run {
			x1, y1 := x.at(at.X), y.at(at.Y)
			g.mark(x1, y1, mark)
			if i > 0 {
				steps := max(1, int(2*math.Abs(x1-x0)*float64(len(g[0])-1)))
				for s := range steps {
					t := float64(s) / float64(steps)
					g.mark(x0+t*(x1-x0), y0+t*(y1-y0), mark)
				}
			}
			x0, y0 = x1, y1
		}
	}
}

// A grid is rows of characters, the uppermost first.
type grid [][]rune

func newGrid(width, height int) grid {
	g := make(grid, height)
	for i := range g {
		g[i] = []rune(strings.Repeat(" ", max(width, 1)))
	}
	return g
}

func (g grid) column(share float64) int { return int(math.Round(share * float64(len(g[0])-1))) }

func (g grid) row(share float64) int { return int(math.Round((1 - share) * float64(len(g)-1))) }

func (g grid) mark(x, y float64, mark rune) { g[g.row(y)][g.column(x)] = mark }

// abscissa prints the axis below a grid, with the numbers for which there is room.
func (g grid) abscissa(w io.Writer, x scale, margin int) {
	rule := []rune(strings.Repeat("─", len(g[0])))
	labels := []rune(strings.Repeat(" ", len(g[0])))
	free := 0
	for _, t := range x.ticks {
		at := g.column(x.share(t.place))
		rule[at] = '┬'
		label := []rune(t.label)
		first := min(max(at-len(label)/2, 0), len(labels)-len(label))
		if first < free {
			continue
		}
		copy(labels[first:], label)
		free = first + len(label) + 2
	}
	fmt.Fprintf(w, "%*s └%s\n", margin, "", string(rule))
	fmt.Fprintf(w, "%*s  %s\n", margin, "", strings.TrimRight(string(labels), " "))
}

func centred(s string, width int) string {
	return strings.Repeat(" ", max(0, (width-cells.Width(s))/2)) + s
}
