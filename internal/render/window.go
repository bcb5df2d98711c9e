package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
)

// window prints functions over windows, in three steps, so that each expression is computed once
// and nothing stands around a window but arithmetic: arguments and keys, where FILTER becomes an
// argument that is NULL; the windows; and what is made of them.
func (r *renderer) window(n *plan.Window) string {
	s := r.scope(column)
	width := len(n.Input.Columns())
	var inner, windows, out []string
	for i := range width {
		inner, windows, out = append(inner, column(i)), append(windows, column(i)), append(out, column(i))
	}
	for i, f := range n.Functions {
		named := func(e plan.Expr, name string, j int) string {
			if ref, ok := e.(*plan.Ref); ok {
				return column(ref.Index)
			}
			name = fmt.Sprintf("%s%d_%d", name, i, j)
			inner = append(inner, s.expr(e)+" AS "+name)
			return name
		}
		var over []string
		if len(f.Partition) > 0 {
			over = append(over, "PARTITION BY "+list(len(f.Partition), func(j int) string { return named(f.Partition[j], "p", j) }))
		}
		if len(f.Order) > 0 {
			over = append(over, "ORDER BY "+list(len(f.Order), func(j int) string { return ordering(named(f.Order[j].Expr, "o", j), f.Order[j]) }))
		}
		if f.Frame != nil {
			over = append(over, s.frame(f.Frame))
		}
		window := " OVER (" + strings.Join(over, " ") + ")"
		call := func(x string) string {
			name := fmt.Sprintf("w%d_%d", i, len(windows))
			windows = append(windows, x+window+" AS "+name)
			return name
		}
		if !f.Aggregates() {
			out = append(out, s.windowCall(f, func(j int) string { return named(f.Args[j], "a", j) }, call)+" AS "+column(width+i))
			continue
		}
		arg := fmt.Sprintf("a%d", i)
		a := plan.Aggregation{Function: f.Function, Filter: f.Filter}
		if len(f.Args) > 0 {
			a.Arg = f.Args[0]
		}
		if a.Arg != nil || a.Filter != nil {
			inner = append(inner, s.argument(a)+" AS "+arg)
		} else {
			arg = "*"
		}
		sum := func() string {
			name := fmt.Sprintf("s%d", i)
			x := ""
			if a.Arg.Type().IsFloat() {
				x = s.dialect.fixedSum(s, arg, window)
			} else {
				x = s.dialect.exactSum(arg, window, a.Arg.Type())
			}
			windows = append(windows, x+" AS "+name)
			return name
		}
		value := ""
		switch f.Function {
		case plan.CountStar, plan.Count:
			value = call("count(" + arg + ")")
		case plan.Sum:
			switch value = sum(); {
			case f.Type.IsInteger():
				value = s.dialect.narrow(s, value, f.Type)
			case !f.Type.IsFloat():
				value = s.dialect.fit(s, value, f.Type)
			}
		case plan.Avg:
			total, rows := sum(), call("count("+arg+")")
			if !a.Arg.Type().IsFloat() {
				total = s.double(total)
			}
			value = fmt.Sprintf("CASE WHEN %s > 0 THEN %s / %s END", rows, total, rows)
		case plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
			value = call(fmt.Sprintf("%s(%s)", f.Function, arg))
		default:
			value = r.fail("%s cannot be rendered over a window", f.Function)
		}
		out = append(out, value+" AS "+column(width+i))
	}
	args := fmt.Sprintf("(SELECT %s FROM %s) AS t", orOne(strings.Join(inner, ", ")), r.input(n.Input, "t"))
	return fmt.Sprintf("SELECT %s FROM (SELECT %s FROM %s) AS t", strings.Join(out, ", "), strings.Join(windows, ", "), args)
}

// windowCall prints a function that has a meaning over windows alone.
func (s scope) windowCall(f plan.WindowFunction, arg func(int) string, call func(string) string) string {
	switch f.Function {
	case plan.RowNumber, plan.Rank, plan.DenseRank, plan.PercentRank, plan.CumeDist:
		return call(string(f.Function) + "()")
	case plan.Ntile:
		return fmt.Sprintf("CAST(%s AS %s)", call("ntile("+constant(f.Args[0])+")"), s.dialect.typeName(f.Type))
	case plan.NthValue:
		return call(fmt.Sprintf("nth_value(%s, %s)", arg(0), constant(f.Args[1])))
	case plan.Lag, plan.Lead:
		name, n := f.Function, f.Args[1].(*plan.Literal).Value.(int64)
		if n < 0 { // the other way round
			name, n = plan.Lead, -n
			if f.Function == plan.Lead {
				name = plan.Lag
			}
		}
		args := fmt.Sprintf("%s, %d", arg(0), n)
		if len(f.Args) > 2 {
			args += ", " + arg(2)
		}
		return call(fmt.Sprintf("%s(%s)", name, args))
	}
	return call(fmt.Sprintf("%s(%s)", f.Function, arg(0)))
}

func constant(e plan.Expr) string { return fmt.Sprint(e.(*plan.Literal).Value) }

func (s scope) frame(f *plan.Frame) string {
	end := func(e plan.FrameEnd) string {
		switch {
		case e.Offset == nil:
			return e.Kind.String()
		case f.Mode != plan.RangeMode:
			return constant(e.Offset) + " " + e.Kind.String()
		}
		return s.expr(e.Offset) + " " + e.Kind.String()
	}
	out := fmt.Sprintf("%s BETWEEN %s AND %s", f.Mode, end(f.Start), end(f.End))
	if f.Exclude != "" {
		out += " EXCLUDE " + f.Exclude
	}
	return out
}

// ordering prints a key of ORDER BY.
func ordering(key string, k plan.SortKey) string {
	if k.Descending {
		key += " DESC"
	}
	if k.NullsFirst {
		return key + " NULLS FIRST"
	}
	return key + " NULLS LAST"
}
