package plot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/cells"
)

// dots tell series apart without colour.
var dots = []rune("●○◆◇■□▲△")

// WriteText draws e in characters on width columns: a line for each mark. There are as
// many lines as marks, so height does not matter. Widths below 40 are raised to it.
func (e Estimates) WriteText(w io.Writer, width, _ int) error {
	if err := e.check(); err != nil {
		return err
	}
	width = max(width, 40)
	names := 0
	for _, g := range e.Groups {
		names = max(names, cells.Width(g))
	}
	names = min(names, width/3)
	b := bufio.NewWriter(w)
	writeLines(b, e.Title, width)
	if len(e.Groups) == 0 {
		writeLines(b, nothing, width)
	}
	for i, q := range e.Quantities {
		if len(e.Groups) == 0 {
			break
		}
		if i > 0 {
			fmt.Fprintln(b)
		}
		writeLines(b, e.label(q), width)
		e.panel(b, q, names, width)
	}
	for i, name := range e.Series {
		fmt.Fprintf(b, "%*s  %c %s\n", names, "", dots[i%len(dots)], cells.Cut(name, width-names-4))
	}
	for _, note := range e.Notes {
		writeLines(b, note, width)
	}
	return b.Flush()
}

func (e Estimates) panel(w io.Writer, q Quantity, names, width int) {
	room := width - names - 2
	s, ok := q.scale(room / 14)
	if !ok {
		s = scale{hi: 1}
	}
	one := newGrid(room, 1)
	for g, marks := range q.Marks {
		name := cells.Cut(e.Groups[g], names)
		for k, m := range marks {
			if k > 0 {
				name = ""
			}
			pad := strings.Repeat(" ", names-cells.Width(name))
			fmt.Fprintln(w, strings.TrimRight(pad+name+" │"+m.line(one, s, dots[k%len(dots)]), " "))
		}
	}
	one.abscissa(w, s, names)
}

// line is a mark and its whisker on a line as wide as g.
func (e Estimate) line(g grid, s scale, mark rune) string {
	if !e.has() {
		return " " + cells.Cut(e.Text, len(g[0])-1)
	}
	line := []rune(strings.Repeat(" ", len(g[0])))
	if s.lo < 0 && s.hi > 0 {
		line[g.column(s.at(0))] = '┊'
	}
	if r, known := e.whisker(); known {
		last := float64(len(line) - 1)
		low, high := int(math.Floor(s.at(r.Low)*last)), int(math.Ceil(s.at(r.High)*last)) // never shorter than it is
		if high-low > 1 {
			for i := low; i <= high; i++ {
				line[i] = '─'
			}
			line[low], line[high] = '├', '┤'
		}
	}
	line[g.column(s.at(e.Value))] = mark
	return string(line)
}
