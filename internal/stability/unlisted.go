package stability

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// unlisted says that a constant is no listed value, and which of these is like it.
func unlisted(c *plan.Literal, values []sqltype.Value) string {
	words := constantWords(c) + " is not among the declared values"
	if v := nearestTo(c.Value, values); v != nil {
		words += ": the nearest is " + constantWords(&plan.Literal{Value: v, T: c.T})
	}
	return words
}

// listed are the values that an expression is declared to have, if all are listed.
func (d *doubter) listed(e plan.Expr) (values []sqltype.Value, ok bool) {
	if e.Type().Kind == sqltype.Boolean {
		return nil, false
	}
	for _, part := range d.facts.domainOf(d.input, e) {
		switch {
		case part.FromTable != nil:
			return nil, false
		case part.Step != nil:
			if n, ok := part.Size(); !ok || n > 10_000 {
				return nil, false
			}
			values = slices.AppendSeq(values, (&catalog.PublicDomain{Lower: part.Lower, Upper: part.Upper, Step: part.Step}).All(e.Type()))
		default:
			values = append(values, part.Values...)
		}
	}
	return values, len(values) > 0
}

// tabled are the values that an expression is declared to have, or that a column of a public table has, where public tables list
// some of them; or nil.
func (d *doubter) tabled(e plan.Expr) []*catalog.PublicDomain {
	if ref := unwiden(e); ref != nil {
		if t, c := origin(d.input, ref.Index); t != nil && t.Public {
			return []*catalog.PublicDomain{{FromTable: t, FromColumn: c}}
		}
	}
	parts := d.facts.domainOf(d.input, e)
	if !slices.ContainsFunc(parts, func(p *catalog.PublicDomain) bool { return p.FromTable != nil }) {
		return nil
	}
	return parts
}

// constants are those that a column of rows that the statement writes out is.
func constants(n plan.Node, i int) (all []*plan.Literal) {
	switch n := n.(type) {
	case *plan.Values:
		for _, row := range n.Rows[:min(mostRows, len(n.Rows))] {
			e := row[i]
			if cast, ok := e.(*plan.Cast); ok {
				e = cast.Arg
			}
			if l, ok := e.(*plan.Literal); ok && l.Value != nil {
				all = append(all, l)
			}
		}
	case *plan.Project:
		if ref, ok := n.Exprs[i].(*plan.Ref); ok {
			return constants(n.Input, ref.Index)
		}
	case *plan.Filter:
		return constants(n.Input, i)
	case *plan.Join:
		if left := len(n.Left.Columns()); i >= left {
			return constants(n.Right, i-left)
		}
		return constants(n.Left, i)
	}
	return all
}

// The nearest value is looked for among so many, and texts are compared letter by letter up to so many.
const mostNear, mostLetters = 1_000, 50

// nearestTo is the listed value that is most like one: of numbers that at the least distance, of texts that at the least number of letters
// that are put in, left out or replaced, whatever their case, if these are fewer than half; or nil.
func nearestTo(v sqltype.Value, values []sqltype.Value) (nearest sqltype.Value) {
	if text, ok := v.(string); ok {
		for _, other := range values { // of however many
			if s, ok := other.(string); ok && strings.EqualFold(s, text) {
				return s
			}
		}
		from := []rune(strings.ToLower(text))
		if len(values) > mostNear || len(from) > mostLetters {
			return nil
		}
		least := (len(from) + 1) / 2
		for _, other := range values {
			s, ok := other.(string)
			to := []rune(strings.ToLower(s))
			if !ok || len(to) > mostLetters {
				continue
			}
			if n := letters(from, to); n < least {
				nearest, least = s, n
			}
		}
		return nearest
	}
	x, ok := sqltype.Rat(v)
	if !ok {
		return nil
	}
	var least *big.Rat
	for _, other := range values {
		y, ok := sqltype.Rat(other)
		if !ok {
			continue
		}
		if y = new(big.Rat).Sub(y, x); least == nil || y.Abs(y).Cmp(least) < 0 {
			nearest, least = other, y.Abs(y)
		}
	}
	return nearest
}

// letters is how many letters must be put in, left out or replaced to make one text of another.
func letters(from, to []rune) int {
	row := make([]int, len(to)+1) // by prefix of to
	for j := range row {
		row[j] = j
	}
	for i, a := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, b := range to {
			replaced := diagonal
			if a != b {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

func same(a, b sqltype.Value) bool {
	x, ok := sqltype.Rat(a)
	y, also := sqltype.Rat(b)
	if ok && also {
		return x.Cmp(y) == 0
	}
	return ok == also && fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) && sqltype.Compare(a, b) == 0
}

func constantWords(c *plan.Literal) string {
	s := sqltype.Format(c.Value)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "..."
	}
	if c.T.Kind == sqltype.Text {
		return "'" + s + "'"
	}
	return s
}
