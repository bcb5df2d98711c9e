package exact

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// clone copies an event, deeply.
func (e *Event) clone() *Event {
	f := &Event{Prefix: e.Prefix, Not: e.Not, Outputs: make([][]Range, len(e.Outputs)), Return: cloneRanges(e.Return)}
	for i, t := range e.Outputs {
		f.Outputs[i] = cloneRanges(t)
	}
	return f
}

func cloneRanges(all []Range) []Range {
	copied := slices.Clone(all)
	for i := range copied {
		copied[i].Elements = cloneRanges(copied[i].Elements)
	}
	return copied
}

// leaves are the conditions on single numbers.
func (e *Event) leaves() []*Range {
	var all []*Range
	var walk func([]Range)
	walk = func(ranges []Range) {
		for i := range ranges {
			if ranges[i].Slice {
				walk(ranges[i].Elements)
			} else {
				all = append(all, &ranges[i])
			}
		}
	}
	for _, t := range e.Outputs {
		walk(t)
	}
	walk(e.Return)
	return all
}

func (r *Range) fixed() bool { return r.Low != nil && r.High != nil && r.Low.Cmp(r.High) == 0 }

func equal(x, y *big.Rat) bool { return x == y || x != nil && y != nil && x.Cmp(y) == 0 }

func (e *Event) key() string {
	var b strings.Builder
	if e.Not {
		b.WriteByte('!')
	}
	side := func(r *big.Rat) {
		if r != nil {
			b.WriteString(r.RatString())
		}
		b.WriteByte(',')
	}
	var walk func([]Range)
	walk = func(ranges []Range) {
		b.WriteByte('(')
		for _, r := range ranges {
			if r.Slice {
				walk(r.Elements)
				continue
			}
			side(r.Low)
			side(r.High)
		}
		b.WriteByte(')')
	}
	for _, t := range e.Outputs {
		walk(t)
	}
	b.WriteByte('|')
	walk(e.Return)
	return b.String()
}

// outcome is the key of an event of which only what is certain is looked at.
func (e *Event) outcome() string {
	f := e.clone()
	for _, leaf := range f.leaves() {
		if !leaf.fixed() {
			leaf.Low, leaf.High = nil, nil
		}
	}
	return f.key()
}

// A slot is a value that depends on noise.
type slot struct {
	leaf           int // of the event
	center, spread rational
	whole          bool
}

// A shape is what a path reveals: an event in which what depends on noise is open.
type shape struct {
	event *Event
	slots []slot
}

// shapes lists what the paths of both runs reveal, at most most of each, and the
// scales of the noise.
func (m *measurer) shapes(ctx context.Context, p pair, steps, most int) (found []shape, scales []rational, err error) {
	seen := map[string]bool{}
	for _, run := range [][][]rational{p.first, p.second} {
		n := len(found)
		x := &explorer{code: m.code, steps: steps, found: func(s *state) error {
			for _, d := range s.draws {
				if !slices.ContainsFunc(scales, func(r rational) bool { return same(r, d.parameter) }) {
					scales = append(scales, d.parameter)
				}
			}
			if len(found) < n+most {
				if k := s.key(); !seen[k] {
					seen[k] = true
					found = append(found, shapeOf(s))
				}
			}
			return nil
		}}
		// Out of budget, what was found is enough to look at.
		if err = x.explore(ctx, m.code.bind(run)); err != nil && !(errors.Is(err, ErrBudget) && len(found) > 0) {
			return nil, nil, err
		}
	}
	slices.SortFunc(scales, rational.cmp)
	return found, scales, nil
}

// key tells paths apart that reveal different shapes.
func (s *state) key() string {
	var b []byte
	for _, tuple := range s.outputs {
		b = append(b, '|')
		for _, v := range tuple {
			if v.open != nil {
				b = append(b, ',')
				continue
			}
			if v.elements == nil {
				b = v.scalar.appendTo(b)
				continue
			}
			b = append(b, '(')
			for _, f := range v.elements {
				b = f.appendTo(b)
			}
			b = append(b, ')')
		}
	}
	return string(b)
}

// appendTo writes a constant, and nothing of what depends on noise, with a comma.
func (f *form) appendTo(b []byte) []byte {
	if f.concrete() {
		if f.c.big != nil {
			b = append(b, f.c.big.RatString()...)
		} else {
			b = append(strconv.AppendInt(b, f.c.n, 10), '/')
			b = strconv.AppendInt(b, max(f.c.d, 1), 10)
		}
	}
	return append(b, ',')
}

