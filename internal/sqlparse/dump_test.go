package sqlparse

import (
	"fmt"
	"strconv"
	"strings"
)

// dump prints a tree as a compact s-expression.
func dump(q *Query) string {
	body := dumpBody(q.Body)
	if len(q.With)+len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
		return body
	}
	parts := []string{"query"}
	for _, c := range q.With {
		parts = append(parts, list("with", c.Name.Name+columns(c.Columns), dump(c.Query)))
	}
	parts = append(parts, body)
	parts = append(parts, dumpOrder(q.OrderBy)...)
	parts = append(parts, clause("limit", q.Limit), clause("offset", q.Offset))
	return list(parts...)
}

func dumpOrder(items []OrderItem) (parts []string) {
	for _, o := range items {
		order := "asc"
		if o.Descending {
			order = "desc"
		}
		if o.NullsFirst {
			order += "-nulls-first"
		}
		parts = append(parts, list(order, dumpExpr(o.Expr)))
	}
	return parts
}

func dumpBody(b Body) string {
	switch b := b.(type) {
	case *Query:
		return dump(b)
	case *SetOperation:
		name := strings.ToLower(b.Op)
		if b.All {
			name = "union-all"
		}
		return list(name, dumpBody(b.Left), dumpBody(b.Right))
	case *ValuesList:
		parts := []string{"values"}
		for _, row := range b.Rows {
			parts = append(parts, list(dumpExprs(row)...))
		}
		return list(parts...)
	case *Select:
		parts := []string{"select"}
		if b.Distinct {
			parts[0] = "select-distinct"
		}
		for _, it := range b.Items {
			parts = append(parts, dumpItem(it))
		}
		for _, t := range b.From {
			parts = append(parts, list("from", dumpTable(t)))
		}
		parts = append(parts, clause("where", b.Where))
		if len(b.GroupBy) > 0 {
			parts = append(parts, list(append([]string{"group"}, dumpExprs(b.GroupBy)...)...))
		}
		if b.Sets != nil {
			parts = append(parts, fmt.Sprintf("(sets %v)", b.Sets))
		}
		parts = append(parts, clause("having", b.Having))
		for _, w := range b.Windows {
			parts = append(parts, dumpWindow("window", w))
		}
		return list(parts...)
	}
	return fmt.Sprintf("?%T", b)
}

func dumpWindow(word string, w *Window) string {
	parts := []string{word, name(w.Name), name(w.From)}
	if len(w.Partition) > 0 {
		parts = append(parts, list(append([]string{"partition"}, dumpExprs(w.Partition)...)...))
	}
	parts = append(parts, dumpOrder(w.Order)...)
	if f := w.Frame; f != nil {
		end := func(e FrameEnd) string {
			out := [...]string{"first", "before", "current", "after", "last"}[e.Kind]
			if e.Offset != nil {
				out = list(out, dumpExpr(e.Offset))
			}
			return out
		}
		parts = append(parts, list(strings.ToLower(f.Mode), end(f.Start), end(f.End), strings.ToLower(f.Exclude)))
	}
	return list(parts...)
}

func dumpItem(it Item) string {
	switch {
	case it.Star && it.Qualifier.Name != "":
		return it.Qualifier.Name + ".*"
	case it.Star:
		return "*"
	case it.Alias.Name != "":
		return list("as", name(it.Alias), dumpExpr(it.Expr))
	}
	return dumpExpr(it.Expr)
}

func dumpTable(t TableExpr) string {
	switch t := t.(type) {
	case *TableName:
		if t.Alias.Name == "" {
			return name(t.Name)
		}
		return list("as", name(t.Alias)+columns(t.Columns), name(t.Name))
	case *Subquery:
		if t.Alias.Name == "" {
			return dump(t.Query)
		}
		return list("as", name(t.Alias)+columns(t.Columns), dump(t.Query))
	case *JoinExpr:
		kind := [...]string{"join", "left-join", "right-join", "full-join", "cross-join"}[t.Kind]
		using := ""
		if len(t.Using) > 0 {
			using = list("using" + columns(t.Using))
		}
		return list(kind, dumpTable(t.Left), dumpTable(t.Right), clause("on", t.On), using)
	}
	return fmt.Sprintf("?%T", t)
}

