package sqlparse

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Window is what stands behind OVER or, of a Select's Windows, behind WINDOW name AS.
type Window struct {
	Name Ident // of the definition, or of the one that OVER name means as it is
	// From names the definition that gives partition and order; may be empty.
	From      Ident
	Partition []Expr
	Order     []OrderItem
	Frame     *Frame // or nil
	Span      diagnostic.Span
}

// A Frame is which rows of a partition a function looks at.
type Frame struct {
	Mode       string // ROWS, RANGE or GROUPS
	Start, End FrameEnd
	Exclude    string // CURRENT ROW, GROUP, TIES or ""
	Span       diagnostic.Span
}

// A FrameEnd is one end of a frame.
type FrameEnd struct {
	Kind   FrameEndKind
	Offset Expr // of Preceding and Following
}

// A FrameEndKind says where an end lies.
type FrameEndKind uint8

// The kinds, from the first row to the last.
const (
	UnboundedPreceding FrameEndKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// The bits of WindowDef.frame_options, of PostgreSQL's parsenodes.h.
const (
	frameWritten = 0x1
	frameRows    = 0x4
	frameGroups  = 0x8
)

// frameEnds are the bits of both ends.
var frameEnds = [...]struct {
	start, end int32
	kind       FrameEndKind
}{
	{0x20, 0x40, UnboundedPreceding}, {0x80, 0x100, UnboundedFollowing}, {0x200, 0x400, CurrentRow},
	{0x800, 0x1000, Preceding}, {0x2000, 0x4000, Following},
}

var frameExclusions = [...]struct {
	bit  int32
	what string
}{{0x8000, "CURRENT ROW"}, {0x10000, "GROUP"}, {0x20000, "TIES"}}

// over converts what follows OVER, the token before i, and returns its last token.
func (c *converter) over(w *pg.WindowDef, i int) (out *Window, last int) {
	out = &Window{}
	if c.at(i).kind != '(' {
		out.Name, i = c.ident(w.Name, i)
		out.Span = out.Name.Span
		return out, i - 1
	}
	last = c.closing(i)
	c.window(out, w, i)
	return out, last
}

// window converts the definition in the parentheses at i.
func (c *converter) window(out *Window, w *pg.WindowDef, i int) {
	defer c.enter(c.at(i).span())()
	out.Span = c.between(i, c.closing(i))
	i++
	if w.Refname != "" {
		out.From, i = c.ident(w.Refname, i)
	}
	if len(w.PartitionClause) > 0 {
		out.Partition, i = c.exprs(w.PartitionClause, i+2)
	}
	if len(w.OrderClause) > 0 {
		out.Order, i = c.orderBy(w.OrderClause, i+2)
	}
	if w.FrameOptions&frameWritten == 0 {
		return
	}
	f := &Frame{Mode: "RANGE", Span: c.between(i, c.index(out.Span.End)-2)}
	switch {
	case w.FrameOptions&frameRows != 0:
		f.Mode = "ROWS"
	case w.FrameOptions&frameGroups != 0:
		f.Mode = "GROUPS"
	}
	for _, e := range frameEnds {
		if w.FrameOptions&e.start != 0 {
			f.Start.Kind = e.kind
		}
		if w.FrameOptions&e.end != 0 {
			f.End.Kind = e.kind
		}
	}
	for _, e := range frameExclusions {
		if w.FrameOptions&e.bit != 0 {
			f.Exclude = e.what
		}
	}
	place := c.place
	c.place = f.Span
	if w.StartOffset != nil {
		f.Start.Offset = c.expr(w.StartOffset)
	}
	if w.EndOffset != nil {
		f.End.Offset = c.expr(w.EndOffset)
	}
	c.place = place
	out.Frame = f
}

// windows converts WINDOW name AS (...), ..., which begins at token i.
func (c *converter) windows(list []*pg.Node, i int) (out []*Window, next int) {
	for _, n := range list {
		def := n.GetWindowDef()
		if def == nil {
			c.refuse(c.clause(c.at(i).span(), "this WINDOW is not supported").Try("write WINDOW name AS (PARTITION BY ... ORDER BY ...)"))
		}
		w := &Window{}
		w.Name, i = c.ident(def.Name, i+1) // past WINDOW or the comma
		c.window(w, def, i+1)              // past AS
		w.Span = w.Name.Span.Join(w.Span)
		i = c.closing(i+1) + 1
		out = append(out, w)
	}
	return out, i
}
