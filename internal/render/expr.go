package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A scope prints expressions over a relation whose columns have names.
type scope struct {
	*renderer
	name func(int) string
	rows plan.Node // those of a copy, which has some values on their grid; nil elsewhere
}

func (r *renderer) scope(name func(int) string) scope { return scope{r, name, nil} }

// over is the scope where its columns are those of rows of a copy.
func (s scope) over(rows plan.Node) scope { return scope{s.renderer, s.name, rows} }

// expr prints an expression with a canonical value of exactly its type.
func (s scope) expr(e plan.Expr) string {
	out, finite := s.raw(e)
	if finite {
		return out
	}
	return s.finite(out, e.Type())
}

// finite makes a number canonical: NULL for what is not finite, 0 for −0.
func (s scope) finite(x string, t sqltype.Type) string { return s.dialect.finite(s, x, t) }

// A stepper dialect has no intervals, and adds constant ones by their parts.
type stepper interface {
	addInterval(s scope, e *plan.Call) string
}

// once prints an expression that uses x several times. A long x is bound to a
// name, so that the size of the text stays linear in that of the plan.
func (s scope) once(x string, f func(x string) string) string {
	const short = 60 // a short text is cheaper repeated than bound to a name
	if len(x) <= short {
		return f(x)
	}
	s.bound++
	name := fmt.Sprintf("x%d", s.bound)
	return s.dialect.bind(x, name, f(name))
}

// A membership dialect prints lists otherwise than by IN.
type membership interface {
	in(s scope, e *plan.Call, a []string) string
}

// once2 is once for two.
func (s scope) once2(x, y string, f func(x, y string) string) string {
	return s.once(x, func(x string) string { return s.once(y, func(y string) string { return f(x, y) }) })
}

// raw prints an expression. If finite is false its value may be ±infinity, NaN
// or −0. The operations that pass such a value on, without check, are those
// that never make it finite again, such as + and *: one check at the end does.
func (s scope) raw(e plan.Expr) (out string, finite bool) {
	switch e := e.(type) {
	case *plan.Ref:
		return s.name(e.Index), true
	case *plan.Literal:
		return s.literal(e.Value, e.T), true
	case *plan.Case:
		var b strings.Builder
		b.WriteString("CASE")
		for _, w := range e.Whens {
			fmt.Fprintf(&b, " WHEN %s THEN %s", s.expr(w.Condition), s.expr(w.Result))
		}
		if e.Else != nil {
			b.WriteString(" ELSE " + s.expr(e.Else))
		}
		return b.String() + " END", true
	case *plan.Cast:
		if e.Arg.Type().IsFloat() && e.T.IsFloat() {
			x, _ := s.raw(e.Arg)
			return s.dialect.convert(s, x, e.Arg.Type(), e.T), false
		}
		return s.dialect.convert(s, s.expr(e.Arg), e.Arg.Type(), e.T), true
	case *plan.Call:
		if out, ok := s.dialect.arithmetic(s, e); ok {
			return out, !e.T.IsFloat()
		}
		return s.call(e), true
	}
	return s.fail("a %T cannot be rendered", e), true
}

// args prints a call's arguments.
func (s scope) args(e *plan.Call) []string {
	out := make([]string, len(e.Args))
	for i, a := range e.Args {
		out[i] = s.expr(a)
	}
	return out
}

// call prints what is no arithmetic.
func (s scope) call(e *plan.Call) string {
	switch e.Function {
	case plan.Concat:
		return s.dialect.concat(s, s.operands(e))
	case plan.Fixed:
		if s.rows != nil {
			if has := fixedIn(s.rows, e); has != "" {
				return has
			}
		}
		return s.dialect.fixed(s, e)
	case plan.AddInterval:
		if d, ok := s.dialect.(stepper); ok {
			return d.addInterval(s, e)
		}
	}
	a := s.args(e)
	switch e.Function {
	case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual, plan.DistinctFrom:
		for i, x := range e.Args {
			a[i] = s.dialect.comparable(s, a[i], x.Type())
		}
	}
	switch e.Function {
	case plan.Equal, plan.NotEqual, plan.Less, plan.LessOrEqual, plan.Greater, plan.GreaterOrEqual:
		return fmt.Sprintf("(%s %s %s)", a[0], e.Function, a[1])
	case plan.DistinctFrom:
		return fmt.Sprintf("(%s IS DISTINCT FROM %s)", a[0], a[1])
	case plan.And, plan.Or:
		return "(" + strings.Join(a, " "+strings.ToUpper(string(e.Function))+" ") + ")"
	case plan.Not:
		return fmt.Sprintf("(NOT %s)", a[0])
	case plan.IsNull:
		return fmt.Sprintf("(%s IS NULL)", a[0])
	case plan.IsTrue:
		return fmt.Sprintf("coalesce(%s, FALSE)", a[0])
	case plan.In:
		if d, ok := s.dialect.(membership); ok {
			return d.in(s, e, a)
		}
		return fmt.Sprintf("(%s IN (%s))", a[0], strings.Join(a[1:], ", "))
	case plan.Greatest, plan.Least:
		return s.dialect.extremum(e.Function, a)
	case plan.Coalesce:
		return fmt.Sprintf("%s(%s)", e.Function, strings.Join(a, ", "))
	case plan.NullIf:
		from, to := e.Args[0].Type(), e.Args[1].Type()
		return s.once(a[0], func(x string) string {
			same := x
			if from != to {
				same = s.dialect.convert(s, x, from, to)
				if to.IsFloat() {
					same = s.finite(same, to)
				}
			}
			return fmt.Sprintf("CASE WHEN %s = %s THEN NULL ELSE %s END", s.dialect.comparable(s, same, to), s.dialect.comparable(s, a[1], to), x)
		})
	case plan.Squared:
		return s.dialect.squared(a[0], e.Args[1].(*plan.Literal).Value.(int64))
	case plan.RowKey:
		return s.dialect.rowKey(a[0], a[1:])
	}
	if out, ok := s.dialect.textual(s, e, a); ok {
		return out
	}
	if out, ok := s.dialect.temporal(s, e, a); ok {
		return out
	}
	return s.lacks(e.Place(), "the function "+string(e.Function))
}

// call prints a function by its name in the language.
func call(f plan.Function, args []string) string {
	return fmt.Sprintf("%s(%s)", f, strings.Join(args, ", "))
}

// operands prints what a chain of || joins.
func (s scope) operands(e plan.Expr) []string {
	if c, ok := e.(*plan.Call); ok && c.Function == plan.Concat {
		return append(s.operands(c.Args[0]), s.operands(c.Args[1])...)
	}
	return []string{s.expr(e)}
}

// rowKey names a row by its fields, each with its length, so that no two rows look
// alike, and numbers equal rows. Rows that are told apart by less, by DuckDB's own
// 64-bit hash say, share a numbering: a row that is made to collide with another's,
// which takes two inverses of that hash whatever the salt, would change its key.
func (duckDB) rowKey(table string, fields []string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		v := "CAST(" + f + " AS VARCHAR)"
		parts[i] = fmt.Sprintf("CASE WHEN %s IS NULL THEN '-' ELSE concat(strlen(%s), ':', %s) END", v, v, v)
	}
	row := "sha256(concat(" + strings.Join(parts, ", ") + "))"
	return fmt.Sprintf("concat(%s, ':', %s, ':', row_number() OVER (PARTITION BY %s))", table, row, row)
}
