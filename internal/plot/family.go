package plot

import "math"

// A Family collects lines by name, in the order of their first points.
type Family struct {
	names []string
	lines map[string]*Line
}

// Add adds a point to the line of a name.
func (f *Family) Add(name string, dashed bool, x, y float64) {
	if f.lines == nil {
		f.lines = map[string]*Line{}
	}
	l := f.lines[name]
	if l == nil {
		l = &Line{Name: name, Dashed: dashed}
		f.lines[name] = l
		f.names = append(f.names, name)
	}
	l.Points = append(l.Points, Point{X: x, Y: y})
}

// All returns the lines.
func (f *Family) All() []Line {
	out := make([]Line, len(f.names))
	for i, name := range f.names {
		out[i] = *f.lines[name]
	}
	return out
}

// Wide reports whether the lines reach over so many magnitudes that only a
// logarithmic axis shows them all.
func (f *Family) Wide() bool {
	lo, hi := math.Inf(1), 0.0
	for _, l := range f.lines {
		for _, at := range l.Points {
			if at.Y > 0 && !math.IsInf(at.Y, 1) {
				lo, hi = min(lo, at.Y), max(hi, at.Y)
			}
		}
	}
	return hi > 1000*lo
}