func dumpExpr(e Expr) string {
	not := func(n bool, word string) string {
		if n {
			return "not-" + word
		}
		return word
	}
	switch e := e.(type) {
	case *Name:
		if e.Qualifier.Name != "" {
			return name(e.Qualifier) + "." + name(e.Column)
		}
		return name(e.Column)
	case *Number:
		return e.Text
	case *String:
		return "'" + strings.Trim(strconv.Quote(e.Value), `"`) + "'"
	case *Bool:
		return strconv.FormatBool(e.Value)
	case *NullConst:
		return "null"
	case *Unary:
		return list(e.Op, dumpExpr(e.Arg))
	case *Binary:
		return list(e.Op, dumpExpr(e.Left), dumpExpr(e.Right))
	case *Call:
		parts := []string{"call", name(e.Name)}
		if e.Distinct {
			parts = append(parts, "distinct")
		}
		if e.Star {
			parts = append(parts, "*")
		}
		over := ""
		if e.Over != nil {
			over = dumpWindow("over", e.Over)
		}
		return list(append(append(parts, dumpExprs(e.Args)...), clause("within", e.Within), clause("filter", e.Filter), over)...)
	case *Array:
		return list(append([]string{"array"}, dumpExprs(e.Items)...)...)
	case *Case:
		parts := []string{"case"}
		if e.Operand != nil {
			parts = append(parts, dumpExpr(e.Operand))
		}
		for _, w := range e.Whens {
			parts = append(parts, list("when", dumpExpr(w.Condition), dumpExpr(w.Result)))
		}
		return list(append(parts, clause("else", e.Else))...)
	case *Cast:
		return list("cast", dumpExpr(e.Arg), strconv.Quote(e.Type))
	case *InList:
		return list(not(e.Not, "in"), dumpExpr(e.Arg), list(dumpExprs(e.List)...))
	case *InArray:
		return list(not(e.Not, "in-array"), dumpExpr(e.Arg), dumpExpr(e.Array), e.Type)
	case *Parameter:
		return fmt.Sprintf("$%d", e.Number)
	case *InQuery:
		return list(not(e.Not, "in"), dumpExpr(e.Arg), dump(e.Query))
	case *Exists:
		return list("exists", dump(e.Query))
	case *Scalar:
		return list("scalar", dump(e.Query))
	case *Between:
		word := not(e.Not, "between")
		if e.Symmetric {
			word += "-symmetric"
		}
		return list(word, dumpExpr(e.Arg), dumpExpr(e.Low), dumpExpr(e.High))
	case *Is:
		return list(not(e.Not, "is"), dumpExpr(e.Arg), e.What)
	case *DistinctFrom:
		return list(not(e.Not, "distinct-from"), dumpExpr(e.Left), dumpExpr(e.Right))
	case *Like:
		word := "like"
		if e.Insensitive {
			word = "ilike"
		}
		return list(not(e.Not, word), dumpExpr(e.Arg), dumpExpr(e.Pattern))
	}
	return fmt.Sprintf("?%T", e)
}

func dumpExprs(es []Expr) []string {
	var out []string
	for _, e := range es {
		out = append(out, dumpExpr(e))
	}
	return out
}

func clause(word string, e Expr) string {
	if e == nil {
		return ""
	}
	return list(word, dumpExpr(e))
}

// list drops empty parts.
func list(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return "(" + strings.Join(kept, " ") + ")"
}

func columns(ids []Ident) string {
	if len(ids) == 0 {
		return ""
	}
	var names []string
	for _, id := range ids {
		names = append(names, name(id))
	}
	return "[" + strings.Join(names, " ") + "]"
}

func name(id Ident) string {
	if plainName.MatchString(id.Name) {
		return id.Name
	}
	return strconv.Quote(id.Name)
}