func shapeOf(s *state) shape {
	sh := shape{event: &Event{}}
	leaf := 0
	single := func(f *form) Range {
		leaf++
		if f.concrete() {
			return Is(f.c.rat())
		}
		sl := slot{leaf: leaf - 1, center: f.c, whole: f.c.isInt()}
		for _, t := range f.terms {
			d := s.draws[t.draw]
			sl.spread = sl.spread.plus(d.parameter.times(t.coefficient.abs()))
			sl.whole = sl.whole && !d.continuous() && t.coefficient.isInt()
		}
		sl.spread = sl.spread.coarse()
		sh.slots = append(sh.slots, sl)
		return Range{}
	}
	tuple := func(values []value) []Range {
		ranges := make([]Range, len(values))
		for i, v := range values {
			if v.open != nil {
				leaf++
				continue
			}
			if v.elements == nil {
				ranges[i] = single(v.scalar)
				continue
			}
			ranges[i] = Range{Slice: true, Elements: make([]Range, len(v.elements))}
			for j, f := range v.elements {
				ranges[i].Elements[j] = single(f)
			}
		}
		return ranges
	}
	last := len(s.outputs) - 1
	for _, t := range s.outputs[:last] {
		sh.event.Outputs = append(sh.event.Outputs, tuple(t))
	}
	sh.event.Return = tuple(s.outputs[last])
	return sh
}

// events fills the slots of a shape: each alone with half-lines and narrow intervals
// near its center, near what the function names, and far out; and all together.
func (sh shape) events(points []rational) []*Event {
	if len(sh.slots) == 0 {
		return []*Event{sh.event}
	}
	var all []*Event
	if len(sh.slots) > 1 { // what shares noise differs exactly
		near := sh.event.clone()
		for _, sl := range sh.slots {
			width := sl.spread.times(fraction(1, 64))
			if sl.whole {
				width = rational{}
			}
			at := sl.round(sl.center)
			near.leaves()[sl.leaf].Low, near.leaves()[sl.leaf].High = at.rat(), at.plus(width).rat()
		}
		all = append(all, near)
	}
	slots := sh.slots
	if len(slots) > 4 {
		slots = append(slices.Clone(slots[:2]), slots[len(slots)-2:]...)
	}
	for _, sl := range slots {
		for _, r := range sl.ranges(points) {
			e := sh.event.clone()
			*e.leaves()[sl.leaf] = r
			all = append(all, e)
		}
	}
	for _, far := range []int64{0, 4} {
		low, high := sh.event.clone(), sh.event.clone()
		for _, sl := range sh.slots {
			d := sl.spread.times(integer(far))
			low.leaves()[sl.leaf].High = sl.round(sl.center.minus(d)).rat()
			high.leaves()[sl.leaf].Low = sl.round(sl.center.plus(d)).rat()
		}
		if len(sh.slots) > 1 {
			all = append(all, low, high)
		}
	}
	return append(all, sh.event)
}

// opposites are events with those of which all is known also turned around: together,
// the many other outcomes may exceed a delta that none of them does.
func opposites(all []*Event) []*Event {
	var more []*Event
	for _, e := range all {
		if !slices.ContainsFunc(e.leaves(), func(r *Range) bool { return !r.fixed() }) {
			f := e.clone()
			f.Not = true
			more = append(more, f)
		}
	}
	return append(more, all...)
}

// round makes a number whole for whole noise.
func (sl slot) round(x rational) rational {
	if sl.whole {
		return wholly("floor", x)
	}
	return x
}

func (sl slot) ranges(points []rational) []Range {
	var all []Range
	for _, far := range []int64{0, -4, 4, -20, 20} {
		at := sl.round(sl.center.plus(sl.spread.times(integer(far)))).rat()
		all = append(all, Range{High: at}, Range{Low: at})
	}
	width := sl.spread.times(fraction(1, 64))
	if sl.whole {
		width = rational{}
	}
	for _, c := range append([]rational{sl.center}, points...) {
		at := sl.round(c)
		all = append(all, Range{Low: at.rat(), High: at.plus(width).rat()})
		if !sl.whole { // beside what may have probability of its own
			all = append(all, Range{Low: at.plus(width).rat(), High: at.plus(width).plus(width).rat()})
		}
	}
	return all
}
