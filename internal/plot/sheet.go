package plot

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/cells"
)

// A Sheet is several plots below one title, one below the other, whose axes of x are
// the same.
type Sheet struct {
	Title string
	Plots []Plot
	Notes []string // at the foot
	About string   // in words, for who cannot see it; what the axes say if ""
}

// WriteSVG draws s. A plot without a point says so.
func (s Sheet) WriteSVG(w io.Writer) error {
	if len(s.Plots) == 0 {
		return errEmpty
	}
	var c canvas
	f := frame{height: s.height()}
	plots := make([]Plot, len(s.Plots))
	for i, p := range s.Plots {
		plots[i] = p.merged()
		f.labels, f.names = max(f.labels, plots[i].labelRoom(f.height)), max(f.names, plots[i].nameRoom())
	}
	foot := c.heading(s.Title)
	var axes []string
	for i, p := range plots {
		if f.top = foot; i > 0 {
			f.top += 14
		}
		var ok bool
		if foot, ok = p.draw(&c, f); !ok {
			foot = c.empty(f.top, p.Y.Label)
		}
		axes = append(axes, p.description())
	}
	foot = c.notes(foot+8, s.Notes)
	about := s.About
	if about == "" {
		about = strings.Join(axes, "; ")
	}
	return c.finish(w, s.Title, about, foot+margin+6)
}

// height is that of the data of one plot.
func (s Sheet) height() float64 {
	switch len(s.Plots) {
	case 1:
		return dataRoom
	case 2:
		return 220
	}
	return 165
}

const nothing = "there is nothing to draw"

// empty says what has nothing to draw.
func (c *canvas) empty(top float64, label string) (foot float64) {
	for _, line := range wrap(label, letter, pageWidth-2*margin) {
		top += row
		c.text("", "start", margin, top, line)
	}
	top += row
	c.text("tick", "start", margin, top, nothing)
	return top
}

// WriteText draws s in characters; each plot has its share of the height, and 8 rows at
// least.
func (s Sheet) WriteText(w io.Writer, width, height int) error {
	if len(s.Plots) == 0 {
		return errEmpty
	}
	width = max(width, 40)
	b := bufio.NewWriter(w)
	writeLines(b, s.Title, width)
	for i, p := range s.Plots {
		if i > 0 {
			fmt.Fprintln(b)
		}
		p.Title = ""
		switch _, _, ok := p.scales(2, 2); {
		case !ok:
			writeLines(b, p.Y.Label+": "+nothing, width)
		default:
			if err := p.WriteText(b, width, max(8, height/len(s.Plots))); err != nil {
				return err
			}
		}
	}
	for _, note := range s.Notes {
		writeLines(b, note, width)
	}
	return b.Flush()
}

func writeLines(w io.Writer, s string, width int) {
	for _, line := range fold(s, width) {
		fmt.Fprintln(w, line)
	}
}

// fold breaks a text at its blanks into lines of at most width columns; what has no
// blank is cut.
func fold(s string, width int) []string {
	lines := cells.Wrap(s, width)
	for i, line := range lines {
		lines[i] = cells.Cut(line, width)
	}
	return lines
}
