package program

import (
	"fmt"
	"strings"
)

// Print writes a function canonically: the same text for the same function,
// whatever its comments, layout and position in a file. It is what proofs are
// stored under.
func Print(f *Function) string {
	p := &printer{loops: map[*Loop]int{}}
	p.line(0, "func %s.%s", f.Package, f.Name)
	for _, v := range f.Inputs {
		p.line(1, "input %s", declare(v))
	}
	for _, r := range f.Requires {
		p.line(1, "requires %s", expression(r))
	}
	p.block(1, f.Body)
	return p.String()
}

type printer struct {
	strings.Builder
	loops map[*Loop]int // in the order of the source
}

func (p *printer) line(depth int, format string, args ...any) {
	p.WriteString(strings.Repeat("\t", depth))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

var sortNames = [...]string{"int", "real", "bool"}

func (s Sort) String() string {
	if int(s) < len(sortNames) {
		return sortNames[s]
	}
	return "sort"
}

func declare(v *Variable) string {
	s := v.Name + " "
	if v.Slice {
		s += "[]"
	}
	s += v.Sort.String()
	if v.Stream {
		s += " stream"
	}
	if v.Natural {
		s += " natural"
	}
	return s
}

// expression says the sort of numbers as well: 1 and 1.0 divide differently.
func expression(x Expression) string {
	switch x := x.(type) {
	case nil:
		return "-"
	case Number:
		return x.Sort.String() + " " + x.Value.RatString()
	case Ref:
		return x.Var.Name
	case Element:
		return x.Slice.Name + "[" + expression(x.Index) + "]"
	case Unary:
		return "(" + string(x.Op) + " " + expression(x.X) + ")"
	case Binary:
		return "(" + expression(x.X) + " " + string(x.Op) + " " + expression(x.Y) + ")"
	case Call:
		args := make([]string, len(x.Args))
		for i, a := range x.Args {
			args[i] = expression(a)
		}
		return x.Func + "(" + strings.Join(args, ", ") + ")"
	case If3:
		return "cond(" + expression(x.Cond) + ", " + expression(x.Then) + ", " + expression(x.Else) + ")"
	case Diff:
		return "diff(" + expression(x.X) + ")"
	}
	return x.String()
}

func expressions(list []Expression) string {
	s := make([]string, len(list))
	for i, x := range list {
		s[i] = expression(x)
	}
	return strings.Join(s, ", ")
}

func (p *printer) block(depth int, stmts []Statement) {
	for _, s := range stmts {
		p.statement(depth, s)
	}
}

func (p *printer) statement(depth int, s Statement) {
	switch s := s.(type) {
	case Assign:
		p.line(depth, "%s = %s", declare(s.To), expression(s.Value))
	case Make:
		p.line(depth, "%s = make %s", declare(s.To), expression(s.Length))
	case Append:
		p.line(depth, "%s append %s", s.To.Name, expression(s.Value))
	case Store:
		p.line(depth, "%s[%s] = %s", s.To.Name, expression(s.Index), expression(s.Value))
	case Draw:
		scores := ""
		if s.Scores != nil {
			scores = s.Scores.Name + ", "
		}
		p.line(depth, "%s ~ %s(%s%s)", declare(s.To), s.Law, scores, expression(s.Parameter))
		if s.Align != nil {
			p.line(depth+1, "align %s", expression(s.Align))
		}
	case If:
		p.line(depth, "if %s", expression(s.Cond))
		p.block(depth+1, s.Then)
		if len(s.Else) > 0 {
			p.line(depth, "else")
			p.block(depth+1, s.Else)
		}
	case *Loop:
		n := len(p.loops) + 1
		p.loops[s] = n
		p.line(depth, "loop %d while %s", n, expression(s.Cond))
		for _, x := range s.Invariants {
			p.line(depth+1, "invariant %s", expression(x))
		}
		p.block(depth+1, s.Body)
		p.line(depth, "post")
		p.block(depth+1, s.Post)
	case Break:
		p.line(depth, "break %d", p.loops[s.Of])
	case Continue:
		p.line(depth, "continue %d", p.loops[s.Of])
	case Output:
		p.line(depth, "output %s", expressions(s.Values))
	case Return:
		p.line(depth, "return %s", expressions(s.Values))
	default:
		p.line(depth, "%T", s)
	}
}
