package terminal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/cells"
)

// A Grid is a table for people: columns with a title and cells.
type Grid []Column

type Column struct {
	Title  string
	Right  bool // aligned, as numbers are
	Beside bool // the error of the column before it; both are shown, or neither
	// Most is how many characters of a cell are shown, also in a pipe, unless --wide is
	// given; 0 is all.
	Most  int
	Cells []string
}

// Write prints the grid, without blanks at the ends of lines. On a terminal no line is
// wider than the terminal, unless --wide is given.
func (g Grid) Write(w io.Writer) {
	room, whole := 0, "| cat"
	o, ok := w.(*output)
	if ok && o.wide {
		g.write(w, 0, "")
		return
	}
	if ok {
		room, whole = o.width(0), cmp.Or(o.whole, whole)
	}
	g.shortened().write(w, room, whole)
}

// shortened is the grid with long cells cut.
func (g Grid) shortened() Grid {
	out := slices.Clone(g)
	for j, c := range out {
		if c.Most == 0 {
			continue
		}
		out[j].Cells = make([]string, len(c.Cells))
		for i, cell := range c.Cells {
			out[j].Cells[i] = Shorten(cell, c.Most)
		}
	}
	return out
}

// write prints the grid in room columns, or in full if room is 0, and says which option
// shows the whole of it.
func (g Grid) write(w io.Writer, room int, whole string) {
	rows, widths := 0, make([]int, len(g))
	for j, c := range g {
		rows = max(rows, len(c.Cells))
		widths[j] = cells.Width(c.Title)
		for _, cell := range c.Cells {
			widths[j] = max(widths[j], cells.Width(cell))
		}
	}
	shown, cut := len(g), false
	if room > 0 {
		shown, cut = g.fit(widths, room)
	}
	last := shown - 1
	line := func(cell func(j int) string) {
		var b strings.Builder
		for j, c := range g[:shown] {
			text := cells.Cut(cell(j), widths[j])
			pad := strings.Repeat(" ", widths[j]-cells.Width(text))
			switch {
			case c.Right:
				b.WriteString(pad + text)
			case j == last:
				b.WriteString(text)
			default:
				b.WriteString(text + pad)
			}
			if j < last {
				b.WriteString("  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	line(func(j int) string { return g[j].Title })
	line(func(j int) string { return strings.Repeat("-", widths[j]) })
	for i := range rows {
		line(func(j int) string { return g[j].Cells[i] })
	}
	var missing []string
	for _, c := range g[shown:] {
		missing = append(missing, c.Title)
	}
	switch {
	case len(missing) > 0:
		fmt.Fprintln(w, Wrap(fmt.Sprintf("… %s shows all; there was no room for %s", whole, cells.Cut(strings.Join(missing, ", "), room)), room))
	case cut:
		fmt.Fprintf(w, "… %s shows all\n", whole)
	}
}

// least is the narrowest that a column of text, or a title, is made.
const least = 10

// fit narrows columns until the grid has room, the widest first, and returns how many
// are shown then. Numbers are never cut: half a number is a wrong one.
func (g Grid) fit(widths []int, room int) (shown int, cut bool) {
	total := 2 * (len(g) - 1)
	floor := make([]int, len(g))
	for j, c := range g {
		total += widths[j]
		floor[j] = min(widths[j], least)
		if !c.Right && !c.Beside {
			continue
		}
		for _, cell := range c.Cells {
			floor[j] = max(floor[j], cells.Width(cell))
		}
	}
	for total > room {
		widest := -1
		for j := range g {
			if widths[j] > floor[j] && (widest < 0 || widths[j] > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
		cut = true
	}
	shown = len(g)
	for shown > 1 && total > room {
		shown--
		total -= widths[shown] + 2
		if g[shown].Beside && shown > 1 {
			shown--
			total -= widths[shown] + 2
		}
	}
	return shown, cut
}
