package plot

import (
	"strings"
	"testing"
)

// TestInline: a drawing in a page has no styles of its own, and every class that it has is in
// the style sheet.
func TestInline(t *testing.T) {
	e := Estimates{Title: "Visits </title><style>", Groups: []string{"<style>*{}</style>"}, Quantities: []Quantity{{Label: "visits", Marks: [][]Estimate{{{Value: 3, Range: Range{2, 4}, Text: "<b>3</b>"}}}}}}
	p := Plot{Title: "Lines", Lines: []Line{{Name: "a", Points: []Point{{0, 1}, {1, 2}}}}}
	sheet := Stylesheet("figure svg")
	if !strings.HasPrefix(sheet, "figure svg{") || strings.Count(sheet, "{") != strings.Count(sheet, "}") {
		t.Errorf("the style sheet is not closed:\n%s", sheet)
	}
	for _, d := range []Drawing{e, p} {
		svg, err := Inline(d)
		if err != nil {
			t.Fatal(err)
		}
		text := string(svg)
		if strings.Contains(text, "<style") || strings.Contains(text, "style=") || strings.Contains(text, "<b>") || !strings.HasPrefix(text, "<svg ") || !strings.HasSuffix(text, "</svg>\n") {
			t.Errorf("not inline:\n%s", text)
		}
		for _, rest := range strings.Split(text, `class="`)[1:] {
			names, _, _ := strings.Cut(rest, `"`)
			for _, name := range strings.Fields(names) {
				if !strings.Contains(sheet, "."+name+"{") && !strings.Contains(sheet, "."+name+" ") && name != "joint" {
					t.Errorf("class %s has no style", name)
				}
			}
		}
	}
}
