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

// dotStyle is what drawings with dots and whiskers have besides. A hollow dot is a value
// whose range is unknown.
const dotStyle = `.whisker{fill:none;stroke-width:1.8;stroke-linecap:round}.hollow{fill:#ffffff;stroke-width:1.8}.joint{fill:none;stroke-width:1.2;stroke-opacity:.45}
.zero{stroke:#818b98}.quiet{fill:#59636e;font-size:12px;stroke:#ffffff;stroke-width:6;paint-order:stroke}
@media (prefers-color-scheme:dark){.hollow{fill:#0d1117}.zero{stroke:#656c76}.quiet{fill:#9198a1;stroke:#0d1117}}
`

// areaStyle is what drawings with filled lines have besides.
const areaStyle = `.area{stroke:none;fill-opacity:.28}
`

// A canvas collects the elements of an SVG.
type canvas struct {
	bytes.Buffer
	dotted, filled bool // it needs dotStyle, areaStyle
}

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
	out.WriteString("</desc>\n<style>\n" + style())
	if c.dotted {
		out.WriteString(dotStyle)
	}
	if c.filled {
		out.WriteString(areaStyle)
	}
	out.WriteString("</style>\n")
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

// notes writes lines of small letters and returns where they end.
func (c *canvas) notes(top float64, notes []string) (bottom float64) {
	for _, note := range notes {
		for _, line := range wrap(note, letter, pageWidth-2*margin) {
			top += row
			c.text("tick", "start", margin, top, line)
		}
	}
	return top
}

// A legend is the name of a line beside its end.
type legend struct {
	block
	index int
	lines []string
	mean  float64
}

// A frame is how a plot is laid out on its page.
type frame struct {
	top    float64
	height float64 // of the data, at least
	labels float64 // the room left of the data
	names  float64 // the room right of the data
}

// WriteSVG draws p. The names stand right of the data, as near to the ends of their
// lines as they can.
func (p Plot) WriteSVG(w io.Writer) error {
	var c canvas
	p = p.merged()
	f := frame{top: c.heading(p.Title), height: dataRoom, labels: p.labelRoom(dataRoom), names: p.nameRoom()}
	foot, ok := p.draw(&c, f)
	if !ok {
		return errEmpty
	}
	return c.finish(w, p.Title, p.description(), foot+margin+6)
}

func (p Plot) description() string { return p.Y.text() + " against " + p.X.text() }

// yTicks is how many numbers an axis of a height has, about.
func yTicks(height float64) int { return max(2, int(height/55)) }

// labelRoom is how wide the numbers of the y axis are.
func (p Plot) labelRoom(height float64) (room float64) {
	_, y, _ := p.scales(8, yTicks(height))
	for _, t := range y.ticks {
		room = max(room, width(t.label, letter))
	}
	return room
}

// nameRoom is how wide the names of the lines are.
func (p Plot) nameRoom() (room float64) {
	for _, l := range p.Lines {
		for _, line := range wrap(l.Name, letter, nameRoom) {
			room = max(room, width(line, letter))
		}
	}
	return room
}

// draw draws what lies below the title, and returns where it ends.
func (p Plot) draw(c *canvas, f frame) (foot float64, ok bool) {
	x, y, ok := p.scales(8, yTicks(f.height))
	if !ok {
		return f.top, false
	}
	names := make([]*legend, len(p.Lines))
	nameHeight := 0.0
	for i, l := range p.Lines {
		n := &legend{index: i, lines: wrap(l.Name, letter, nameRoom)}
		n.height = float64(row * max(1, len(n.lines)))
		nameHeight += n.height
		names[i] = n
	}
	top := f.top
	for _, line := range wrap(p.Y.text(), letter, pageWidth-2*margin) {
		top += row
		c.text("", "start", margin, top, line)
	}
	top += 16
	left, right := margin+f.labels+8, pageWidth-margin-f.names-swatch-16
	if f.names == 0 { // the axis's last number needs room
		right = pageWidth - margin
		for _, t := range x.ticks {
			right = min(right, pageWidth-margin-width(t.label, letter)/2)
		}
	}
	bottom := top + max(f.height, nameHeight)
	across := func(share float64) float64 { return left + share*(right-left) }
	up := func(share float64) float64 { return bottom - share*(bottom-top) }

	for _, t := range y.ticks {
		at := up(y.share(t.place))
		c.rule("grid", left, at, right, at)
		c.text("tick", "end", left-8, at+4.5, t.label)
	}
	if p.dotted() && !p.Y.Log && y.lo < 0 && y.hi > 0 {
		c.rule("zero", left, up(y.share(0)), right, up(y.share(0)))
	}
	c.abscissa(x, across, top, bottom)
	foot = bottom + row + 8
	for _, line := range wrap(p.X.text(), letter, right-left) {
		foot += row
		c.text("", "middle", across(0.5), foot, line)
	}
	place := func(at Point) (float64, float64) { return across(x.at(at.X)), up(y.at(at.Y)) }
	for i := len(p.Lines) - 1; i >= 0; i-- { // the first lies on top
		names[i].want, names[i].mean = p.line(c, i, place)
	}
	if p.dotted() {
		p.dots(c, right-left, place)
	}
	if f.names == 0 {
		return foot, true
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
		p.sample(c, n.index, right+12, first)
		for i, line := range n.lines {
			c.text("", "start", right+swatch+18, first+4.5+float64(i*row), line)
		}
	}
	return foot, true
}

