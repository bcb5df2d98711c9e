package house_test

// Drawings of who imports whom: packages in layers, importers above what they import
// (Sugiyama, Tagawa and Toda 1981).

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// A graph has for each name those that it imports.
type graph map[string]map[string]bool

func (g graph) add(from, to string) {
	if from != to {
		g.node(from)
		g.node(to)
		g[from][to] = true
	}
}

func (g graph) node(name string) {
	if g[name] == nil {
		g[name] = map[string]bool{}
	}
}

func (g graph) names() []string { return slices.Sorted(maps.Keys(g)) }

// depths are the lengths of the longest ways down, or an error that names a circle.
func (g graph) depths() (map[string]int, error) {
	depths, open := map[string]int{}, []string{}
	var visit func(string) error
	visit = func(n string) error {
		if _, done := depths[n]; done {
			return nil
		}
		if i := slices.Index(open, n); i >= 0 {
			return fmt.Errorf("%s import one another in a circle", strings.Join(open[i:], ", "))
		}
		open = append(open, n)
		d := 0
		for to := range g[n] {
			if err := visit(to); err != nil {
				return err
			}
			d = max(d, depths[to]+1)
		}
		open, depths[n] = open[:len(open)-1], d
		return nil
	}
	for _, n := range g.names() {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return depths, nil
}

// reduced leaves out what a longer way says as well. The graph has no circles.
func (g graph) reduced() graph {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		for n := range g[from] {
			if n == to || reaches(n, to) {
				return true
			}
		}
		return false
	}
	out := graph{}
	for from, tos := range g {
		out.node(from)
		for to := range tos {
			longer := false
			for via := range tos {
				longer = longer || via != to && reaches(via, to)
			}
			if !longer {
				out.add(from, to)
			}
		}
	}
	return out
}

// A place is a box of the drawing, or, without a name, where a line passes a layer.
type place struct {
	name     string
	layer    int
	x, width float64
	up, down []*place
}

const (
	characterWidth = 7.3 // of the monospaced letters, at 12 px
	boxHeight      = 28.0
	layerHeight    = 74.0
	gap            = 18.0
	margin         = 16.0
)

