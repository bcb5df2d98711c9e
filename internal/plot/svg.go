package plot

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes of a drawing, in pixels where it is shown as large as it is.
const (
	pageWidth = 760
	margin    = 16
	letter    = 13 // the size of letters
	heading   = 16
	row       = 17 // from line to line of text
	swatch    = 20 // the sample of a line before its name
	nameRoom  = 176
	dataRoom  = 330 // the height of the data
)

// The colours that people with any colour vision tell apart (Okabe and Ito 2008), the
// strong ones first. On dark pages black is white, and blue lighter.
var (
	onLight = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#888888"}
	onDark  = []string{"#3b9fe0", "#e8742a", "#16b98b", "#d98fb8", "#ffffff", "#e69f00", "#8fd0f5", "#a0a0a0"}
)

// style is what every drawing begins with.
func style() string {
	var b strings.Builder
	b.WriteString(`text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:13px;fill:#1f2328}
.title{font-size:16px;font-weight:600}.tick{fill:#59636e}.paper{fill:#ffffff}
.grid{stroke:#e3e7eb}.axis{stroke:#818b98}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.dashed{stroke-dasharray:6 5;stroke-linecap:butt}
`)
	paint := func(colours []string) {
		for i, c := range colours {
			fmt.Fprintf(&b, ".c%d{stroke:%s}.d%d{fill:%s}", i, c, i, c)
		}
		b.WriteByte('\n')
	}
	paint(onLight)
	b.WriteString("@media (prefers-color-scheme:dark){text{fill:#e6edf3}.tick{fill:#9198a1}.paper{fill:#0d1117}.grid{stroke:#262c36}.axis{stroke:#656c76}\n")
	paint(onDark)
	b.WriteString("}\n")
	return b.String()
}

// A canvas collects the elements of an SVG.
type canvas struct{ bytes.Buffer }

// text writes a line of text; anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(c, `<text class="%s" text-anchor="%s" x="%s" y="%s">`, class, anchor, px(x), px(y))
	c.escape(s)
	c.WriteString("</text>\n")
}

func (c *canvas) escape(s string) {
	_ = xml.EscapeText(&c.Buffer, []byte(s)) // a buffer does not fail
}

func (c *canvas) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<path class="%s" d="M%s %sL%s %s"/>`+"\n", class, px(x1), px(y1), px(x2), px(y2))
}

func (c *canvas) dot(colour int, x, y, r float64) {
	fmt.Fprintf(c, `<circle class="d%d" cx="%s" cy="%s" r="%s"/>`+"\n", colour, px(x), px(y), px(r))
}

// finish writes the drawing around what was collected.
func (c *canvas) finish(w io.Writer, title, description string, height float64) error {
	var out canvas
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %s" width="%d" height="%s">`+"\n<title>", pageWidth, px(height), pageWidth, px(height))
	out.escape(title)
	out.WriteString("</title>\n<desc>")
	out.escape(description)
	out.WriteString("</desc>\n<style>\n" + style() + "</style>\n")
	fmt.Fprintf(&out, `<rect class="paper" width="%d" height="%s"/>`+"\n", pageWidth, px(height))
	out.Write(c.Bytes())
	out.WriteString("</svg>\n")
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}

// px prints a coordinate: a tenth of a pixel is as fine as anyone sees.
func px(x float64) string {
	return strconv.FormatFloat(math.Round(10*x)/10+0, 'f', -1, 64) // +0: there is no -0
}

// heading writes a title and returns where it ends.
func (c *canvas) heading(title string) (bottom float64) {
	bottom = margin
	for _, line := range wrap(title, heading, pageWidth-2*margin) {
		bottom += heading + 4
		c.text("title", "start", margin, bottom-5, line)
	}
	return bottom
}

// A legend is the name of a line beside its end.
type legend struct {
	block
	index int
	lines []string
	mean  float64
}