// abscissa draws the axis below the data, with the numbers for which there is room.
func (c *canvas) abscissa(x scale, across func(share float64) float64, top, bottom float64) {
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
	c.rule("axis", across(0), bottom, across(1), bottom)
}

// sample draws what a line looks like, before its name.
func (p Plot) sample(c *canvas, i int, x, y float64) {
	if p.Lines[i].Filled {
		fmt.Fprintf(c, `<path class="area d%d" d="M%s %sh%dv12h-%dZ"/>`+"\n", i%len(onLight), px(x), px(y-6), swatch, swatch)
		return
	}
	if p.Lines[i].Ranges == nil {
		c.rule(p.class(i), x, y, x+swatch, y)
		return
	}
	c.dot(i%len(onLight), x+swatch/2, y, dotSize)
}

func (p Plot) class(i int) string {
	class := fmt.Sprintf("line c%d", i%len(onLight))
	if p.Lines[i].Dashed {
		class += " dashed"
	}
	if p.Lines[i].Ranges != nil {
		class = strings.Replace(class, "line", "joint", 1)
	}
	return class
}

// line draws a line, and returns the height of its end and its mean height.
func (p Plot) line(c *canvas, i int, at func(Point) (x, y float64)) (end, mean float64) {
	end = math.Inf(1) // a line without a point is named last
	n := 0
	loose, dotted := p.Lines[i].Loose, p.Lines[i].Ranges != nil
	for _, run := range p.runs(p.Lines[i]) {
		if len(run) == 1 && !dotted {
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
		switch {
		case p.Lines[i].Filled:
			c.filled = true
			left, ground := at(Point{run[0].X, 0})
			right, _ := at(run[len(run)-1])
			fmt.Fprintf(c, `<path class="area d%d" d="%sL%s %sL%s %sZ"/>`+"\n", i%len(onLight), path.String(), px(right), px(ground), px(left), px(ground))
		case !loose:
			fmt.Fprintf(c, `<path class="%s" d="%s"/>`+"\n", p.class(i), path.String())
		}
	}
	return end, mean / float64(max(n, 1))
}

// Sizes of what dots are drawn with.
const (
	dotSize = 4
	capSize = 3 // to each side of a whisker's end
)

// dots draws the points that have ranges, on so much room from left to right. Where lines
// have points at one place, these stand side by side.
func (p Plot) dots(c *canvas, room float64, place func(Point) (x, y float64)) {
	c.dotted = true
	apart := p.apart() * room
	lines := float64(len(p.Lines))
	step := min(7, 0.6*apart/lines)
	size := min(dotSize, max(1.5, 0.35*min(apart, lines*step*3)))
	for i, l := range p.Lines {
		shift := step * (float64(i) - (lines-1)/2)
		for k, at := range l.Points {
			if !p.drawable(at) {
				continue
			}
			x, y := place(at)
			x += shift
			r, known := p.whisker(l, k)
			if known {
				_, low := place(Point{at.X, r.Low})
				_, high := place(Point{at.X, r.High})
				c.whisker(i, x, low, x, high, apart/lines > 4*capSize)
			}
			if known || l.Ranges == nil {
				c.dot(i%len(onLight), x, y, size)
			} else {
				c.hollow(i, x, y, size)
			}
		}
	}
}

// apart is how far the nearest two of the dotted places lie apart, as a share of the axis.
func (p Plot) apart() float64 {
	x, _, _ := p.scales(8, 6)
	var places []float64
	for _, l := range p.Lines {
		for _, at := range l.Points {
			if l.Ranges != nil && p.drawable(at) {
				places = append(places, x.at(at.X))
			}
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	least := 1.0
	for i := 1; i < len(places); i++ {
		least = min(least, places[i]-places[i-1])
	}
	return least
}

// whisker draws a range, with caps at its ends where there is room for them.
func (c *canvas) whisker(colour int, x1, y1, x2, y2 float64, caps bool) {
	d := fmt.Sprintf("M%s %sL%s %s", px(x1), px(y1), px(x2), px(y2))
	if caps && math.Abs(x2-x1)+math.Abs(y2-y1) > 2*dotSize+4 { // what is shorter lies under its dot
		for _, end := range [][2]float64{{x1, y1}, {x2, y2}} {
			if x1 == x2 {
				d += fmt.Sprintf("M%s %sh%d", px(end[0]-capSize), px(end[1]), 2*capSize)
			} else {
				d += fmt.Sprintf("M%s %sv%d", px(end[0]), px(end[1]-capSize), 2*capSize)
			}
		}
	}
	fmt.Fprintf(c, `<path class="whisker c%d" d="%s"/>`+"\n", colour%len(onLight), d)
}

func (c *canvas) hollow(colour int, x, y, r float64) {
	fmt.Fprintf(c, `<circle class="hollow c%d" cx="%s" cy="%s" r="%s"/>`+"\n", colour%len(onLight), px(x), px(y), px(r-0.5))
}
