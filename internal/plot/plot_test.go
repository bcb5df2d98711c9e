package plot

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
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
100 |                                     **
    |                                   **
    |                                 **
    |                              ***
    |                           ***
    |                        ****         oo
    |                    ****   ooooooooooo
    |                *****oooooo
    |     oooo*******o
  0 |**********
    +---------------------------------------
     0                 x                  10
     * x²
     o 4x
`, "\n")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	for i, l := range strings.Split(b.String(), "\n") {
		if len([]rune(l)) > 44 {
			t.Errorf("line %d is wider than asked for: %q", i, l)
		}
	}
}

func TestDrawings(t *testing.T) {
	for _, format := range Formats {
		var first, second bytes.Buffer
		for _, b := range []*bytes.Buffer{&first, &second} {
			if err := parabola().Write(b, format); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("two drawings as %s differ", format)
		}
		if format == "png" {
			if _, err := png.Decode(&first); err != nil {
				t.Error(err)
			}
		} else if !strings.Contains(first.String(), "Squares") || !strings.Contains(first.String(), "stroke-dasharray") {
			t.Error("the SVG has no title, or no dashed line")
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
	for _, format := range Formats {
		if err := p.Write(io.Discard, format); err != nil {
			t.Error(err)
		}
	}
	if err := p.WriteText(io.Discard, 0, 0); err != nil {
		t.Error(err)
	}
	one := Plot{Lines: []Line{{Name: "point", Points: []Point{{1, 1}}}}}
	if err := one.WriteText(io.Discard, 80, 20); err != nil {
		t.Error(err)
	}
	empty := Plot{Y: Axis{Log: true}, Lines: []Line{{Name: "none", Points: []Point{{1, -1}}}}}
	if err := empty.Write(io.Discard, "svg"); err == nil {
		t.Error("nothing is drawn as SVG")
	}
	if err := empty.WriteText(io.Discard, 80, 20); err == nil {
		t.Error("nothing is drawn as text")
	}
}

func TestFormat(t *testing.T) {
	for name, want := range map[string]string{"a.svg": "svg", "x/b.PNG": "png", "c.pdf": "", "png": ""} {
		if got, err := Format(name); got != want || (err == nil) != (want != "") {
			t.Errorf("Format(%q) = %q, %v", name, got, err)
		}
	}
}
