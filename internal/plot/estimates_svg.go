package plot

import "io"

// Sizes of a drawing of estimates.
const (
	rowRoom    = 24  // for a group with one mark
	seriesRoom = 11  // for each further mark
	groupRoom  = 210 // the widest names of groups
	panelGap   = 60
	panelRoom  = 140 // a panel is at least so wide
	overhang   = 30  // of an axis's last number
)

// WriteSVG draws e: up to three panels side by side, with the groups' names at the left.
func (e Estimates) WriteSVG(w io.Writer) error {
	if err := e.check(); err != nil {
		return err
	}
	c := canvas{dotted: true}
	top := e.legend(&c, c.heading(e.Title))
	if len(e.Groups) == 0 {
		top += row
		c.text("tick", "start", margin, top, nothing)
	}
	names := 0.0
	for _, g := range e.Groups {
		names = max(names, width(elide(g, letter, groupRoom), letter))
	}
	left := margin + max(names+12, overhang/2)
	room := pageWidth - overhang - left
	across := min(3, len(e.Quantities), int((room+panelGap)/(panelRoom+panelGap)))
	wide := (room - float64(across-1)*panelGap) / float64(across)
	for first := 0; first < len(e.Quantities) && len(e.Groups) > 0; first += across {
		if first > 0 {
			top += 14
		}
		top = e.panels(&c, e.Quantities[first:min(first+across, len(e.Quantities))], top, left, wide)
	}
	foot := c.notes(top+6, e.Notes)
	return c.finish(w, e.Title, e.describe(), foot+margin+2)
}

// legend names the series, and returns where it ends.
func (e Estimates) legend(c *canvas, top float64) (bottom float64) {
	if len(e.Series) == 0 {
		return top
	}
	x, y := float64(margin), top+row
	for i, name := range e.Series {
		name = elide(name, letter, nameRoom)
		wide := 2*dotSize + 8 + width(name, letter)
		if x+wide > pageWidth-margin {
			x, y = margin, y+row+2
		}
		c.dot(i%len(onLight), x+dotSize, y-4.5, dotSize)
		c.text("", "start", x+2*dotSize+6, y, name)
		x += wide + 14
	}
	return y + 4
}

// panels draws quantities side by side, and returns where they end.
func (e Estimates) panels(c *canvas, quantities []Quantity, top, left, wide float64) (foot float64) {
	lines := 0
	for _, q := range quantities {
		lines = max(lines, len(wrap(e.label(q), letter, wide)))
	}
	data := top + float64(lines*row) + 8
	height := rowRoom + float64(e.series()-1)*seriesRoom
	bottom := data + height*float64(len(e.Groups))
	middle := func(g int) float64 { return data + height*(float64(g)+0.5) }
	for g, name := range e.Groups {
		c.text("", "end", left-10, middle(g)+4.5, elide(name, letter, groupRoom))
	}
	for i, q := range quantities {
		at := left + float64(i)*(wide+panelGap)
		for l, line := range wrap(e.label(q), letter, wide) {
			c.text("", "start", at, top+float64((l+1)*row), line)
		}
		for g := range e.Groups {
			c.rule("grid", at, middle(g), at+wide, middle(g))
		}
		s, ok := q.scale(int(wide / 75))
		if !ok {
			s = scale{hi: 1}
		}
		// Dots at an end of the axis stay within the panel.
		across := func(share float64) float64 { return at + dotSize + 2 + share*(wide-2*dotSize-4) }
		c.abscissa(s, across, data, bottom)
		if ok && s.lo < 0 && s.hi > 0 {
			zero := across(s.share(0))
			c.rule("zero", zero, data, zero, bottom)
		}
		for g, marks := range q.Marks {
			for k, m := range marks {
				y := middle(g) + seriesRoom*(float64(k)-float64(len(marks)-1)/2)
				c.estimate(k, m, across(0), y, func(x float64) float64 { return across(s.at(x)) })
			}
		}
	}
	return bottom + row + 6
}

// estimate draws a mark with its whisker; who points at it is told the value.
func (c *canvas) estimate(colour int, e Estimate, start, y float64, across func(float64) float64) {
	if !e.has() {
		c.text("quiet", "start", start, y+4, e.Text)
		return
	}
	c.WriteString("<g><title>")
	c.escape(e.Text)
	c.WriteString("</title>\n")
	r, known := e.whisker()
	if known {
		c.whisker(colour, across(r.Low), y, across(r.High), y, true)
		c.dot(colour%len(onLight), across(e.Value), y, dotSize)
	} else {
		c.hollow(colour, across(e.Value), y, dotSize)
	}
	c.WriteString("</g>\n")
}