// svg draws a graph without circles. title is read out in place of the picture.
func (g graph) svg(title string) (string, error) {
	depths, err := g.depths()
	if err != nil {
		return "", err
	}
	layers, boxes := g.reduced().layers(depths)
	order(layers)
	width := spread(layers)
	height := float64(len(layers)-1)*layerHeight + boxHeight + 2*margin
	y := func(p *place) float64 { return margin + float64(len(layers)-1-p.layer)*layerHeight }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">
<title>%s</title>
<style>
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; text-anchor: middle; fill: #1b1f24 }
rect { fill: #e8f1fb; stroke: #2f6fb3; rx: 5 }
rect.internal { fill: #f3f4f6; stroke: #7a828c }
path { fill: none; stroke: #8a929c; stroke-width: 1.2 }
polygon { fill: #8a929c }
.paper { fill: #ffffff; stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ed } rect { fill: #16324f; stroke: #6fa8dc } rect.internal { fill: #2a2f36; stroke: #8b939d } .paper { fill: #0f1216 }
}
</style>
<rect class="paper" width="100%%" height="100%%"/>
`, width, height, width, height, html.EscapeString(title))
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		from := boxes[name]
		for _, to := range from.down {
			path, at := fmt.Sprintf("M%.1f %.1f", from.x, y(from)+boxHeight), from
			for {
				below := y(at) + boxHeight
				middle := (below + y(to)) / 2
				end := y(to)
				if to.name != "" {
					end -= 5 // the point of the arrow
				}
				path += fmt.Sprintf(" C%.1f %.1f %.1f %.1f %.1f %.1f", at.x, middle, to.x, middle, to.x, end)
				if to.name != "" {
					break
				}
				path += fmt.Sprintf(" V%.1f", y(to)+boxHeight)
				at, to = to, to.down[0]
			}
			fmt.Fprintf(&b, "<path d=\"%s\"/>\n<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", path, to.x, y(to), to.x-4, y(to)-7, to.x+4, y(to)-7)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		p, class := boxes[name], ""
		if strings.Contains("/"+name+"/", "/internal/") {
			class = ` class="internal"`
		}
		fmt.Fprintf(&b, "<rect%s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\"/>\n<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			class, p.x-p.width/2, y(p), p.width, boxHeight, p.x, y(p)+18, html.EscapeString(short(name)))
	}
	return b.String() + "</svg>\n", nil
}

// short is how a box writes a name: the path to an internal package without the word.
func short(name string) string { return strings.Replace(name, "/internal/", "/…/", 1) }

// layers puts each name as deep as its depth, the lowest layer first, with a place for
// each line in each layer between.
func (g graph) layers(depths map[string]int) (layers [][]*place, boxes map[string]*place) {
	boxes = map[string]*place{}
	put := func(p *place) *place {
		for len(layers) <= p.layer {
			layers = append(layers, nil)
		}
		layers[p.layer] = append(layers[p.layer], p)
		return p
	}
	for _, n := range g.names() {
		boxes[n] = put(&place{name: n, layer: depths[n], width: float64(len([]rune(short(n))))*characterWidth + 20})
	}
	for _, from := range g.names() {
		for _, to := range slices.Sorted(maps.Keys(g[from])) {
			at := boxes[from]
			for l := at.layer - 1; l > boxes[to].layer; l-- {
				bend := put(&place{layer: l, width: 4})
				at.down, bend.up = append(at.down, bend), append(bend.up, at)
				at = bend
			}
			at.down, boxes[to].up = append(at.down, boxes[to]), append(boxes[to].up, at)
		}
	}
	return layers, boxes
}

// order makes lines cross less: each layer in the order of the means of its neighbours,
// of one side after the other.
func order(layers [][]*place) {
	number := func(layer []*place) {
		for i, p := range layer {
			p.x = float64(i) - float64(len(layer))/2
		}
	}
	for _, layer := range layers {
		number(layer)
	}
	for range 24 {
		for _, side := range []func(*place) []*place{func(p *place) []*place { return p.down }, func(p *place) []*place { return p.up }} {
			for _, layer := range layers {
				slices.SortStableFunc(layer, func(a, b *place) int { return cmp.Compare(mean(a, side(a)), mean(b, side(b))) })
				number(layer)
			}
		}
	}
}

func mean(p *place, of []*place) float64 {
	if len(of) == 0 {
		return p.x
	}
	sum := 0.0
	for _, q := range of {
		sum += q.x
	}
	return sum / float64(len(of))
}

// spread sets the middles of all places, near those of their neighbours, and returns the
// width of the drawing.
func spread(layers [][]*place) float64 {
	apart := func(a, b *place) float64 { return (a.width+b.width)/2 + gap }
	for range 60 {
		for _, layer := range layers {
			n := len(layer)
			want, left, right := make([]float64, n), make([]float64, n), make([]float64, n)
			for i, p := range layer {
				want[i] = mean(p, slices.Concat(p.up, p.down))
				if left[i] = want[i]; i > 0 {
					left[i] = max(want[i], left[i-1]+apart(layer[i-1], p))
				}
			}
			for i := n - 1; i >= 0; i-- {
				if right[i] = want[i]; i < n-1 {
					right[i] = min(want[i], right[i+1]-apart(layer[i], layer[i+1]))
				}
			}
			for i, p := range layer { // the mean of two ways that keep distances keeps them
				p.x = (left[i] + right[i]) / 2
			}
		}
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, layer := range layers {
		for _, p := range layer {
			least, most = min(least, p.x-p.width/2), max(most, p.x+p.width/2)
		}
	}
	for _, layer := range layers {
		for _, p := range layer {
			p.x += margin - least
		}
	}
	return most - least + 2*margin
}

func TestDrawing(t *testing.T) {
	g := graph{}
	for _, e := range []string{"a b", "b c", "a c", "a d", "d c", "e c"} {
		from, to, _ := strings.Cut(e, " ")
		g.add(from, to)
	}
	text, err := g.svg("<x>")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "<path"); n != 5 { // a imports c by way of b
		t.Errorf("%d lines, want 5", n)
	}
	if !strings.Contains(text, "<title>&lt;x&gt;</title>") || strings.Contains(text, "NaN") {
		t.Error(text)
	}
	layers, _ := g.reduced().layers(map[string]int{"c": 0, "b": 1, "d": 1, "e": 1, "a": 2})
	order(layers)
	spread(layers)
	for _, layer := range layers {
		for i := 1; i < len(layer); i++ {
			if a, b := layer[i-1], layer[i]; b.x-a.x < (a.width+b.width)/2+gap-1e-9 {
				t.Errorf("%s and %s overlap", a.name, b.name)
			}
		}
	}
	g.add("c", "a")
	if _, err := g.svg(""); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle is drawn: %v", err)
	}
}
