package program

import (
	"fmt"
	"math/big"
	"strings"
)

// An Expression is one of the types below.
type Expression interface{ fmt.Stringer }

type (
	// Number is a constant.
	Number struct {
		Value *big.Rat
		Sort  Sort
	}

	// Truth is true or false.
	Truth bool

	// Ref is the value of a variable.
	Ref struct{ Var *Variable }

	// Element is q[i].
	Element struct {
		Slice *Variable
		Index Expression
	}

	// Length is len(q).
	Length struct{ Slice *Variable }

	// Unary is -x or !x.
	Unary struct {
		Op Op
		X  Expression
	}

	// Binary is x op y.
	Binary struct {
		Op   Op
		X, Y Expression
	}

	// Call is a function of mathematics: abs, exp, log, sqrt, floor, ceil, round,
	// pow, real (an int as a float64), int (truncation of a float64), and grid
	// (Source.Round, of a number and a scale).
	Call struct {
		Func string
		Args []Expression
	}

	// If3 is a conditional value: cond(b, x, y) of directives.
	If3 struct{ Cond, Then, Else Expression }

	// Diff is the distance of x between the two runs, second less first; only in
	// directives.
	Diff struct{ X Expression }
)

// An Op is an operator.
type Op string

// The operators, as Go writes them. Quo truncates when both operands are integers,
// and so does Rem. Min and Max are Go's.
const (
	Add Op = "+"
	Sub Op = "-"
	Mul Op = "*"
	Quo Op = "/"
	Rem Op = "%"
	Min Op = "min"
	Max Op = "max"
	Eq  Op = "=="
	Ne  Op = "!="
	Lt  Op = "<"
	Le  Op = "<="
	Gt  Op = ">"
	Ge  Op = ">="
	And Op = "&&"
	Or  Op = "||"
	Not Op = "!"
)

// String writes a number as a Go constant expression.
func (n Number) String() string  { return n.Value.RatString() }
func (t Truth) String() string   { return fmt.Sprint(bool(t)) }
func (r Ref) String() string     { return r.Var.Name }
func (e Element) String() string { return e.Slice.Name + "[" + e.Index.String() + "]" }
func (l Length) String() string  { return "len(" + l.Slice.Name + ")" }
func (u Unary) String() string   { return string(u.Op) + operand(u.X) }
func (d Diff) String() string    { return "diff(" + d.X.String() + ")" }

func (b Binary) String() string {
	if b.Op == Min || b.Op == Max {
		return string(b.Op) + "(" + b.X.String() + ", " + b.Y.String() + ")"
	}
	return operand(b.X) + " " + string(b.Op) + " " + operand(b.Y)
}

func (c Call) String() string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = a.String()
	}
	return c.Func + "(" + strings.Join(args, ", ") + ")"
}

func (c If3) String() string {
	return "cond(" + c.Cond.String() + ", " + c.Then.String() + ", " + c.Else.String() + ")"
}

// operand puts parentheses around what binds less than a name.
func operand(x Expression) string {
	switch x := x.(type) {
	case Binary:
		if x.Op != Min && x.Op != Max {
			return "(" + x.String() + ")"
		}
	case Number:
		if !x.Value.IsInt() || x.Value.Sign() < 0 {
			return "(" + x.String() + ")"
		}
	}
	return x.String()
}
