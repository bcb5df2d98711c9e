package plan

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// Format prints a plan as an indented tree, one node a line, inputs below. Two
// plans that print alike compute the same relation: types of constants and
// casts are printed, places are not.
func Format(n Node) string {
	var b strings.Builder
	format(&b, n, 0)
	return b.String()
}

func format(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	switch n := n.(type) {
	case *Scan:
		fmt.Fprintf(b, "scan %s", quote(n.Table.Name))
		if most := n.Table.MaxUnitRows; most > 0 { // which rows are left follows from all columns
			h := sha256.New()
			for _, c := range n.Table.Columns {
				fmt.Fprintf(h, "%q %v\n", c.Name, c.Type)
			}
			fmt.Fprintf(b, " of %d rows a unit by %x", most, h.Sum(nil)[:8])
		}
	case *Values:
		b.WriteString("values")
		for _, row := range n.Rows {
			fmt.Fprintf(b, " (%s)", formatAll(row))
		}
		fmt.Fprintf(b, " as %v", n.Types)
	case *Filter:
		fmt.Fprintf(b, "filter %s", FormatExpr(n.Condition))
	case *Project:
		fmt.Fprintf(b, "project %s", namedAll(n.Exprs, n.Names))
		for _, c := range n.Declared {
			if c != nil {
				fmt.Fprintf(b, " declared %s", Declaration(c))
			}
		}
	case *Join:
		fmt.Fprintf(b, "%s join", strings.ToLower(n.Kind.String()))
		if n.On != nil {
			fmt.Fprintf(b, " on %s", FormatExpr(n.On))
		}
	case *Union:
		b.WriteString("union all")
	case *Aggregate:
		fmt.Fprintf(b, "aggregate [%s]", namedAll(n.Keys, n.Names))
		for _, a := range n.Aggregations {
			fmt.Fprintf(b, " %s", formatAggregation(a))
		}
		if n.Sets != nil {
			fmt.Fprintf(b, " set %d of %v of [%s]", n.Set, n.Sets.Levels, namedAll(n.Sets.Keys, n.Sets.Names))
		}
		if l := n.Limits; l != nil {
			fmt.Fprintf(b, " limits groups %d rows %d unit %q public %t", l.Groups, l.Rows, l.Unit, l.Public)
		}
	case *Bounded:
		fmt.Fprintf(b, "bounded [%s] unit $%d groups %d rows %d one-row %t", namedAll(n.Keys, n.Names), n.Unit, n.MaxGroups, n.MaxRows, n.Whole)
		if n.Shown != nil {
			fmt.Fprintf(b, " shown %v", n.Shown)
		}
		if n.Bin != nil {
			fmt.Fprintf(b, " bin %s", FormatExpr(n.Bin))
		}
		for _, c := range n.Contributions {
			fmt.Fprintf(b, " %s", formatContribution(c))
		}
	case *Sort:
		b.WriteString("sort" + formatOrder(n.Keys))
	case *Window:
		b.WriteString("window")
		for _, f := range n.Functions {
			b.WriteString(" " + formatWindow(f))
		}
	case *Limit:
		fmt.Fprintf(b, "limit %d offset %d", n.Count, n.Offset)
	case *Released:
		fmt.Fprintf(b, "released %d", n.Index)
	case *Stage:
		fmt.Fprintf(b, "stage %d", n.Index)
	default:
		fmt.Fprintf(b, "%T", n)
	}
	b.WriteByte('\n')
	for _, in := range n.Inputs() {
		format(b, in, depth+1)
	}
}

// Declaration prints what a view declares of a column. Of a list of values it prints a digest:
// there may be a million.
func Declaration(c *catalog.Column) string {
	s := quote(c.Name)
	if c.Lower != nil {
		s += fmt.Sprintf(" in [%s, %s]", sqltype.Format(c.Lower), sqltype.Format(c.Upper))
	}
	switch d := c.Domain; {
	case d == nil:
	case d.FromTable != nil:
		s += fmt.Sprintf(" of %s.%s", quote(d.FromTable.Name), quote(d.FromColumn.Name))
	case d.Step != nil:
		s += fmt.Sprintf(" by %s", d.Step.RatString())
	default:
		h := sha256.New()
		for _, v := range d.Values {
			fmt.Fprintf(h, "%q", sqltype.Key(v))
		}
		s += fmt.Sprintf(" of %d values %x", len(d.Values), h.Sum(nil)[:8])
	}
	return s
}

func formatAggregation(a Aggregation) string {
	s := string(a.Function)
	if a.Arg != nil {
		distinct := ""
		if a.Distinct {
			distinct = "distinct "
		}
		s = fmt.Sprintf("%s(%s%s)", a.Function, distinct, FormatExpr(a.Arg))
	}
	if a.Fraction != nil {
		s += " at " + a.Fraction.RatString()
	}
	if a.Filter != nil {
		s += " filter " + FormatExpr(a.Filter)
	}
	return s + " as " + quote(a.Name)
}

func formatContribution(c Contribution) string {
	kind := [...]string{"added", "clamped", "distinct", "units"}[c.Kind]
	if c.Value != nil {
		kind += "(" + FormatExpr(c.Value) + ")"
	}
	if c.Kind == Clamped {
		kind += fmt.Sprintf(" in [%v, %v]", c.Lower, c.Upper)
	}
	return kind
}

func namedAll(es []Expr, names []string) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = FormatExpr(e)
		if ref, ok := e.(*Ref); !ok || ref.Name != names[i] {
			parts[i] += " as " + quote(names[i])
		}
	}
	return strings.Join(parts, ", ")
}

func formatAll(es []Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = FormatExpr(e)
	}
	return strings.Join(parts, ", ")
}

// FormatExpr prints an expression in prefix form: references as name$index,
// constants with their type.
func FormatExpr(e Expr) string {
	switch e := e.(type) {
	case *Ref:
		return fmt.Sprintf("%s$%d", quote(e.Name), e.Index)
	case *Literal:
		switch v := e.Value.(type) {
		case nil:
			return "null::" + e.T.String()
		case string:
			return strconv.Quote(v)
		case bool:
			return strconv.FormatBool(v)
		default:
			return sqltype.Format(v) + "::" + e.T.String()
		}
	case *Call:
		return fmt.Sprintf("%s(%s)", e.Function, formatAll(e.Args))
	case *Case:
		var b strings.Builder
		b.WriteString("case")
		for _, w := range e.Whens {
			fmt.Fprintf(&b, " when %s then %s", FormatExpr(w.Condition), FormatExpr(w.Result))
		}
		if e.Else != nil {
			fmt.Fprintf(&b, " else %s", FormatExpr(e.Else))
		}
		return b.String() + " end"
	case *Cast:
		return fmt.Sprintf("cast(%s as %s)", FormatExpr(e.Arg), e.T)
	}
	return fmt.Sprintf("%T", e)
}

// quote prints a name bare if it cannot be mistaken for anything else.
func quote(name string) string {
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return strconv.Quote(name)
		}
	}
	return name
}