// WriteSVG draws p. The names stand right of the data, as near to the ends of their
// lines as they can.
func (p Plot) WriteSVG(w io.Writer) error {
	var c canvas
	p = p.merged()
	x, y, ok := p.scales(8, 6)
	if !ok {
		return errEmpty
	}
	names := make([]*legend, len(p.Lines))
	nameWidth, nameHeight := 0.0, 0.0
	for i, l := range p.Lines {
		n := &legend{index: i, lines: wrap(l.Name, letter, nameRoom)}
		for _, line := range n.lines {
			nameWidth = max(nameWidth, width(line, letter))
		}
		n.height = float64(row * max(1, len(n.lines)))
		nameHeight += n.height
		names[i] = n
	}
	labelWidth := 0.0
	for _, t := range y.ticks {
		labelWidth = max(labelWidth, width(t.label, letter))
	}
	top := c.heading(p.Title)
	for _, line := range wrap(p.Y.text(), letter, pageWidth-2*margin) {
		top += row
		c.text("", "start", margin, top, line)
	}
	top += 16
	left, right := margin+labelWidth+8, pageWidth-margin-nameWidth-swatch-16
	bottom := top + max(dataRoom, nameHeight)
	across := func(share float64) float64 { return left + share*(right-left) }
	up := func(share float64) float64 { return bottom - share*(bottom-top) }

	for _, t := range y.ticks {
		at := up(y.share(t.place))
		c.rule("grid", left, at, right, at)
		c.text("tick", "end", left-8, at+4.5, t.label)
	}
	free := math.Inf(-1)
	for _, t := range x.ticks {
		at := across(x.share(t.place))
		c.rule("grid", at, top, at, bottom)
		c.rule("axis", at, bottom, at, bottom+5)
		if half := width(t.label, letter) / 2; at-half > free {
			c.text("tick", "middle", at, bottom+row+3, t.label)
			free = at + half + 4
		}
	}
	c.rule("axis", left, bottom, right, bottom)
	foot := bottom + row + 8
	for _, line := range wrap(p.X.text(), letter, right-left) {
		foot += row
		c.text("", "middle", across(0.5), foot, line)
	}
	for i := len(p.Lines) - 1; i >= 0; i-- { // the first lies on top
		names[i].want, names[i].mean = p.line(&c, i, func(at Point) (float64, float64) { return across(x.at(at.X)), up(y.at(at.Y)) })
	}
	slices.SortStableFunc(names, func(a, b *legend) int {
		return cmp.Or(cmp.Compare(math.Round(a.want/8), math.Round(b.want/8)), cmp.Compare(a.mean, b.mean))
	})
	blocks := make([]*block, len(names))
	for i, n := range names {
		blocks[i] = &n.block
	}
	spread(blocks, top-row/2, bottom+row/2)
	for _, n := range names {
		first := n.top + row/2
		c.rule(p.class(n.index), right+12, first, right+12+swatch, first)
		for i, line := range n.lines {
			c.text("", "start", right+swatch+18, first+4.5+float64(i*row), line)
		}
	}
	return c.finish(w, p.Title, p.Y.text()+" against "+p.X.text(), foot+margin+6)
}

func (p Plot) class(i int) string {
	class := fmt.Sprintf("line c%d", i%len(onLight))
	if p.Lines[i].Dashed {
		class += " dashed"
	}
	return class
}

// line draws a line, and returns the height of its end and its mean height.
func (p Plot) line(c *canvas, i int, at func(Point) (x, y float64)) (end, mean float64) {
	end = math.Inf(1) // a line without a point is named last
	n := 0
	for _, run := range p.runs(p.Lines[i]) {
		if len(run) == 1 {
			x, y := at(run[0])
			c.dot(i%len(onLight), x, y, 3)
		}
		var path strings.Builder
		last := ""
		for _, point := range run {
			x, y := at(point)
			end, mean, n = y, mean+y, n+1
			if here := px(x) + " " + px(y); here != last {
				last = here
				path.WriteString(map[bool]string{true: "M", false: "L"}[path.Len() == 0] + here)
			}
		}
		fmt.Fprintf(c, `<path class="%s" d="%s"/>`+"\n", p.class(i), path.String())
	}
	return end, mean / float64(max(n, 1))
}
