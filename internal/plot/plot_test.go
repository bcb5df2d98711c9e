package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func parabola() Plot {
	p := Plot{Title: "Squares", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Lines: []Line{{Name: "x²"}, {Name: "4x", Dashed: true}}}
	for x := 0.0; x <= 10; x++ {
		p.Lines[0].Points = append(p.Lines[0].Points, Point{x, x * x})
		p.Lines[1].Points = append(p.Lines[1].Points, Point{x, 4 * x})
	}
	return p
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := parabola().WriteText(&b, 44, 10); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
Squares
y
100 ┤                                     **
    │                                   **
    │                                 **
    │                              ***
    │                           ***
 50 ┤                        ****         oo
    │                    ****   ooooooooooo
    │                *****oooooo
    │     oooo*******o
  0 ┤**********
    └┬──────────────────┬──────────────────┬
     0                  5                 10
                        x
     * x²
     o 4x
`, "\n")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Any plot is drawn so that its names stand beside the data and nothing is cut off or
// covered; and each drawing is the same each time.
func TestLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		p := random(r)
		var first, second bytes.Buffer
		if err := errors.Join(p.WriteSVG(&first), p.WriteSVG(&second)); err != nil {
			t.Fatalf("plot %d: %v", i, err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("plot %d: two drawings differ", i)
		}
		if err := laidOut(first.Bytes()); err != nil {
			t.Fatalf("plot %d: %v\n%+v\n%s", i, err, p, first.String())
		}
		columns := 40 + r.IntN(100)
		var text strings.Builder
		if err := p.WriteText(&text, columns, 8+r.IntN(20)); err != nil {
			t.Fatalf("plot %d: %v", i, err)
		}
		for _, line := range strings.Split(text.String(), "\n") {
			if utf8.RuneCountInString(line) > columns {
				t.Fatalf("plot %d: wider than %d: %q", i, columns, line)
			}
		}
	}
}

// random returns a plot with numbers of any size, many lines and long names.
func random(r *rand.Rand) Plot {
	words := func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString([]string{"a", "gaussian(1.1),", "Wahrscheinlichkeitsverteilung", "<&>\"'\x01", "ε ≤ 1"}[r.IntN(5)] + " ")
		}
		return b.String()
	}
	p := Plot{Title: words(12), X: Axis{Label: words(3), Log: r.IntN(2) == 0}, Y: Axis{Label: words(3), Log: r.IntN(2) == 0}}
	any := func(a Axis, size float64) float64 {
		if a.Log {
			return math.Exp(r.NormFloat64() * size)
		}
		return size * r.NormFloat64() * 1e3
	}
	xSize, ySize := math.Exp(2*r.NormFloat64()), math.Exp(2*r.NormFloat64())
	for range 1 + r.IntN(30) {
		l := Line{Name: words(8), Dashed: r.IntN(3) == 0, Points: []Point{{any(p.X, xSize), any(p.Y, ySize)}}}
		for range r.IntN(20) {
			l.Points = append(l.Points, Point{any(p.X, xSize), any(p.Y, ySize)})
		}
		slices.SortFunc(l.Points, func(a, b Point) int { return int(math.Copysign(1, a.X-b.X)) })
		p.Lines = append(p.Lines, l)
	}
	return p
}

// A drawn is an SVG that is read back.
type drawn struct {
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Title  string  `xml:"title"`
	Desc   string  `xml:"desc"`
	Texts  []struct {
		Class  string  `xml:"class,attr"`
		Anchor string  `xml:"text-anchor,attr"`
		X      float64 `xml:"x,attr"`
		Y      float64 `xml:"y,attr"`
		Text   string  `xml:",chardata"`
	} `xml:"text"`
	Paths []struct {
		Class string `xml:"class,attr"`
		D     string `xml:"d,attr"`
	} `xml:"path"`
}

// A box is what a text covers.
type box struct {
	left, right, top, bottom float64
	text                     string
}

// boxes are what the texts of a drawing cover, each within the page and none over another.
func boxes(svg []byte) (doc drawn, all []box, err error) {
	if err := xml.Unmarshal(svg, &doc); err != nil {
		return doc, nil, err
	}
	for _, text := range doc.Texts {
		size := map[string]float64{"title": heading, "quiet": 12}[text.Class]
		if size == 0 {
			size = letter
		}
		wide := width(text.Text, size)
		b := box{left: text.X, right: text.X + wide, top: text.Y - 0.7*size, bottom: text.Y, text: text.Text}
		switch text.Anchor {
		case "middle":
			b.left, b.right = b.left-wide/2, b.right-wide/2
		case "end":
			b.left, b.right = b.left-wide, b.right-wide
		}
		if b.left < 0 || b.top < 0 || b.right > doc.Width || b.bottom > doc.Height {
			return doc, nil, fmt.Errorf("%q is cut off at %+v", text.Text, b)
		}
		for _, other := range all {
			if b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom {
				return doc, nil, fmt.Errorf("%q lies over %q", text.Text, other.text)
			}
		}
		all = append(all, b)
	}
	return doc, all, nil
}

// laidOut checks a drawing of one plot: its texts, no text over the data, and no line
// outside the data.
func laidOut(svg []byte) error {
	doc, texts, err := boxes(svg)
	if err != nil {
		return err
	}
	data := box{left: math.Inf(1), right: math.Inf(-1), top: math.Inf(1), bottom: math.Inf(-1)}
	for _, path := range doc.Paths {
		if path.Class != "grid" {
			continue
		}
		for _, pair := range strings.FieldsFunc(path.D, func(r rune) bool { return r == 'M' || r == 'L' }) {
			x, y, _ := strings.Cut(pair, " ")
			px, err := strconv.ParseFloat(x, 64)
			if err != nil {
				return err
			}
			py, err := strconv.ParseFloat(y, 64)
			if err != nil {
				return err
			}
			data.left, data.right = min(data.left, px), max(data.right, px)
			data.top, data.bottom = min(data.top, py), max(data.bottom, py)
		}
	}
	for _, b := range texts {
		if b.left < data.right && data.left < b.right && b.top < data.bottom && data.top < b.bottom {
			return fmt.Errorf("%q lies over the data", b.text)
		}
	}
	return nil
}

// The numbers of an axis are 1, 2 or 5 times a power of ten apart, neither few nor many,
// and print short; the axis ends near its data.
func TestTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a := Axis{}
		lo := r.NormFloat64() * math.Pow(10, float64(r.IntN(14)-6))
		hi := lo + math.Abs(r.NormFloat64())*math.Pow(10, float64(r.IntN(14)-6))
		if !(hi-lo > 1e-6*math.Abs(hi)) {
			continue
		}
		s := reach{a, lo, hi}.scale(6, loose)
		if len(s.ticks) < 3 || len(s.ticks) > 8 {
			t.Fatalf("%d numbers from %v to %v", len(s.ticks), lo, hi)
		}
		if span := hi - lo; s.lo > lo+1e-8*span || s.hi < hi-1e-8*span || s.lo < lo-0.081*span || s.hi > hi+0.081*span {
			t.Fatalf("the axis of %v to %v goes from %v to %v", lo, hi, s.lo, s.hi)
		}
		for _, tick := range s.ticks {
			if hair := 1e-8 * (hi - lo); tick.place < s.lo-hair || tick.place > s.hi+hair {
				t.Fatalf("from %v to %v the number %s lies outside", s.lo, s.hi, tick.label)
			}
		}
		step := s.ticks[1].place - s.ticks[0].place
		digit := step / math.Pow(10, math.Floor(math.Log10(step)+1e-6))
		if d := math.Round(digit); math.Abs(digit-d) > 1e-3 || !slices.Contains([]float64{1, 2, 5}, d) {
			t.Fatalf("from %v to %v in steps of %v", lo, hi, step)
		}
	}
	for _, test := range []struct {
		axis   Axis
		lo, hi float64
		want   string
	}{
		{Axis{}, 1, 175, "0 50 100 150"},
		{Axis{}, 0.5, 0.99, "0.5 0.6 0.7 0.8 0.9 1"},
		{Axis{}, -3e7, 1e7, "−3×10⁷ −2×10⁷ −10⁷ 0 10⁷"},
		{Axis{}, 0, 14063, "0 5,000 10,000 15,000"},
		{Axis{}, 7, 7, "0 5 10 15"},
		{Axis{Zero: true}, 7, 8, "0 2 4 6 8"},
		{Axis{Zero: true}, -8, -7, "−8 −6 −4 −2 0"},
		{Axis{Log: true}, 0.1, 10, "0.1 0.2 0.5 1 2 5 10"},
		{Axis{Log: true}, 1e-6, 1, "10⁻⁶ 10⁻⁵ 10⁻⁴ 0.001 0.01 0.1 1"},
		{Axis{Log: true}, 1e-21, 1, "10⁻²⁰ 10⁻¹⁵ 10⁻¹⁰ 10⁻⁵ 1"},
		{Axis{Log: true}, 3, 7, "3 4 5 6 7"},
	} {
		r := test.axis.reach()
		r.include(test.lo)
		r.include(test.hi)
		var got []string
		for _, tick := range r.scale(6, loose).ticks {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v to %v: %v, want %s", test.lo, test.hi, got, test.want)
		}
	}
}

// What cannot be drawn leaves a gap, and a plot of nothing is refused.
func TestGaps(t *testing.T) {
	p := parabola()
	p.Y.Log = true
	p.Lines[0].Points[5].Y = math.NaN()
	p.Lines[0].Points[7].Y = math.Inf(1)
	if runs := p.runs(p.Lines[0]); len(runs) != 3 || len(runs[0]) != 4 {
		t.Errorf("%d runs of the line, want 3 (without 0, NaN and infinity)", len(runs))
	}
	wild := Plot{Lines: []Line{{Points: []Point{{-1e300, 5e-324}, {1e300, 1}, {math.MaxFloat64, 2}, {1, 1 + 1e-16}}}}}
	one := Plot{Lines: []Line{{Name: "point", Points: []Point{{1, 1}}}}}
	for _, p := range []Plot{p, one, wild} {
		var b bytes.Buffer
		if err := errors.Join(p.WriteSVG(&b), p.WriteText(io.Discard, 0, 0)); err != nil {
			t.Error(err)
		}
		if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("no number:\n%s", s)
		}
	}
	empty := Plot{Y: Axis{Log: true}, Lines: []Line{{Name: "none", Points: []Point{{1, -1}}}}}
	if empty.WriteSVG(io.Discard) == nil || empty.WriteText(io.Discard, 80, 20) == nil {
		t.Error("nothing is drawn")
	}
}

// Lines that are the same are drawn once, under all their names.
func TestSameLines(t *testing.T) {
	p := parabola()
	p.Lines = append(p.Lines, Line{Name: "twin", Points: p.Lines[0].Points})
	if m := p.merged(); len(m.Lines) != 2 || m.Lines[0].Name != "x² and twin" || p.Lines[0].Name != "x²" {
		t.Errorf("%+v", m.Lines)
	}
}

// Lines differ from the paper by at least 2:1 of contrast, texts by 4.5:1 (WCAG 2.1).
func TestContrast(t *testing.T) {
	luminance := func(hex string) float64 {
		n, err := strconv.ParseUint(hex[1:], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		linear := func(shift int) float64 {
			c := float64(n>>shift&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
	}
	contrast := func(a, b string) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	for _, mode := range []struct {
		paper   string
		lines   []string
		letters []string
	}{{"#ffffff", onLight, []string{"#1f2328", "#59636e"}}, {"#0d1117", onDark, []string{"#e6edf3", "#9198a1"}}} {
		for _, c := range mode.lines {
			if got := contrast(c, mode.paper); got < 2 {
				t.Errorf("%s on %s: %.2f", c, mode.paper, got)
			}
		}
		for _, c := range append(mode.letters, mode.paper) {
			if !strings.Contains(style(), c) {
				t.Errorf("the style lacks %s", c)
			}
			if got := contrast(c, mode.paper); c != mode.paper && got < 4.5 {
				t.Errorf("%s on %s: %.2f", c, mode.paper, got)
			}
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]bool{"a.svg": true, "x/b.SVG": true, "c.png": false, "c.pdf": false, "svg": false} {
		if err := CheckName(name); (err == nil) != want {
			t.Errorf("CheckName(%q): %v", name, err)
		}
	}
}
